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

    rows: tuple[Row, ...]

    @staticmethod
    def of(names: Any, weights: npt.NDArray[np.float64]) -> Ranking:
        """Sort by weight; equal weights share a rank and stay in the order of the columns."""
        ranks = ranks_of(weights)
        order = np.argsort(-weights, kind="stable")
        return Ranking(tuple(Row(str(names[i]), float(weights[i]), int(ranks[i])) for i in order))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name: what pandas, polars and pyarrow build a table from."""
        return {name: [getattr(row, name) for row in self.rows] for name in Row._fields}

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        shown = self.rows[:ROWS_SHOWN]
        width = max([len("feature"), *(len(row.feature) for row in shown)])
        lines = [f"{'rank':>4}  {'feature':<{width}}  {'weight':>8}"]
        largest = max((abs(row.weight) for row in self.rows), default=0.0)
        lines += [
            f"{row.rank:>4}  {row.feature:<{width}}  {row.weight:>8.4f}  {bar(row.weight, largest)}".rstrip()
            for row in shown
        ]
        if len(self.rows) > len(shown):
            lines.append(f"   … {len(self.rows) - len(shown)} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("rank", "feature", "weight"))
        body = "".join(
            f"<tr><td>{row.rank}</td><td>{escape(row.feature)}</td><td>{row.weight:.4f}</td></tr>"
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
