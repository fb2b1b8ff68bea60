"""What `transform` gives back: the selected columns of whatever `fit` takes, with the values that they had."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pandas.testing import assert_frame_equal
from polars.testing import assert_frame_equal as assert_polars_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from nearhit import ReliefF

NAN = float("nan")
Y = list("aabbab")
BIG = 2**60 + 1  # no float
FLOATS = [0.5, 1.5, NAN, 3.0, 2.0, 7.0]
DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 5, 9, 10, 12)]


def keeping(*columns, **parameters):
    """A ReliefF that selects the columns at these places."""
    return ReliefF(1, select=lambda weights: np.array(columns, int), **parameters)


def through(X, *columns):
    """The array that comes out; fit and transform apart give what fit_transform gives."""
    out = keeping(*columns).fit_transform(X, Y)
    again = keeping(*columns).fit(X, Y).transform(X)
    assert type(again) is type(out) and again.dtype == out.dtype
    return out


def same(found, dtype, rows):
    assert found.dtype == dtype
    assert [list(map(repr, row)) for row in found.tolist()] == [list(map(repr, row)) for row in rows]


# --- arrays, sparse matrices, lists ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u8", "?", "M8[D]", "m8[s]", "U3", ">f8", "g"])
def test_plain_arrays_keep_their_dtype(dtype):
    X = np.arange(18).reshape(6, 3).astype("i8" if dtype[0] in "mM" else dtype).astype(dtype)
    for order in "CF":
        out = through(np.array(X, order=order), 0, 2)
        assert out.dtype == np.dtype(dtype) and isinstance(out, np.ndarray)
        np.testing.assert_array_equal(out, X[:, [0, 2]])


def test_an_array_of_objects_stays_one():
    X = np.array([[1, "u", True], [2.5, "v", False], [None, "u", None]] * 2, object)
    np.testing.assert_array_equal(through(X, 0, 1), X[:, :2])


def test_a_matrix_becomes_an_array():
    X = np.arange(12.0).reshape(6, 2).view(np.matrix)
    assert type(through(X, 1)) is np.ndarray
    np.testing.assert_array_equal(through(X, 1), np.asarray(X)[:, [1]])


@pytest.mark.parametrize(
    "values, dtype, unknown",
    [
        (np.arange(12.0), "f8", NAN),
        (np.arange(12, dtype="f4"), "f4", NAN),
        (np.arange(12), "f8", NAN),
        (np.arange(12) + BIG, "O", NAN),
        (np.arange(12) % 3 == 0, "O", NAN),
        (np.arange(12).astype(str), "O", NAN),
        (np.arange(12).astype("M8[D]"), "M8[D]", None),
    ],
    ids=["f8", "f4", "small", "large", "bool", "text", "dates"],
)
def test_what_is_masked_is_unknown(values, dtype, unknown):
    X = np.ma.array(values.reshape(6, 2), mask=np.arange(12).reshape(6, 2) % 5 == 3)
    cells = values.astype(object if dtype == "O" else dtype).reshape(6, 2).tolist()
    rows = [[unknown if X.mask[i, j] else cells[i][j] for j in range(2)] for i in range(6)]
    same(through(X, 0, 1), dtype, rows)
    out = keeping(0, 1).set_output(transform="pandas").fit_transform(X, Y)
    assert out.isna().to_numpy().tolist() == X.mask.tolist()


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array", "dok_matrix"])
def test_sparse_matrices_stay_sparse(form):
    X = getattr(sp, form)(np.arange(18.0).reshape(6, 3) % 4)
    out = through(X, 0, 2)
    assert sp.issparse(out) and out.format == "csr"
    np.testing.assert_array_equal(out.toarray(), X.toarray()[:, [0, 2]])
    back = keeping(0, 2).fit(X, Y).inverse_transform(out)
    np.testing.assert_array_equal(back.toarray(), X.toarray() * [1, 0, 1])


def test_rows_in_lists_are_numbers_where_all_are_numbers():
    X = [[i, i / 2, "ab"[i % 2], None if i == 3 else BIG + i, i % 3 == 0] for i in range(6)]
    same(through(X, 0), "i8", [[i] for i in range(6)])
    same(through(X, 0, 1), "f8", [[float(i), i / 2] for i in range(6)])
    same(through(X, 0, 2), "O", [[i, "ab"[i % 2]] for i in range(6)])
    same(through(X, 3), "O", [[NAN if i == 3 else BIG + i] for i in range(6)])
    same(through(X, 4), "?", [[i % 3 == 0] for i in range(6)])
    assert through([tuple(row) for row in X], 1, 4).dtype == object


# --- data frames as arrays ------------------------------------------------------------------------------------

INTEGERS = [BIG, BIG + 2, None, 5, 6, 7]
SMALL = [1, 2, None, 5, 6, 7]
WORDS = ["u", "v", None, "u", "w", "w"]
FLAGS = [True, False, True, True, False, False]


def pandas_table():
    return pd.DataFrame(
        {
            "big": pd.array(INTEGERS, "Int64"),
            "small": pd.array(SMALL, "Int64"),
            "full": pd.array([BIG + i for i in range(6)], "Int64"),
            "float": FLOATS,
            "word": pd.array(WORDS, "string"),
            "flag": FLAGS,
            "category": pd.Categorical(WORDS),
            "day": pd.to_datetime(DAYS),
        }
    )


def arrow_backed_table():
    return pandas_table().convert_dtypes(dtype_backend="pyarrow").astype({"category": pd.ArrowDtype(pa.string())})


def polars_table():
    frame = {"big": INTEGERS, "small": SMALL, "full": [BIG + i for i in range(6)], "float": FLOATS, "word": WORDS}
    series = pl.Series(WORDS, dtype=pl.Categorical)
    return pl.DataFrame({**frame, "flag": FLAGS, "category": series, "day": DAYS})


def arrow_table():
    return polars_table().to_arrow()


@pytest.fixture(params=[pandas_table, arrow_backed_table, polars_table, arrow_table], ids=lambda table: table.__name__)
def table(request):
    return request.param()


def blank(cells):
    return [NAN if cell is None else cell for cell in cells]


def text_of(cell):
    """Unknown words are what the library has for them, but never pandas' NA."""
    assert cell is not pd.NA
    return None if cell is None or cell != cell else cell


