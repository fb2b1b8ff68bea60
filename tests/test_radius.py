"""Members that look within a radius: every kernel equals the reference, the reference the formulas in plain floats."""

from dataclasses import replace

import numpy as np
import pytest
from generated import Data, assert_same_sums, data, keeps, radius_recipes, sums_of, weights_of
from hypothesis import given
from hypothesis import strategies as st

from nearhit import recipes
from nearhit.engines import InLine, Threads
from nearhit.fitting import Options, fit_recipe
from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.kernels.reference import ReferenceKernel
from nearhit.recipes import SigmoidWeights
from nearhit.sweep import find_radii, make_plan

pytestmark = [pytest.mark.sanitize, pytest.mark.filterwarnings("ignore:column .* has no known value")]
REFERENCE = ReferenceKernel()
KERNELS = [NativeKernel(isa) for isa in instruction_sets()]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)


@given(data(), radius_recipes())
def test_every_kernel_agrees_with_the_reference(made, recipe):
    table = made.table()
    expected = sums_of(recipe, table, REFERENCE)
    for kernel in KERNELS:
        assert_same_sums(sums_of(recipe, table, kernel), expected)
        if keeps(recipe, table):
            assert_same_sums(sums_of(recipe, table, kernel, keep=True), expected)


@given(data(classes=False), radius_recipes("hits and misses"))
def test_every_kernel_agrees_with_the_reference_on_numbers(made, recipe):
    table = made.table()
    expected = sums_of(recipe, table, REFERENCE)
    for kernel in KERNELS:
        assert_same_sums(sums_of(recipe, table, kernel), expected)
        if keeps(recipe, table):
            assert_same_sums(sums_of(recipe, table, kernel, keep=True), expected)


@given(data(), radius_recipes())
def test_every_kernel_finds_the_same_distances(made, recipe):
    table = made.table()

    def distances(kernel):
        handle = kernel.load(table, recipe, 10**7, InLine())
        return [kernel.distances(handle, block).tolist() for block in make_plan(table, np.arange(table.n_rows), 50).blocks]

    expected = distances(REFERENCE)
    for kernel in KERNELS:
        assert distances(kernel) == expected


@given(data(), radius_recipes())
def test_every_kernel_finds_the_same_radii(made, recipe):
    table = made.table()

    def radii(kernel, keep=False):
        handle = kernel.load(table, recipe, 10**7, InLine(), keep=keep)
        return find_radii(recipe, table, np.arange(table.n_rows), kernel, handle, InLine()).tolist()

    expected = radii(REFERENCE)
    for kernel in KERNELS:
        assert radii(kernel) == expected
        if keeps(recipe, table):
            assert radii(kernel, keep=True) == expected


@given(data(holes=(0.0,), weights=(None,)), st.integers(0, 2**32))
def test_order_blocks_and_threads_change_nothing(made, seed):
    recipe = recipes.MULTISURF
    expected = weights_of(recipe, made.table(), KERNELS[0])
    order = np.random.default_rng(seed).permutation(len(made.X))
    shuffled = weights_of(recipe, made.rows(order).table(), KERNELS[0], engine=Threads(3), rows_per_block=17, keep=True)
    np.testing.assert_array_equal(shuffled, expected)


# ---------------------------------------------------------------------------- sizes that cross the borders of the code


def check(table, recipe, kernel, targets=None):
    expected = sums_of(recipe, table, REFERENCE, targets=targets)
    assert_same_sums(sums_of(recipe, table, kernel, targets=targets), expected)
    assert_same_sums(sums_of(recipe, table, kernel, targets=targets, keep=True), expected)


@each_kernel
@pytest.mark.parametrize("n_rows", [127, 128, 129, 200])
@pytest.mark.parametrize("columns", [63, 64, 65, 128, 200])
def test_panels_and_stripes(kernel, n_rows, columns):
    rng = np.random.default_rng(n_rows * columns)
    made = Data(rng.random((n_rows, columns)), np.zeros((n_rows, 0), int), None, rng.integers(0, 3, n_rows), None)
    check(made.table(), recipes.MULTISURF, kernel, targets=rng.choice(n_rows, 20, replace=False))


