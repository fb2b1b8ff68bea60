"""Who matters with whom: pairs (or triples) of features that tell more together than apart.

Two answers that fail in different ways, side by side:

    interaction  what the features tell together beyond what they tell in smaller company (joint_relevance.py), in bits,
                 or as a share of the variance of a numeric y, with a p-value from permuted labels;
    alternation  4 cov_hits(d_A, d_B) - 4 cov_misses(d_A, d_B) over the very pairs of rows that Relief weighs:
                 in near misses partners differ one *or* the other, in near hits both or neither.

Why alternation: y = A xor B changes if one of the two changes and not if both do. So a near miss differs in exactly one
of them, cov_misses = 0 - 1/2 * 1/2 = -1/4, and a near hit in both (a share q of the hits) or neither, cov_hits = q - q^2.
Together 1 + 4 (q - q^2): the diffs, as +1 and -1, take turns in misses and go together in hits. Noise is the same in both,
and so it cancels. Each two features of a parity of three alternate as well (a near miss differs in one of three:
-4 * -1/9), although no pair of them tells anything: there, alternation finds who belongs together and `order=3` proves it.
Two features that only add up alternate too, since either can tip the balance; what they tell together then is small.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from nearhit.estimator import ReliefEstimator, refuse_idle
from nearhit.intake.source import whole_labels
from nearhit.joint_relevance import JointRelevance, cells_of, choose_bins, measure_groups
from nearhit.pair_moments import covariances, sum_pairs
from nearhit.partner_graph import Graph, draw, to_svg
from nearhit.relief import ReliefF, RReliefF
from nearhit.resampling import seed_of
from nearhit.table import Classes
from nearhit.thread_limits import count_threads

FloatArray = npt.NDArray[np.float64]
ROWS_SHOWN = 10
MOST_GROUPS = 100_000
DRAWN_BELOW_P = 0.05


class Partners(NamedTuple):
    """Features that are looked at together, and what they tell beyond what they tell in smaller company."""

    features: tuple[str, ...]
    interaction: float
    by_chance: float
    p_value: float
    alternation: float


@dataclass(frozen=True, eq=False)
class Interactions:
    """Who matters with whom. Iterate over it, index it, draw it, or take it into a data frame.

    Attributes
    ----------
    rows : tuple of Partners
        By p-value, then by interaction beyond chance. ``interaction`` is in `unit`; ``by_chance`` is its mean over
        permuted labels; ``p_value`` is the share of permutations in which any of the groups does as well.
        ``alternation`` tells whether the features take turns in near misses and go together in near hits (of three, the
        least of each two); about 0 for strangers, 1 and more for the two halves of an exclusive or.
    unit : str
        "bits", or "share of variance" for a numeric target.
    weights : dict of str to float
        The weight of each feature that was looked at, the best first.
    n_permutations : int
    target_kind : str
        "classes" or "numeric": what y was taken for.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import interactions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> found = interactions(X, X[:, 3] ^ X[:, 7], random_state=0)
    >>> len(found), found.unit, found[0].features
    (45, 'bits', ('x3', 'x7'))
    """

    rows: tuple[Partners, ...]
    unit: str
    weights: dict[str, float] = field(repr=False)
    n_permutations: int
    target_kind: str

    def by_alternation(self) -> Interactions:
        """The same rows, those first that alternate most: for features that only matter three or four at a time."""
        rows = tuple(sorted(self.rows, key=lambda row: -row.alternation))
        return Interactions(rows, self.unit, self.weights, self.n_permutations, self.target_kind)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Partners]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Partners:
        return self.rows[place]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, the features as feature_1, feature_2 …: what pandas, polars and pyarrow build a table from."""
        order = len(self.rows[0].features)
        names = {f"feature_{i + 1}": [row.features[i] for row in self.rows] for i in range(order)}
        return names | {name: [getattr(row, name) for row in self.rows] for name in Partners._fields[1:]}

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def graph(self, n_edges: int | None = None) -> Graph:
        """Nodes and edges as they are drawn: the first so many rows, or those with a p-value of 0.05 at most."""
        if n_edges is None:
            rows = [row for row in self.rows if row.p_value <= DRAWN_BELOW_P]
        elif isinstance(n_edges, numbers.Integral) and not isinstance(n_edges, bool) and n_edges >= 0:
            rows = list(self.rows[: int(n_edges)])
        else:
            raise ValueError(f"n_edges must be None or an integer of at least 0; got {n_edges!r}.")
        return Graph.of(self.weights, [(row.features, row.interaction - row.by_chance) for row in rows])

    def plot(self, n_edges: int | None = None, ax: Any = None) -> Any:
        """Draw the graph with matplotlib: a node per feature, larger with its weight; an edge per row of partners.

        Parameters
        ----------
        n_edges : int, optional
            The first so many rows; by default those with a p-value of 0.05 at most.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes
        """
        return draw(self.graph(n_edges), ax)

    def to_svg(self, n_edges: int | None = None) -> str:
        """The graph as SVG, to be written to a file or put into a page; the same numbers give the same text."""
        return to_svg(self.graph(n_edges))

    def __repr__(self) -> str:
        shown = self.rows[:ROWS_SHOWN]
        names = [" × ".join(row.features) for row in shown]
        width = max([len("features"), *map(len, names)])
        lines = [
            f"interactions in {self.unit}; p: as good for any of {len(self.rows)} in {self.n_permutations} permutations",
            f"{'features':<{width}}  {'interaction':>11}  {'by chance':>9}  {'p':>7}  {'alternation':>11}",
        ]
        lines += [
            f"{name:<{width}}  {row.interaction:>11.4f}  {row.by_chance:>9.4f}  {self._p_in_words(row.p_value):>7}"
            f"  {row.alternation:>11.4f}"
            for name, row in zip(names, shown, strict=True)
        ]
        if len(self.rows) > len(shown):
            lines.append(f"… {len(self.rows) - len(shown)} more")
        return "\n".join(lines)

    def _p_in_words(self, p: float) -> str:
        """The smallest that could have come out is a bound."""
        least = 1 / (self.n_permutations + 1)
        return f"{'≤' if p <= least else ''}{p:.3f}" if p >= 0.001 else f"{'≤' if p <= least else ''}{p:.1g}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("features", self.unit, "by chance", "p", "alternation"))
        body = "".join(
            f"<tr><td>{escape(' × '.join(row.features))}</td><td>{row.interaction:.4f}</td><td>{row.by_chance:.4f}</td>"
            f"<td>{self._p_in_words(row.p_value)}</td><td>{row.alternation:.4f}</td></tr>"
            for row in self.rows[:ROWS_SHOWN]
        )
        more = len(self.rows) - ROWS_SHOWN
        note = f"<p>… {more} more</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}{self.to_svg()}"


