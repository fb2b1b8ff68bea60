"""One pass over blocks of target rows; the sums of a pass, and how those of its blocks add up.

Sums are integers on a fixed-point grid, so no order of rows, blocks or workers can change a bit of them
(DESIGN.md section 3). The raw parts are kept apart, per class of the target row and per group of its neighbours,
because priors, missing-value rule C, RReliefF and later the m-estimate and permutations need them so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from nearhit.recipes import EqualWeights, RankWeights, Recipe
from nearhit.table import Classes, Table

LIMB_BITS = 32
NEVER = np.iinfo(np.int64).max
#: targets of one block; bounds a block's sums to 64 bits (fraction_bits)
LARGEST_BLOCK = 512
#: targets of a block whose mean distances are measured: little enough for Ctrl-C
ROWS_TO_MEASURE = 96
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Wide:
    """An array of integers too wide for 64 bits: high * 2**32 + low."""

    high: IntArray
    low: IntArray

    @staticmethod
    def zeros(*shape: int) -> Wide:
        return Wide(np.zeros(shape, np.int64), np.zeros(shape, np.int64))

    def add_to(self, place: Any, other: Wide) -> None:
        """Add in place; a low half gains 32 bits a block, so it has room for 2**31 of them."""
        self.high[place] += other.high
        self.low[place] += other.low

    def __getitem__(self, place: Any) -> Wide:
        return Wide(self.high[place], self.low[place])

    def scaled(self, factor: float) -> npt.NDArray[np.float64]:
        """As floats times a factor; two roundings whatever the history of the sum."""
        carried = self.carried()
        return (carried.high.astype(np.float64) * 2.0**LIMB_BITS + carried.low) * factor

    def carried(self) -> Wide:
        """The same number with no more than 32 bits in a low half, which is the one way to write it."""
        return Wide(self.high + (self.low >> LIMB_BITS), self.low & (2**LIMB_BITS - 1))


@dataclass(frozen=True, eq=False)
class BlockSums:
    """What one block adds to the sums of its class of target rows: arrays as in `Sums`, without the first axis."""

    target_class: int
    diffs: Wide
    known: Wide | None
    weight: Wide
    fewest: IntArray


@dataclass(frozen=True, eq=False)
class Sums:
    """What a pass adds up. All arrays start with (class of the target row, group of the neighbour).

    diffs
        Sums of weight * diff per feature, numeric columns first: shape (classes, groups, 1 or 2, features). The
        second row, for numeric targets, is weight * diff of the targets * diff.
    known
        The same sums with 1 for every diff that is known on both sides: only for ``unknown="skip"``.
    weight
        Sums of weight (and of weight * diff of the targets): shape (classes, groups, 1 or 2).
    fewest
        The smallest weight of a neighbourhood that was found, in units of the row weights: shape (classes, groups).
    """

    diffs: Wide
    known: Wide | None
    weight: Wide
    fewest: IntArray

    @staticmethod
    def zeros(recipe: Recipe, table: Table) -> Sums:
        classes_and_groups = n_groups(recipe, table)
        shape = (*classes_and_groups, n_parts(recipe, table), table.n_features)
        known = Wide.zeros(*shape) if recipe.unknown == "skip" else None
        never = np.full(classes_and_groups, NEVER)
        return Sums(Wide.zeros(*shape), known, Wide.zeros(*shape[:-1]), never)

    def add(self, block: BlockSums) -> None:
        """Add a block in place. Integers: the same sums in whatever order the blocks come."""
        c = block.target_class
        self.diffs.add_to(c, block.diffs)
        if self.known is not None and block.known is not None:
            self.known.add_to(c, block.known)
        self.weight.add_to(c, block.weight)
        self.fewest[c] = np.minimum(self.fewest[c], block.fewest)


def bytes_of_sums(recipe: Recipe, table: Table) -> int:
    """What the sums of a pass take: 16 bytes for each pair of classes and feature."""
    n_classes, groups = n_groups(recipe, table)
    return n_classes * groups * table.n_features * 16 * (2 if recipe.unknown == "skip" else 1)


@dataclass(frozen=True, eq=False)
class Plan:
    """Which target rows, in which blocks; all randomness was drawn when it was made."""

    blocks: tuple[npt.NDArray[np.intp], ...]


def make_plan(table: Table, rows: npt.NDArray[np.intp], rows_per_block: int) -> Plan:
    """Cut the target rows, those of one class after the other, into blocks of one class each."""
    target = table.targets[0]
    if isinstance(target, Classes):
        classes = target.codes[rows]
        by_class = [rows[classes == c] for c in range(target.n_classes)]
    else:
        by_class = [rows]
    size = min(rows_per_block, LARGEST_BLOCK)
    return Plan(tuple(some[i : i + size] for some in by_class for i in range(0, len(some), size)))


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of a target row and a neighbour, in order of target, group and row.

    ``weight`` is what all copies of the neighbour count in their group together; over one group it adds up to 1.
    """

    target: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]

    @staticmethod
    def of_copies(target: IntArray, group: IntArray, row: IntArray, copies: IntArray, weight: Any) -> Neighbours:
        """From what a kernel finds: how many copies of a row there are, and what one of them weighs, on any scale."""
        order = np.lexsort((row, group, target))
        target, group, row, amount = target[order], group[order], row[order], (weight * copies)[order]
        begins = np.flatnonzero(np.diff(target, prepend=-1) | np.diff(group, prepend=-1))
        sizes = np.diff(begins, append=len(target))
        # In order of size: the order of the rows must not show in the last bit of a sum.
        by_size = np.lexsort((amount, group, target))
        together = np.add.reduceat(amount[by_size], begins) if len(begins) else amount
        return Neighbours(target, group, row, amount / np.repeat(together, sizes))


