"""From sums to scores: done once, at the end, in floats.

Classes enter as a sum over pairs of classes. That sum is taken in order of size, not of class, so that renaming
the classes cannot change its last bit.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nearhit.diffs import one_as_code
from nearhit.recipes import Recipe
from nearhit.sweep import Sums, counts_places, fraction_bits, hit_group, n_near_groups, n_parts, places
from nearhit.table import Classes, Table

FloatArray = npt.NDArray[np.float64]


def score(sums: Sums, recipe: Recipe, table: Table, weight_of_targets: float) -> FloatArray:
    """The weights of all features, in the order of the input."""
    finish = class_score if n_parts(recipe, table) == 1 else numeric_score
    weights = finish(sums, recipe, table, weight_of_targets) * units_of_one_diff(recipe, table)
    if table.unit == 1:
        # Means of diffs in [0, 1]; sums rounded to the fixed-point grid may overshoot by its last digit.
        weights = np.maximum(np.minimum(weights, 1), -1)
    return table.in_column_order(weights)


def class_score(sums: Sums, recipe: Recipe, table: Table, weight_of_targets: float) -> FloatArray:
    """Sum over target classes c and groups g of coefficient(c, g) * mean diff(c, g), of far groups with the other sign."""
    is_hit = hits_among_groups(recipe, table)
    per_place = class_coefficients(recipe, table, is_hit)
    per_place = per_place / neighbourhood_sizes(recipe, table, is_hit) / weight_of_targets
    factor = 2.0 ** -fraction_bits(recipe, table)

    def misses_less_hits(side: slice) -> FloatArray:
        diffs = sums.diffs[:, side, 0].scaled(factor) * per_place[:, :, None]
        known = None if sums.known is None else sums.known[:, side, 0].scaled(factor) * per_place[:, :, None]

        def part(which):
            total = add_by_size(diffs[which])
            if known is None:
                return total
            # Rule C: the mean over the known pairs stands for the mean over all of them.
            known_share = add_by_size(known[which])
            everything = add_by_size((sums.weight[:, side, 0].scaled(factor) * per_place)[which])
            return np.divide(total * everything, known_share, out=np.zeros_like(total), where=known_share > 0)

        return part(~is_hit) - (part(is_hit) if recipe.hits else 0.0)

    near = is_hit.shape[1]
    weights = misses_less_hits(slice(0, near))
    return weights - misses_less_hits(slice(near, None)) if recipe.far else weights


def hits_among_groups(recipe: Recipe, table: Table) -> npt.NDArray[np.bool_]:
    """Which near group holds the hits, by class of the target row."""
    return _hits_among_groups(recipe, *n_near_groups(recipe, table))


@lru_cache(maxsize=16)  # a tree asks for the same one in each of its nodes
def _hits_among_groups(recipe: Recipe, n_classes: int, groups: int) -> npt.NDArray[np.bool_]:
    hits = np.zeros((n_classes, groups), bool)
    hits[range(n_classes), [hit_group(recipe, c) for c in range(n_classes)]] = True
    hits.setflags(write=False)
    return hits


def class_coefficients(recipe: Recipe, table: Table, is_hit: npt.NDArray[np.bool_]) -> FloatArray:
    """How much the mean diff to a group counts, by class of the target row (SPEC.md section 3)."""
    if recipe.miss == "equal" or recipe.radius:  # with a radius, priors depend on who is there: kernels know
        return np.ones(is_hit.shape)
    weight = _class_weights(table)
    total = weight.sum()
    others = total - weight[:, None] if recipe.miss == "prior over others" else total
    return np.where(is_hit, 1.0, weight / np.maximum(others, 1))


def neighbourhood_sizes(recipe: Recipe, table: Table, is_hit: npt.NDArray[np.bool_]) -> FloatArray:
    """The places by which sums of places are divided: k, or all there are if fewer; 1 where weights add up to 1."""
    if not counts_places(recipe, table):
        return np.ones(is_hit.shape)
    weight = _class_weights(table)
    others = weight if recipe.grouping == "each class" else table.all_units - weight[:, None]
    there = np.where(is_hit, weight[:, None] - table.one, others)
    return np.maximum(np.minimum(there, places(recipe, table)), 1).astype(float)


def _class_weights(table: Table) -> npt.NDArray[np.int64]:
    target = table.targets[0]
    assert isinstance(target, Classes)
    return target.weight


def numeric_score(sums: Sums, recipe: Recipe, table: Table, weight_of_targets: float) -> FloatArray:
    """W = N_dCdA / N_dC - (N_dA - N_dCdA) / (m - N_dC), RK figure 4."""
    factor = 2.0 ** -fraction_bits(recipe, table)
    n_da, n_dcda = sums.diffs[0, 0].scaled(factor)
    counted = sums.weight[0, 0] if sums.known is None else sums.known[0, 0]
    m, n_dc = counted.scaled(factor)
    return _ratio(n_dcda, n_dc, "N_dC") - _ratio(n_da - n_dcda, m - n_dc, "m - N_dC")


def _ratio(top: FloatArray, bottom, name: str) -> FloatArray:
    bottom = np.broadcast_to(bottom, top.shape)
    if (bottom <= 0).all():
        warnings.warn(
            f"{name} = 0: the nearest rows {'never' if name == 'N_dC' else 'always'} differ in the target; "
            "that term of every weight is 0.",
            UserWarning,
            stacklevel=5,
        )
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def units_of_one_diff(recipe: Recipe, table: Table) -> float:
    """What one code of a diff is in the user's numbers."""
    unit = 1.0 if recipe.diff.kind == "ramp" else table.unit ** (2 if recipe.diff.kind == "squared" else 1)
    # Kernels return weight * diff * 2**(bits - 31). The power goes below the line, where it cannot overflow.
    return unit / (one_as_code(recipe.diff, table.grid) * 2.0**-31)


def add_by_size(terms: FloatArray) -> FloatArray:
    """The sum over the first axis, in an order that depends on the terms only."""
    if len(terms) > 2:
        terms = np.sort(terms, axis=0)
    return terms.sum(axis=0)  # of two terms in whatever order