@each_kernel
def test_more_neighbours_than_sums_of_32_bits_can_tell(kernel):
    """66,000 hits at one distance, whose code ends in sixteen ones; so many others farther away that they are within."""
    near = (19_660 * 2**16 + 2**16 - 1) / 2**31
    X = np.repeat([0.0, near, 1.0], [1, 66_000, 28_299])[:, None]
    made = Data(X, np.zeros((len(X), 0), int), None, (X[:, 0] == 1).astype(int), None).table()
    targets = np.array([0])
    found = sums_of(recipes.MULTISURF, made, kernel, targets=targets)
    assert found.fewest[0, 0] == 66_000
    assert_same_sums(found, sums_of(recipes.MULTISURF, made, REFERENCE, targets=targets))


@each_kernel
@pytest.mark.parametrize("columns", [63, 64, 65, 130])
@pytest.mark.parametrize("values", [2, 3, 4, 5])
def test_categories_are_counted_by_overlap_or_along_lists(kernel, columns, values):
    """Up to four values by overlap; the fifth goes along the lists, here for some columns in between."""
    rng = np.random.default_rng(columns * values)
    codes = rng.integers(0, values, (150, columns))
    codes[:, 1:60:7] = rng.integers(0, 9, codes[:, 1:60:7].shape)
    made = Data(rng.random((150, 2)), codes, None, rng.integers(0, 2, 150), None)
    check(made.table(), recipes.MULTISURF, kernel, targets=rng.choice(150, 20, replace=False))


@each_kernel
def test_more_neighbours_than_a_byte_counts_and_than_wait_at_a_time(kernel):
    """2,500 rows on two points: every row has over a thousand neighbours, and those of a block are added in several goes."""
    rng = np.random.default_rng(1)
    codes = np.repeat(rng.integers(0, 2, (2500, 1)), 20, axis=1)
    codes[:, 5:] = rng.integers(0, 6, (2500, 15)) // 5
    made = Data(np.zeros((2500, 0)), codes, None, rng.integers(0, 2, 2500), None).table()
    expected = sums_of(recipes.SURF, made, NativeKernel("baseline"))
    assert_same_sums(sums_of(recipes.SURF, made, kernel, rows_per_block=7), expected)
    few = rng.choice(2500, 5, replace=False)
    recipe = replace(recipes.MULTISURF)
    assert_same_sums(sums_of(recipe, made, kernel, targets=few), sums_of(recipe, made, REFERENCE, targets=few))


@each_kernel
def test_so_many_columns_that_full_codes_do_not_tell_distances(kernel):
    rng = np.random.default_rng(0)
    made = Data(rng.random((9, 32_001)), np.zeros((9, 0), int), None, np.arange(9) % 2, None).table()
    assert not keeps(recipes.MULTISURF, made)
    assert_same_sums(sums_of(recipes.MULTISURF, made, kernel), sums_of(recipes.MULTISURF, made, REFERENCE))


@each_kernel
@pytest.mark.parametrize("columns", [1, 31_999])
def test_distances_from_their_two_halves(kernel, columns):
    """Opposite corners, beside rows that the filter rounds as far off as it can: half a unit in every column."""
    half = (np.arange(6)[:, None] + 0.5) / 2**15 * np.ones((1, columns))
    X = np.concatenate([half, np.zeros((1, columns)), np.ones((1, columns))])
    made = Data(X, np.zeros((8, 0), int), None, np.arange(8) % 2, None).table()
    check(made, recipes.SURF, kernel)
    check(made, recipes.MULTISURF, kernel)


