"""How steady a ranking is: standard errors, rank intervals and how often a feature is selected, over resamples of rows.

Half of the rows are drawn without replacement, then the other half, and so on in complementary pairs (Shah and Samworth
2013), each class halved by itself. The table is made once: ranges and numbers of values stay those of all rows.

    standard error = sd over halves        (the delete-d jackknife with d = n/2: its factor (n - d) / d is 1)

"bootstrap" draws as many rows as there are with replacement; a row that is drawn twice has the weight 2. Then it meets
its own copy as a hit that differs in nothing, which no independent row would be. docs/selection.md has what both give.

A feature that is selected in more than a share pi of the halves, of those that are among the best q in each, is stable:
of features that are no better than chance, at most q^2 / ((2 pi - 1) a) are expected to be (Meinshausen and Buehlmann
2010). `select="stability>0.8"` takes the largest q for which that is 1.
"""

from __future__ import annotations

import math
import numbers
import re
import time
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import check_random_state

from nearhit.feature_scorer import check_seed
from nearhit.progress import progress
from nearhit.ranking import bar, ranks_of
from nearhit.recipes import Recipe
from nearhit.selection import StabilityRule, check_rule, select_features
from nearhit.table import Classes, RowWeights, Table

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
METHODS = ("subsample", "bootstrap")
N_RESAMPLES = 100
ROWS_SHOWN = 20
BAR_WIDTH = 12


class StableRow(NamedTuple):
    """One feature: its weight from all rows, and what became of it in the resamples."""

    feature: str
    weight: float
    standard_error: float
    rank: int
    rank_low: int
    rank_high: int
    share: float