@dataclass(frozen=True, eq=False)
class Moments:
    """The distances of some target rows to all others: how many (in units), their sums and sums of squares, exactly."""

    counts: list[int]
    sums: list[int]
    squares: list[int]


def measure_moments(
    table: Table, rows: npt.NDArray[np.intp], kernel: Any, handle: Any, engine: Any
) -> Iterator[tuple[npt.NDArray[np.intp], Moments]]:
    """The moments of the distances of some rows, block by block: one sweep."""
    blocks = make_plan(table, rows, ROWS_TO_MEASURE).blocks
    yield from zip(blocks, engine.map(lambda block: kernel.moments(handle, block), blocks), strict=True)


def all_pairs(table: Table, kernel: Any, handle: Any, engine: Any, squares: bool = False) -> tuple[int, int, int]:
    """How many pairs of rows there are, in units of weight, the sum of their distances, and that of the squares."""
    pairs = together = second = 0
    for block, m in measure_moments(table, np.arange(table.n_rows), kernel, handle, engine):
        units = table.units()[block].tolist()
        pairs += sum(n * w for n, w in zip(m.counts, units, strict=True))
        together += sum(s * w for s, w in zip(m.sums, units, strict=True))
        second += sum(s * w for s, w in zip(m.squares, units, strict=True)) if squares else 0
    return pairs, together, second


def find_radii(recipe: Recipe, table: Table, rows: npt.NDArray[np.intp], kernel: Any, handle: Any, engine: Any) -> IntArray:
    """For each row that is asked for, the largest distance within its radius (-1 if none is) and the largest not beyond.

    Near is what does not exceed the first, far what exceeds the second. One sweep, no rounding.
    """
    radii = np.full((table.n_rows, 2), -1)
    if recipe.radius == "own mean":
        for block, m in measure_moments(table, rows, kernel, handle, engine):
            radii[block] = [_around_own_mean(*row) for row in zip(m.counts, m.sums, m.squares, strict=True)]
    else:
        pairs, together, _ = all_pairs(table, kernel, handle, engine)
        radii[rows] = max(together - 1, -1) // pairs, together // pairs  # the largest D < T, the largest D <= T
    return radii


