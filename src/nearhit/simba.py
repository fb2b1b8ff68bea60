"""Simba: climb towards weights under which the nearest miss is far and the nearest hit is near (Gilad-Bachrach et al. 2004).

    |z|_w = root of sum_A w_A^2 z_A^2
    margin(x) = 1/2 (|x - nearmiss|_w - |x - nearhit|_w)         the neighbours as they are under w
    for each x, in a random order:
        w_A += 1/2 ((x - nearmiss)_A^2 / |x - nearmiss|_w - (x - nearhit)_A^2 / |x - nearhit|_w) w_A
    in the end: w <- w^2 / max w^2

R. Gilad-Bachrach, A. Navot and N. Tishby. Margin based feature selection: theory and algorithms. Proceedings of the
21st International Conference on Machine Learning, 2004.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import threadpoolctl
from sklearn.utils import check_random_state

from nearhit.engines import choose_engine
from nearhit.fitting import Fit
from nearhit.iterated import Iterated
from nearhit.progress import progress
from nearhit.recipes import Diff, Recipe, Unknown
from nearhit.row_diffs import RowDiffs
from nearhit.table import Classes, Table

FloatArray = npt.NDArray[np.float64]
#: distances that differ by less, relatively, are taken as equal: rounding must not choose the neighbour
ALMOST_EQUAL = 1e-12
#: rough, for the progress bar only
SECONDS_OF_A_DIFF = 1e-9


class Simba(Iterated):
    """Weights that widen the margins between classes, by stochastic gradient ascent (Gilad-Bachrach et al. 2004).

    One row after the other, in a random order, looks for its nearest hit and its nearest miss under the weights that
    have been found so far, and moves the weights towards those features in which the miss is the farther one. Like
    I-Relief it judges *near* by the weights, but by one neighbour at a time: quick to find a few strong features, and
    dependent on the order. Several starts find a better fit, not always a better list.

    Each pass compares all rows in all features, n² · a diffs, and so does the margin in the end. A row of sample weight w
    takes w turns in each pass, so multiply large weights down if they are no counts.

    Parameters
    ----------
    n_passes : int, default=5
        How often each row comes in turn.
    n_starts : int, default=1
        How many times to begin anew with equal weights and another order. The weights with the largest mean margin win.
    missing : {"expected", "uniform"}, default="expected"
        An unknown value differs by what is expected given the classes, or by what two random values differ by.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `ReliefF`.
    select : None, int, float, str or callable, default=None
        What `transform` keeps, as in `ReliefF`; but no rule of Chebyshev or p-values.
    n_jobs : int or None, default=None
        Threads for the starts. None takes all cores, or one inside a parallel worker of joblib. No bit of the result
        depends on it.
    random_state : int, RandomState or None, default=None
        For the orders.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        How much each feature matters, from 0 to 1, which the best one has. Also `feature_importances_`.
    margin_ : float
        The mean margin of the rows under `weights_`: above 0 if nearest hits are nearer than nearest misses.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    ranking_, support_, target_kind_, kernel_, classes_, n_features_in_, feature_names_in_
        As in `ReliefF`.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import Simba
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 20))
    >>> y = (X[:, 3] > 0.5) ^ (X[:, 7] > 0.5)
    >>> sorted(Simba(random_state=0).fit(X, y).top(2))
    ['x3', 'x7']
    """

    def __init__(
        self,
        n_passes: int = 5,
        *,
        n_starts: int = 1,
        missing: str = "expected",
        categorical_features: Any = "from_dtype",
        select: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            missing=missing, categorical_features=categorical_features, select=select, n_jobs=n_jobs, verbose=verbose
        )
        self.n_passes = n_passes
        self.n_starts = n_starts
        self.random_state = random_state

    def _recipe(self) -> Recipe:
        return Recipe("Simba", k=None, unknown=cast(Unknown, self.missing))

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        margins = NearestMargins(table, recipe, self._options())
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_starts)
        guess = SECONDS_OF_A_DIFF * table.n_rows**2 * table.n_features * self.n_passes * self.n_starts
        threads = min(margins.diffs.n_threads, self.n_starts)

        def climb(seed: int) -> tuple[float, FloatArray]:
            w = margins.climb(np.random.RandomState(seed), self.n_passes)
            w = w**2 / ((w**2).max() or 1.0)
            return margins.mean(np.sqrt(w)), w

        title = type(self).__name__
        with progress(title, self.n_starts, guess, self.verbose) as report, threadpoolctl.threadpool_limits(1, "blas"):
            found = list(choose_engine(threads, self.n_starts, report).map(climb, seeds.tolist()))
        self.margin_, w = max(found, key=lambda start: start[0])  # the first of equals
        weight = table.all_units / table.one
        return Fit(table.in_column_order(w), weight, weight, margins.diffs.what_ran(threads))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_count("n_passes")
        self._check_count("n_starts")


class NearestMargins:
    """The nearest hit and miss of single rows under weights that change; numeric columns first."""

    def __init__(self, table: Table, recipe: Recipe, options: Any) -> None:
        # Squares of codes are rounded to the grid; squares of floats are not, but the expected square of an unknown
        # value is not the square of the expected diff.
        self.squared_codes = table.has_unknown
        self.diffs = RowDiffs(table, replace(recipe, diff=Diff("squared")) if self.squared_codes else recipe, options)
        self.one = self.diffs.one if self.squared_codes else self.diffs.one**2
        self.everyone = np.arange(table.n_rows)
        target = table.targets[0]
        assert isinstance(target, Classes)
        self.class_of = target.codes
        self.varies = columns_that_vary(table)
        self.copies = table.units() / table.one

    def climb(self, rng: np.random.RandomState, n_passes: int) -> FloatArray:
        """The weights after some passes over all rows, each in an order of its own."""
        w = self.varies.astype(float)
        rows, parts = self._visits()
        for _ in range(n_passes):
            for visit in rng.permutation(len(rows)):
                hit, miss = self._nearest(rows[visit], w)
                if hit and miss:
                    w = w + parts[visit] / 2 * (miss.slope() - hit.slope()) * w
        return w

    def mean(self, w: FloatArray) -> float:
        """The mean margin over all rows that have one."""
        total = weight = 0.0
        for row, copies in enumerate(self.copies.tolist()):
            hit, miss = self._nearest(row, w)
            if hit and miss:
                total += copies * (miss.distance - hit.distance) / 2
                weight += copies
        return total / weight if weight else 0.0

    def _visits(self) -> tuple[list[int], list[float]]:
        """Each copy of a row comes in turn by itself; a part of a copy takes a part of a step."""
        rows, parts = [], []
        for row, copies in enumerate(self.copies.tolist()):
            whole = int(copies)
            rows += [row] * whole + [row] * (copies > whole)
            parts += [1.0] * whole + [copies - whole] * (copies > whole)
        return rows, parts

    def _nearest(self, row: int, w: FloatArray) -> tuple[Neighbour | None, Neighbour | None]:
        """The nearest hit and the nearest miss of a row; rows at one distance share the place."""
        weight = w**2
        distance = np.concatenate([self._squares(row, some) @ weight for some in self.diffs.parts(self.everyone)])
        met = self.copies.copy()
        met[row] = max(met[row] - 1, 0)  # of the copies of a row it is one itself
        is_hit = self.class_of == self.class_of[row]
        return self._at_least(row, distance, met * is_hit), self._at_least(row, distance, met * ~is_hit)

    def _at_least(self, row: int, distance: FloatArray, met: FloatArray) -> Neighbour | None:
        """The nearest among those that are met, or nobody."""
        group = np.flatnonzero(met)
        if not len(group):
            return None
        least = distance[group].min()
        nearest = group[distance[group] <= least * (1 + ALMOST_EQUAL)]
        squares = met[nearest] @ self._squares(row, nearest) / met[nearest].sum()
        return Neighbour(squares * self.one, float(np.sqrt(least * self.one)))

    def _squares(self, row: int, others: npt.NDArray[np.intp]) -> FloatArray:
        """The squared diffs, in units of `one`."""
        diffs = self.diffs.between(np.array([row]), others)
        return diffs if self.squared_codes else np.square(diffs, out=diffs)


def columns_that_vary(table: Table) -> npt.NDArray[np.bool_]:
    """Which columns hold more than one known value, numeric columns first; the others never differ and start at 0."""
    known = True if table.nominal_unknown is None else ~table.nominal_unknown
    limit = np.iinfo(table.nominal.dtype).max
    largest = table.nominal.max(axis=0, where=known, initial=0)
    return np.concatenate([table.top > 0, largest > table.nominal.min(axis=0, where=known, initial=limit)])


class Neighbour(NamedTuple):
    """The squared diffs to a nearest row, and its distance."""

    squares: FloatArray
    distance: float

    def slope(self) -> FloatArray:
        """The slope of the distance along each weight, by the weight; a row in the same place has none."""
        return self.squares / self.distance if self.distance > 0 else np.zeros_like(self.squares)
