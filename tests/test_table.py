"""The grid and the table: codes, steps, unknown cells, weights, what is refused."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from nearhit import grid
from nearhit.engines import Threads
from nearhit.grid import NUMPY, Coder, encode, measure_spread
from nearhit.intake import Columns, NominalBlock, NumericBlock, read_columns
from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.table import Classes, Numbers, make_table, make_target, whole_weights


def table_of(X, y=None, weights=None, **how):
    X = np.asarray(X, object if np.asarray(X).dtype.kind == "U" else None)
    return make_table(read_columns(X), [np.zeros(len(X), int) if y is None else np.asarray(y)], weights, **how)


def test_codes_run_over_the_whole_grid():
    table = table_of([[0.1], [0.3], [1.1]])
    assert table.numeric[:, 0].tolist() == [0, round(table.grid * 0.2), table.grid]
    assert table.top.tolist() == [table.grid]


def test_random_numbers_get_the_finest_grid():
    assert table_of(np.random.default_rng(0).random((50, 3))).grid == 2**31


def test_columns_in_steps_get_a_grid_that_they_divide():
    X = np.array([[4.3, 0], [7.9, 7], [4.4, 3]])  # 36 steps of 0.1, 7 steps of 1
    table = table_of(X)
    assert table.grid % 36 == 0 and table.grid % 7 == 0
    assert 2**31 - table.grid < 252
    assert table.numeric[2].tolist() == [table.grid // 36, table.grid // 7 * 3]


def test_too_many_different_steps_are_not_all_honoured():
    """From the fewest steps up, while their common multiple stays under 2**24."""
    primes = [4093, 4099, 65537, 1009]
    table = table_of(np.array([[0] * 4, primes]))
    assert [table.grid % p == 0 for p in primes] == [True, False, False, True]
    assert table.grid > 2**31 * 0.99


def test_categories_want_whole_filter_units():
    columns = Columns(
        ("a", "b"),
        3,
        (NumericBlock(np.array([0]), np.array([[0.0], [1.0], [36.0]]), None),),
        (NominalBlock(np.array([1]), np.zeros((3, 1), np.uint8), np.array([2]), None),),
    )
    table = make_table(columns, [np.zeros(3, int)])
    assert table.grid % (36 * grid.FILTER_UNIT // np.gcd(36, grid.FILTER_UNIT)) == 0
    assert table.mismatch == table.grid


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint64, np.int64])
def test_number_types_have_the_same_codes(dtype):
    X = np.array([[0, 1], [3, 100], [9, 7]])
    expected = table_of(X.astype(np.float64)).numeric
    np.testing.assert_array_equal(table_of(X.astype(dtype)).numeric, expected)


def test_unknown_cells_are_zero_and_marked():
    table = table_of([[1.0, np.nan], [np.nan, 5.0], [3.0, 6.0]])
    assert table.numeric_unknown.tolist() == [[False, True], [True, False], [False, False]]
    assert table.numeric[0, 1] == table.numeric[1, 0] == 0
    assert table_of([[1.0, 2.0], [3.0, 4.0]]).numeric_unknown is None


def test_cells_under_a_mask_may_hold_anything():
    values = np.array([[5], [-999], [9]])
    block = NumericBlock(np.array([0]), values, values < 0)
    table = make_table(Columns(("x0",), 3, (block,), ()), [np.zeros(3, int)])
    assert table.numeric[:, 0].tolist() == [0, 0, table.grid]


def test_a_constant_column_is_zero():
    table = table_of([[7.0, 1.0], [7.0, 2.0]])
    assert table.numeric[:, 0].tolist() == [0, 0] and table.top[0] == 0


def test_a_common_scale_keeps_the_proportions():
    table = table_of([[0.0, 0.0], [4.0, 1.0]], scale=None)
    assert table.unit == 4
    assert table.numeric[1].tolist() == [2**31, 2**29]


def test_columns_come_back_in_the_order_of_the_input():
    X = np.array([["a", 1.0, "b", 2.0], ["c", 3.0, "b", 4.0]], object)
    table = make_table(read_columns(X), [np.zeros(2, int)])
    assert table.in_column_order(np.array([10, 20, 30, 40])).tolist() == [30, 10, 40, 20]


def test_rows_of_no_weight_are_gone_before_ranges_are_taken():
    table = table_of([[0.0], [1.0], [1000.0]], y=[0, 1, 1], weights=np.array([1.0, 2.0, 0.0]))
    assert table.numeric[:, 0].tolist() == [0, table.grid]
    assert table.targets[0].weight.tolist() == [1, 2]


@pytest.mark.parametrize(
    "weights, one, units",
    [([1.0, 2.0, 3.0], 1, [1, 2, 3]), ([0.5, 1.0, 0.25], 2**19, [2**18, 2**19, 2**17]), ([3e-7, 6e-7, 0], None, None)],
)
def test_weights_become_whole_units(weights, one, units):
    made = whole_weights(np.array(weights))
    if one is None:
        assert made.units[1] == pytest.approx(2 * made.units[0], rel=1e-5) and made.units[2] == 0
    else:
        assert (made.one, made.units.tolist()) == (one, units)


def test_targets():
    classes = make_target(np.array([0, 2, 2]), np.array([1, 1, 5]))
    assert isinstance(classes, Classes) and classes.weight.tolist() == [1, 0, 6]
    numbers = make_target(np.array([1.0, 2.0, 5.0]), np.ones(3, np.int64))
    assert isinstance(numbers, Numbers) and numbers.codes.tolist() == [0, 2**29, 2**31]
    extreme = make_target(np.array([-1.7e308, 1.7e308]), np.ones(2, np.int64))
    assert extreme.codes.tolist() == [0, 2**31]


def test_every_empty_column_is_named():
    with pytest.warns(UserWarning) as caught:
        table_of([[np.nan, 1.0, None], [np.nan, 2.0, None]])
    assert sorted(str(w.message).split("'")[1] for w in caught) == ["x0", "x2"]


def test_decimals_as_float32_are_the_decimals_that_were_meant():
    X = np.round(np.random.default_rng(0).normal(5, 2, (80, 3)), 1)
    np.testing.assert_array_equal(table_of(X.astype(np.float32)).numeric, table_of(X).numeric)


def mixed_float32(n_rows, n_columns=8):
    """Decimals, whole numbers, random ones, large sums of sixteenths (six decimals only as float64), huge ones."""
    rng = np.random.default_rng(3)
    X = rng.normal(5, 200, (n_rows, n_columns)).astype(np.float32)
    X[:, 0], X[:, 1], X[:, 2] = X[:, 0].round(1), X[:, 1].round(3), X[:, 2].round()
    X[:, 3] = rng.integers(0, 2**20, n_rows) + rng.integers(0, 16, n_rows) / 16
    X[:, 4] = X[:, 4] * np.float32(1e34)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


@pytest.mark.parametrize("isa", [None, *instruction_sets()])
@pytest.mark.parametrize("columns", [slice(0, None), slice(2, None), slice(4, None)])
def test_float32_has_the_codes_of_the_decimals_as_float64(isa, columns):
    X = mixed_float32(5000)[:, columns]
    places = grid._decimals_of_columns(X)
    meant = np.where(places < 0, X, np.rint(X.astype(np.float64) * 10.0**places) / 10.0**places)
    coder = Coder(NativeKernel(isa).coder, Threads(2)) if isa else NUMPY
    expected, found = table_of(meant), table_of(X, coder=coder)
    np.testing.assert_array_equal(found.numeric, expected.numeric)
    np.testing.assert_array_equal(found.numeric_unknown, expected.numeric_unknown)
    assert found.grid == expected.grid


@pytest.mark.parametrize("decimals", [None, 0, 1])
def test_float32_is_coded_without_a_copy_of_the_table(decimals):
    """A few rows at a time: memory stays small and Ctrl-C is heard."""
    X = np.random.default_rng(0).random((100_000, 50), np.float32) * 100
    block = NumericBlock(np.arange(50), X if decimals is None else X.round(decimals), None)
    native = Coder(NativeKernel(instruction_sets()[0]).coder)
    codes = np.empty(X.shape, np.uint32)
    tracemalloc.start()
    try:
        spread = measure_spread(block, [str(j) for j in range(50)], native)
        encode(spread, spread.width, 2**31, codes, None, native)
        assert tracemalloc.get_traced_memory()[1] < X.size * 8 / 4  # a copy in float64 takes four times that
    finally:
        tracemalloc.stop()
    if decimals != 1:
        assert spread.places is None  # the native code reads float32 itself


def test_unknown_numbers_are_marked_beside_columns_of_another_kind():
    rng = np.random.default_rng(0)
    size = rng.random(50)
    size[::7] = np.nan
    frame = pd.DataFrame({"size": size, "count": rng.integers(0, 5, 50)})
    table = make_table(read_columns(frame), [np.arange(50) % 2])
    assert table.numeric_unknown.tolist() == frame.isna().to_numpy().tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("isa", instruction_sets())
def test_native_code_puts_numbers_on_the_grid_as_numpy_does(isa, dtype):
    """Wide, narrow, constant and empty columns, decimals, unknown cells; rows of any stride, several shares of the work."""
    rng = np.random.default_rng(1)
    X = rng.normal(0, 1, (700, 37)) * 10.0 ** rng.integers(-30, 30, 37)
    X[:, 5], X[:, 6] = 7.0, np.nan
    X[:, 7:12] = np.round(rng.normal(5, 2, (700, 5)), 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    block = NumericBlock(np.arange(30), X.astype(dtype)[::2, 3:33], None)
    native = Coder(NativeKernel(isa).coder, Threads(3))
    assert native.takes(block)
    names = [str(j) for j in range(30)]
    expected, found = measure_spread(block, names), measure_spread(block, names, native)
    for name in ("low", "width", "steps", "has_unknown"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    coded = []
    for spread, coder in ((expected, NUMPY), (found, native)):
        codes, unknown = np.full((350, 33), 9, np.uint32), np.zeros((350, 33), bool)
        encode(spread, spread.width, 2**31, codes[:, 1:31], unknown[:, 1:31], coder)
        coded.append((codes, unknown))
    np.testing.assert_array_equal(coded[1][0], coded[0][0])
    np.testing.assert_array_equal(coded[1][1], coded[0][1])
    assert coded[0][1].any() and (coded[0][0][:, [0, 31, 32]] == 9).all()


def mixed_table(holes=True):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((30, 6)), columns=list("abcdef"))
    for name in "bdf":
        frame[name] = pd.Series(rng.choice(["x", "y", "z"], 30), dtype=object)
    frame["a"] = 5.0  # so that not all columns have one largest code
    if holes:
        frame.loc[::4, ["a", "b"]] = None
    return frame, rng.integers(0, 3, 30)


@pytest.mark.parametrize("features", [[0, 1, 2, 3, 4, 5], [5, 0, 3], [1, 3, 5], [4], [2, 1], []])
def test_some_columns_of_a_table(features):
    """What a table of these columns alone would be; but the grid, which suits all columns, stays."""
    frame, y = mixed_table()
    table = make_table(read_columns(frame), [y], np.arange(1, 31))
    some = table.take_columns(np.array(features, np.intp))
    alone = make_table(read_columns(frame.iloc[:, features]), [y], np.arange(1, 31)) if features else some
    assert (some.n_features, some.n_rows, some.grid, some.unit) == (len(features), 30, table.grid, table.unit)
    assert some.targets is table.targets and some.weights is table.weights
    for array in ("numeric", "numeric_unknown", "top", "nominal", "nominal_unknown", "n_codes", "n_values"):
        # columns of one kind may stand in another order than in a table made of them: compare by their places
        places = (
            f"{array.split('_unknown')[0]}_columns"
            if array.startswith(("numeric", "nominal"))
            else ("numeric_columns" if array == "top" else "nominal_columns")
        )
        found, expected = getattr(some, array), getattr(alone, array)
        assert (found is None) == (expected is None)
        if found is not None:
            by_place, by_place_alone = np.argsort(getattr(some, places)), np.argsort(getattr(alone, places))
            np.testing.assert_array_equal(found[..., by_place], expected[..., by_place_alone], err_msg=array)
            assert found.ndim == 1 or found.flags.c_contiguous
    places = np.concatenate([some.numeric_columns, some.nominal_columns])
    assert sorted(places) == list(range(len(features)))


def test_columns_taken_twice_are_columns_taken_at_once():
    frame, y = mixed_table(holes=False)
    table = make_table(read_columns(frame), [y])
    twice = table.take_columns(np.array([5, 1, 2, 4])).take_columns(np.array([3, 0]))
    at_once = table.take_columns(np.array([4, 5]))
    np.testing.assert_array_equal(twice.numeric, at_once.numeric)
    np.testing.assert_array_equal(twice.nominal, at_once.nominal)
    np.testing.assert_array_equal(twice.numeric_columns, at_once.numeric_columns)
    np.testing.assert_array_equal(twice.nominal_columns, at_once.nominal_columns)
