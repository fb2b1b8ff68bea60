"""Pairs of rows as arrays: the same neighbours on every kernel, the same weights that a fit adds up."""

from dataclasses import replace

import numpy as np
import pytest
from generated import Data, class_recipes, data, numeric_recipes, radius_recipes, usable, weights_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nearhit import recipes, set_config
from nearhit.engines import InLine
from nearhit.fitting import Options
from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.kernels.reference import ReferenceKernel
from nearhit.neighbourhoods import Pairs, diffs_of_pairs, find_neighbours
from nearhit.recipes import EqualWeights
from nearhit.sweep import find_radii, make_plan
from nearhit.table import Classes

pytestmark = [pytest.mark.sanitize, pytest.mark.filterwarnings("ignore:column .* has no known value")]
REFERENCE = ReferenceKernel()
KERNELS = [NativeKernel(isa) for isa in instruction_sets()]
PARTS = ("target", "group", "row", "weight")


def lists(recipe, table, kernel):
    rows = np.arange(table.n_rows)
    handle = kernel.load(table, recipe, 10**7, InLine())
    radii = find_radii(recipe, table, rows, kernel, handle, InLine()) if recipe.radius else None
    blocks = make_plan(table, rows, 512).blocks
    found = [kernel.neighbours(handle, block, None if radii is None else radii[block]) for block in blocks]
    return {part: np.concatenate([getattr(some, part) for some in found]) for part in PARTS}


@settings(max_examples=50)
@given(data(), st.one_of(class_recipes(), radius_recipes().filter(lambda recipe: isinstance(recipe.weights, EqualWeights))))
def test_every_kernel_finds_the_same_neighbours(made, recipe):
    compare_kernels(made.table(), recipe)


@settings(max_examples=50)
@given(data(classes=False), numeric_recipes())
def test_every_kernel_finds_the_same_neighbours_of_numbers(made, recipe):
    compare_kernels(made.table(), recipe)


def compare_kernels(table, recipe):
    assume(usable(recipe, table))
    expected = lists(recipe, table, REFERENCE)
    for kernel in KERNELS:
        found = lists(recipe, table, kernel)
        for part in PARTS[:3]:
            np.testing.assert_array_equal(found[part], expected[part], err_msg=part)
        # Row weights that are not whole come multiplied or not, and are divided by their sum: the last digit may differ.
        np.testing.assert_allclose(found["weight"], expected["weight"], rtol=1e-14)


@settings(max_examples=50)
@given(data(), st.integers(0, 2**32))
def test_every_kernel_finds_the_same_diffs(made, seed):
    table, rng = made.table(), np.random.default_rng(seed)
    rows, others = rng.integers(0, table.n_rows, (2, 20))
    for recipe in (recipes.RELIEFF, recipes.RELIEF, replace(recipes.RELIEFF, unknown="uniform")):
        expected = REFERENCE.diffs(REFERENCE.load(table, recipe, 10**7, InLine()), rows, others)
        for kernel in KERNELS:
            np.testing.assert_array_equal(kernel.diffs(kernel.load(table, recipe, 10**7, InLine()), rows, others), expected)


def test_pairs_add_up_to_the_weights_of_a_fit():
    """W = mean over targets of sum over groups of coefficient * weighted mean diff, with numbers, categories and holes."""
    rng = np.random.default_rng(0)
    X, codes = rng.random((60, 3)), rng.integers(0, 3, (60, 2))
    unknown = rng.random((60, 2)) < 0.1
    codes[unknown] = 0
    y = rng.integers(0, 3, 60)
    table = Data(X, codes, unknown, y, None).table()
    assert isinstance(table.targets[0], Classes)
    prior = table.targets[0].weight / 60
    total = np.zeros(5)
    for some in find_neighbours(table, recipes.RELIEFF):
        own = y[some.target]
        coefficient = np.where(some.group == own, -1, prior[some.group] / (1 - prior[own]))
        total += (coefficient * some.weight) @ diffs_of_pairs(table, recipes.RELIEFF, some.target, some.row)
    assert total / 60 == pytest.approx(weights_of(recipes.RELIEFF, table, KERNELS[0]), abs=1e-12)


def test_weights_of_a_group_add_up_to_one():
    rng = np.random.default_rng(1)
    table = Data(rng.random((50, 4)).round(1), np.zeros((50, 0), int), None, rng.integers(0, 2, 50), None).table()
    for recipe in (recipes.RELIEFF, recipes.MULTISURF, replace(recipes.RELIEFF, weights=recipes.RankWeights(3.0))):
        for some in find_neighbours(table, recipe):
            for i in np.unique(some.target):
                for g in np.unique(some.group[some.target == i]):
                    assert some.weight[(some.target == i) & (some.group == g)].sum() == pytest.approx(1, abs=1e-12)


def test_threads_and_little_memory_change_nothing(own_settings):
    rng = np.random.default_rng(2)
    table = Data(rng.random((300, 40)), np.zeros((300, 0), int), None, rng.integers(0, 2, 300), None).table()
    recipe, targets = replace(recipes.RELIEFF, k=None), rng.choice(300, 200, replace=False)

    def together(**how):
        found = list(Pairs(table, recipe, targets, Options(**how)).neighbours())
        return len(found), {part: np.concatenate([getattr(some, part) for some in found]) for part in PARTS}

    one, expected = together(n_jobs=1)
    set_config(pair_memory=2**20)
    many, found = together(n_jobs=2)
    assert many > one
    for part in PARTS:
        np.testing.assert_array_equal(found[part], expected[part])


@pytest.mark.parametrize("weights", [recipes.EqualWeights(), recipes.RankWeights(5.0), recipes.DistanceWeights(1)])
@pytest.mark.parametrize("row_weights", [False, True])
def test_the_order_of_rows_shows_in_no_bit_of_a_weight(weights, row_weights):
    rng = np.random.default_rng(3)
    real = rng.random(150) + 0.1 if row_weights else None
    made = Data(rng.random((150, 5)).round(1), np.zeros((150, 0), int), None, rng.integers(0, 3, 150), real)
    order, recipe = rng.permutation(150), replace(recipes.RELIEFF, weights=weights)

    def by_pair(table, names):
        found = list(find_neighbours(table, recipe))
        pairs = [(int(names[i]), int(names[j])) for some in found for i, j in zip(some.target, some.row, strict=True)]
        return dict(zip(pairs, np.concatenate([some.weight for some in found]).tolist(), strict=True))

    assert by_pair(made.rows(order).table(), order) == by_pair(made.table(), np.arange(150))