@each_kernel
@pytest.mark.parametrize("k", [1, 7, None])
def test_nearest_among_kept_distances(kernel, k):
    """The k nearest of kept distances, as of measured ones."""
    rng = np.random.default_rng(5)
    made = Data(rng.random((150, 40)), rng.integers(0, 3, (150, 70)), None, rng.integers(0, 3, 150), None).table()
    recipe = replace(recipes.RELIEFF, k=k)
    assert_same_sums(sums_of(recipe, made, kernel, keep=True), sums_of(recipe, made, REFERENCE))


@given(data(holes=(0.0,)), st.sampled_from([1, 5, 40]))
def test_nearest_among_kept_distances_on_generated_tables(made, k):
    table, recipe = made.table(), replace(recipes.RELIEFF, k=k)
    expected = sums_of(recipe, table, REFERENCE)
    for kernel in KERNELS:
        assert_same_sums(sums_of(recipe, table, kernel, keep=True), expected)


# --------------------------------------------------------------------------------------------- the formulas in floats


def plain_weights(X, y, nominal, recipe):
    """SPEC section 3, with floats and loops; y of classes, or of floats."""
    span = np.where(nominal, 1, np.ptp(X, axis=0))
    d = np.abs(X[:, None] - X[None]) / span
    d = np.where(nominal, d > 0, d)
    D, n = d.sum(axis=2), len(X)
    off = ~np.eye(n, dtype=bool)
    W = np.zeros(X.shape[1])
    for i in range(n):
        own = D[i, off[i]] if recipe.radius == "own mean" else D[off]
        T, sigma = own.mean(), own.std()
        slack = sigma / 2 if recipe.radius == "own mean" else 0
        if isinstance(recipe.weights, SigmoidWeights):
            w = np.abs(2 / (1 + np.exp(-4 * (T - D[i]) / sigma)) - 1)[:, None]
            W += mean_miss_less_mean_hit(d[i] * w, off[i] & (D[i] < T), y, i)
            W -= mean_miss_less_mean_hit(d[i] * w, off[i] & (D[i] > T), y, i)
            continue
        W += mean_miss_less_mean_hit(d[i], off[i] & (D[i] < T - slack), y, i)
        if recipe.far:
            W -= mean_miss_less_mean_hit(d[i], off[i] & (D[i] > T + slack), y, i)
    return W / n


def mean_miss_less_mean_hit(diffs, there, y, i):
    total = np.zeros(diffs.shape[1])
    if y.dtype.kind == "f":
        hit = np.abs(y - y[i]) < y.std()
        for rows, sign in ((there & hit, -1), (there & ~hit, 1)):
            total += sign * diffs[rows].mean(axis=0) if rows.any() else 0
        return total
    prior = {c: np.mean(y == c) for c in np.unique(y)}
    present = {c: there & (y == c) for c in prior if (there & (y == c)).any()}
    others = sum(prior[c] for c in present if c != y[i])
    for c, rows in present.items():
        total += diffs[rows].mean(axis=0) * (-1 if c == y[i] else prior[c] / others)
    return total


FAMILY = [
    recipes.SURF,
    recipes.SURF_STAR,
    recipes.MULTISURF,
    recipes.MULTISURF_STAR,
    recipes.SWRF_STAR,
    recipes.MULTI_SWRF_STAR,
]
each_member = pytest.mark.parametrize("recipe", FAMILY, ids=lambda recipe: recipe.name)


