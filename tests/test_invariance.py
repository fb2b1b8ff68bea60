"""What must not change a bit: order of rows and columns, names, copies, threads, blocks, instruction sets."""

from dataclasses import replace

import numpy as np
import pytest
from generated import Data, class_recipes, data, numeric_recipes, usable, weights_of
from hypothesis import assume, given
from hypothesis import strategies as st

from nearhit import ReliefF, RReliefF, recipes
from nearhit.engines import InLine, Threads
from nearhit.kernels.native import NativeKernel, instruction_sets

pytestmark = pytest.mark.filterwarnings("ignore:column .* has no known value", "ignore:(m - )?N_dC = 0")
KERNEL = NativeKernel(instruction_sets()[0])
SEEDS = st.integers(0, 2**32)
LARGER = [40, 65, 130, 200]


def same_bits(a, b):
    np.testing.assert_array_equal(a, b)


@given(data(rows=LARGER), class_recipes(ties=("share",)), SEEDS)
def test_the_order_of_rows_changes_nothing(made, recipe, seed):
    order = np.random.default_rng(seed).permutation(len(made.X))
    same_bits(weights_of(recipe, made.rows(order).table(), KERNEL), weights_of(recipe, made.table(), KERNEL))


@given(data(classes=False, rows=LARGER), numeric_recipes(ties=("share",)), SEEDS)
def test_the_order_of_rows_changes_nothing_for_numbers(made, recipe, seed):
    order = np.random.default_rng(seed).permutation(len(made.X))
    same_bits(weights_of(recipe, made.rows(order).table(), KERNEL), weights_of(recipe, made.table(), KERNEL))


@given(data(rows=LARGER), class_recipes(), SEEDS)
def test_the_order_of_columns_permutes_the_weights(made, recipe, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(made.X.shape[1]), rng.permutation(made.codes.shape[1])
    turned = replace(
        made, X=made.X[:, p], codes=made.codes[:, q], unknown=None if made.unknown is None else made.unknown[:, q]
    )
    table = made.table()
    assume(usable(recipe, table))
    weights = weights_of(recipe, table, KERNEL)
    same_bits(weights_of(recipe, turned.table(), KERNEL), weights[np.concatenate([p, len(p) + q])])


@given(data(rows=LARGER), class_recipes(), SEEDS)
def test_names_of_classes_and_categories_change_nothing(made, recipe, seed):
    rng = np.random.default_rng(seed)
    codes = made.codes.copy()
    for column in codes.T:
        column[:] = rng.permutation(column.max() + 1)[column]
    if made.unknown is not None:
        codes[made.unknown] = 0
    renamed = replace(made, codes=codes, y=rng.permutation(made.y.max() + 1)[made.y])
    table = made.table()
    assume(usable(recipe, table))
    same_bits(weights_of(recipe, renamed.table(), KERNEL), weights_of(recipe, table, KERNEL))


@given(data(rows=LARGER), class_recipes(), st.sampled_from([1, 7, 48, 50, 512]), st.sampled_from([2, 7]), st.booleans())
def test_threads_blocks_and_memory_change_nothing(made, recipe, rows_per_block, threads, tight):
    table = made.table()
    assume(usable(recipe, table))
    how = dict(rows_per_block=rows_per_block, engine=Threads(threads), pair_bytes=1 if tight else 10**8)
    same_bits(weights_of(recipe, table, KERNEL, **how), weights_of(recipe, table, KERNEL, engine=InLine()))


@given(data(rows=LARGER), class_recipes())
def test_instruction_sets_change_nothing(made, recipe):
    table = made.table()
    assume(usable(recipe, table))
    first, *others = (weights_of(recipe, table, NativeKernel(isa)) for isa in instruction_sets())
    for other in others:
        same_bits(other, first)


def copies_of(made):
    return replace(made.rows(np.repeat(np.arange(len(made.X)), made.weights.astype(int))), weights=None)


@given(data(weights=("whole",), rows=[9, 33, 64, 100]), class_recipes(ties=("share",)))
def test_a_weight_of_two_is_two_copies(made, recipe):
    assume(len(np.unique(made.y[made.weights > 0])) == made.y.max() + 1)
    same_bits(weights_of(recipe, made.table(), KERNEL), weights_of(recipe, copies_of(made).table(), KERNEL))


@given(data(classes=False, weights=("whole",), rows=[9, 33, 64, 100]), numeric_recipes(ties=("share",)))
def test_a_weight_of_two_is_two_copies_for_numbers(made, recipe):
    same_bits(weights_of(recipe, made.table(), KERNEL), weights_of(recipe, copies_of(made).table(), KERNEL))


@given(data(weights=("real",), rows=LARGER, scale=("range",)), class_recipes(ties=("share",)))
def test_halved_weights_ask_for_half_the_neighbours(made, recipe):
    """Weights count rows: w / 2 everywhere and k / 2 describe the same table, as far as a row's own copies allow."""
    halved = replace(made, weights=np.where(made.weights > 0, 0.5, 0))
    plain = replace(made.rows(np.flatnonzero(made.weights > 0)), weights=None)
    assume(recipe.k is not None and recipe.k < 4 and len(np.unique(plain.y)) == made.y.max() + 1)
    table = halved.table()
    assume(table.n_rows > 30)
    half = weights_of(replace(recipe, weights=recipes.EqualWeights(), k=1), table, KERNEL)
    two = weights_of(replace(recipe, weights=recipes.EqualWeights(), k=2), plain.table(), KERNEL)
    np.testing.assert_allclose(half, two, rtol=0, atol=1e-9)


def test_twin_columns_get_one_weight():
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 4)), rng.integers(0, 3, 100)
    weights = ReliefF().fit(np.hstack([X, X[:, :2]]), y).weights_
    same_bits(weights[4:], weights[:2])
    weights = RReliefF(10).fit(np.hstack([X, X[:, :2]]), y + X[:, 0]).weights_
    same_bits(weights[4:], weights[:2])


