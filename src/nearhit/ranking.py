"""A ranking to look at and to work with: one row per feature, the best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROWS_SHOWN = 20
BAR_WIDTH = 24


class Row(NamedTuple):
    """One feature of a ranking."""

    feature: str
    weight: float
    rank: int


class RowWithP(NamedTuple):
    """One feature of a ranking with p-values."""

    feature: str
    weight: float
    rank: int
    p_value: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features, the best first. Iterate over it, index it, or take it into a data frame.

    Examples
    --------
    >>> ranking = Ranking.of(["a", "b", "c"], np.array([0.1, 0.4, -0.1]))
    >>> ranking[0]
    Row(feature='b', weight=0.4, rank=1)
    >>> [row.feature for row in ranking]
    ['b', 'a', 'c']
    >>> ranking.to_dict()["rank"]
    [1, 2, 3]
    """

    rows: tuple[Row | RowWithP, ...]
    #: the smallest p-value that could have come out
    least_p_value: float = 0.0

    @staticmethod
    def of(
        names: Any,
        weights: npt.NDArray[np.float64],
        p_values: npt.NDArray[np.float64] | None = None,
        least_p_value: float = 0.0,
    ) -> Ranking:
        """Sort by weight; equal weights share a rank and stay in the order of the columns."""
        ranks = ranks_of(weights)
        order = np.argsort(-weights, kind="stable")
        rows = [Row(str(names[i]), float(weights[i]), int(ranks[i])) for i in order]
        if p_values is None:
            return Ranking(tuple(rows))
        tested = (RowWithP(*row, float(p_values[i])) for row, i in zip(rows, order, strict=True))
        return Ranking(tuple(tested), least_p_value)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row | RowWithP]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row | RowWithP:
        return self.rows[place]

    @property
    def _fields(self) -> tuple[str, ...]:
        return self.rows[0]._fields if self.rows else Row._fields

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name: what pandas, polars and pyarrow build a table from."""
        return {name: [getattr(row, name) for row in self.rows] for name in self._fields}

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        shown = self.rows[:ROWS_SHOWN]
        width = max([len("feature"), *(len(row.feature) for row in shown)])
        lines = [f"{'rank':>4}  {'feature':<{width}}  {'weight':>8}{self._p_value_cell(None)}"]
        largest = max((abs(row.weight) for row in self.rows), default=0.0)
        lines += [
            f"{row.rank:>4}  {row.feature:<{width}}  {row.weight:>8.4f}{self._p_value_cell(row)}  "
            f"{bar(row.weight, largest)}".rstrip()
            for row in shown
        ]
        if len(self.rows) > len(shown):
            lines.append(f"   … {len(self.rows) - len(shown)} more")
        return "\n".join(lines)

    def _p_value_cell(self, row: Row | RowWithP | None) -> str:
        """A cell of the column that is there only with p-values; its head for None."""
        if "p_value" not in self._fields:
            return ""
        return f"  {p_value_in_words(row.p_value, self.least_p_value) if isinstance(row, RowWithP) else 'p':>8}"

    def _repr_html_(self) -> str:
        tested = "p_value" in self._fields
        head = "".join(f"<th>{name}</th>" for name in ("rank", "feature", "weight", *(["p"] if tested else [])))
        body = "".join(
            f"<tr><td>{row.rank}</td><td>{escape(row.feature)}</td><td>{row.weight:.4f}</td>"
            + (f"<td>{self._p_value_cell(row).strip()}</td>" if tested else "")
            + "</tr>"
            for row in self.rows[:ROWS_SHOWN]
        )
        more = len(self.rows) - ROWS_SHOWN
        note = f"<p>… {more} more</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def ranks_of(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """1 for the largest weight; equal weights share the smaller rank."""
    ascending = np.sort(-weights)
    return np.searchsorted(ascending, -weights, side="left") + 1


def bar(weight: float, largest: float, width: int = BAR_WIDTH) -> str:
    """A bar of eighths of a character; nothing for weights that are not positive."""
    if weight <= 0 or largest <= 0:
        return ""
    eighths = round(weight / largest * width * 8)
    return "█" * (eighths // 8) + (" ▏▎▍▌▋▊▉"[eighths % 8] if eighths % 8 else "")


def p_value_in_words(p: float, least: float) -> str:
    """A p-value for the eye; the smallest that could have come out is a bound, and said to be one."""
    if p == 0:
        return "<1e-300"  # of a t-test, beyond what a float holds
    return f"≤{_short(least)}" if p <= least else _short(p)


def _short(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0995 else f"{p:.2g}"