def test_numbers_come_out_exactly(table):
    same(through(table, 2), "i8", [[BIG + i] for i in range(6)])
    same(through(table, 1), "f8", [[cell] for cell in map(float, blank(SMALL))])
    same(through(table, 0), "O", [[cell] for cell in blank(INTEGERS)])
    same(through(table, 1, 3), "f8", [list(row) for row in zip(map(float, blank(SMALL)), FLOATS, strict=True)])
    same(through(table, 2, 3), "O", [[BIG + i, cell] for i, cell in enumerate(FLOATS)])


def test_columns_of_different_kinds_are_objects(table):
    out = through(table, 3, 4, 5, 6)
    assert out.dtype == object
    expected = [FLOATS, WORDS, FLAGS, WORDS]
    for j, cells in enumerate(expected):
        assert [text_of(cell) for cell in out[:, j]] == [text_of(cell) for cell in cells]
    same(through(table, 5), "?", [[flag] for flag in FLAGS])


def test_dates_stay_dates(table):
    for out in (through(table, 7), through(table, 3, 7)):
        days = out[:, -1]
        assert [pd.Timestamp(day).date() for day in days] == DAYS


def test_durations_beside_numbers():
    times = pd.to_timedelta(np.arange(6), unit="D")
    for X in (pd.DataFrame({"a": times, "b": FLOATS}), pl.DataFrame({"a": times.to_numpy(), "b": FLOATS}),
              pa.table({"a": pa.array(times.to_pytimedelta()), "b": FLOATS})):  # fmt: skip
        assert [pd.Timedelta(cell).days for cell in through(X, 0, 1)[:, 0]] == list(range(6))
        assert through(X, 0).dtype.kind in "mO"


def test_sparse_columns_of_pandas():
    zeros = pd.DataFrame({name: pd.arrays.SparseArray([0, 0, 1, 2, 0, 3], fill_value=0) for name in "ab"})
    assert sp.issparse(through(zeros, 1))
    ones = pd.DataFrame({name: pd.arrays.SparseArray([1, 1, 0, 2, 1, 3], fill_value=1) for name in "ab"})
    same(through(ones, 1), "i8", [[1], [1], [0], [2], [1], [3]])
    with_fill = pd.DataFrame({"a": pd.arrays.SparseArray([NAN, 1, 2, NAN, 5, 3]), "b": FLOATS})
    np.testing.assert_array_equal(through(with_fill, 0)[:, 0], [NAN, 1, 2, NAN, 5, 3])


