"""All measures side by side: what each feature tells together with others (ReliefF), and what it tells alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from nearhit.estimator import ReliefEstimator, refuse_idle
from nearhit.intake import as_table, read_columns
from nearhit.measures.score_features import (
    MEASURES,
    NUMERIC_MEASURES,
    check_ways,
    counted,
    read_target,
    score_columns,
)
from nearhit.myopic import refuse_constant_target
from nearhit.ranking import ROWS_SHOWN, Ranking, ranks_of
from nearhit.relief import ReliefF, RReliefF
from nearhit.target import read_row_weights

TARGETS = ("auto", "classes", "numeric")
#: from the palette of Okabe and Ito, as in the other pictures
POINT, RULE = "#0072B2", "#bdbdbd"
TINY = np.finfo(np.float64).tiny


def compare(
    X: Any,
    y: Any,
    *,
    measures: Iterable[str] | None = None,
    relief: Any = True,
    numeric: str | int = "best split",
    nominal: str | None = None,
    target: str = "auto",
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
    n_targets: int | float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> Comparison:
    """What every measure says of every feature, as one table.

    A feature that ReliefF puts high and all others low matters only together with other features.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `nearhit.ReliefF`.
    y : array of shape (n_samples,)
        Classes or numbers.
    measures : names of measures, optional
        Which ones, in which order (see `nearhit.MyopicMeasure`); None: all for this kind of target.
    relief : bool or estimator, default=True
        Whether ReliefF (RReliefF for a numeric target) comes first; or an estimator of the family that is copied and
        fitted in its place, with its own parameters (but `categorical_features`, if given here).
    numeric, nominal
        What becomes of numbers and of categories in the myopic measures, as in `nearhit.MyopicMeasure`.
    target : {"auto", "classes", "numeric"}, default="auto"
        What y is. "auto": floats with a fraction are numbers, everything else is classes.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `nearhit.ReliefF`.
    sample_weight : array of shape (n_samples,), optional
        A weight w counts as w copies of a row.
    n_targets : int, float or None, default=None
        How many rows (or which share) look for neighbours in ReliefF; None: all.
    n_jobs : int or None, default=None
        Threads for ReliefF.
    random_state : int, RandomState or None, default=None
        For `n_targets`.

    Returns
    -------
    Comparison

    Examples
    --------
    The class is the exclusive or of x1 and x3, so neither tells anything alone:

    >>> import numpy as np
    >>> from nearhit import compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 4))
    >>> y = X[:, 1] ^ X[:, 3]
    >>> table = compare(X, y, measures=["information gain", "accuracy"])
    >>> table
                      information
    feature  ReliefF         gain  accuracy
    x3        0.5053       0.0129    0.5650
    x1        0.4947       0.0018    0.5350
    x2       -0.0230       0.0093    0.5550
    x0       -0.0240       0.0146    0.5750
    """
    if not isinstance(target, str) or target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}; got {target!r}.")
    X = as_table(X, "compare")
    columns = read_columns(X, categorical_features, estimator_name="compare")
    kind = ("numeric" if _has_fractions(y) else "classes") if target == "auto" else target
    chosen = _chosen_measures(measures, kind)
    check_ways(numeric, nominal, kind)
    if not chosen and relief is False:
        raise ValueError("there is nothing to compare: name at least one measure, or leave relief=True.")
    data = counted(columns, read_target(y, kind, "compare"), read_row_weights(sample_weight, columns.n_rows))
    refuse_constant_target(data, "compare")
    scores: dict[str, npt.NDArray[np.float64]] = {}
    if relief is not False:
        member = _member(relief, kind, n_targets, n_jobs, random_state, categorical_features)
        scores[type(member).__name__] = member.fit(X, y, sample_weight=sample_weight).weights_
    scores.update(zip(chosen, score_columns(data, chosen, numeric, nominal), strict=True))
    return Comparison(columns.names, scores, kind)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Features and what several measures say of them. Printed with the best of the first measure on top.

    Attributes
    ----------
    names : tuple of str
        The features, in the order of X.
    scores : dict of str to array of shape (n_features,)
        The measures by name, in the order of the table; larger is better in each.
    target_kind : str
        "classes" or "numeric": what y was taken for.

    Examples
    --------
    >>> scores = {"ReliefF": np.array([0.4, -0.1]), "mdl": np.array([-0.02, 0.03])}
    >>> table = Comparison(("a", "b"), scores, "classes")
    >>> table
    feature  ReliefF      mdl
    a         0.4000  -0.0200
    b        -0.1000   0.0300
    >>> table["mdl"].tolist(), table.ranks["mdl"].tolist()
    ([-0.02, 0.03], [2, 1])
    >>> table.ranking("mdl")[0]
    Row(feature='b', weight=0.03, rank=1)
    """

    names: tuple[str, ...]
    scores: dict[str, npt.NDArray[np.float64]]
    target_kind: str

    def __getitem__(self, measure: str) -> npt.NDArray[np.float64]:
        return self.scores[measure]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(self.scores)

    @property
    def ranks(self) -> dict[str, npt.NDArray[np.int64]]:
        """The place of each feature by each measure: 1 for the best, equal scores share a rank."""
        return {measure: ranks_of(scores) for measure, scores in self.scores.items()}

    def ranking(self, measure: str) -> Ranking:
        """The features ranked by one measure."""
        self._check_measure(measure)
        return Ranking.of(self.names, self.scores[measure])

    def to_dict(self, *, ranks: bool = False) -> dict[str, list[Any]]:
        """Columns by name, rows as printed; scores, or places if `ranks`."""
        order = self._order()
        columns = {name: column[order].tolist() for name, column in (self.ranks if ranks else self.scores).items()}
        return {"feature": [self.names[i] for i in order], **columns}

    def to_pandas(self, *, ranks: bool = False) -> Any:
        """The table as a data frame of pandas."""
        import pandas as pd

        return pd.DataFrame(self.to_dict(ranks=ranks))

    def to_polars(self, *, ranks: bool = False) -> Any:
        """The table as a data frame of polars."""
        import polars as pl

        return pl.DataFrame(self.to_dict(ranks=ranks))

    def plot(self, alone: str | None = None, together: str | None = None, *, names: int = 6, ax: Any = None) -> Any:
        """Place each feature by what it tells alone (to the right) and together with others (upwards).

        The upper left corner holds what measures of single features miss. Needs matplotlib.

        Parameters
        ----------
        alone, together : names of measures, optional
            Default: information gain, or the second measure, and the first one.
        names : int, default=6
            So many of the best features of each of the two are named in the picture.
        ax : matplotlib.axes.Axes, optional
            Where to draw; None: in a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
        """
        together = self.measures[0] if together is None else together
        if alone is None:
            alone = "information gain" if "information gain" in self.scores else self.measures[-1]
        for measure in (alone, together):
            self._check_measure(measure)
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(6, 4.5), layout="constrained")[1]
        x, y = self.scores[alone], self.scores[together]
        ax.axhline(0, color=RULE, linewidth=0.8, zorder=0)
        ax.scatter(x, y, s=28, color=POINT, alpha=0.8, linewidths=0)
        named = np.flatnonzero(np.minimum(ranks_of(x), ranks_of(y)) <= names)
        for i, is_below in zip(named, _has_one_above(x, y, named), strict=True):
            beside = (5, -9) if is_below else (5, 3)
            ax.annotate(self.names[i], (x[i], y[i]), xytext=beside, textcoords="offset points", fontsize=8)
        ax.set_xlabel(f"alone: {alone}")
        ax.set_ylabel(f"together: {together}")
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def _check_measure(self, measure: str) -> None:
        if measure not in self.scores:
            raise ValueError(f"no measure {measure!r} was compared; there are {', '.join(map(repr, self.scores))}.")

    def _order(self) -> npt.NDArray[np.intp]:
        """The best of the first measure first; equal scores in the order of the columns."""
        return np.argsort(-next(iter(self.scores.values())), kind="stable")

    def __repr__(self) -> str:
        shown = self._order()[:ROWS_SHOWN]
        columns = [_aligned("feature", [self.names[i] for i in shown], str.ljust)]
        columns += [_aligned(name, _as_text(scores[shown]), str.rjust) for name, scores in self.scores.items()]
        height = max(len(head) for head, _ in columns)
        whole = [[" " * len(body[0])] * (height - len(head)) + head + body for head, body in columns]
        lines = ["  ".join(cells).rstrip() for cells in zip(*whole, strict=True)]
        if len(self) > len(shown):
            lines.append(f"… {len(self) - len(shown)} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self._order()[:ROWS_SHOWN]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("feature", *self.scores))
        columns = [
            [escape(self.names[i]) for i in shown],
            *(_as_text(scores[shown]) for scores in self.scores.values()),
        ]
        rows = ("".join(f"<td>{cell}</td>" for cell in cells) for cells in zip(*columns, strict=True))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        note = f"<p>… {len(self) - len(shown)} more</p>" if len(self) > len(shown) else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


# ------------------------------------------------------------------------------------------------- what is compared


def _has_fractions(y: Any) -> bool:
    """Whether scikit-learn takes y for numbers; what it cannot tell, and warns of, is left to those who read classes."""
    with warnings.catch_warnings(action="ignore"):
        try:
            return type_of_target(y).startswith("continuous")
        except (TypeError, ValueError):
            return False


def _chosen_measures(measures: Iterable[str] | None, kind: str) -> list[str]:
    allowed = list(MEASURES if kind == "classes" else NUMERIC_MEASURES)
    if measures is None:
        return allowed
    chosen = [measures] if isinstance(measures, str) else list(measures)
    for measure in chosen:
        if measure not in allowed:
            raise ValueError(
                f"for a target of {'classes' if kind == 'classes' else 'numbers'} measures must be among "
                f"{', '.join(map(repr, allowed))}; got {measure!r}."
            )
    return list(dict.fromkeys(chosen))


def _member(relief: Any, kind: str, n_targets: Any, n_jobs: Any, random_state: Any, categorical_features: Any) -> Any:
    """The member of the Relief family that is to be fitted."""
    own = {"n_targets": n_targets, "n_jobs": n_jobs, "random_state": random_state}
    if relief is True:
        return (ReliefF if kind == "classes" else RReliefF)(categorical_features=categorical_features, **own)
    if not isinstance(relief, ReliefEstimator):
        raise TypeError(
            f"relief must be True, False or a member of the Relief family, such as ReliefF(); got {relief!r}."
        )
    refuse_idle(relief, "compare")
    given = [name for name, value in own.items() if value is not None]
    if given:
        raise ValueError(f"{' and '.join(given)} cannot be given beside an estimator; set them on {relief!r}.")
    member = clone(relief)
    if not isinstance(categorical_features, str) and categorical_features is not None:
        member.set_params(categorical_features=categorical_features)
    return member


# -------------------------------------------------------------------------------------------------------- as text


def _as_text(scores: npt.NDArray[np.float64]) -> list[str]:
    """Four decimals, unless the scores of a measure are too large or too small for them."""
    largest = np.abs(scores).max(initial=0.0)
    form = ".4f" if largest == 0 or 0.01 <= largest < 1e6 else ".4g"
    return [format(score, form) for score in scores.tolist()]


def _has_one_above(x: npt.NDArray[Any], y: npt.NDArray[Any], named: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Which of some points have another of them at hand and above, so that their names would run into each other."""
    across = np.abs(x[named, None] - x[named]) <= 0.15 * max(np.ptp(x), TINY)
    up = y[named] - y[named, None]
    first = np.arange(len(named)) > np.arange(len(named))[:, None]
    above = ((up > 0) | ((up == 0) & first)) & (up <= 0.05 * max(np.ptp(y), TINY))
    return (across & above).any(axis=1)


def _aligned(name: str, cells: list[str], align: Any) -> tuple[list[str], list[str]]:
    """Head and body of a column in one width; a name of two words takes two lines."""
    head = name.split(" ")
    width = max(map(len, [*head, *cells]))
    return [align(word, width) for word in head], [align(cell, width) for cell in cells]
