"""Each recipe on each kernel equals the reference, integer for integer, on generated tables."""

from dataclasses import replace

import numpy as np
import pytest
from generated import (
    Data,
    assert_same_sums,
    class_recipes,
    data,
    numeric_recipes,
    sums_of,
    usable,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nearhit import recipes
from nearhit.kernels import native
from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.kernels.reference import ReferenceKernel
from nearhit.recipes import RankWeights
from nearhit.table import Numbers

pytestmark = [pytest.mark.sanitize, pytest.mark.filterwarnings("ignore:column .* has no known value")]
REFERENCE = ReferenceKernel()
KERNELS = [NativeKernel(isa) for isa in instruction_sets()]


def test_the_baseline_is_always_there():
    assert instruction_sets()[-1] == "baseline"


@given(data(), class_recipes())
def test_every_kernel_agrees_with_the_reference_on_classes(made, recipe):
    check_all_kernels(made, recipe)


@given(data(classes=False), numeric_recipes())
def test_every_kernel_agrees_with_the_reference_on_numbers(made, recipe):
    check_all_kernels(made, recipe)


@given(
    data(holes=(0.0,), weights=(None,), scale=("range",)),
    st.sampled_from([1, 5, 20]),
    st.sampled_from(["share", "first"]),
)
def test_the_filter_path_agrees_with_the_reference(made, k, ties):
    """Complete tables, linear diffs: the 15-bit filter must lose no neighbour."""
    check_all_kernels(made, replace(recipes.RELIEFF, k=k, ties=ties))


@given(data(classes=False, holes=(0.0,), weights=(None,), scale=("range",)), st.sampled_from([1, 5, 20]))
def test_the_filter_path_agrees_with_the_reference_for_rrelieff(made, k):
    check_all_kernels(made, replace(recipes.RRELIEFF, k=k))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=data(holes=(0.1, 0.5)), recipe=class_recipes())
def test_expected_diffs_are_the_same_worked_out_each_time(monkeypatch, made, recipe):
    monkeypatch.setattr(native, "MOST_EXPECTED_DIFFS", 0)
    check_all_kernels(made, recipe)


