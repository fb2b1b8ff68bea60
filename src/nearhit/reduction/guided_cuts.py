"""Cut points guided by ReliefF: bins that tell near rows of different classes apart, also where only columns together do.

The neighbours are found once, in the columns as they are. The cuts of a column make a categorical feature of it, its bins,
and the cut that raises the ReliefF weight of that feature most is added, again and again, while it raises it. A cut
separates a pair of rows if it lies between their values, and it gains by the pairs that no earlier cut has separated:

    gain(cut) = sum of w over the near rows of other classes that it separates - the same over those of the same class

All cuts of a bin cost one array of differences over the pairs in it (SPEC.md section 8), and a cut leaves other bins alone,
so the bin whose best cut gains most is split first. With a numeric target a pair counts as RReliefF has it: as much as the
targets differ for the first sum, and the rest for the second. Pairs with an unknown value are left out of that column and
the sums are divided by what is known (rule C of SPEC.md section 2).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nearhit.fitting import Options
from nearhit.grid import FINEST_GRID
from nearhit.measures.cut_points import cuts_behind
from nearhit.neighbourhoods import find_neighbours
from nearhit.recipes import RELIEFF, RRELIEFF, Recipe
from nearhit.score import class_coefficients, hits_among_groups
from nearhit.sweep import Neighbours
from nearhit.table import Classes, Table

#: amounts of pairs are multiples of 2**-30, and fewer bits where the sum of row weights needs them
FRACTION_BITS = 30
#: of a weight; less is rounding
LEAST_GAIN = 1e-9
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeighedPairs:
    """Pairs of near rows: how much each asks to be told apart, and how much to stay together, in whole units.

    ``weight_apart`` and ``weight_together`` are what all pairs of a kind would count in a weight between -1 and 1.
    """

    rows: IntArray
    others: IntArray
    apart: IntArray
    together: IntArray
    weight_apart: float
    weight_together: float


@dataclass(frozen=True, eq=False)
class _Bin:
    """Values first … last - 1 of a column (numbered by size), and the pairs with two different ones of them."""

    first: int
    last: int
    low: IntArray
    high: IntArray
    apart: IntArray
    together: IntArray

    def part(self, first: int, last: int) -> _Bin:
        inside = (self.low >= first) & (self.high < last)
        return _Bin(first, last, *(array[inside] for array in (self.low, self.high, self.apart, self.together)))


def weigh_pairs(table: Table, n_neighbors: int | None, options: Options) -> WeighedPairs:
    """The neighbours of every row in the columns as they are, weighed as ReliefF or RReliefF does."""
    is_nominal = isinstance(table.targets[0], Classes)
    recipe = RELIEFF if is_nominal else RRELIEFF
    if n_neighbors is not None:
        recipe = replace(recipe, k=n_neighbors)
    bits = min(FRACTION_BITS, 60 - table.all_units.bit_length())
    found = list(find_neighbours(table, recipe, options=options))
    amounts = [(_amounts_by_class if is_nominal else _amounts_by_number)(recipe, table, some) for some in found]
    apart, together = (
        np.rint(np.concatenate([amount[part] for amount in amounts]) * 2.0**bits).astype(np.int64) for part in (0, 1)
    )
    # ReliefF means over all targets; RReliefF over what counts as different and as equal (SPEC.md section 3).
    everything = table.all_units * 2.0**bits
    weights = (int(apart.sum()) / everything, int(together.sum()) / everything) if is_nominal else (1.0, 1.0)
    rows, others = (np.concatenate([getattr(some, name) for some in found]) for name in ("target", "row"))
    return WeighedPairs(rows, others, apart, together, *weights)


def _amounts_by_class(recipe: Recipe, table: Table, some: Neighbours) -> tuple[FloatArray, FloatArray]:
    classes = table.targets[0]
    assert isinstance(classes, Classes)
    is_hit = hits_among_groups(recipe, table)
    of_target = classes.codes[some.target], some.group
    amount = some.weight * table.units()[some.target] * class_coefficients(recipe, table, is_hit)[of_target]
    return np.where(is_hit[of_target], 0.0, amount), np.where(is_hit[of_target], amount, 0.0)


def _amounts_by_number(recipe: Recipe, table: Table, some: Neighbours) -> tuple[FloatArray, FloatArray]:
    codes = table.targets[0].codes.astype(np.int64)
    diff = np.abs(codes[some.target] - codes[some.row]) / FINEST_GRID
    amount = some.weight * table.units()[some.target]
    return amount * diff, amount * (1 - diff)


def find_guided_cuts(values: FloatArray, pairs: WeighedPairs, n_bins: int | None) -> FloatArray:
    """The cuts of one column, at most ``n_bins - 1`` of them; `values` by row, NaN where unknown."""
    different, codes = np.unique(values, return_inverse=True)  # NaN is the largest
    codes[np.isnan(values)] = -1
    n_values = int(np.count_nonzero(~np.isnan(different)))
    here, there = codes[pairs.rows], codes[pairs.others]
    low, high = np.minimum(here, there), np.maximum(here, there)
    is_known = low >= 0
    scale_apart = pairs.weight_apart / max(int(pairs.apart[is_known].sum()), 1)
    scale_together = pairs.weight_together / max(int(pairs.together[is_known].sum()), 1)
    whole = _Bin(-1, n_values, low, high, pairs.apart, pairs.together).part(0, n_values)

    waiting: list[tuple[float, int, _Bin]] = []

    def look_at(some: _Bin) -> None:
        gain, cut = _best_cut(some, scale_apart, scale_together)
        if gain > LEAST_GAIN:
            heapq.heappush(waiting, (-gain, cut, some))  # of equal gains the lowest cut

    look_at(whole)
    cuts: list[int] = []
    while waiting and (n_bins is None or len(cuts) < n_bins - 1):
        _, cut, some = heapq.heappop(waiting)
        cuts.append(cut)
        look_at(some.part(some.first, cut + 1))
        look_at(some.part(cut + 1, some.last))
    return cuts_behind(different[:n_values], np.sort(np.array(cuts, np.intp)))


def _best_cut(some: _Bin, scale_apart: float, scale_together: float) -> tuple[float, int]:
    """What the best cut of a bin gains, and behind which value it lies: the first of equal ones."""
    n_cuts = some.last - some.first - 1
    if n_cuts < 1:
        return 0.0, -1
    gains = _separated(some, some.apart) * scale_apart - _separated(some, some.together) * scale_together
    best = int(np.argmax(gains))
    return float(gains[best]), some.first + best


def _separated(some: _Bin, amounts: IntArray) -> IntArray:
    """For each cut, the amount of the pairs on two sides of it: in at the lower value, out at the higher."""
    changes = np.zeros(some.last - some.first, np.int64)
    np.add.at(changes, some.low - some.first, amounts)
    np.add.at(changes, some.high - some.first, -amounts)
    return changes.cumsum()[:-1]
