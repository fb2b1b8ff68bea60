"""Redundant twins: features whose diffs on the pairs of neighbours go together, because Relief keeps both.

Relief judges whether a feature tells something, not whether another one tells it already. Two features are twins as far
as it is concerned if they differ in the same pairs of rows, and by as much: then they get the same weight, and either
can stand for the other. So what is compared are the diffs on the very pairs that the weights came from,

    r(A, B) = weighted correlation of d_A and d_B over hits and misses,

each pair with the weight that it has in a score. A copy has r = 1, to the last bit; so has one that is reversed, put on
another scale or coded otherwise, as no diff changes by that.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from nearhit.fitting import Options
from nearhit.pair_moments import correlations, sum_pairs
from nearhit.recipes import Recipe
from nearhit.table import Table

FloatArray = npt.NDArray[np.float64]
#: what `redundancy=True` stands for
TWINS = 0.95
FEATURES_COMPARED = 50
GROUPS_SHOWN = 20


class Twins(NamedTuple):
    """Features of which one can stand for all."""

    representative: str
    twins: tuple[str, ...]
    correlation: float


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Groups of features that tell the same. Iterate over it, index it, or take it into a data frame.

    Attributes
    ----------
    groups : tuple of Twins
        By the weight of the representative, which has the largest of its group. ``correlation`` is that of the least
        similar twin with it.
    threshold : float
        From which correlation on two features are twins.
    features : tuple of str
        Those that were compared, the best first.
    correlations : array of shape (len(features), len(features))
        How the diffs of each two of them go together.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import ReliefF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> y = X[:, 3] ^ X[:, 7]
    >>> X[:, 5] = 1 - X[:, 3]                          # says the same as column 3
    >>> relief = ReliefF(redundancy=True).fit(X, y)
    >>> relief.top(3)
    ['x7', 'x3', 'x5']
    >>> relief.redundancy_
    representative  twins  correlation
    x3              x5          1.0000
    >>> [name for name in relief.top(3) if name not in relief.redundancy_.redundant]
    ['x7', 'x3']
    """

    groups: tuple[Twins, ...]
    threshold: float
    features: tuple[str, ...]
    correlations: FloatArray = field(repr=False)

    @property
    def redundant(self) -> tuple[str, ...]:
        """All twins but the representatives: what can go."""
        return tuple(twin for group in self.groups for twin in group.twins)

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Twins]:
        return iter(self.groups)

    def __getitem__(self, place: int) -> Twins:
        return self.groups[place]

    def to_dict(self) -> dict[str, list[Any]]:
        """One line per twin: columns by name, what pandas, polars and pyarrow build a table from."""
        lines = [(group.representative, twin) for group in self.groups for twin in group.twins]
        place = {name: i for i, name in enumerate(self.features)}
        return {
            "representative": [representative for representative, _ in lines],
            "twin": [twin for _, twin in lines],
            "correlation": [float(self.correlations[place[a], place[b]]) for a, b in lines],
        }

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        if not self.groups:
            return self._none_found()
        shown = self.groups[:GROUPS_SHOWN]
        cells = [(group.representative, ", ".join(group.twins), f"{group.correlation:.4f}") for group in shown]
        first = max(len("representative"), *(len(cell[0]) for cell in cells))
        second = max(len("twins"), *(len(cell[1]) for cell in cells))
        lines = [
            f"{a:<{first}}  {b:<{second}}  {c:>11}" for a, b, c in [("representative", "twins", "correlation"), *cells]
        ]
        if len(self.groups) > len(shown):
            lines.append(f"… {len(self.groups) - len(shown)} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if not self.groups:
            return f"<p>{escape(self._none_found())}</p>"
        head = "".join(f"<th>{name}</th>" for name in ("representative", "twins", "correlation"))
        body = "".join(
            f"<tr><td>{escape(group.representative)}</td><td>{escape(', '.join(group.twins))}</td>"
            f"<td>{group.correlation:.4f}</td></tr>"
            for group in self.groups[:GROUPS_SHOWN]
        )
        more = len(self.groups) - GROUPS_SHOWN
        note = f"<p>… {more} more</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"

    def _none_found(self) -> str:
        return f"no twins among {len(self.features)} features (correlation of diffs under {self.threshold:g})"


def find_redundancy(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    threshold: float = TWINS,
    n_features: int = FEATURES_COMPARED,
) -> Redundancy:
    """Which of the best features are twins of each other.

    Parameters
    ----------
    estimator : member of the Relief family
        Says who the neighbours are. If it is fitted its weights are taken; else a copy of it is fitted. It is not changed.
        With `IRelief` and `Simba` all rows are neighbours here; members with a star are asked for their near rows only.
    X, y, sample_weight
        What it was, or is to be, fitted on.
    threshold : float, default=0.95
        From which correlation of diffs on two features are twins; 1 finds those only that differ in the same pairs by as
        much.
    n_features : int, default=50
        How many of the features of largest weight are compared.

    Returns
    -------
    Redundancy

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import RReliefF, find_redundancy
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 6))
    >>> X[:, 4] = 100 * X[:, 1] + rng.normal(0, 1, 200)
    >>> [group.twins for group in find_redundancy(RReliefF(), X, X[:, 1] * X[:, 2])]
    [('x4',)]
    """
    # The estimator imports this module: it has a parameter for it.
    from nearhit.estimator import ReliefEstimator

    if not isinstance(estimator, ReliefEstimator):
        raise TypeError(f"estimator must be a member of the Relief family, such as ReliefF(); got {estimator!r}.")
    check_threshold("threshold", threshold)
    if not isinstance(n_features, numbers.Integral) or isinstance(n_features, bool) or n_features < 2:
        raise ValueError(f"n_features must be an integer of at least 2; got {n_features!r}.")
    reader = clone(estimator)
    recipe, table, targets = reader._prepare(X, y, sample_weight)
    weights = estimator.weights_ if estimator.__sklearn_is_fitted__() else reader._run(recipe, table, targets).weights
    if len(weights) != table.n_features:
        raise ValueError(
            f"X has {table.n_features} features, but {type(estimator).__name__} was fitted on {len(weights)}. Give the "
            "table that it was fitted on, or an estimator that is not fitted."
        )
    return find_twins(recipe, table, targets, weights, reader._names(), threshold, int(n_features), reader._options())


def check_threshold(name: str, value: Any, otherwise: str = "") -> None:
    """Refuse what is no correlation to compare with."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_) or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be {otherwise}a correlation in (0, 1]; got {value!r}.")


def find_twins(
    recipe: Recipe,
    table: Table,
    targets: npt.NDArray[np.intp] | None,
    weights: FloatArray,
    names: Sequence[str],
    threshold: float,
    n_features: int = FEATURES_COMPARED,
    options: Options | None = None,
) -> Redundancy:
    """The twins among the features of largest weight, from the pairs that the weights came from."""
    best = np.argsort(-weights, kind="stable")[:n_features]
    moments = sum_pairs(table, recipe, best, targets, options)
    alike = correlations(moments.hits + moments.misses)
    called = tuple(str(names[j]) for j in best)
    groups = tuple(
        Twins(called[head], tuple(called[i] for i in rest), float(alike[head, rest].min()))
        for head, rest in group_twins(alike, threshold)
    )
    return Redundancy(groups, float(threshold), called, alike)


def group_twins(alike: FloatArray, threshold: float) -> Iterator[tuple[int, list[int]]]:
    """The best feature and its twins, then the best of the others and its twins, and so on; features by weight.

    Each twin is one of its representative, not of another twin only: long chains of neighbours in a genome, each like
    the next and the ends like nothing, are no group.
    """
    free = np.ones(len(alike), bool)
    for head in range(len(alike)):
        if free[head]:
            free[head] = False
            rest = np.flatnonzero(free & (alike[head] >= threshold))
            free[rest] = False
            if len(rest):
                yield head, rest.tolist()
