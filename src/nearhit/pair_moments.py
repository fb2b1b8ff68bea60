"""Sums over pairs of neighbours of diff, and of diff * diff of another feature: how the diffs of features go together.

    G[A, B] = sum over pairs  w * d_A * d_B          with d = 1 in the first row and column, so G[0, 0] = sum of w

Hits and misses apart, with the weights that the pairs have in a score (SPEC.md section 3). A sum of floats would depend
on the order of the rows. Here sqrt(w) * d is rounded once to a multiple of 2**-42 and all that follows is whole numbers:
G is a product of a matrix with itself, cut into halves of 21 bits, so that 2048 products of halves add up to 2**53 at
most and a product of float64 matrices is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from nearhit.diffs import diff_code
from nearhit.fitting import Options
from nearhit.neighbourhoods import Neighbours, Pairs
from nearhit.recipes import Recipe
from nearhit.score import class_coefficients, hits_among_groups
from nearhit.sweep import hit_group
from nearhit.table import Classes, Numbers, Table

FloatArray = npt.NDArray[np.float64]
#: whole numbers of any size
BigArray = npt.NDArray[Any]
HALF_BITS = 21
LINES_OF_A_PRODUCT = 2048
#: products of 2**53 that 64 bits hold with room to spare
PRODUCTS_OF_A_SUM = 256
#: diffs are all the same if this share of their mean square is all they vary: the rounding of a line to 2**-42
SQUARES_ALL_ALIKE = 1e-18


class PairMoments(NamedTuple):
    """The sums over hits and over misses, each of shape (1 + features, 1 + features)."""

    hits: BigArray
    misses: BigArray


def sum_pairs(
    table: Table,
    recipe: Recipe,
    features: npt.NDArray[np.intp],
    targets: npt.NDArray[np.intp] | None = None,
    options: Options | None = None,
) -> PairMoments:
    """Add up the diffs of some features over all pairs that a fit uses.

    Parameters
    ----------
    table, recipe, targets
        What a fit runs on.
    features : array of columns
        In the order of the result.
    """
    recipe = recipe.of_near_rows()
    pairs = Pairs(table, recipe, targets, options)
    few = Pairs(table.take_columns(features), recipe, targets=np.arange(1))  # for diffs only
    unit = 1.0 if recipe.diff.kind == "ramp" else table.unit ** (2 if recipe.diff.kind == "squared" else 1)
    sums = ExactSums(len(features) + 1), ExactSums(len(features) + 1)
    with threadpool_limits(1, "blas"):  # products this small take ten times as long on threads that wait for each other
        for found in pairs.neighbours():
            weighed = weigh_pairs(found, table, recipe)
            for some in _stretches(len(found.target)):
                diffs = np.minimum(few.diffs(found.target[some], found.row[some]) / unit, 1)
                for total, weight in zip(sums, weighed, strict=True):
                    total.add(weight[some], diffs)
    return PairMoments(sums[0].result(), sums[1].result())


def _stretches(n: int) -> Iterator[slice]:
    return (slice(i, i + LINES_OF_A_PRODUCT) for i in range(0, n, LINES_OF_A_PRODUCT))


def covariances(moments: BigArray) -> FloatArray:
    """The weighted covariance of the diffs of each two features; 0 over no pairs at all."""
    weight, numerators = _central(moments)
    return numerators / float(weight) ** 2 if weight else np.zeros(numerators.shape)


def correlations(moments: BigArray) -> FloatArray:
    """The weighted correlation of the diffs of each two features, 0 where a feature never differs or always as much.

    Exactly 1 for two features whose diffs are the same in every pair: their numerators are the same whole number.
    """
    _, numerators = _central(moments)
    variances, squares = numerators.diagonal(), (moments.diagonal()[1:] * moments[0, 0]).astype(np.float64)
    varies = variances > SQUARES_ALL_ALIKE * squares
    # The root of the product, not the product of the roots: of equal numbers it is that number.
    product = np.sqrt(np.outer(variances, variances))
    zero = np.zeros(product.shape)
    return np.divide(numerators, product, out=zero, where=np.logical_and.outer(varies, varies)).clip(-1, 1)


def _central(moments: BigArray) -> tuple[int, FloatArray]:
    """The weight of all pairs, and its square times the covariances: whole numbers, rounded once when they are floats."""
    weight, first = moments[0, 0], moments[0, 1:]
    return weight, (moments[1:, 1:] * weight - np.multiply.outer(first, first)).astype(np.float64)


# ------------------------------------------------------------------------------------- what a pair weighs in a score


def weigh_pairs(found: Neighbours, table: Table, recipe: Recipe) -> tuple[FloatArray, FloatArray]:
    """How much each pair counts as a hit and as a miss, between 0 and 1; for all targets on one scale."""
    units = table.units()
    weight = found.weight * (units[found.target] / units.max())
    target = table.targets[0]
    if isinstance(target, Numbers) and recipe.radius:
        return np.where(found.group == 0, weight, 0.0), np.where(found.group == 0, 0.0, weight)
    if isinstance(target, Numbers):
        apart = np.abs(target.codes[found.target].astype(np.int64) - target.codes[found.row].astype(np.int64))
        differs = diff_code(apart, recipe.diff, 2**31) * 2.0**-31  # of the targets: how much of a miss it is
        return weight * (1 - differs), weight * differs
    own = target.codes[found.target]
    is_hit = found.group == np.array([hit_group(recipe, c) for c in range(target.n_classes)])[own]
    if recipe.radius:
        coefficient = _priors_among_present(found, target, is_hit)
    else:
        coefficient = class_coefficients(recipe, table, hits_among_groups(recipe, table))[own, found.group]
    hits = np.where(is_hit, weight, 0.0) if recipe.hits else np.zeros(len(weight))
    return hits, np.where(is_hit, 0.0, weight * coefficient)


def _priors_among_present(found: Neighbours, target: Classes, is_hit: npt.NDArray[np.bool_]) -> FloatArray:
    """P(C) among the other classes of which a target has a row within its radius."""
    pairs = found.target * target.n_classes + found.group
    first = np.unique(pairs[~is_hit], return_index=True)[1]
    rows, groups = found.target[~is_hit][first], found.group[~is_hit][first]
    present = np.bincount(rows, weights=target.weight[groups], minlength=found.target.max(initial=0) + 1)
    return target.weight[found.group] / np.maximum(present[found.target], 1)


# ---------------------------------------------------------------------------------------------- sums without order


@dataclass
class ExactSums:
    """A sum of outer products of lines, each line weight and weight * diffs, exact whatever the order of the lines."""

    n: int

    def __post_init__(self) -> None:
        self.total: BigArray = np.zeros((self.n, self.n), object)
        self._begin()

    def add(self, weight: FloatArray, diffs: FloatArray) -> None:
        """Add up to `LINES_OF_A_PRODUCT` lines."""
        counts = weight > 0
        if not counts.any():
            return
        root = np.sqrt(weight[counts])
        lines = np.rint(np.column_stack([root, diffs[counts] * root[:, None]]) * 2.0 ** (2 * HALF_BITS))
        high = np.floor(lines * 2.0**-HALF_BITS)
        low = lines - high * 2.0**HALF_BITS
        mixed = (high.T @ low).astype(np.int64)  # whole numbers under 2^53; their sum with the transpose may not be
        for part, product in enumerate(((high.T @ high).astype(np.int64), mixed + mixed.T, (low.T @ low).astype(np.int64))):
            self.parts[part] += product
        self.waiting += 1
        if self.waiting == PRODUCTS_OF_A_SUM:
            self._flush()

    def result(self) -> BigArray:
        """The sums, in units of 2**-84."""
        self._flush()
        return self.total

    def _begin(self) -> None:
        self.parts = np.zeros((3, self.n, self.n), np.int64)
        self.waiting = 0

    def _flush(self) -> None:
        high, mixed, low = self.parts.astype(object)
        self.total = self.total + high * 2 ** (2 * HALF_BITS) + mixed * 2**HALF_BITS + low
        self._begin()