@pytest.mark.parametrize("shift, factor", [(1e3, 1.0), (0.0, 1e-7), (-5.0, 1e8), (1.0, -3.0)])
def test_other_units_change_nothing_beyond_the_grid(shift, factor):
    rng = np.random.default_rng(1)
    X, y = rng.random((150, 5)), rng.integers(0, 2, 150)
    moved = X.copy()
    moved[:, 2] = moved[:, 2] * factor + shift
    assert ReliefF().fit(moved, y).weights_ == pytest.approx(ReliefF().fit(X, y).weights_, rel=0, abs=1e-9)


def test_decimal_ties_survive_the_grid():
    """0.1 steps of different columns are equal distances; shifted by 10, floats would break the ties."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 24, (200, 4)) / 10, rng.integers(0, 2, 200)
    X[:2] = [[0.0] * 4, [2.4] * 4]
    same_bits(ReliefF(3).fit(X + 10, y).weights_, ReliefF(3).fit(np.round(X * 10).astype(int), y).weights_)


def test_sampled_rows_depend_on_the_seed_alone():
    rng = np.random.default_rng(3)
    made = Data(rng.random((300, 5)), np.zeros((300, 0), int), None, rng.integers(0, 3, 300), None)
    fits = [ReliefF(n_targets=0.3, random_state=7, n_jobs=jobs).fit(made.X, made.y).weights_ for jobs in (1, 2, None)]
    same_bits(fits[1], fits[0])
    same_bits(fits[2], fits[0])
    assert (ReliefF(n_targets=0.3, random_state=8).fit(made.X, made.y).weights_ != fits[0]).any()
    chosen = np.random.RandomState(7).choice(300, 90, replace=False)
    same_bits(weights_of(recipes.RELIEFF, made.table(), KERNEL, targets=chosen), fits[0])


def test_duplicated_copies_of_a_whole_table_leave_priors_alone():
    """Every class twice as large: with k = all the closed form moves only by its n / (n - 1)."""
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 3, (30, 3)).astype(str), np.arange(30) % 3
    twice = ReliefF("all").fit(np.tile(X, (2, 1)), np.tile(y, 2)).weights_
    same_bits(ReliefF("all").fit(X, y, sample_weight=np.full(30, 2)).weights_, twice)
