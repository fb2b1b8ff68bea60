"""What features tell together beyond what they tell in smaller company, and how much of that is chance.

    I(A,B;Y) - I(A;Y) - I(B;Y)                                                    two features, bits
    I(A,B,C;Y) - I(A,B;Y) - I(A,C;Y) - I(B,C;Y) + I(A;Y) + I(B;Y) + I(C;Y)        three

Both are sum over subsets S of the features of (-1)^(size - |S|) G(S), where G(S) adds up over the cells of S

    sum_C f(n_cell,C) - f(n_cell),  f(n) = n log2 n        classes: n I(S;Y) up to a constant that cancels
    (sum of y in the cell)^2 / n_cell                      numbers: the sum of squares that S explains, likewise

and the empty set is one cell of all rows. For numbers the answer is a share of the variance of y instead of bits. Rows
in which any of the features is unknown are left out, of all the terms.

From few rows these numbers are too large: features that have nothing to do with y have a mean of about
(r-1)(s-1)(C-1) / (2 n ln 2) bits with r and s values. So the labels are permuted, which says what to expect by chance and
how much it varies; a pair counts by how many standard deviations it lies above that, and its p-value is the share of
permutations in which *any* pair does as well (Westfall and Young's max-T).

f and the squares are rounded once to whole multiples of a small unit, and everything is added in 64-bit integers: no
order of rows, classes or categories changes a bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from nearhit.engines import choose_engine
from nearhit.progress import progress
from nearhit.table import Classes, Table, Target

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: numbers of no more different values keep them all, however few bins there are
MOST_VALUES_KEPT = 4
#: what permuted targets take at most, and as many of them as are added up at a time, so that they stay in the cache
BYTES_OF_TARGETS, BYTES_AT_A_TIME = 2**27, 2**20
#: values of a permutation that differ by less are the same: they are of the size of 1
ALL_ALIKE = 1e-12
#: rough speed, for the progress bar: rows times permutations times classes a second
CELLS_A_SECOND = 5e8
GROUPS_OF_A_TASK = 32


@dataclass(frozen=True, eq=False)
class JointRelevance:
    """For each group of features: its value, what chance gives on average, how far above, and the p-value."""

    values: FloatArray
    by_chance: FloatArray
    deviations: FloatArray
    p_values: FloatArray


def measure_groups(
    cells: IntArray,
    target: Target,
    groups: Sequence[tuple[int, ...]],
    n_permutations: int,
    seed: int,
    threads: int = 1,
    verbose: int = 0,
) -> JointRelevance:
    """The joint relevance of groups of features, and its permutation null.

    Parameters
    ----------
    cells : array of shape (n_rows, n_features)
        Values as 0, 1, …; -1 where unknown.
    target : Classes or Numbers
    groups : sequence of tuples of columns of `cells`
    n_permutations, seed : int
        Permutation b depends on the seed and b only.
    """
    n_rows, order = len(cells), len(groups[0])
    measure = Bits.of(target, n_rows, order) if isinstance(target, Classes) else Variance.of(target.codes)
    values = np.empty((len(groups), 1 + n_permutations))
    bytes_of_one = 8 * n_rows * measure.columns_of_a_target
    chunk, at_a_time = max(1, BYTES_OF_TARGETS // bytes_of_one), max(1, BYTES_AT_A_TIME // bytes_of_one)
    tasks = [slice(i, i + GROUPS_OF_A_TASK) for i in range(0, len(groups), GROUPS_OF_A_TASK)]
    starts = range(0, 1 + n_permutations, chunk)
    seconds = len(groups) * n_rows * (1 + n_permutations) * measure.columns_of_a_target / CELLS_A_SECOND / threads
    with progress("interactions", len(tasks) * len(starts), seconds, verbose) as report:
        for start in starts:
            orders = list(_orders(n_rows, range(start, min(start + chunk, 1 + n_permutations)), seed))
            moved = [measure.arrange(orders[i : i + at_a_time]) for i in range(0, len(orders), at_a_time)]

            def measure_some(some: slice, moved: list[npt.NDArray] = moved, n: int = len(orders)) -> FloatArray:
                return np.array([_value(cells[:, list(group)], measure, moved, n) for group in groups[some]])

            for some, found in zip(
                tasks, choose_engine(threads, len(tasks), report).map(measure_some, tasks), strict=True
            ):
                values[some, start : start + len(orders)] = found
    return _against_chance(values)


def _orders(n_rows: int, numbers: range, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """Orders of the rows: as they are, and permutations 1, 2 …"""
    for b in numbers:
        yield np.arange(n_rows) if b == 0 else np.random.default_rng([seed, b]).permutation(n_rows)


def _against_chance(values: FloatArray) -> JointRelevance:
    """The first column against all columns, itself among them: under the null it is one of them like any other."""
    by_chance, spread = values.mean(axis=1), values.std(axis=1)
    varies = spread > ALL_ALIKE
    deviations = (values - by_chance[:, None]) / np.where(varies, spread, np.inf)[:, None]
    best = np.sort(deviations.max(axis=0))
    as_good = len(best) - np.searchsorted(best, deviations[:, 0], side="left")
    p_values = np.where(varies, as_good / len(best), 1.0)
    return JointRelevance(values[:, 0].copy(), by_chance, deviations[:, 0].copy(), p_values)


def _value(columns: IntArray, measure: Measure, moved: list[npt.NDArray], n_orders: int) -> FloatArray:
    """The joint relevance of some columns, for each order of the target."""
    known = np.flatnonzero((columns >= 0).all(axis=1))
    if not len(known):
        return np.zeros(n_orders)
    cells, cell_of_row = _number_cells(columns[known])
    adds_up = _sum_over(cell_of_row, len(cells), known, len(columns)).astype(moved[0].dtype)  # or all is converted
    full = np.hstack([adds_up @ some for some in moved])
    parts, signs = _subsets(cells.shape, cells.tobytes())
    sums, sizes = parts @ full, parts @ np.bincount(cell_of_row, minlength=len(cells))
    scores = measure.score(sums.reshape(len(sums), n_orders, -1), sizes)
    return (signs @ scores).astype(np.float64) * measure.unit(len(known))


def _number_cells(columns: IntArray) -> tuple[IntArray, IntArray]:
    """The combinations of values that occur, and which of them each row has."""
    code = columns[:, 0].copy()
    for column in columns.T[1:]:
        code = code * (column.max(initial=0) + 1) + column
        code = np.unique(code, return_inverse=True)[1]  # small again, so that many values cannot overflow
    _, first, cell_of_row = np.unique(code, return_index=True, return_inverse=True)
    return columns[first], cell_of_row


def _sum_over(cell_of_row: IntArray, n_cells: int, rows: npt.NDArray[np.intp], n_rows: int) -> csr_array:
    """The matrix that adds up the rows of each cell."""
    by_cell = np.argsort(cell_of_row, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(cell_of_row, minlength=n_cells))])
    return csr_array((np.ones(len(rows), np.int64), rows[by_cell], begins), shape=(n_cells, n_rows))


@lru_cache(maxsize=64)  # groups of features that have all combinations of equally many values share it
def _subsets(shape: tuple[int, int], values: bytes) -> tuple[csr_array, IntArray]:
    """The matrix that adds up cells to the cells of each subset of the columns, and the sign of each of its lines."""
    cells, (n, order) = np.frombuffer(values, np.int64).reshape(shape), shape
    everything = np.arange(n)
    matrices, signs = [], []
    for size in range(order + 1):
        for subset in combinations(range(order), size):
            part = _number_cells(cells[:, subset])[1] if subset else np.zeros(n, np.int64)
            n_parts = int(part.max()) + 1
            matrices.append(_sum_over(part, n_parts, everything, n))
            signs.append(np.full(n_parts, (-1) ** (order - size)))
    return vstack(matrices, format="csr"), np.concatenate(signs)


# ------------------------------------------------------------------------------------------------------- two measures


class Measure(Protocol):
    """What a cell is worth, as a whole number, so that the order of adding up does not matter."""

    @property
    def columns_of_a_target(self) -> int:
        """How many columns stand for one target."""

    def arrange(self, orders: list[npt.NDArray[np.intp]]) -> npt.NDArray:
        """The targets in different orders, side by side: what is to be added up over the rows of a cell."""

    def score(self, sums: npt.NDArray, sizes: IntArray) -> IntArray:
        """The worth of cells, from sums of shape (cells, orders, columns of a target) and numbers of rows."""

    def unit(self, n_known: int) -> float:
        """What 1 is in the answer."""


@dataclass(frozen=True, eq=False)
class Bits:
    """Classes: the rows of each class but the last are counted, the last has the rest."""

    classes: npt.NDArray[np.int32]
    n_classes: int
    worth: IntArray
    fraction_bits: int

    @staticmethod
    def of(target: Classes, n_rows: int, order: int) -> Bits:
        # The 2**order subsets add up to 2**order * f(n) at most, because f of the parts is less than f of the whole.
        largest = n_rows * math.log2(max(n_rows, 2))
        bits = min(44, 62 - order - math.ceil(math.log2(largest)))
        # math.log2, not np.log2: NumPy's answer may depend on the instruction set in the last bit.
        worth = np.array([0, *(round(math.ldexp(n * math.log2(n), bits)) for n in range(1, n_rows + 1))], np.int64)
        return Bits(target.codes, target.n_classes, worth, bits)

    @property
    def columns_of_a_target(self) -> int:
        return self.n_classes - 1

    def arrange(self, orders: list[npt.NDArray[np.intp]]) -> npt.NDArray[np.int32]:
        is_class = self.classes[:, None] == np.arange(self.n_classes - 1)
        return np.hstack([is_class[order] for order in orders]).astype(np.int32)

    def score(self, sums: npt.NDArray, sizes: IntArray) -> IntArray:
        rest = sizes[:, None] - sums.sum(axis=2)
        return self.worth[sums].sum(axis=2) + self.worth[rest] - self.worth[sizes][:, None]

    def unit(self, n_known: int) -> float:
        return math.ldexp(1.0, -self.fraction_bits) / n_known


@dataclass(frozen=True, eq=False)
class Variance:
    """Numbers: whole ones, around their mean, so that their sums are exact as float64."""

    centred: FloatArray
    squares: float

    FRACTION_BITS = 56

    @staticmethod
    def of(codes: npt.NDArray[np.uint32]) -> Variance:
        whole = codes.astype(np.int64)
        centred = whole - round(int(whole.sum()) / len(whole))
        return Variance(centred.astype(np.float64), float(sum(c * c for c in centred.tolist())))

    @property
    def columns_of_a_target(self) -> int:
        return 1

    def arrange(self, orders: list[npt.NDArray[np.intp]]) -> FloatArray:
        return np.column_stack([self.centred[order] for order in orders])

    def score(self, sums: npt.NDArray, sizes: IntArray) -> IntArray:
        explained = sums[:, :, 0] * sums[:, :, 0] / (sizes[:, None] * self.squares)
        return np.rint(np.ldexp(explained, self.FRACTION_BITS)).astype(np.int64)

    def unit(self, n_known: int) -> float:
        return math.ldexp(len(self.centred) / n_known, -self.FRACTION_BITS)


# ------------------------------------------------------------------------------------------------------------- cells


def cells_of(table: Table, features: npt.NDArray[np.intp], n_bins: int) -> IntArray:
    """The values of some features as 0, 1, …, -1 where unknown; numbers of many values in bins of equal frequency."""
    return np.column_stack([_cells_of_column(table, int(feature), n_bins) for feature in features])


def _cells_of_column(table: Table, feature: int, n_bins: int) -> IntArray:
    is_numeric = feature in table.numeric_columns
    columns = table.numeric_columns if is_numeric else table.nominal_columns
    codes, unknown = (table.numeric, table.numeric_unknown) if is_numeric else (table.nominal, table.nominal_unknown)
    place = int(np.flatnonzero(columns == feature)[0])
    values = codes[:, place].astype(np.int64)
    known = np.ones(len(values), bool) if unknown is None else ~unknown[:, place]
    cells = np.full(len(values), -1)
    if known.any():
        cells[known] = (
            bins_of(values[known], n_bins) if is_numeric else np.unique(values[known], return_inverse=True)[1]
        )
    return cells


def bins_of(values: npt.NDArray[Any], n_bins: int) -> IntArray:
    """Bins of equal frequency, as far as equal values, which share a bin, allow; few different values are kept."""
    different, codes = np.unique(values, return_inverse=True)
    if len(different) <= max(n_bins, MOST_VALUES_KEPT):
        return codes
    ascending = np.sort(values)
    cuts = np.unique(ascending[[-(-len(values) * i // n_bins) - 1 for i in range(1, n_bins)]])
    return np.searchsorted(cuts, values, side="left")


def choose_bins(n_rows: int, target: Target) -> int:
    """4 where the 16 cells of a pair then hold ten rows of each class, else 2: a cut at the median."""
    n_classes = target.n_classes if isinstance(target, Classes) else 1
    return 4 if n_rows >= 10 * 16 * n_classes else 2