def check_all_kernels(made, recipe):
    table = made.table()
    assume(usable(recipe, table))
    expected = sums_of(recipe, table, REFERENCE)
    for kernel in KERNELS:
        assert_same_sums(sums_of(recipe, table, kernel), expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("n_rows", [255, 256, 257, 300])
def test_more_rows_than_a_chunk(kernel, n_rows):
    """A class of over 256 rows is searched chunk by chunk; 600 columns need more than one pass over the groups."""
    rng = np.random.default_rng(n_rows)
    made = simple_data(rng.random((n_rows, 600)), (rng.random(n_rows) < 0.1).astype(int))
    targets = rng.choice(n_rows, 20, replace=False)
    recipe = replace(recipes.RELIEFF, k=7)
    expected = sums_of(recipe, made, REFERENCE, targets=targets)
    assert_same_sums(sums_of(recipe, made, kernel, targets=targets), expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_many_columns_need_a_coarser_filter(kernel):
    """Above 65,000 columns 15 bits would overflow the distance of opposite corners; the filter gives up bits instead."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (24, 1)) + rng.normal(0, 1e-3, (24, 70_000)).clip(-0.01, 0.01)
    made = simple_data(X, rng.integers(0, 2, 24))
    recipe = replace(recipes.RELIEFF, k=3)
    assert_same_sums(sums_of(recipe, made, kernel), sums_of(recipe, made, REFERENCE))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("k", [1, 300, None])
@pytest.mark.parametrize("nominal", [False, True])
def test_massive_ties_make_the_lists_grow(kernel, k, nominal):
    """Two binary columns: hundreds of rows at every distance, more than the first size of a candidate list, and more
    neighbours than a byte can count."""
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 2, (2500, 2)), rng.integers(0, 2, 2500)
    empty = np.zeros((2500, 0))
    X, codes = (empty, codes) if nominal else (codes.astype(float), empty.astype(int))
    made = Data(X, codes, None, y, None).table()
    targets = rng.choice(2500, 5, replace=False)
    recipe = replace(recipes.RELIEFF, k=k)
    expected = sums_of(recipe, made, REFERENCE, targets=targets)
    assert_same_sums(sums_of(recipe, made, kernel, targets=targets), expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("columns", [1023, 1024, 1025, 2079])
@pytest.mark.parametrize("values, k", [(2, 1), (3, 10), (3, None), (8, 5), (16, 3), (17, 3)])
def test_many_columns_of_categories_are_counted_as_planes(kernel, columns, values, k):
    """From 1,024 columns on, unless one has more than 16 values; a few numbers and a shorter form beside them."""
    rng = np.random.default_rng(columns * values)
    codes = rng.integers(0, values, (66, columns))
    codes[:, ::50] = rng.integers(0, 2, codes[:, ::50].shape)
    made = Data(rng.random((66, 2)), codes, None, rng.integers(0, 3, 66), None).table()
    recipe = replace(recipes.RELIEFF, k=k)
    assert_same_sums(sums_of(recipe, made, kernel), sums_of(recipe, made, REFERENCE))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("weights", [recipes.EqualWeights(), RankWeights(3.0)])
def test_targets_of_numbers_beside_planes(kernel, weights):
    """What depends on the targets weighs differently for each neighbour, and is counted one by one."""
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 3, (70, 1100))
    codes[60:] = codes[:10]
    made = Data(np.zeros((70, 0)), codes, None, rng.random(70), None).table()
    recipe = replace(recipes.RRELIEFF, k=4, weights=weights)
    assert_same_sums(sums_of(recipe, made, kernel), sums_of(recipe, made, REFERENCE))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_more_pairs_than_wait_are_counted_as_planes(kernel):
    """Neighbours that tie stand beside those that do not: twins of rows share places; little memory, so that few wait."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, (150, 1100))
    codes[100:] = codes[:50]
    made = Data(np.zeros((150, 0)), codes, None, np.arange(150) % 50 % 2, None).table()
    recipe = replace(recipes.RELIEFF, k=2)
    expected = sums_of(recipe, made, REFERENCE)
    assert_same_sums(sums_of(recipe, made, kernel), expected)
    assert_same_sums(sums_of(recipe, made, kernel, pair_bytes=150 * 104), expected)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_distances_that_differ_by_one_code_are_told_apart(kernel):
    """Rows nearer to each other than the 15-bit filter can see are ranked on the full codes."""
    n = 80
    X = np.concatenate([0.25 + np.arange(n - 2) * 2.0**-30, [0.0, 1.0]])[:, None]
    made = simple_data(np.hstack([X, X**2]), np.arange(n) % 2)
    recipe = replace(recipes.RELIEFF, k=2)
    assert_same_sums(sums_of(recipe, made, kernel), sums_of(recipe, made, REFERENCE))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_rows_that_the_filter_rounds_differently_are_compared_by_their_bounds(kernel):
    """In filter units from the origin: 7 * 100 + 105 = 805, exactly on the filter's grid, and 8 * 100.5 = 804, which the
    filter takes for 8 * 101 = 808. The second is nearer: it must be kept by its lower bound 808 - 8 * 0.5."""
    units = np.array([[0] * 8, [100] * 7 + [105], [100.5] * 8, [2**15] * 8])
    made = simple_data(units / 2**15, np.array([0, 1, 1, 0]))
    assert made.grid == 2**31
    recipe = replace(recipes.RELIEFF, k=1)
    assert_same_sums(sums_of(recipe, made, kernel), sums_of(recipe, made, REFERENCE))


def test_a_node_of_a_tree_keeps_the_ranges_of_the_root():
    rng = np.random.default_rng(2)
    root = simple_data(rng.random((90, 5)), rng.integers(0, 3, 90))
    rows = rng.choice(90, 31, replace=False)
    node = root.take(rows)
    np.testing.assert_array_equal(node.numeric, root.numeric[rows])
    assert node.targets[0].weight.tolist() == np.bincount(root.targets[0].codes[rows], minlength=3).tolist()
    for kernel in KERNELS:
        assert_same_sums(sums_of(recipes.RELIEFF, node, kernel), sums_of(recipes.RELIEFF, node, REFERENCE))


def test_several_targets_stand_in_one_table():
    rng = np.random.default_rng(3)
    made = Data(rng.random((40, 3)), np.zeros((40, 0), int), None, rng.integers(0, 2, 40), None).table()
    numbers = Numbers(rng.integers(0, 2**31, 40).astype(np.uint32))
    both = replace(made, targets=(made.targets[0], numbers))
    assert_same_sums(sums_of(recipes.RELIEFF, both, KERNELS[0]), sums_of(recipes.RELIEFF, made, KERNELS[0]))
    turned = replace(made, targets=(numbers, made.targets[0]))
    assert_same_sums(sums_of(recipes.RRELIEFF, turned, KERNELS[0]), sums_of(recipes.RRELIEFF, turned, REFERENCE))


def simple_data(X, y):
    return Data(X, np.zeros((len(X), 0), int), None, y, None).table()