def _around_own_mean(n: int, total: int, squares: int) -> tuple[int, int]:
    """The largest D with D < T - sigma / 2, and with D <= T + sigma / 2; T = total / n, sigma^2 = squares / n - T^2.

    That is 2 (total - n D) > root of (n * squares - total^2), and whole numbers exceed a root that exceed its floor;
    and 2 (n D - total) <= that root, which holds for whole numbers up to its floor.
    """
    root = math.isqrt(n * squares - total * total)
    return max((2 * total - root - 1) // (2 * n), -1), (2 * total + root) // (2 * n)


def rows_met(table: Table, rows: npt.NDArray[np.intp]) -> list[int]:
    """How many rows each of some rows meets, in units of the row weights: all but one copy of itself."""
    units = table.units()
    return (table.all_units - np.minimum(units[rows], table.one)).tolist()


@dataclass(frozen=True, eq=False)
class Sigmoid:
    """The mean and the standard deviation of distances for each target row, around which a sigmoid weighs them."""

    centre: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]

    def weigh(
        self, recipe: Recipe, table: Table, block: npt.NDArray[np.intp], distances: IntArray
    ) -> npt.NDArray[np.float64]:
        """What each row weighs for each target of a block, of one class: more than 0 if it is near, less if it is far.

        Each group that has near (or far) rows speaks with their mean, misses by their priors among those present.
        scipy's expit, not NumPy's exp: that depends on the instruction set in the last bit.
        """
        spread = self.spread[block][:, None]
        steepness = np.divide(4.0, spread, out=np.zeros_like(spread), where=spread > 0)
        weights = 2 * expit((self.centre[block][:, None] - distances) * steepness) - 1
        copies = np.tile(table.units(), (len(block), 1))
        own = np.arange(len(block)), block
        copies[own] = np.maximum(copies[own] - table.one, 0)
        target = table.targets[0]
        if isinstance(target, Classes):
            groups, own_class = np.tile(target.codes, (len(block), 1)), int(target.codes[block[0]])
            prior = target.weight.copy()
            prior[own_class] = 0
        else:
            apart = np.abs(target.codes[block].astype(np.int64)[:, None] - target.codes.astype(np.int64))
            groups, prior = (apart > largest_diff_of_hits(recipe, table)).astype(np.int32), np.array([0, 1])
            own_class = 0
        factors = np.zeros_like(weights)
        for side in (weights > 0, weights < 0):
            there = np.stack([np.where(side & (groups == g), copies, 0).sum(axis=1) for g in range(len(prior))])
            others = np.maximum(((there > 0) * prior[:, None]).sum(axis=0), 1)
            for g in range(len(prior)):
                share = np.ones(len(block)) if g == own_class else prior[g] / others
                factors += np.where(side & (groups == g), (share / np.maximum(there[g], 1))[:, None], 0.0)
        return weights * factors


def find_sigmoid(recipe: Recipe, table: Table, rows: npt.NDArray[np.intp], kernel: Any, handle: Any, engine: Any) -> Sigmoid:
    """Mean and standard deviation of the distances of all pairs, or of each row's own: one sweep, rounded at the end."""
    centre, spread = np.zeros(table.n_rows), np.zeros(table.n_rows)
    if recipe.radius == "own mean":
        for block, m in measure_moments(table, rows, kernel, handle, engine):
            own = [_mean_and_deviation(*row) for row in zip(m.counts, m.sums, m.squares, strict=True)]
            centre[block], spread[block] = np.array(own).T
    else:
        centre[:], spread[:] = _mean_and_deviation(*all_pairs(table, kernel, handle, engine, squares=True))
    return Sigmoid(centre, spread)


def _mean_and_deviation(n: int, total: int, squares: int) -> tuple[float, float]:
    return total / n, math.sqrt(n * squares - total * total) / n


def sweep(
    sums: Sums,
    blocks: Iterable[npt.NDArray[np.intp]],
    kernel: Any,
    handle: Any,
    engine: Any,
    radii: IntArray | Sigmoid | None = None,
) -> None:
    """Run a loaded table and its recipe over blocks of target rows, and add up; `radii` by row, if the recipe has any."""

    def run(rows: npt.NDArray[np.intp]) -> BlockSums:
        if isinstance(radii, Sigmoid):
            weights = radii.weigh(handle.recipe, handle.table, rows, kernel.distances(handle, rows))
            return kernel.run_given(handle, rows, weights)
        return kernel.run(handle, rows, None if radii is None else radii[rows])

    for block in engine.map(run, blocks):
        sums.add(block)


