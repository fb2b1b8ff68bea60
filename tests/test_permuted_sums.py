"""Sums under permuted targets equal those of a fit on the table with the permuted target, integer for integer."""

from dataclasses import replace

import numpy as np
import pytest
from generated import PAIR_BYTES, Data, class_recipes, data, numeric_recipes, sums_of, usable
from hypothesis import assume, given
from hypothesis import strategies as st

from nearhit import recipes
from nearhit.engines import InLine
from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.kernels.reference import ReferenceKernel
from nearhit.significance.null import PermutedSums, permute_target

pytestmark = [pytest.mark.sanitize, pytest.mark.filterwarnings("ignore:column .* has no known value")]
REFERENCE = ReferenceKernel()
KERNELS = [NativeKernel(isa) for isa in instruction_sets()]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


def permutations(n_rows, n, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([np.arange(n_rows), *(rng.permutation(n_rows) for _ in range(n - 1))])


def permuted_sums(kernel, recipe, table, orders, rows=None, bytes_=PAIR_BYTES, block=512):
    rows = np.arange(table.n_rows) if rows is None else rows
    handle = kernel.load_distances(table, recipe, InLine())
    sums = PermutedSums()
    for first in range(0, len(rows), block):
        some = rows[first : first + block]
        sums.add(len(some), *handle.permuted(some, table.targets[0].codes[orders.T], bytes_))
    return [sums.of(b) for b in range(len(orders))]


def assert_same(found, wanted):
    for name in ("diffs", "known", "weight"):
        x, y = getattr(found, name), getattr(wanted, name)
        assert (x is None) == (y is None), name
        if x is not None:
            x, y = x.carried(), y.carried()
            np.testing.assert_array_equal(x.high, y.high, err_msg=name)
            np.testing.assert_array_equal(x.low, y.low, err_msg=name)


def check(table, recipe, orders, rows=None, judge=REFERENCE, kernels=KERNELS, **how):
    assert all(kernel.shares_distances(table, recipe) for kernel in kernels)
    wanted = [sums_of(recipe, permute_target(table, order), judge, targets=rows) for order in orders]
    for kernel in kernels:
        found = permuted_sums(kernel, recipe, table, orders, rows, **how)
        for b in range(len(orders)):
            assert_same(found[b], wanted[b])


FEW = [2, 3, 5, 9, 16, 33]
MANY = [47, 49, 64, 65, 70, 130]


def shareable(made, recipe):
    table = made.table()
    assume(usable(recipe, table) and KERNELS[0].shares_distances(table, recipe))
    return table


@given(data(weights=(None,), rows=FEW), class_recipes(), st.integers(0, 2**32))
def test_every_kernel_agrees_with_the_reference_on_permuted_classes(made, recipe, seed):
    table = shareable(made, recipe)
    check(table, recipe, permutations(table.n_rows, 2, seed))


@given(data(classes=False, weights=(None,), rows=FEW), numeric_recipes(), st.integers(0, 2**32))
def test_every_kernel_agrees_with_the_reference_on_permuted_numbers(made, recipe, seed):
    table = shareable(made, recipe)
    check(table, recipe, permutations(table.n_rows, 2, seed))


@given(data(weights=(None,), rows=MANY), class_recipes(), st.integers(0, 2**32))
def test_every_kernel_agrees_with_a_fit_on_permuted_classes(made, recipe, seed):
    table = shareable(made, recipe)
    check(table, recipe, permutations(table.n_rows, 4, seed), judge=KERNELS[0])


@given(data(classes=False, weights=(None,), rows=MANY), numeric_recipes(), st.integers(0, 2**32))
def test_every_kernel_agrees_with_a_fit_on_permuted_numbers(made, recipe, seed):
    table = shareable(made, recipe)
    check(table, recipe, permutations(table.n_rows, 4, seed), judge=KERNELS[0])


@given(data(weights=(None,), holes=(0.0,), rows=MANY), st.sampled_from([1, 5, 20, None]), st.integers(0, 2**32))
def test_the_default_recipe_on_complete_tables(made, k, seed):
    table = made.table()
    check(table, replace(recipes.RELIEFF, k=k), permutations(table.n_rows, 4, seed), judge=KERNELS[0])


# ---------------------------------------------------------------------------- sizes that cross the borders of the code


def simple(X, y, codes=None):
    return Data(X, np.zeros((len(X), 0), int) if codes is None else codes, None, y, None).table()


@each_kernel
@pytest.mark.parametrize("columns", [1, 63, 64, 65, 130])
def test_many_permutations_of_many_rows(kernel, columns):
    """More target rows than are taken at a time, more permutations than are, several stripes; blocks of odd sizes."""
    rng = np.random.default_rng(columns)
    table = simple(rng.random((90, columns)), rng.integers(0, 2, 90))
    check(table, replace(recipes.RELIEFF, k=3), permutations(90, 300), judge=KERNELS[0], kernels=[kernel], block=70)


@each_kernel
@pytest.mark.parametrize("columns", [255, 256, 257, 600])
@pytest.mark.parametrize("values", [2, 3, 300])
def test_categories_in_stripes(kernel, columns, values):
    rng = np.random.default_rng(columns)
    codes = rng.integers(0, values, (70, columns))
    table = simple(rng.random((70, 2)), rng.integers(0, 3, 70), codes)
    check(table, replace(recipes.RELIEFF, k=4), permutations(70, 5), judge=KERNELS[0], kernels=[kernel])


@each_kernel
@pytest.mark.parametrize("k", [5, 300, None])
@pytest.mark.parametrize("nominal", [False, True])
def test_massive_ties_and_more_neighbours_than_a_byte_counts(kernel, k, nominal):
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 2, (1500, 3)), rng.integers(0, 2, 1500)
    table = simple(np.zeros((1500, 0)), y, codes) if nominal else simple(codes.astype(float), y)
    rows = rng.choice(1500, 80, replace=False)
    check(table, replace(recipes.RELIEFF, k=k), permutations(1500, 3), np.sort(rows), KERNELS[0], [kernel])


@each_kernel
def test_a_rare_class_is_far_down_the_order(kernel):
    rng = np.random.default_rng(2)
    table = simple(rng.random((700, 5)), (np.arange(700) % 70 == 0).astype(int))
    check(table, replace(recipes.RELIEFF, k=2), permutations(700, 4), judge=KERNELS[0], kernels=[kernel])


@each_kernel
def test_little_memory_changes_nothing(kernel):
    rng = np.random.default_rng(3)
    table = simple(rng.random((200, 9)).round(1), rng.integers(0, 3, 200))
    for bytes_ in (1, 20_000, 10**9):
        check(table, recipes.RELIEFF, permutations(200, 40), judge=KERNELS[0], kernels=[kernel], bytes_=bytes_)


@each_kernel
def test_many_columns_are_measured_on_full_codes(kernel):
    rng = np.random.default_rng(0)
    table = simple(rng.random((9, 32_001)), np.arange(9) % 2)
    check(table, replace(recipes.RELIEFF, k=2), permutations(9, 2), judge=KERNELS[0], kernels=[kernel])


@each_kernel
def test_many_classes(kernel):
    rng = np.random.default_rng(4)
    table = simple(rng.random((120, 7)), np.arange(120) % 40)
    check(table, replace(recipes.RELIEFF, k=2), permutations(120, 20), judge=KERNELS[0], kernels=[kernel])
    too_many = simple(rng.random((130, 2)), np.arange(130) % 65)
    assert not kernel.shares_distances(too_many, recipes.RELIEFF)
    assert kernel.shares_distances(too_many, replace(recipes.RELIEFF, grouping="hits and misses", miss="equal"))
