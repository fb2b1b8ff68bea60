"""One pass over blocks of target rows; the sums of a pass, how two of them add up, and how they become a score.

Sums are integers on a fixed-point grid, so no order of rows, blocks or workers can change a bit of them
(DESIGN.md section 3). The raw parts are kept apart, per class of the target row and per group of its neighbours,
because priors, missing-value rule C, RReliefF and later the m-estimate and permutations need them so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.recipes import EqualWeights, RankWeights, Recipe
from nearhit.table import Classes, Table

LIMB_BITS = 32
#: targets of one block; bounds a block's sums to 64 bits (fraction_bits)
LARGEST_BLOCK = 512
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Wide:
    """An array of integers too wide for 64 bits: high * 2**32 + low."""

    high: IntArray
    low: IntArray

    @staticmethod
    def of(values: IntArray) -> Wide:
        return Wide(values >> LIMB_BITS, values & (2**LIMB_BITS - 1))

    def __add__(self, other: Wide) -> Wide:
        low = self.low + other.low
        return Wide(self.high + other.high + (low >> LIMB_BITS), low & (2**LIMB_BITS - 1))

    def __getitem__(self, place: Any) -> Wide:
        return Wide(self.high[place], self.low[place])

    def scaled(self, factor: float) -> npt.NDArray[np.float64]:
        """As floats times a factor; two roundings whatever the history of the sum."""
        return (self.high.astype(np.float64) * 2.0**LIMB_BITS + self.low) * factor


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

    def __add__(self, other: Sums) -> Sums:
        known = None if self.known is None or other.known is None else self.known + other.known
        return Sums(self.diffs + other.diffs, known, self.weight + other.weight, np.minimum(self.fewest, other.fewest))


@dataclass(frozen=True, eq=False)
class Plan:
    """Which target rows, in which blocks; all randomness was drawn when it was made."""

    blocks: tuple[npt.NDArray[np.intp], ...]

    @property
    def n_targets(self) -> int:
        return sum(map(len, self.blocks))


def make_plan(table: Table, targets: npt.NDArray[np.intp] | None, rows_per_block: int) -> Plan:
    """Cut the target rows, those of one class after the other, into blocks of one class each."""
    rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
    target = table.targets[0]
    if isinstance(target, Classes):
        classes = target.codes[rows]
        by_class = [rows[classes == c] for c in range(target.n_classes)]
    else:
        by_class = [rows]
    size = min(rows_per_block, LARGEST_BLOCK)
    return Plan(tuple(some[i : i + size] for some in by_class for i in range(0, len(some), size)))


def sweep(recipe: Recipe, table: Table, plan: Plan, kernel: Any, engine: Any, pair_bytes: int) -> Sums:
    """Run a recipe over the blocks of a plan and add up; no worker holds more than `pair_bytes` of pairs."""
    handle = kernel.load(table, recipe, pair_bytes)
    return reduce(Sums.__add__, engine.map(lambda block: kernel.run(handle, block), plan.blocks))


# --------------------------------------------------------------------- what kernels agree on beside the recipe


def n_groups(recipe: Recipe, table: Table) -> tuple[int, int]:
    """How many classes of target rows and how many groups of neighbours the sums keep apart."""
    target = table.targets[0]
    n_classes = target.n_classes if isinstance(target, Classes) else 1
    return n_classes, {"each class": n_classes, "hits and misses": 2, "everyone": 1}[recipe.grouping]


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
    everything = int(table.units().sum())
    one = 1 if table.weights is None else table.weights.one
    return everything if recipe.k is None else min(recipe.k * one, everything)


def counts_places(recipe: Recipe, table: Table) -> bool:
    """Whether sums count places, each of weight 1, to be divided by k at the end: exact for whole row weights."""
    return isinstance(recipe.weights, EqualWeights) and (table.weights is None or table.weights.are_whole)


def fraction_bits(recipe: Recipe, table: Table) -> int:
    """Fixed-point digits of the sums: LARGEST_BLOCK * places * 2**bits stays under 2**62."""
    in_one_row = places(recipe, table) if counts_places(recipe, table) else 1
    return min(48, 62 - LARGEST_BLOCK.bit_length() - in_one_row.bit_length())


def rank_weights(recipe: Recipe, table: Table) -> npt.NDArray[np.float64]:
    """The weights of the first 0, 1, 2 … ranks together, as far as the places reach; [0] for other kinds of weights."""
    if not isinstance(recipe.weights, RankWeights):
        return np.zeros(1)
    sigma = recipe.weights.sigma
    one = 1 if table.weights is None else table.weights.one
    n_ranks = min(-(-places(recipe, table) // one), int(27 * sigma) + 2)  # beyond 27 sigma they are 0 as floats
    # math.exp, not np.exp: NumPy's answer depends on the instruction set in the last bit.
    return np.concatenate([[0.0], np.cumsum([math.exp(-((rank / sigma) ** 2)) for rank in range(n_ranks)])])