# --------------------------------------------------------------------- what kernels agree on beside the recipe


def n_groups(recipe: Recipe, table: Table) -> tuple[int, int]:
    """How many classes of target rows and how many groups of neighbours the sums keep apart: far ones after near ones."""
    n_classes, groups = n_near_groups(recipe, table)
    return n_classes, groups * 2 if recipe.far else groups


def n_near_groups(recipe: Recipe, table: Table) -> tuple[int, int]:
    """The same without the far groups."""
    target = table.targets[0]
    n_classes = target.n_classes if isinstance(target, Classes) else 1
    return n_classes, {"each class": n_classes, "hits and misses": 2, "everyone": 1}[recipe.grouping]


def n_parts(recipe: Recipe, table: Table) -> int:
    """1, or 2 where sums of weight * diff of the targets * diff are kept beside them (RReliefF)."""
    return 1 if isinstance(table.targets[0], Classes) or recipe.radius else 2


def largest_diff_of_hits(recipe: Recipe, table: Table) -> int:
    """With a radius and a numeric target, how far the targets of a hit may be apart: less than a standard deviation.

    In codes, and without rounding: d^2 W^2 < W sum(w c^2) - (sum w c)^2. -1 where hits are those of the own class.
    """
    target = table.targets[0]
    if isinstance(target, Classes) or not recipe.radius:
        return -1
    codes, units = target.codes.astype(object), table.units().astype(object)
    together, first, second = int(units.sum()), int((units * codes).sum()), int((units * codes * codes).sum())
    return math.isqrt(max(together * second - first * first - 1, 0)) // together


def hit_group(recipe: Recipe, target_class: int) -> int:
    """The group in which the hits of a class are counted."""
    return target_class if recipe.grouping == "each class" else 0


def group_of_class(recipe: Recipe, target_class: int, neighbour_class: int) -> int:
    """The group of a row, seen from a target row."""
    if recipe.grouping == "each class":
        return neighbour_class
    return 0 if recipe.grouping == "everyone" or neighbour_class == target_class else 1


def places(recipe: Recipe, table: Table) -> int:
    """How many places a neighbourhood has, in units of the row weights."""
    return table.all_units if recipe.k is None else min(recipe.k * table.one, table.all_units)


def frequencies(table: Table) -> IntArray:
    """Row weights as they count in expected diffs: together under 2**32, so that exact sums of squares fit 128 bits."""
    return table.units() >> max(0, table.all_units.bit_length() - 32)


def counts_places(recipe: Recipe, table: Table) -> bool:
    """Whether sums count places, each of weight 1, to be divided by k at the end: exact for whole row weights."""
    whole = table.weights is None or table.weights.are_whole
    return isinstance(recipe.weights, EqualWeights) and not recipe.radius and whole


def fraction_bits(recipe: Recipe, table: Table) -> int:
    """Fixed-point digits of the sums: LARGEST_BLOCK * places * 2**bits stays under 2**62."""
    in_one_row = places(recipe, table) if counts_places(recipe, table) else 1
    return min(48, 62 - LARGEST_BLOCK.bit_length() - in_one_row.bit_length())


def rank_weights(recipe: Recipe, table: Table) -> npt.NDArray[np.float64]:
    """The weights of the first 0, 1, 2 … ranks together, as far as the places reach; [0] for other kinds of weights."""
    if not isinstance(recipe.weights, RankWeights):
        return np.zeros(1)
    sigma = recipe.weights.sigma
    n_ranks = min(-(-places(recipe, table) // table.one), int(27 * sigma) + 2)  # beyond 27 sigma they are 0 as floats
    # math.exp, not np.exp: NumPy's answer depends on the instruction set in the last bit.
    return np.concatenate([[0.0], np.cumsum([math.exp(-(rank / sigma) * (rank / sigma)) for rank in range(n_ranks)])])