@each_member
@pytest.mark.parametrize("numeric_target", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("seed", range(3))
def test_the_reference_equals_the_plain_formula(recipe, numeric_target, seed):
    rng = np.random.default_rng(seed)
    nominal = np.arange(9) >= 6
    X = rng.random((60, 9)) * rng.choice([1e-3, 1, 1e3], 9)
    X[:, nominal] = rng.integers(0, 3, (60, 3))
    y = rng.random(60) if numeric_target else (rng.random(60) ** 2 * 4).astype(int)
    recipe = replace(recipe, grouping="hits and misses") if numeric_target else recipe
    made = Data(X[:, :6], X[:, 6:].astype(int), None, y, None)
    expected = plain_weights(X, y, nominal, recipe)
    for kernel in (REFERENCE, KERNELS[0]):
        assert weights_of(recipe, made.table(), kernel) == pytest.approx(expected, rel=0, abs=1e-9)


@each_kernel
@pytest.mark.parametrize("far", [False, True])
def test_rows_in_panels_by_place(kernel, far):
    """From 4,096 rows on a few columns decide where a row stands, and searches begin with the panels that are near."""
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.random((3000, 3)), rng.normal(0.2, 0.01, (1200, 3))])
    made = Data(X, np.zeros((4200, 0), int), None, rng.integers(0, 2, 4200), None).table()
    recipe = replace(recipes.MULTISURF, far=far)
    targets = rng.choice(4200, 6, replace=False)
    assert_same_sums(sums_of(recipe, made, kernel, targets=targets), sums_of(recipe, made, REFERENCE, targets=targets))


@each_member
def test_whole_weights_are_copies(recipe):
    rng = np.random.default_rng(9)
    X, y, copies = rng.random((40, 3)).round(1), rng.integers(0, 2, 40), rng.integers(0, 4, 40).astype(float)
    codes = rng.integers(0, 3, (40, 3))
    copied = Data(X, codes, None, y, None).rows(np.repeat(np.arange(40), copies.astype(int))).table()
    weighted = Data(X, codes, None, y, copies).table()
    for kernel in (REFERENCE, KERNELS[0]):
        np.testing.assert_array_equal(weights_of(recipe, weighted, kernel), weights_of(recipe, copied, kernel))


@pytest.mark.parametrize(
    "recipe, p1, p2",
    [
        (recipes.SURF, 0.06157283, 0.06155927),
        (recipes.SURF_STAR, 0.12792470, 0.12864101),
        (recipes.MULTISURF, 0.08807613, 0.08845469),
        (recipes.MULTISURF_STAR, 0.17344628, 0.17498272),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_published_weights(shared, recipe, p1, p2):
    """Printed in scikit-rebate's documentation for its demo genotypes; two classes, so priors play no part."""
    lines = (shared / "data" / "gametes_2way_20atts.csv").read_text().split()
    names = lines[0].split(",")
    rows = np.array([line.split(",") for line in lines[1:]], int)
    table = Data(np.zeros((len(rows), 0)), rows[:, :-1], None, rows[:, -1], None).table()
    weights = dict(zip(names, weights_of(recipe, table, KERNELS[0], keep=True), strict=False))
    assert weights["P1"] == pytest.approx(p1, abs=5e-9)
    assert weights["P2"] == pytest.approx(p2, abs=5e-9)


def test_distances_of_very_many_categories_are_added_up_without_overflow():
    """A row that differs from 69 others in all of 2.2 million columns: such squares together have more than 110 bits."""
    codes = np.zeros((70, 2_200_000), np.uint8)
    codes[0] = 1
    made = Data(np.zeros((70, 0)), codes, None, np.arange(70) % 2, None).table()
    handle = KERNELS[0].load(made, recipes.MULTISURF, 10**7, InLine(), keep=True)
    found = KERNELS[0].moments(handle, np.array([0]))
    one = 2_200_000 * 2**31
    assert (found.counts, found.sums, found.squares) == ([69], [69 * one], [69 * one**2])


def test_a_radius_groups_classes_by_class_and_numbers_by_hits():
    rng = np.random.default_rng(0)
    X, y = rng.random((20, 2)), rng.integers(0, 2, 20)
    made = Data(X, np.zeros((20, 0), int), None, y, None).table()
    with pytest.raises(ValueError, match="with a radius classes are grouped by class and numbers into hits and misses"):
        fit_recipe(replace(recipes.SURF, grouping="hits and misses"), made, None, Options())
