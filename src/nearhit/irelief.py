"""I-Relief: who is near depends on the weights, and the weights on who is near (Sun 2007).

    d(n, i)   = sum_A w_A diff(A, n, i)                  under the weights w of the round before
    alpha     = e^(-d/sigma), normalised over the misses of n: the probabilities of being its nearest miss
    beta      = the same over its hits
    gamma_n   = sum of e^(-d/sigma) over the hits of n / the same over all others: the probability that it is no outlier
    nu_A      = 1/m sum_n gamma_n [sum_i alpha diff(A, n, i) - sum_i beta diff(A, n, i)]
    w         = max(nu, 0) / |max(nu, 0)|                round after round, until it stands still

Y. Sun. Iterative RELIEF for feature weighting: algorithms, theories, and applications. IEEE Transactions on Pattern
Analysis and Machine Intelligence 29(6), 1035-1051, 2007.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import threadpoolctl
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from nearhit.engines import choose_engine
from nearhit.fitting import Fit
from nearhit.iterated import Iterated
from nearhit.progress import progress
from nearhit.recipes import Recipe, Unknown
from nearhit.row_diffs import RowDiffs
from nearhit.table import Classes, Table

FloatArray = npt.NDArray[np.float64]
MISSES = ("any class", "each class")
#: rough, for the progress bar only
SECONDS_OF_A_DIFF, ROUNDS_EXPECTED = 1e-9, 20


class IRelief(Iterated):
    """Weights and neighbours that agree with each other (I-Relief, Sun 2007).

    ReliefF judges who is near by all features alike. I-Relief judges by the weights that it has found so far, finds new
    weights, and goes on until both agree: irrelevant features cease to blur the neighbourhoods. All rows take part, each
    with the probability that it is the nearest hit or miss, and rows that lie among another class count less.

    Each round compares all rows in all features: n² · a diffs, about a second for 1e9 of them on two cores.

    Parameters
    ----------
    sigma : float, default=0.5
        How far *near* reaches: a row farther away by sigma is e times less likely to be the nearest. Distances are those
        under weights whose squares add up to 1. Large values see single features only, small ones are noisy.
    misses : {"any class", "each class"}, default="any class"
        The nearest miss of any other class (Sun's I-Relief-2), or the mean over the nearest of each other class, by
        their shares among the other classes (I-Relief-1). For two classes they are the same.
    discount_outliers : bool, default=True
        Count each row by the probability that it is no outlier, as published; False counts all alike.
    damping : float, default=0.5
        The share of the old weights in the new ones, from 0 (as published) to below 1. Where features matter only
        together, undamped rounds swing between them: the one whose weight is larger makes the other look better.
    max_iter : int, default=200
        Rounds at most.
    tol : float, default=1e-4
        Stop when a round would move the weights by less (Euclidean).
    missing : {"expected", "uniform"}, default="expected"
        An unknown value differs by what is expected given the classes, or by what two random values differ by.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `ReliefF`.
    select : None, int, float, str or callable, default=None
        What `transform` keeps, as in `ReliefF`; but no rule of Chebyshev or p-values. ``">0"`` keeps what was
        not ruled out.
    n_jobs : int or None, default=None
        Threads. None takes all cores, or one inside a parallel worker of joblib. No bit of the result depends on it.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        How much each feature matters: 0 or more, the squares add up to 1. Also `feature_importances_`.
    n_iter_ : int
        How many rounds there were.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    ranking_, support_, target_kind_, kernel_, classes_, n_features_in_, feature_names_in_
        As in `ReliefF`.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import IRelief, ReliefF
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((200, 200))
    >>> y = (X[:, 3] > 0.5) ^ (X[:, 7] > 0.5)
    >>> ReliefF().fit(X, y).ranking_[[3, 7]].tolist()
    [2, 32]
    >>> relief = IRelief().fit(X, y)
    >>> relief.ranking_[[3, 7]].tolist(), relief.weights_[[3, 7]].round(2).tolist()
    ([2, 1], [0.59, 0.6])
    """

    def __init__(
        self,
        sigma: float = 0.5,
        *,
        misses: str = "any class",
        discount_outliers: bool = True,
        damping: float = 0.5,
        max_iter: int = 200,
        tol: float = 1e-4,
        missing: str = "expected",
        categorical_features: Any = "from_dtype",
        select: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            missing=missing, categorical_features=categorical_features, select=select, n_jobs=n_jobs, verbose=verbose
        )
        self.sigma = sigma
        self.misses = misses
        self.discount_outliers = discount_outliers
        self.damping = damping
        self.max_iter = max_iter
        self.tol = tol

    def _recipe(self) -> Recipe:
        return Recipe("I-Relief", k=None, unknown=cast(Unknown, self.missing))

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        margins = Margins(table, RowDiffs(table, recipe, self._options()), Nearness.of(self))
        guess = SECONDS_OF_A_DIFF * table.n_rows**2 * table.n_features * ROUNDS_EXPECTED
        title = type(self).__name__
        with progress(title, self.max_iter, guess, self.verbose) as report, threadpoolctl.threadpool_limits(1, "blas"):
            w, n_iter, change = iterate(margins.mean, table.n_features, self.damping, self.max_iter, self.tol, report)
        self.n_iter_ = n_iter
        if not w.any():
            warnings.warn(
                "no feature differs more to the nearest miss than to the nearest hit: all weights are 0. Use a smaller "
                "sigma, or take it that the features tell nothing of the classes.",
                UserWarning,
                stacklevel=4,
            )
        elif change >= self.tol:
            warnings.warn(
                f"I-Relief did not come to rest in max_iter={self.max_iter} rounds: the last one moved the weights by "
                f"{change:.2g}, and tol={self.tol:g}. Use a larger sigma or more damping, or allow more rounds.",
                ConvergenceWarning,
                stacklevel=4,
            )
        weight = table.all_units / table.one
        return Fit(table.in_column_order(w), weight, weight, margins.diffs.what_ran(margins.n_threads))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_positive("tol")
        self._check_count("max_iter")
        if not isinstance(self.misses, str) or self.misses not in MISSES:
            raise ValueError(f"misses must be one of {', '.join(map(repr, MISSES))}; got {self.misses!r}.")
        if not isinstance(self.discount_outliers, bool | np.bool_):
            raise ValueError(f"discount_outliers must be True or False; got {self.discount_outliers!r}.")
        damping = self.damping
        if not isinstance(damping, Real) or isinstance(damping, bool) or not 0 <= damping < 1:
            raise ValueError(f"damping must be a share of at least 0 and below 1; got {damping!r}.")


def iterate(
    margins: Callable[[FloatArray], FloatArray],
    n_features: int,
    damping: float,
    max_iter: int,
    tol: float,
    report: Callable[[int], None] | None,
) -> tuple[FloatArray, int, float]:
    """Weights that their own margins give back, from equal ones; how many rounds it took, and the last change."""
    w = np.full(n_features, n_features**-0.5)
    for n_iter in range(1, max_iter + 1):
        found = on_the_unit_sphere(np.maximum(margins(w), 0))
        change = float(np.sqrt(((found - w) ** 2).sum()))
        at_rest = change < tol or not found.any()
        if report:
            report(max_iter + 1 - n_iter if at_rest else 1)  # the bar comes to its end
        if at_rest:
            return found, n_iter, change  # not damped: what is ruled out is 0
        w = on_the_unit_sphere(damping * w + (1 - damping) * found)
    return w, max_iter, change


def on_the_unit_sphere(w: FloatArray) -> FloatArray:
    """Squares add up to 1; zeros stay zeros."""
    length = np.sqrt((w**2).sum())
    return w / length if length > 0 else w


@dataclass(frozen=True)
class Nearness:
    """What makes a row the nearest."""

    sigma: float
    each_class: bool
    discount_outliers: bool

    @staticmethod
    def of(relief: IRelief) -> Nearness:
        return Nearness(float(relief.sigma), relief.misses == "each class", bool(relief.discount_outliers))


class Margins:
    """How much farther the nearest miss is than the nearest hit, in each feature; numeric columns first."""

    def __init__(self, table: Table, diffs: RowDiffs, nearness: Nearness) -> None:
        target = table.targets[0]
        assert isinstance(target, Classes)
        self.diffs, self.nearness = diffs, nearness
        self.copies = table.units() / table.one
        self.rows_of = [np.flatnonzero(target.codes == c) for c in range(target.n_classes)]
        self.share = target.weight / target.weight.sum()
        step = max(1, diffs.rows_at_once)
        self.blocks = [
            (c, slice(i, min(i + step, len(rows))))
            for c, rows in enumerate(self.rows_of)
            for i in range(0, len(rows), step)
        ]
        self.n_threads = min(diffs.n_threads, len(self.blocks))

    def mean(self, w: FloatArray) -> FloatArray:
        """nu: the mean over all rows under the weights w. Blocks are added in their order, whoever was first."""
        total = np.zeros(len(w))
        for sums in choose_engine(self.n_threads, len(self.blocks)).map(
            lambda block: self._sums(*block, w), self.blocks
        ):
            total += sums
        return total * (self.diffs.one / self.copies.sum())

    def _sums(self, c: int, place: slice, w: FloatArray) -> FloatArray:
        """What some rows of class c add to nu, in codes."""
        others = np.concatenate([self.rows_of[c], *self.rows_of[:c], *self.rows_of[c + 1 :]])  # its hits come first
        rows = self.rows_of[c][place]
        if self.diffs.rows_at_once:
            diffs = self.diffs.between(rows, others)
            return self._coefficients(c, place, others, (diffs @ w).reshape(len(rows), -1)).ravel() @ diffs
        # One row of very many features: some of the others at a time, and each of them twice.
        parts = self.diffs.parts(others)
        distances = np.concatenate([self.diffs.between(rows, some) @ w for some in parts])
        coefficients = self._coefficients(c, place, others, distances[None])[0]
        starts = range(0, len(others), len(parts[0]))
        return sum(
            (
                coefficients[i : i + len(some)] @ self.diffs.between(rows, some)
                for i, some in zip(starts, parts, strict=True)
            ),
            start=np.zeros(len(w)),
        )

    def _coefficients(self, c: int, place: slice, others: npt.NDArray[np.intp], distances: FloatArray) -> FloatArray:
        """How much the diffs to each of the others count: gamma * (alpha - beta)."""
        n_hits, copies = len(self.rows_of[c]), self.copies[self.rows_of[c][place]]
        log_kernel = np.log(self.copies[others]) - distances * (self.diffs.one / self.nearness.sigma)
        with np.errstate(divide="ignore"):
            log_kernel[range(len(copies)), range(*place.indices(n_hits))] = np.log(np.maximum(copies - 1, 0))
        hits, mass_of_hits = probabilities(log_kernel[:, :n_hits])
        misses, mass_of_misses = probabilities(log_kernel[:, n_hits:])
        if self.nearness.each_class:
            misses = self._of_each_class(c, log_kernel[:, n_hits:])
        # A row without a hit has no margin, whether or not outliers are discounted.
        gamma = expit(mass_of_hits - mass_of_misses) if self.nearness.discount_outliers else mass_of_hits > -np.inf
        return np.hstack([-hits, misses]) * (gamma * copies)[:, None]

    def _of_each_class(self, own: int, log_kernel: FloatArray) -> FloatArray:
        """The probabilities of being the nearest of each other class, weighted by P(C) / (1 - P(class of the row))."""
        classes = [c for c in range(len(self.share)) if c != own]
        ends = np.cumsum([len(self.rows_of[c]) for c in classes])
        of_classes = np.split(log_kernel, ends[:-1], axis=1)
        shares = self.share[classes] / (1 - self.share[own])
        return np.hstack([probabilities(some)[0] * share for some, share in zip(of_classes, shares, strict=True)])


def probabilities(log_kernel: FloatArray) -> tuple[FloatArray, FloatArray]:
    """In each line, the kernel normalised to 1, and the logarithm of its sum: -inf where nobody is."""
    largest = log_kernel.max(axis=1, initial=-np.inf)
    is_there = largest > -np.inf
    kernel = np.exp(log_kernel - np.where(is_there, largest, 0)[:, None])  # the nearest is 1: no 0/0 among the far ones
    total = np.where(is_there, kernel.sum(axis=1), 1)
    return kernel / total[:, None], largest + np.log(total)