def test_other_kinds_of_numbers():
    decimals = [Decimal(i) / 2 for i in range(6)]
    for X in (pl.DataFrame({"a": decimals}), pa.table({"a": decimals})):
        assert [float(cell) for cell in through(X, 0)[:, 0]] == [i / 2 for i in range(6)]
    times = pl.DataFrame({"a": [datetime.time(1, i) for i in range(6)]})
    assert through(times, 0)[:, 0].tolist() == [datetime.time(1, i) for i in range(6)]
    halves = pa.table({"a": np.arange(6, dtype=np.float16)})
    assert through(halves, 0).dtype == np.float16


def test_a_pipeline_takes_what_comes_out():
    rng = np.random.default_rng(0)
    words = rng.choice(["u", "v"], 60)
    X = pd.DataFrame({"a": rng.random(60), "b": pd.array(words, "string[pyarrow]"), "c": pd.array(words, "string")})
    y = words == "u"
    pipeline = make_pipeline(ReliefF(select=2), OneHotEncoder(), LogisticRegression())
    assert pipeline.fit(X, y).score(X, y) == 1


# --- data frames as data frames -------------------------------------------------------------------------------


def test_a_frame_of_pandas_stays_as_it_is():
    for X in (pandas_table().set_index(np.arange(6) + 10), arrow_backed_table()):
        out = keeping(0, 4, 6, 7).set_output(transform="pandas").fit_transform(X, Y)
        assert_frame_equal(out, X[["big", "word", "category", "day"]])


def test_a_frame_of_polars_stays_as_it_is():
    X = polars_table()
    out = keeping(0, 3, 6, 7).set_output(transform="polars").fit_transform(X, Y)
    assert_polars_equal(out, X[["big", "float", "category", "day"]])


def test_frames_of_the_other_library_keep_what_it_has_too(table):
    relief = keeping(2, 3, 5, 6)
    polars = relief.set_output(transform="polars").fit_transform(table, Y)
    assert polars.columns == ["full", "float", "flag", "category"]
    assert polars.dtypes[:3] == [pl.Int64, pl.Float64, pl.Boolean] and polars.dtypes[3] in (pl.Categorical, pl.String)
    pandas = relief.set_output(transform="pandas").fit_transform(table, Y)
    assert list(pandas.columns) == ["full", "float", "flag", "category"]
    assert pandas["full"].tolist() == [BIG + i for i in range(6)]
    assert pandas["float"].dtype.kind == "f" and pandas["flag"].dtype.kind == "b"


def test_labels_that_are_no_strings():
    X = pd.DataFrame({2010: FLOATS, 2011: WORDS})
    assert list(keeping(1).set_output(transform="pandas").fit_transform(X, Y).columns) == ["x1"]
    assert list(keeping(1).set_output(transform="polars").fit_transform(X, Y).columns) == ["x1"]
    assert list(X.columns) == [2010, 2011]


# --- what is checked ------------------------------------------------------------------------------------------


def test_names_and_numbers_of_columns_are_checked(table):
    relief = keeping(3).fit(table, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        relief.transform(pandas_table().rename(columns={"big": "huge"}))
    with pytest.raises(ValueError, match="X has 2 features, but ReliefF is expecting 3 features"):
        keeping(0).fit(np.eye(6)[:, :3], Y).transform(np.eye(6)[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        keeping(0).fit(np.eye(6)[:, :3], Y).transform(np.arange(3.0))


def test_nothing_selected_is_told():
    X = np.arange(18.0).reshape(6, 3)
    relief = ReliefF(1, select=">5").fit(X, Y)
    with pytest.warns(UserWarning, match="select='>5' keeps none of the 3 features"):
        assert relief.transform(X).shape == (6, 0)
    frame = pd.DataFrame(X, columns=list("abc"))
    relief = ReliefF(1, select=">5").set_output(transform="pandas").fit(frame, Y)
    with pytest.warns(UserWarning, match="keeps none"):
        assert relief.transform(frame).shape == (6, 0)


def test_the_way_back(table):
    relief = keeping(3, 5).fit(table, Y)
    back = relief.inverse_transform(relief.transform(table))
    assert back.shape == (6, 8)
    assert [back[:, 5].tolist(), back[:, 0].tolist()] == [FLAGS, [0] * 6]
    numbers = keeping(1, 3).fit(table, Y)
    np.testing.assert_array_equal(numbers.inverse_transform(numbers.transform(table))[:, 3], FLOATS)
    with pytest.raises(ValueError, match="X has a different shape than during fitting: it has 8 columns, and 2"):
        relief.inverse_transform(table)
    assert keeping(0).fit(np.eye(6), Y).inverse_transform([[2], [3]])[:, 0].tolist() == [2, 3]