@dataclass(frozen=True, eq=False)
class Stability:
    """What the resamples say about each feature. Iterate over it, index it, or take it into a data frame.

    Attributes
    ----------
    rows : tuple of StableRow
        The feature that is selected most often first; among equals the one of larger weight.
    shares : array of shape (n_features,)
        In which share of the resamples each feature was selected; features of equal weight share the places that they
        compete for. In the order of the columns.
    standard_errors : array of shape (n_features,)
        Of the weights.
    weights : array of shape (n_resamples, n_features)
        What each resample gave.
    selected_by : str
        When a feature counts as selected in a resample.
    method : str
    level : float
        Of the intervals from ``rank_low`` to ``rank_high``.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import ReliefF, stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> found = stability(ReliefF(), X, X[:, 3] ^ X[:, 7], random_state=0)
    >>> found.n_resamples, found.selected_by
    (100, 'among the best 2')
    >>> sorted((row.feature, row.share, row.rank_low, row.rank_high) for row in found[:2])
    [('x3', 1.0, 1, 2), ('x7', 1.0, 1, 2)]
    """

    rows: tuple[StableRow, ...]
    shares: FloatArray = field(repr=False)
    standard_errors: FloatArray = field(repr=False)
    weights: FloatArray = field(repr=False)
    selected_by: str
    method: str
    level: float

    @property
    def n_resamples(self) -> int:
        """How many fits there were."""
        return len(self.weights)

    def stable(self, share: float = 0.8) -> list[str]:
        """The features that were selected in more than a share of the resamples."""
        return [row.feature for row in self.rows if row.share > share]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[StableRow]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> StableRow:
        return self.rows[place]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name: what pandas, polars and pyarrow build a table from."""
        return {name: [getattr(row, name) for row in self.rows] for name in StableRow._fields}

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        shown = self.rows[:ROWS_SHOWN]
        width = max([len("feature"), *(len(row.feature) for row in shown)])
        ranks = [f"{row.rank} ({row.rank_low}-{row.rank_high})" for row in shown]
        wide = max([len("rank"), *map(len, ranks)])
        lines = [
            self._in_words(),
            f"{'feature':<{width}}  {'selected':>8}  {'':<{BAR_WIDTH}}  {'weight':>8}  {'std. err.':>9}  {'rank':>{wide}}",
        ]
        lines += [
            f"{row.feature:<{width}}  {row.share:>8.0%}  {bar(row.share, 1.0, BAR_WIDTH):<{BAR_WIDTH}}  {row.weight:>8.4f}"
            f"  {row.standard_error:>9.4f}  {rank:>{wide}}"
            for row, rank in zip(shown, ranks, strict=True)
        ]
        if len(self.rows) > len(shown):
            lines.append(f"… {len(self.rows) - len(shown)} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("feature", "selected", "weight", "std. err.", "rank"))
        body = "".join(
            f"<tr><td>{escape(row.feature)}</td><td>{row.share:.0%}</td><td>{row.weight:.4f}</td>"
            f"<td>{row.standard_error:.4f}</td><td>{row.rank} ({row.rank_low}-{row.rank_high})</td></tr>"
            for row in self.rows[:ROWS_SHOWN]
        )
        more = len(self.rows) - ROWS_SHOWN
        note = f"<p>… {more} more</p>" if more > 0 else ""
        return (
            f"<p>{escape(self._in_words())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
        )

    def _in_words(self) -> str:
        kind = "halves" if self.method == "subsample" else "bootstrap samples"
        return (
            f"selected: {self.selected_by}, in {self.n_resamples} {kind} of the rows; ranks: {self.level:.0%} intervals"
        )


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    select: Any = None,
    n_resamples: int = N_RESAMPLES,
    method: str = "subsample",
    level: float = 0.9,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Stability:
    """How much weights, ranks and selection depend on which rows happened to be there.

    Parameters
    ----------
    estimator : member of the Relief family
        What is fitted; a copy of it.
    X, y, sample_weight
        As in its `fit`. Rows are drawn, not copies: a row that is drawn comes with its weight.
    select : None, int, float, str or callable, default=None
        When a feature counts as selected in a resample, as in `nearhit.ReliefF`, but for rules by p-value or stability.
        None takes the rule of the estimator, or, if it has none, the best q, with the largest q for which of features no
        better than chance at most one is expected to be selected in more than 80 % of the halves.
    n_resamples : int, default=100
        How many fits; each takes about a quarter of a fit on all rows with "subsample", a whole one with "bootstrap".
    method : {"subsample", "bootstrap"}, default="subsample"
        Halves of the rows, in complementary pairs; or as many rows as there are, drawn with replacement. Either way each
        class by itself, so that it keeps its share.
    level : float, default=0.9
        Of the intervals of ranks.
    random_state : int, RandomState or None, default=None
        For the draws. Resample b depends on the seed and b only.
    n_jobs : int or None, default=None
        Threads of each fit; None: as the estimator has it. No bit of the result depends on it.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import ReliefF, stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> y = X[:, 3] ^ X[:, 7]
    >>> found = stability(ReliefF(), X, y, random_state=0)
    >>> sorted(found.stable(0.8))
    ['x3', 'x7']
    """
    from nearhit.estimator import ReliefEstimator, refuse_idle

    if not isinstance(estimator, ReliefEstimator):
        raise TypeError(f"estimator must be a member of the Relief family, such as ReliefF(); got {estimator!r}.")
    refuse_idle(estimator, "stability")
    _check_arguments(n_resamples, method, level)
    seed = seed_of(random_state)
    worker = clone(estimator)
    if n_jobs is not None:
        worker.set_params(**{name: n_jobs for name in worker.get_params() if name.rpartition("__")[2] == "n_jobs"})
    recipe, table, targets = worker._prepare(X, y, sample_weight)
    rule = _rule_of_a_resample(estimator.select if select is None else select, table.n_features)
    resampling = Resampling(recipe, table, method, int(n_resamples), seed)
    fits = resampling.run(worker, targets)
    weights = worker._run(recipe, table, targets).weights
    return _summary(weights, fits, rule, worker._names(), method, float(level))


def _check_arguments(n_resamples: Any, method: Any, level: Any) -> None:
    if not isinstance(n_resamples, numbers.Integral) or isinstance(n_resamples, bool) or n_resamples < 2:
        raise ValueError(f"n_resamples must be an integer of at least 2; got {n_resamples!r}.")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}.")
    if not isinstance(level, numbers.Real) or isinstance(level, bool) or not 0 < float(level) < 1:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")


def seed_of(random_state: Any) -> int:
    """One number that all draws start from."""
    check_seed(random_state)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def stable_shares(
    rule: StabilityRule, worker: Any, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, seed: int
) -> FloatArray:
    """For `select="stability>…"`: in which share of 100 halves each feature is among the best."""
    fits = Resampling(recipe, table, "subsample", N_RESAMPLES, seed).run(worker, targets)
    k = rule.k or places_of_a_resample(table.n_features, rule.share)
    return _shares([share_of_places(fit.weights, k) for fit in fits])


def places_of_a_resample(n_features: int, share: float) -> int:
    """The largest q for which at most one feature no better than chance is expected beyond a share: Meinshausen's bound.

    Two at least, so that two features that matter together are no rivals: it goes beyond the bound under 7 features.
    """
    return min(n_features, max(2, math.isqrt(int((2 * share - 1) * n_features + 1e-9))))


def share_of_places(weights: FloatArray, k: int) -> FloatArray:
    """1 for the k best features, 0 for the others; equal weights share the places that they compete for."""
    border = np.partition(weights, len(weights) - k)[len(weights) - k]
    above, level = weights > border, weights == border
    return np.where(above, 1.0, np.where(level, (k - np.count_nonzero(above)) / np.count_nonzero(level), 0.0))


# ---------------------------------------------------------------------------------------------------- the resamples


@dataclass(frozen=True, eq=False)
class ResampledFit:
    """The weights of a resample, and the weight of the rows that they are a mean over."""

    weights: FloatArray
    n_targets: float


@dataclass(frozen=True, eq=False)
class Resampling:
    """Draws of the rows of one table."""

    recipe: Recipe
    table: Table
    method: str
    n_resamples: int
    seed: int

    def run(self, estimator: Any, targets: npt.NDArray[np.intp] | None) -> list[ResampledFit]:
        """Fit each resample, one after the other, each on all threads: the bound on pair storage holds as in one fit."""
        self._refuse_too_little()
        worker = _without_bars(estimator)
        verbose = getattr(estimator, "verbose", 0)
        begin = time.perf_counter()
        fits = [self._fit(worker, 0, targets)]
        seconds = (time.perf_counter() - begin) * self.n_resamples
        title = f"{type(estimator).__name__}: {self.method}s"
        with progress(title, self.n_resamples, seconds, verbose) as report:
            for b in range(1, self.n_resamples):
                fits.append(self._fit(worker, b, targets))
                if report:
                    report(1 if b > 1 else 2)
        return fits

    def _fit(self, worker: Any, b: int, targets: npt.NDArray[np.intp] | None) -> ResampledFit:
        table, rng = self.resample(b)
        some = None
        if targets is not None:  # as many as in the fit on all rows, where there are as many rows
            some = rng.choice(table.n_rows, min(len(targets), table.n_rows), replace=False).astype(np.intp)
        fit = worker._run(self.recipe, table, some)
        return ResampledFit(fit.weights, fit.n_targets)

    def resample(self, b: int) -> tuple[Table, np.random.Generator]:
        """Resample b: its rows with their weights, and what else may be drawn for it."""
        rng = np.random.default_rng([self.seed, b // 2 if self.method == "subsample" else b])
        if self.method == "subsample":
            rows = np.flatnonzero(self._halves(rng) == b % 2)
            return self.table.take(rows), np.random.default_rng([self.seed, b, 1])
        copies = self._draw_with_replacement(rng)
        rows = np.flatnonzero(copies)
        drawn = self.table.take(rows)
        units = drawn.units() * copies[rows]
        weights = RowWeights(units, self.table.one)
        return replace(drawn, weights=weights, targets=tuple(_reweighed(t, units) for t in drawn.targets)), rng

    def _halves(self, rng: np.random.Generator) -> IntArray:
        """0 or 1 for each row: each class is halved, and where it cannot be, the smaller half so far gets the row."""
        half, sizes = np.empty(self.table.n_rows, np.int64), [0, 0]
        for rows in self._strata():
            shuffled = rng.permutation(rows)
            first = int(sizes[0] > sizes[1]) if len(rows) % 2 and sizes[0] != sizes[1] else int(rng.integers(2))
            cut = (len(rows) + 1) // 2
            half[shuffled[:cut]], half[shuffled[cut:]] = first, 1 - first
            sizes[first] += cut
            sizes[1 - first] += len(rows) - cut
        return half

    def _draw_with_replacement(self, rng: np.random.Generator) -> IntArray:
        copies = np.zeros(self.table.n_rows, np.int64)
        for rows in self._strata():
            copies += np.bincount(rng.choice(rows, len(rows)), minlength=len(copies))
        return copies

    def _strata(self) -> list[npt.NDArray[np.intp]]:
        """The rows of each class, the class that comes first in the table first: its name or number has no say."""
        target = self.table.targets[0]
        if not isinstance(target, Classes):
            return [np.arange(self.table.n_rows)]
        classes, first = np.unique(target.codes, return_index=True)
        return [np.flatnonzero(target.codes == c) for c in classes[np.argsort(first)]]

    def _refuse_too_little(self) -> None:
        if self.method == "bootstrap" and self.recipe.ties == "first":
            raise ValueError(
                'ties="first" has no meaning for rows that are drawn twice; use method="subsample" or ties="share".'
            )
        sizes = [len(rows) for rows in self._strata()]
        needed, kind = (4, "4 rows") if len(sizes) == 1 else (2, "2 rows in at least two classes")
        enough = sum(size >= needed for size in sizes) >= min(2, len(sizes))
        if self.method == "subsample" and not enough:
            raise ValueError(
                f"halves of the rows need at least {kind} to be compared; the largest have {sorted(sizes)[-2:][::-1]}. "
                'Use method="bootstrap", or more rows.'
            )


def _reweighed(target: Any, units: IntArray) -> Any:
    return target.take(np.arange(len(target.codes)), units)


def _without_bars(estimator: Any) -> Any:
    """A copy whose fits draw no progress bars of their own."""
    worker = copy(estimator)
    for name, value in estimator.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            setattr(worker, name, _without_bars(value))
    if hasattr(worker, "verbose"):
        worker.verbose = -1
    return worker


# ------------------------------------------------------------------------------------------------------ the summary


def _rule_of_a_resample(rule: Any, n_features: int) -> Any:
    if isinstance(rule, str) and re.match(r"\s*(p\b|stability)", rule, re.IGNORECASE):
        raise ValueError(
            f"select={rule!r} cannot be asked of each resample. Use a number of features, a share, a threshold or a "
            "function."
        )
    check_rule(rule, n_features)
    return places_of_a_resample(n_features, 0.8) if rule is None else rule


def _selected(rule: Any, fit: ResampledFit) -> FloatArray:
    if isinstance(rule, numbers.Real):
        return share_of_places(fit.weights, _places(rule, len(fit.weights)))
    return select_features(rule, fit.weights, fit.n_targets).astype(np.float64)


def _shares(selected: list[FloatArray]) -> FloatArray:
    return np.add.reduce(selected, axis=0) / len(selected)


def _rule_in_words(rule: Any, n_features: int) -> str:
    if callable(rule):
        return f"by {getattr(rule, '__name__', 'a function')}"
    if isinstance(rule, str):
        return f'by "{rule}"'
    k = _places(rule, n_features)
    return f"among the best {k}" if k > 1 else "the best one"


def _places(rule: Any, n_features: int) -> int:
    return int(rule) if isinstance(rule, numbers.Integral) else max(1, round(float(rule) * n_features))


def _summary(
    weights: FloatArray, fits: list[ResampledFit], rule: Any, names: Sequence[str], method: str, level: float
) -> Stability:
    of_resamples = np.array([fit.weights for fit in fits])
    shares = _shares([_selected(rule, fit) for fit in fits])
    errors = of_resamples.std(axis=0, ddof=1)
    ranks, all_ranks = ranks_of(weights), np.sort([ranks_of(fit.weights) for fit in fits], axis=0)
    outside = int(
        (1 - level) / 2 * len(fits) + 1e-9
    )  # so many ranks of each feature lie on either side of its interval
    low, high = all_ranks[outside], all_ranks[len(fits) - 1 - outside]
    order = np.lexsort((-weights, -shares))
    rows = tuple(
        StableRow(
            str(names[j]),
            float(weights[j]),
            float(errors[j]),
            int(ranks[j]),
            int(low[j]),
            int(high[j]),
            float(shares[j]),
        )
        for j in order
    )
    return Stability(rows, shares, errors, of_resamples, _rule_in_words(rule, len(weights)), method, level)