def interactions(
    X: Any,
    y: Any,
    *,
    features: Sequence[str | int] | None = None,
    n_features: int = 20,
    order: int = 2,
    n_bins: int | None = None,
    n_permutations: int = 200,
    estimator: Any = None,
    categorical_features: Any = "from_dtype",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Interactions:
    """Which features matter together, and with whom.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `nearhit.ReliefF`: numbers, strings, categories and missing values. Rows in which a feature of a group is
        unknown are left out of the table of that group.
    y : array of shape (n_samples,)
        Classes, or numbers. Numbers with a fraction are taken as numbers, all else as classes, unless `estimator` says.
    features : list of names or positions, optional
        Which ones to look at (a label that is a whole number is a name); by default the `n_features` of largest weight.
    n_features : int, default=20
        50 features are 1,225 pairs or 19,600 triples.
    order : {2, 3}, default=2
        Pairs or triples.
    n_bins : int, optional
        Into how many bins of equal frequency numbers are put; by default 4 where each of the 16 cells of a pair then
        holds ten rows of each class, else 2. Numbers of at most 4 different values keep them.
    n_permutations : int, default=200
        The smallest p-value is 1 / (n_permutations + 1).
    estimator : member of the Relief family, optional
        Whose weights and neighbours to use; ReliefF() or RReliefF() by default. A copy of it is fitted.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `nearhit.ReliefF`; only without `estimator`, which has its own.
    random_state : int, RandomState or None, default=None
        For the permutations. Permutation b depends on the seed and b only.
    n_jobs : int or None, default=None
        Threads. No bit of the result depends on it.

    Returns
    -------
    Interactions

    Notes
    -----
    The null hypothesis of the p-value is that none of the features has anything to do with y. Two features that matter
    each by itself can tell more (or, if they say the same, less) together than the sum, without being more than additive
    in any other sense: y = A or B is 0.19 bits. Values are plain estimates, too large from few rows by what is told under
    `by_chance`.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import interactions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> y = X[:, 3] ^ X[:, 7]
    >>> found = interactions(X, y, random_state=0)
    >>> found[0].features, round(found[0].interaction, 2), found[0].p_value < 0.01
    (('x3', 'x7'), 1.0, True)
    """
    reader = _choose_estimator(estimator, y, categorical_features, n_jobs)
    _check_arguments(n_features, order, n_bins, n_permutations)
    seed = seed_of(random_state)
    recipe, table, targets = reader._prepare(X, y, None)
    names = [str(name) for name in reader._names()]
    weights = reader._run(recipe, table, targets).weights
    chosen = _choose_features(features, names, weights, int(n_features), whole_labels(X))
    groups = list(combinations(range(len(chosen)), int(order)))
    _refuse_sizes(groups, len(chosen), int(order))
    target = table.targets[0]
    cells = cells_of(table, chosen, n_bins or choose_bins(table.n_rows, target))
    threads, verbose = count_threads(reader.get_params().get("n_jobs")), reader.get_params().get("verbose", 0)
    joint = measure_groups(cells, target, groups, int(n_permutations), seed, threads, verbose)
    moments = sum_pairs(table, recipe, chosen, targets, reader._options())
    alternation = 4 * (covariances(moments.hits) - covariances(moments.misses))
    is_classes = isinstance(target, Classes)
    return Interactions(
        _rows(groups, [names[j] for j in chosen], joint, alternation),
        "bits" if is_classes else "share of variance",
        {names[j]: float(weights[j]) for j in chosen[np.argsort(-weights[chosen], kind="stable")]},
        int(n_permutations),
        "classes" if is_classes else "numeric",
    )


def _rows(
    groups: Sequence[tuple[int, ...]], names: Sequence[str], joint: JointRelevance, alternation: FloatArray
) -> tuple[Partners, ...]:
    rows = [
        Partners(
            tuple(names[i] for i in group),
            float(value),
            float(chance),
            float(p),
            float(min(alternation[a, b] for a, b in combinations(group, 2))),
        )
        for group, value, chance, p in zip(groups, joint.values, joint.by_chance, joint.p_values, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (row.p_value, row.by_chance - row.interaction)))


# ------------------------------------------------------------------------------------------------------- the arguments


def _choose_estimator(estimator: Any, y: Any, categorical_features: Any, n_jobs: int | None) -> ReliefEstimator:
    if estimator is None:
        member = RReliefF if has_fractions(y) else ReliefF
        return member(categorical_features=categorical_features, n_jobs=n_jobs)
    if not isinstance(estimator, ReliefEstimator):
        raise TypeError(f"estimator must be a member of the Relief family, such as ReliefF(); got {estimator!r}.")
    if not isinstance(categorical_features, str) or categorical_features != "from_dtype":
        raise ValueError("categorical_features was given beside an estimator, which has its own; set it there.")
    refuse_idle(estimator, "interactions")
    copy = clone(estimator)
    if n_jobs is not None:
        copy.set_params(**{name: n_jobs for name in copy.get_params() if name.rpartition("__")[2] == "n_jobs"})
    return copy


def has_fractions(y: Any) -> bool:
    """Whether y holds numbers that are not all whole: those are taken for numbers, all else for classes."""
    values = np.asarray(y)
    if values.dtype == object:
        if not all(isinstance(value, numbers.Real) for value in values.flat):
            return False
        values = values.astype(np.float64)
    return values.dtype.kind == "f" and bool((np.isfinite(values) & (values != np.floor(values))).any())


def _check_arguments(n_features: Any, order: Any, n_bins: Any, n_permutations: Any) -> None:
    for name, value, least in (
        ("n_features", n_features, 2),
        ("n_bins", 2 if n_bins is None else n_bins, 2),
        ("n_permutations", n_permutations, 1),
    ):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")
    if isinstance(order, bool) or order not in (2, 3):
        raise ValueError(f"order must be 2 for pairs or 3 for triples; got {order!r}.")


def _choose_features(
    features: Any, names: Sequence[str], weights: FloatArray, n: int, labels: dict[int, int]
) -> npt.NDArray[np.intp]:
    """Positions of the features to look at, in the order of the columns."""
    if features is None:
        return np.sort(np.argsort(-weights, kind="stable")[:n])
    if isinstance(features, str) or not np.iterable(features):
        raise ValueError(f"features must be a list of names or positions of columns; got {features!r}.")
    return np.unique([_position(feature, names, labels) for feature in features]).astype(np.intp)


def _position(feature: Any, names: Sequence[str], labels: dict[int, int]) -> int:
    if isinstance(feature, numbers.Integral) and not isinstance(feature, bool):
        if int(feature) in labels:
            return labels[int(feature)]
        if not -len(names) <= int(feature) < len(names):
            raise ValueError(f"features holds the position {feature}, but X has {len(names)} columns.")
        return int(feature) % len(names)
    if feature not in names:
        raise ValueError(f"features names {feature!r}, which is no column of X.")
    return names.index(feature)


def _refuse_sizes(groups: Sequence[Any], n_features: int, order: int) -> None:
    if n_features < order:
        raise ValueError(f"interactions of {order} features need {order} different ones; got {n_features}.")
    if len(groups) > MOST_GROUPS:
        raise ValueError(
            f"{n_features} features make {len(groups):,} groups of {order}, more than {MOST_GROUPS:,}. Look at fewer "
            "features."
        )
