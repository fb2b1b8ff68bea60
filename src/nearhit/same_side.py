"""Relief with neighbours on the target's side only: the sums of bias-corrected Relief (BD; SPEC.md section 5).

For a feature A with a reflection point r, a target i and its neighbours, found with all features:

    mean diff to a class C    D_C = sum_j w_ij diff(A, i, j) / sum_j w_ij        over the neighbours j on the side of i
    update                    sum_C P'(C) D_C - D_hits                           over the classes that have any there

Diffs are divided by the size of the side, [min, r] or [r, max]; a value on r itself is on both. P'(C) is the weight of
the class, rescaled so that those of the classes that have any add up to what all of them did. A target whose hits, or
whose misses, all lie on the other side is no target for A: the sum of A is divided by the targets that counted.

A feature without a point is scored as ReliefF does it, unknown values included. An unknown value is on no side, so for a
feature with a point it is as if the pair were on two.

Nothing depends on the order of rows, threads or blocks: every float that is added up is rounded to a whole number first,
small enough that sums of them are whole floats (under 2**53) or int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nearhit.engines import choose_engine
from nearhit.fitting import Fit, Options
from nearhit.neighbourhoods import Neighbours, Pairs
from nearhit.progress import progress
from nearhit.recipes import Recipe
from nearhit.settings import get_config
from nearhit.sweep import places
from nearhit.table import Classes, Table
from nearhit.thread_limits import count_threads

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Form = Literal["relieff", "averaged"]

#: digits of a weight, of a diff beyond those, of a mean diff times the share of a class
WEIGHT_BITS, DIFF_BITS, SHARE_BITS = 40, 12, 50
#: the contributions of so many targets, times their weights, are added up in 64 bits
TARGETS_AT_A_TIME = 512
#: of the bound on pair storage: the lists of neighbours have another eighth (neighbourhoods.py)
SHARE_OF_PAIR_MEMORY = 4
#: arrays of floats that are alive at once: for each pair and feature, for each group of neighbours and feature
ARRAYS_OF_PAIRS, ARRAYS_OF_GROUPS = 8, 12
#: features of pairs a second, for the progress bar
SPEED = 2e7
#: a value on the point itself is on both sides, an unknown one on none
LEFT, RIGHT = 1, 2


@dataclass(frozen=True, eq=False)
class SameSideFit:
    """A fit, and the weight of the targets that counted for each feature."""

    fit: Fit
    n_targets_used: FloatArray


def fit_same_side(
    recipe: Recipe,
    table: Table,
    points: FloatArray,
    form: Form,
    targets: npt.NDArray[np.intp] | None,
    options: Options,
) -> SameSideFit:
    """Score all features with neighbours on the target's side.

    Parameters
    ----------
    recipe : Recipe
        Who is a neighbour; of each class. Its `miss` says what the classes weigh.
    table : Table
        Its target must be classes.
    points : array of shape (n_features,)
        Reflection points in codes of the table; NaN for none.
    form : {"relieff", "averaged"}
        Mean diffs of pairs, or the squared diff from the mean of the neighbours.
    """
    rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
    pairs = Pairs(table, recipe, rows, options)
    side = Sides.of(table, points, form == "averaged")
    threads = count_threads(options.n_jobs)
    update = Update(pairs, side, form, class_shares(recipe, table), threads)
    sums = TargetSums(table.n_features)
    seconds = len(rows) * update.neighbours_of_a_target * table.n_features / SPEED / threads
    with progress(options.title, len(rows), seconds, options.verbose) as report:
        for some in pairs.neighbours():
            blocks = list(update.blocks(some))
            for part in choose_engine(threads, len(blocks)).map(update.of_block, blocks):
                sums.add(part)
            if report:
                report(len(np.unique(some.target)))
    weights, used = sums.finish(table)
    ran_on = f"{pairs.ready.kernel.name}, {threads} thread{'s' if threads > 1 else ''}"
    fit = Fit(weights, _fewest(recipe, table, rows), table.units_of(rows) / table.one, ran_on)
    return SameSideFit(fit, used)


# ----------------------------------------------------------------------------------------- sides of reflection points


@dataclass(frozen=True, eq=False)
class Sides:
    """The features of which not every pair counts, and on which side of their point each row lies.

    A side of no width has a factor of 0: all values on it are equal.
    """

    features: npt.NDArray[np.intp]
    side: npt.NDArray[np.uint8]
    factor_left: FloatArray
    factor_right: FloatArray

    @staticmethod
    def of(table: Table, points: FloatArray, all_unknown_count_out: bool) -> Sides:
        """From points in codes; without a point a feature has one side, which is the whole range."""
        has_point = ~np.isnan(points)
        features = np.flatnonzero(has_point | _has_unknown(table) if all_unknown_count_out else has_point)
        side = np.full((table.n_rows, len(features)), RIGHT, np.uint8)
        factor_left, factor_right = np.zeros(len(features)), np.ones(len(features))
        for at, feature in enumerate(features):
            codes, top, unknown = _column(table, int(feature))
            if has_point[feature]:
                point = points[feature]
                side[:, at] = LEFT * (codes <= point) + RIGHT * (codes >= point)
                factor_left[at] = table.grid / point if point > 0 else 0
                factor_right[at] = table.grid / (top - point) if point < top else 0
            if unknown is not None:
                side[unknown, at] = 0
        return Sides(features, side, factor_left, factor_right)

    def of_pairs(self, rows: IntArray, others: IntArray) -> tuple[BoolArray, FloatArray]:
        """Which pairs count, and by what their diffs are to be multiplied; 0 where they do not count."""
        shared = self.side[rows]
        shared &= self.side[others]
        counts = shared > 0
        shared &= LEFT
        factors = np.where(shared.view(bool), self.factor_left, self.factor_right)
        factors *= counts
        return counts, factors


def _has_unknown(table: Table) -> BoolArray:
    found = np.zeros(table.n_features, bool)
    if table.numeric_unknown is not None:
        found[table.numeric_columns] = table.numeric_unknown.any(axis=0)
    if table.nominal_unknown is not None:
        found[table.nominal_columns] = table.nominal_unknown.any(axis=0)
    return found


def _column(table: Table, feature: int) -> tuple[npt.NDArray, float, BoolArray | None]:
    """The codes of a feature, the largest there is, and which of them are unknown."""
    is_numeric = feature in table.numeric_columns
    codes, unknown, columns = (
        (table.numeric, table.numeric_unknown, table.numeric_columns)
        if is_numeric
        else (table.nominal, table.nominal_unknown, table.nominal_columns)
    )
    j = int(np.flatnonzero(columns == feature)[0])
    top = float(table.top[j]) if is_numeric else 0.0
    return codes[:, j], top, None if unknown is None else unknown[:, j]


# ---------------------------------------------------------------------------------------------- the update of targets


class Part(NamedTuple):
    """What some targets add: contributions and weights of those that counted, for each feature, as whole numbers."""

    total: IntArray
    counted: IntArray


class Block(NamedTuple):
    """Some targets with all of their neighbours: pairs in order of target and group, and where each group begins."""

    target: IntArray
    row: IntArray
    weight: FloatArray
    begins: IntArray
    group: IntArray


def class_shares(recipe: Recipe, table: Table) -> FloatArray:
    """What the misses of each class weigh, by class of the target: P(C), or P(C) / (1 - P(class of the target))."""
    weight = _classes(table).weight.astype(np.float64)
    own = weight if recipe.miss == "prior over others" else np.zeros_like(weight)
    return weight / np.maximum(weight.sum() - own[:, None], 1)


class Update:
    """From neighbours to contributions, with everything that stays the same from block to block."""

    def __init__(self, pairs: Pairs, sides: Sides, form: Form, shares: FloatArray, threads: int) -> None:
        self.pairs = pairs
        self.table = pairs.table
        self.sides = sides
        self.form = form
        self.shares = shares
        classes = _classes(self.table)
        self.class_of = classes.codes
        self.class_units = classes.weight
        self.units = self.table.units()
        self.copies_are_whole = self.table.weights is not None and self.table.weights.are_whole
        #: half of a thread's share is for groups, half for pairs
        self.bytes_for_work = get_config()["pair_memory"] // SHARE_OF_PAIR_MEMORY // threads // 2
        k, n = pairs.recipe.k, self.table.n_rows
        self.neighbours_of_a_target = n if k is None else min(k * classes.n_classes, n)
        self.contribution_bits = contribution_bits(self.table)

    def blocks(self, some: Neighbours) -> Iterator[Block]:
        """Cut lists of neighbours where a new target begins."""
        bytes_of_target = 8 * ARRAYS_OF_GROUPS * len(self.class_units) * self.table.n_features
        size = max(1, min(TARGETS_AT_A_TIME, self.bytes_for_work // bytes_of_target))
        first_pairs = np.flatnonzero(np.diff(some.target, prepend=-1))
        for start in range(0, len(first_pairs), size):
            stop = first_pairs[start + size] if start + size < len(first_pairs) else len(some.target)
            part = slice(first_pairs[start], stop)
            target, group = some.target[part], some.group[part]
            begins = np.flatnonzero(np.diff(target, prepend=-1) | np.diff(group, prepend=-1))
            yield Block(target, some.row[part], some.weight[part], begins, group[begins])

    def of_block(self, block: Block) -> Part:
        """The contributions of the targets of a block."""
        means, there = self._means_of_groups(block)
        if self.form == "averaged":
            means *= means
        target = block.target[block.begins]
        targets, position = np.unique(target, return_inverse=True)
        is_hit = block.group == self.class_of[target]
        shape = (len(targets), means.shape[1])
        # With no hit anywhere, in a class of one row, misses count alone, as they do in ReliefF.
        hits, has_hits = np.zeros(shape), np.ones(shape, bool)
        hits[position[is_hit]], has_hits[position[is_hit]] = means[is_hit], there[is_hit]

        own, miss, units = self.class_of[target[~is_hit]], block.group[~is_hit], self.class_units[block.group[~is_hit]]
        shares = np.rint(means[~is_hit] * self.shares[own, miss][:, None] * 2.0**SHARE_BITS)
        begins = np.flatnonzero(np.diff(position[~is_hit], prepend=-1))
        misses = np.add.reduceat(shares, begins, axis=0) * 2.0**-SHARE_BITS
        present = np.add.reduceat(units[:, None] * there[~is_hit], begins, axis=0)
        everyone = np.add.reduceat(units, begins)[:, None]
        rescaled = misses * np.divide(everyone, present, out=np.zeros(shape), where=present > 0)

        counts = has_hits & (present > 0)
        contribution = np.rint(np.where(counts, rescaled - hits, 0) * 2.0**self.contribution_bits).astype(np.int64)
        weight = self.units[targets][:, None]
        return Part((contribution * weight).sum(axis=0), (counts * weight).sum(axis=0))

    def _means_of_groups(self, block: Block) -> tuple[FloatArray, BoolArray]:
        """The weighted mean diff of each group of neighbours and feature, over the pairs that count; and whether any do."""
        n_groups, n_features = len(block.begins), self.table.n_features
        most_pairs = max(1, self.bytes_for_work // (8 * ARRAYS_OF_PAIRS * n_features))
        totals, known = np.zeros((n_groups, n_features)), np.zeros((n_groups, len(self.sides.features)))
        everyone = np.zeros(n_groups)
        group_of_pair = np.repeat(np.arange(n_groups), np.diff(block.begins, append=len(block.target)))
        for start in range(0, len(block.target), most_pairs):
            part = slice(start, start + most_pairs)
            copies = self._copies(block.target[part], block.row[part])
            weight = np.rint(block.weight[part] / copies * 2.0**WEIGHT_BITS)
            first = group_of_pair[start]
            groups = slice(first, group_of_pair[part][-1] + 1)
            begins = np.flatnonzero(np.diff(group_of_pair[part], prepend=-1))
            diffs, counts = self._diffs(block.target[part], block.row[part])
            diffs *= (weight * 2.0**DIFF_BITS)[:, None]
            np.rint(diffs, out=diffs)
            if self.copies_are_whole:
                diffs *= copies[:, None]
            totals[groups] += np.add.reduceat(diffs, begins, axis=0)
            known[groups] += np.add.reduceat(counts * (weight * copies)[:, None], begins, axis=0)
            everyone[groups] += np.add.reduceat(weight * copies, begins)
        weights = np.repeat(everyone[:, None], n_features, axis=1)
        weights[:, self.sides.features] = known
        there = weights > 0
        return np.divide(totals, weights * 2.0**DIFF_BITS, out=np.zeros_like(totals), where=there), there

    def _diffs(self, rows: IntArray, others: IntArray) -> tuple[FloatArray, BoolArray]:
        """The diffs of pairs, 0 where a pair does not count, and which count for the features with sides."""
        diffs = self._signed_diffs(rows, others) if self.form == "averaged" else self.pairs.diffs(rows, others)
        features = self.sides.features
        if not len(features):
            return diffs, np.zeros((len(rows), 0), bool)
        counts, factors = self.sides.of_pairs(rows, others)
        if len(features) == diffs.shape[1]:
            diffs *= factors
        else:
            diffs[:, features] *= factors
        return diffs, counts

    def _signed_diffs(self, rows: IntArray, others: IntArray) -> FloatArray:
        """How far, and to which side, the other row lies: its mean is how far the mean of the neighbours lies."""
        table = self.table
        diffs = np.empty((len(rows), table.n_features))
        apart = np.subtract(table.numeric[others], table.numeric[rows], dtype=np.float64)
        diffs[:, table.numeric_columns] = apart / table.grid
        diffs[:, table.nominal_columns] = table.nominal[others] != table.nominal[rows]
        return diffs

    def _copies(self, rows: IntArray, others: IntArray) -> IntArray:
        """As how many rows a neighbour counts, each rounded alone; 1 where weights are no whole numbers."""
        if not self.copies_are_whole:
            return np.ones(len(rows), np.int64)
        return self.units[others] - (rows == others)


def contribution_bits(table: Table) -> int:
    """Digits of one target's contribution: TARGETS_AT_A_TIME of them, with their weights, stay under 2**62."""
    return min(44, 62 - TARGETS_AT_A_TIME.bit_length() - int(table.units().max()).bit_length())


def _classes(table: Table) -> Classes:
    target = table.targets[0]
    assert isinstance(target, Classes)
    return target


# -------------------------------------------------------------------------------------------------- from sums to weights


class TargetSums:
    """Contributions of all targets, in integers of any width."""

    def __init__(self, n_features: int) -> None:
        self.total = np.zeros(n_features, object)
        self.counted = np.zeros(n_features, object)

    def add(self, part: Part) -> None:
        """Add some targets, in whatever order."""
        self.total += part.total.astype(object)
        self.counted += part.counted.astype(object)

    def finish(self, table: Table) -> tuple[FloatArray, FloatArray]:
        """The mean over the targets that counted, 0 where none did; and their weight."""
        bits = contribution_bits(table)
        parts = zip(self.total, self.counted, strict=True)
        means = np.array([total / (counted << bits) if counted else 0.0 for total, counted in parts])
        weights = np.clip(means, -1, 1)  # roundings may overshoot by their last digit
        return weights, self.counted.astype(np.float64) / table.one


def _fewest(recipe: Recipe, table: Table, rows: npt.NDArray[np.intp]) -> float:
    """The smallest neighbourhood that was looked at, before any side is."""
    classes, units = _classes(table), table.units()[rows]
    itself = np.zeros(classes.n_classes, np.int64)  # the most that a target of each class has of itself, 0 without one
    np.maximum.at(itself, classes.codes[rows], np.minimum(units, table.one))
    has_targets = itself > 0
    hits = (classes.weight - itself)[has_targets].min()
    misses = classes.weight[has_targets.sum() > has_targets].min()  # a class that all targets are of has no miss
    return min(int(hits), int(misses), places(recipe, table)) / table.one
