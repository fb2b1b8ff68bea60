"""What comes in by any door comes out the same: equal numbers, equal partitions, and the input untouched."""

from __future__ import annotations

import datetime
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nearhit.intake import Columns, NominalBlock, NumericBlock, codes, read_columns, source

NAN = float("nan")


# --- reading the result back ----------------------------------------------------------------------------------


def content(columns: Columns) -> list[tuple[str, list[object]]]:
    """Per column its kind and its cells: numbers as they are, categories numbered as they first occur, None unknown."""
    check_promises(columns)
    cells: dict[int, tuple[str, list[object]]] = {}
    for block in columns.numeric:
        for j, position in enumerate(block.columns.tolist()):
            column = block.values[:, j]
            unknown = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), bool)
            if block.unknown is not None:
                unknown = unknown | block.unknown[:, j]
            cells[position] = "numeric", [None if u else v for v, u in zip(column.tolist(), unknown, strict=True)]
    for block in columns.nominal:
        for j, position in enumerate(block.columns.tolist()):
            unknown = np.zeros(columns.n_rows, bool) if block.unknown is None else block.unknown[:, j]
            cells[position] = (
                "nominal",
                as_they_occur([None if u else c for c, u in zip(block.codes[:, j].tolist(), unknown, strict=True)]),
            )
    return [cells[position] for position in range(columns.n_features)]


def as_they_occur(cells):
    """The partition of the rows that equal cells make, whatever the cells are called."""
    number_of: dict[object, int] = {}
    return [None if cell is None else number_of.setdefault(cell, len(number_of)) for cell in cells]


def check_promises(columns: Columns) -> None:
    """What the docstrings of the blocks say of every result."""
    blocks = columns.numeric + columns.nominal
    assert sorted(np.concatenate([block.columns for block in blocks]).tolist()) == list(range(columns.n_features))
    assert len(columns.numeric) <= 4
    assert len(columns.nominal) <= 2
    for block in blocks:
        assert block.columns.dtype == np.intp
        assert (np.diff(block.columns) > 0).all()
        data = block.values if isinstance(block, NumericBlock) else block.codes
        assert data.shape == (columns.n_rows, len(block.columns))
        if block.unknown is not None:
            assert block.unknown.dtype == bool
            assert block.unknown.shape == data.shape
            assert block.unknown.any()
    for block in columns.numeric:
        assert block.values.dtype.isnative
        assert block.values.dtype.kind in "iu" or block.values.dtype in (np.float32, np.float64)
        assert block.values.dtype.kind in "iu" or block.unknown is None
    for block in columns.nominal:
        assert block.codes.flags.c_contiguous
        assert block.n_codes.dtype == np.int64
        assert (block.n_codes >= 1).all()
        assert (block.codes < block.n_codes).all()
        assert block.codes.dtype == (np.uint8 if (block.n_codes <= 256).all() else np.uint16)
        if block.unknown is not None:
            assert not block.codes[block.unknown].any()
    widths = [block.codes.dtype for block in columns.nominal]
    assert len(set(widths)) == len(widths)


def the_block(columns: Columns) -> NumericBlock | NominalBlock:
    check_promises(columns)
    (block,) = columns.numeric + columns.nominal
    return block


def numeric(*cells):
    return "numeric", list(cells)


def nominal(*cells):
    return "nominal", list(cells)


# --- plain arrays ---------------------------------------------------------------------------------------------

PLAIN = np.arange(35).reshape(7, 5) ** 2 % 11


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_a_plain_array_is_passed_on_as_a_view_without_being_read(dtype):
    X = PLAIN.astype(dtype)
    block = the_block(read_columns(X))
    assert np.shares_memory(block.values, X)
    assert block.values.dtype == X.dtype
    assert block.values.strides == X.strides
    assert block.unknown is None
    assert block.columns.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(block.values, PLAIN)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "u8"])
def test_reading_a_plain_array_takes_no_pass_over_it(dtype):
    X = np.broadcast_to(np.ones((), dtype), (10**9, 4))  # one cell, repeated: a pass would take a second at best
    start = time.perf_counter()
    block = the_block(read_columns(X))
    assert time.perf_counter() - start < 0.5
    assert block.values.shape == X.shape


def test_the_result_cannot_write_to_the_input_and_leaves_its_flags_alone():
    X = PLAIN.astype(float)
    with pytest.raises(ValueError, match="read-only"):
        the_block(read_columns(X)).values[0, 0] = 1
    assert X.flags.writeable


@pytest.mark.parametrize("dtype", ["f2", "g", ">f4", ">f8", ">i4", ">u8", "<i8"])
def test_unusual_numbers_arrive_in_native_dtypes(dtype):
    block = the_block(read_columns(PLAIN.astype(dtype)))
    expected = np.float64 if dtype in ("f2", "g") else np.dtype(dtype).newbyteorder("=")
    assert block.values.dtype == expected
    np.testing.assert_array_equal(block.values, PLAIN)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="long double is float64 here")
def test_a_long_double_beyond_float64_becomes_infinite_without_a_warning():
    assert the_block(read_columns(np.array([[np.longdouble("1e4000")]]))).values[0, 0] == np.inf


def test_nan_and_infinity_in_numbers_are_passed_on():
    X = np.array([[1.0, NAN], [np.inf, 2.0]])
    assert content(read_columns(X)) == [numeric(1, np.inf), numeric(None, 2)]


def test_large_integers_keep_their_differences():
    big = 2**63 - 3
    assert content(read_columns(np.array([[big], [big + 1]]))) == [numeric(big, big + 1)]
    assert content(read_columns(np.array([[2**64 - 1], [2**64 - 2]], np.uint64))) == [numeric(2**64 - 1, 2**64 - 2)]


def test_booleans_are_nominal_and_not_copied():
    X = np.array([[True, False], [False, False], [True, True]])
    columns = read_columns(X)
    assert content(columns) == [nominal(0, 1, 0), nominal(0, 0, 1)]
    assert np.shares_memory(the_block(columns).codes, X)
    assert the_block(columns).n_codes.tolist() == [2, 2]
    assert content(read_columns(np.asfortranarray(X))) == content(columns)


@pytest.mark.parametrize("dtype", ["U", "S", object, "T"])
def test_arrays_of_text_are_nominal_in_every_column(dtype):
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 2 is needed")
    X = np.array([["b", "1"], ["a", "2"], ["b", "1"]]).astype(dtype)
    assert content(read_columns(X)) == [nominal(0, 1, 0), nominal(0, 1, 0)]


def test_the_missing_object_of_a_numpy_string_dtype_is_unknown():
    string_dtype = getattr(np.dtypes, "StringDType", None)
    if string_dtype is None:
        pytest.skip("NumPy 2 is needed")
    X = np.array([["b"], [None], ["a"], ["b"]], dtype=string_dtype(na_object=None))
    assert content(read_columns(X)) == [nominal(0, None, 1, 0)]


def test_the_words_nan_and_nothing_are_text():
    assert content(read_columns([["nan"], [""], [None], ["nan"]])) == [nominal(0, 1, None, 0)]


@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_dates_and_durations_are_numbers_of_ticks(byte_order):
    dates = np.array([["2020-01-03", "NaT"], ["2020-01-01", "1970-01-02"]], dtype=f"{byte_order}M8[D]")
    assert content(read_columns(dates)) == [numeric(18264, 18262), numeric(None, 1)]
    assert content(read_columns(dates - np.datetime64("2020-01-01"))) == [numeric(2, 0), numeric(None, -18261)]
    assert the_block(read_columns(dates[:, :1])).unknown is None


def test_masked_entries_are_unknown_in_every_dtype():
    mask = [[False, True], [False, False], [True, False]]
    X = np.array([[3, 1], [4, 2], [3, 1]])
    known = [numeric(3, 4, None), numeric(None, 2, 1)]
    for dtype in ("i1", "i8", "f4", "f8", "M8[s]", object):
        masked = np.ma.MaskedArray(X.astype(dtype), mask)
        assert content(read_columns(masked)) == known
        assert np.array_equal(masked.data.astype("i8"), X)
    for dtype in ("U", "S"):
        assert content(read_columns(np.ma.MaskedArray(X.astype(dtype), mask))) == [
            nominal(0, 1, None),
            nominal(None, 0, 1),
        ]
    booleans = np.ma.MaskedArray(X.astype(bool), mask)
    assert content(read_columns(booleans)) == [nominal(0, 0, None), nominal(None, 0, 0)]
    assert content(read_columns(np.ma.MaskedArray([[1.0, NAN]], [[True, False]]))) == [numeric(None), numeric(None)]
    assert content(read_columns(list(np.ma.MaskedArray(X, mask)))) == known
    assert the_block(read_columns(np.ma.MaskedArray(X, np.zeros_like(X)))).unknown is None


def test_whatever_can_become_an_array_is_read():
    class Table:
        def __array__(self, dtype=None, copy=None):
            return PLAIN.astype(dtype or "f4")

    block = the_block(read_columns(Table()))
    assert block.values.dtype == np.float32
    np.testing.assert_array_equal(block.values, PLAIN)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([["a", "b"], ["a", "c"]])
    assert content(read_columns(matrix)) == [nominal(0, 0), nominal(0, 1)]


# --- columns of objects and lists -----------------------------------------------------------------------------

OBJECT_COLUMNS = [
    ([1, 2, 1], numeric(1, 2, 1)),
    ([1, None, 2.5], numeric(1, None, 2.5)),
    ([np.int8(3), np.float32(0.5), 7], numeric(3, 0.5, 7)),
    ([Decimal("0.5"), Fraction(1, 4), Decimal("NaN")], numeric(0.5, 0.25, None)),
    ([2**53 + 1, None, 2**53], numeric(2**53 + 1, None, 2**53)),
    ([2**64 - 1, 2**64 - 2, None], numeric(2**64 - 1, 2**64 - 2, None)),
    ([2**70, -1, None], numeric(2.0**70, -1, None)),
    ([10**400, -(10**400), 1], numeric(np.inf, -np.inf, 1)),
    (["a", None, "a"], nominal(0, None, 0)),
    (["a", NAN, "b"], nominal(0, None, 1)),
    ([np.str_("a"), "a", np.float64("nan")], nominal(0, 0, None)),
    ([True, None, False], nominal(0, None, 1)),
    ([np.True_, True, NAN], nominal(0, 0, None)),
    ([None, None, None], numeric(None, None, None)),
    ([None, NAN, None], numeric(None, None, None)),
    ([np.datetime64("NaT"), "a", np.timedelta64("NaT")], nominal(None, 0, None)),
    ([np.ma.masked, 4, 5], numeric(None, 4, 5)),
]


@pytest.mark.parametrize(("cells", "expected"), OBJECT_COLUMNS)
def test_a_column_of_objects_is_what_its_known_cells_are(cells, expected):
    column = np.empty((3, 1), object)
    column[:, 0] = cells
    assert content(read_columns(column)) == [expected]
    assert content(read_columns([[cell] for cell in cells])) == [expected]
    pd = pytest.importorskip("pandas")
    assert content(read_columns(pd.DataFrame({"c": pd.Series(cells, dtype=object)}))) == [expected]


def test_every_nan_of_decimal_is_unknown():
    X = [[Decimal("sNaN")], [Decimal("NaN")], [Decimal("-sNaN12")], [Decimal("1.5")]]
    assert content(read_columns(X)) == [numeric(None, None, None, 1.5)]


def test_the_missing_values_of_pandas_in_objects():
    pd = pytest.importorskip("pandas")
    assert content(read_columns([["a"], [pd.NA], [pd.NaT], ["a"]])) == [nominal(0, None, None, 0)]
    assert content(read_columns([[1], [pd.NA], [pd.NaT], [2]])) == [numeric(1, None, None, 2)]


def test_lists_and_object_arrays_are_read_column_by_column():
    rows = [[1, "x", True, 0.5], [2, "y", False, None], [1, "x", True, 1]]
    expected = [numeric(1, 2, 1), nominal(0, 1, 0), nominal(0, 1, 0), numeric(0.5, None, 1)]
    assert content(read_columns(rows)) == expected
    assert content(read_columns(tuple(map(tuple, rows)))) == expected
    assert content(read_columns(np.array(rows, dtype=object))) == expected


SKLEARN_WORDS = r"(?i)argument must be .* string.* number"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([1, "a"], "'x0' mixes numbers and strings: .* not some of each"),
        ([1.5, True], "'x0' mixes booleans and numbers"),
        ([True, "a"], "'x0' mixes booleans and strings"),
        ([1, {"a": 1}], "'x0' mixes numbers and 'dict'.* not 'dict'"),
        (["a", b"b"], "not 'bytes'"),
        ([[1], [2, 3]], "'x0' holds 'list'"),
        ([None, (1, 2)], "'x0' holds 'tuple'"),
        ([datetime.date(2020, 1, 1), None], "'x0' holds 'date'"),
        ([np.timedelta64(1, "s"), 1], "not 'timedelta64'"),
        ([np.zeros(3), np.zeros(2)], "holds 'ndarray'"),
    ],
)
def test_other_columns_of_objects_are_refused_in_the_words_of_scikit_learn(cells, words):
    X = np.empty((len(cells), 1), object)
    X[:, 0] = cells
    with pytest.raises(TypeError, match=SKLEARN_WORDS) as caught:
        read_columns(X)
    assert caught.match(words)
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=words.replace("x0", "size")):
        read_columns(pd.DataFrame({"size": pd.Series(cells, dtype=object)}))


@pytest.mark.parametrize(
    "X", [np.array([[1j]]), np.array([[1 + 0j, 2]], np.complex64), [[1j]], np.array([[1j]], object)]
)
def test_complex_numbers_are_refused(X):
    with pytest.raises(ValueError, match=r"^Complex data not supported: column 'x0'"):
        read_columns(X)


def test_structured_arrays_are_refused():
    with pytest.raises(TypeError, match=r"structured array with fields 'a', 'b'.*DataFrame"):
        read_columns(np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))


@pytest.mark.parametrize(
    "rows", [[[1, 2], [3]], [[1, 2], 3], [[1], []], [np.zeros(2), np.zeros(3)], [np.zeros((2, 2)), np.zeros((2, 3))]]
)
def test_ragged_lists_are_refused(rows):
    with pytest.raises(ValueError, match="rows of X must be equally long"):
        read_columns(rows)


# --- shape ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros(3), r"^Expected 2D array, got 1D array instead:\narray=\[0\. 0\. 0\.\]\.\nReshape your data either "
         r"using array\.reshape\(-1, 1\) .* or array\.reshape\(1, -1\)"),
        ([1, 2, 3], "^Expected 2D array, got 1D array instead"),
        ([], "^Expected 2D array, got 1D array instead"),
        (5, "^Expected 2D array, got scalar array instead"),
        (None, "^Expected 2D array, got scalar array instead"),
        ({"a": [1]}, "^Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), r"^Found array with dim 3\. SURF expected <= 2\."),
        ([[[1], [2]], [[3], [4]]], r"^Found array with dim 3\. SURF expected <= 2\."),
        (np.zeros((0, 3)), r"^Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required "
         "by SURF"),
        (np.zeros((5, 0)), r"^Found array with 0 feature\(s\) \(shape=\(5, 0\)\) while a minimum of 1 is required "
         "by SURF"),
        ([[], []], r"^Found array with 0 feature\(s\) \(shape=\(2, 0\)\)"),
        (scipy.sparse.csr_matrix((0, 3)), r"^Found array with 0 sample\(s\) \(shape=\(0, 3\)\)"),
        (scipy.sparse.coo_array(np.zeros(3)), "^Expected 2D array, got 1D array instead"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_in_the_words_of_scikit_learn(X, words):
    with pytest.raises(ValueError, match=words):
        read_columns(X, estimator_name="SURF")


def test_the_estimator_is_relieff_unless_told():
    with pytest.raises(ValueError, match="required by ReliefF"):
        read_columns(np.zeros((0, 3)))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_without_rows_and_series_are_refused(library):
    module = pytest.importorskip(library)
    frame = module.table if library == "pyarrow" else module.DataFrame
    series = module.chunked_array([[1, 2]]) if library == "pyarrow" else module.Series([1, 2])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"):
        read_columns(frame({"a": []}))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 0\)\)"):
        read_columns(frame({}))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        read_columns(series)


def test_names():
    assert read_columns(np.zeros((1, 3))).names == ("x0", "x1", "x2")
    assert read_columns([[1, 2]]).names == ("x0", "x1")
    columns = read_columns(np.zeros((4, 3)))
    assert (columns.n_rows, columns.n_features) == (4, 3)


# --- one table through every door -----------------------------------------------------------------------------

TABLE = {
    "size": [1.5, None, 2.5, 1.5, -0.25],
    "colour": ["red", "blue", None, "red", "green"],
    "count": [3, 2**53 + 1, 2**53, 3, None],
    "ok": [True, False, True, None, True],
    "level": [7, 7, 8, 9, 7],
}
TABLE_CONTENT = [
    numeric(1.5, None, 2.5, 1.5, -0.25),
    nominal(0, 1, None, 0, 2),
    numeric(3, 2**53 + 1, 2**53, 3, None),
    nominal(0, 1, 0, None, 0),
    numeric(7, 7, 8, 9, 7),
]
DECLARED = ["level", "count"]
DECLARED_CONTENT = [*TABLE_CONTENT[:2], nominal(0, 1, 2, 0, None), TABLE_CONTENT[3], nominal(0, 0, 1, 2, 0)]


def pandas_table():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {"size": TABLE["size"], "colour": TABLE["colour"], "ok": pd.array(TABLE["ok"], "boolean")}
    ).assign(count=pd.array(TABLE["count"], "Int64"), level=TABLE["level"])[list(TABLE)]


def pandas_arrow_table():
    pytest.importorskip("pyarrow")
    return pandas_table().convert_dtypes(dtype_backend="pyarrow")


def pandas_object_table():
    return pytest.importorskip("pandas").DataFrame(TABLE, dtype=object)


def polars_table():
    return pytest.importorskip("polars").DataFrame(TABLE)


def arrow_table():
    return pytest.importorskip("pyarrow").table(TABLE)


def arrow_table_in_chunks():
    pa = pytest.importorskip("pyarrow")
    return pa.concat_tables([arrow_table().slice(0, 2), arrow_table().slice(2, 1), arrow_table().slice(3)])


def arrow_batch():
    return arrow_table().to_batches()[0]


def narwhals_table():
    return pytest.importorskip("narwhals").from_native(polars_table())


def list_of_rows():
    return [list(row) for row in zip(*TABLE.values(), strict=True)]


def array_of_objects():
    return np.array(list_of_rows(), dtype=object)


FRAMES = [
    pandas_table, pandas_arrow_table, pandas_object_table, polars_table, arrow_table, arrow_table_in_chunks,
    arrow_batch, narwhals_table,
]  # fmt: skip
DOORS = [*FRAMES, list_of_rows, array_of_objects]


@pytest.mark.parametrize("door", DOORS)
def test_one_table_is_the_same_through_every_door(door):
    columns = read_columns(door())
    assert content(columns) == TABLE_CONTENT
    assert columns.names == (tuple(TABLE) if door in FRAMES else ("x0", "x1", "x2", "x3", "x4"))


@pytest.mark.parametrize("door", DOORS)
def test_declared_columns_join_those_nominal_by_dtype(door):
    by_index = [[4, 2], [-1, -3], [False, False, True, False, True], np.array([2, 4]), (-1, 2)]
    for declared in by_index + ([DECLARED, [*DECLARED, "colour"], np.array(DECLARED)] if door in FRAMES else []):
        assert content(read_columns(door(), declared)) == DECLARED_CONTENT
    for nothing in (None, "from_dtype", [], [False] * 5, np.zeros(5, bool)):
        assert content(read_columns(door(), nothing)) == TABLE_CONTENT


ARRAY = np.random.default_rng(7).integers(-3, 4, (9, 6)) * 0.5
ARRAY[[2, 4, 5], [0, 3, 5]] = NAN


def reversed_strides(X):
    buffer = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    buffer[::-2, ::-3] = X
    return buffer[::-2, ::-3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(X.tobytes(), np.uint8)
    return raw[1:].view(X.dtype).reshape(X.shape)


NUMERIC_DOORS = {
    "C": np.ascontiguousarray, "F": np.asfortranarray, "reversed": reversed_strides, "read-only": read_only,
    "unaligned": unaligned, "float32": lambda X: X.astype("f4"), "big-endian": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(), "rows": list, "object": lambda X: X.astype(object),
    "csr": scipy.sparse.csr_matrix, "csc": scipy.sparse.csc_array, "coo": scipy.sparse.coo_matrix,
    "lil": scipy.sparse.lil_array, "dok": scipy.sparse.dok_matrix, "bsr": scipy.sparse.bsr_matrix,
    "pandas": lambda X: pytest.importorskip("pandas").DataFrame(X),
    "pandas, sparse": lambda X: pytest.importorskip("pandas").DataFrame(X).astype("Sparse[float64]"),
    "polars": lambda X: pytest.importorskip("polars").DataFrame(X),
    "pyarrow": lambda X: pytest.importorskip("pyarrow").table([*X.T], names=[*"abcdef"]),
}  # fmt: skip


@pytest.mark.parametrize("door", NUMERIC_DOORS)
@pytest.mark.parametrize("declared", [None, [0, 2, 5], [True] * 6])
def test_one_array_is_the_same_through_every_door(door, declared):
    expected = content(read_columns(ARRAY, declared))
    for j in range(6):
        cells = [None if np.isnan(cell) else cell for cell in ARRAY[:, j].tolist()]
        is_declared = declared is not None and (j in declared or len(declared) == 6)
        assert expected[j] == (nominal(*as_they_occur(cells)) if is_declared else numeric(*cells))
    assert content(read_columns(NUMERIC_DOORS[door](ARRAY), declared)) == expected


@pytest.mark.parametrize("declared", [None, [1, 2], [True] * 6])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "u1", "?", "M8[s]", object, "U"])
def test_the_input_is_unchanged_to_the_last_byte(dtype, declared):
    for X in (PLAIN.astype(dtype), np.asfortranarray(PLAIN).astype(dtype)):
        X = np.hstack([X, X])[:, :6]
        before = X.tolist() if dtype is object else X.tobytes()
        read_columns(X, declared)
        assert (X.tolist() if dtype is object else X.tobytes()) == before
        X.flags.writeable = False
        read_columns(X, declared)


@pytest.mark.parametrize("door", DOORS)
def test_a_table_is_unchanged(door):
    X, again = door(), door()
    read_columns(X, [4])
    if isinstance(X, np.ndarray | list):
        assert np.array_equal(X, again)
    else:
        assert X.equals(again) if hasattr(X, "equals") else X.to_native().equals(again.to_native())


def test_a_sparse_matrix_is_unchanged_also_if_it_is_not_canonical():
    X = scipy.sparse.coo_matrix(([1.0, 2.0, 5.0], ([1, 1, 0], [1, 1, 0])), shape=(2, 2))
    assert content(read_columns(X)) == [numeric(5, 0), numeric(0, 3)]
    assert X.data.tolist() == [1, 2, 5]


# --- data frames: dtypes --------------------------------------------------------------------------------------


def pandas_columns():
    pd = pytest.importorskip("pandas")
    words = ["b", None, "a", "b"]
    dates = pd.to_datetime(["2020-01-02", None, "2020-01-01", "2020-01-02"])
    day = {"ns": 86_400 * 10**9, "us": 86_400 * 10**6, "s": 86_400}
    yield pd.Series(words, dtype="category"), nominal(0, None, 1, 0)
    yield pd.Series(words, dtype="category").cat.as_ordered(), nominal(0, None, 1, 0)
    yield pd.Series([2.5, None, 1.5, 2.5], dtype="category"), nominal(0, None, 1, 0)
    yield pd.Series(pd.Categorical(words, categories=[str(i) for i in range(300)] + ["a", "b"])), nominal(0, None, 1, 0)
    yield pd.Series(words), nominal(0, None, 1, 0)
    yield pd.Series(words, dtype="string[python]"), nominal(0, None, 1, 0)
    yield pd.Series([True, None, False, True], dtype="boolean"), nominal(0, None, 1, 0)
    yield pd.Series([True, False, False, True]), nominal(0, 1, 1, 0)
    yield pd.Series([2**53 + 1, None, 2**53, 1], dtype="Int64"), numeric(2**53 + 1, None, 2**53, 1)
    yield pd.Series([200, None, 0, 1], dtype="UInt8"), numeric(200, None, 0, 1)
    yield pd.Series([0.5, None, 1, 2], dtype="Float64"), numeric(0.5, None, 1, 2)
    yield pd.Series([0.5, None, 1, 2], dtype="Float32"), numeric(0.5, None, 1, 2)
    yield pd.Series([0, 0, NAN, 3.0], dtype="Sparse[float64]"), numeric(0, 0, None, 3)
    yield pd.Series([0, 0, 4, 3], dtype="Sparse[int16]"), numeric(0, 0, 4, 3)
    for unit, ticks in day.items():
        expected = numeric(18263 * ticks, None, 18262 * ticks, 18263 * ticks)
        yield pd.Series(dates.as_unit(unit)), expected
        yield pd.Series(dates.as_unit(unit).tz_localize("UTC").tz_convert("Asia/Tokyo")), expected
        yield pd.Series(dates.as_unit(unit) - dates.as_unit(unit)[2]), numeric(ticks, None, 0, ticks)
    try:
        import pyarrow as pa
    except ImportError:
        return
    yield pd.Series(words, dtype="string[pyarrow]"), nominal(0, None, 1, 0)
    yield pd.Series(words, dtype=pd.ArrowDtype(pa.string())), nominal(0, None, 1, 0)
    yield pd.Series(words, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))), nominal(0, None, 1, 0)
    yield pd.Series([True, None, False, True], dtype="bool[pyarrow]"), nominal(0, None, 1, 0)
    yield pd.Series([2**53 + 1, None, 2**53, 1], dtype="int64[pyarrow]"), numeric(2**53 + 1, None, 2**53, 1)
    yield pd.Series([0.5, None, 1, 2], dtype="double[pyarrow]"), numeric(0.5, None, 1, 2)
    yield (
        pd.Series(dates.as_unit("us"), dtype="timestamp[us][pyarrow]"),
        numeric(18263 * day["us"], None, 18262 * day["us"], 18263 * day["us"]),
    )
    decimals = [Decimal("0.5"), None, Decimal(1), Decimal(2)]
    yield pd.Series(decimals, dtype=pd.ArrowDtype(pa.decimal128(5, 2))), numeric(0.5, None, 1, 2)


def test_every_dtype_of_pandas():
    pd = pytest.importorskip("pandas")
    series, expected = zip(*pandas_columns(), strict=True)
    for one, its_content in zip(series, expected, strict=True):
        assert content(read_columns(one.to_frame("a"))) == [its_content], one.dtype
    frame = pd.concat(series, axis=1, keys=[str(i) for i in range(len(series))])
    assert content(read_columns(frame)) == list(expected)  # all beside each other


def polars_columns():
    pl = pytest.importorskip("polars")
    words = ["b", None, "a", "b"]
    first = datetime.datetime(2020, 1, 2)
    dates = [first, None, datetime.datetime(2020, 1, 1), first]
    day = 86_400 * 10**6
    yield pl.Series(words), nominal(0, None, 1, 0)
    yield pl.Series(words, dtype=pl.Categorical), nominal(0, None, 1, 0)
    yield pl.Series(words, dtype=pl.Enum([*map(str, range(300)), "a", "b"])), nominal(0, None, 1, 0)
    yield pl.Series([True, None, False, True]), nominal(0, None, 1, 0)
    yield pl.Series([True, False, False, True]), nominal(0, 1, 1, 0)
    yield pl.Series([2**53 + 1, None, 2**53, 1]), numeric(2**53 + 1, None, 2**53, 1)
    yield pl.Series([200, 0, 0, 1], dtype=pl.UInt8), numeric(200, 0, 0, 1)
    yield pl.Series([2**64 - 1, 0, None, 1], dtype=pl.UInt64), numeric(2**64 - 1, 0, None, 1)
    yield pl.Series([0.5, NAN, None, 2]), numeric(0.5, None, None, 2)
    yield pl.Series([0.5, NAN, None, 2], dtype=pl.Float32), numeric(0.5, None, None, 2)
    yield pl.Series([0.5, NAN, 1, 2], dtype=pl.Float32), numeric(0.5, None, 1, 2)
    yield pl.Series([5, None, 1, 2], dtype=pl.Int128), numeric(5, None, 1, 2)
    yield pl.Series([Decimal("0.5"), None, Decimal(1), Decimal(2)]), numeric(0.5, None, 1, 2)
    yield pl.Series(dates), numeric(18263 * day, None, 18262 * day, 18263 * day)
    yield pl.Series(dates).dt.replace_time_zone("UTC"), numeric(18263 * day, None, 18262 * day, 18263 * day)
    yield pl.Series(dates).dt.date(), numeric(18263, None, 18262, 18263)
    yield pl.Series(dates) - dates[2], numeric(day, None, 0, day)
    yield pl.Series([datetime.time(0, 0, 1), None, datetime.time(0), datetime.time(0)]), numeric(10**9, None, 0, 0)
    yield pl.Series([None] * 4), numeric(None, None, None, None)
    yield pl.Series([None] * 4, dtype=pl.Int32), numeric(None, None, None, None)
    yield pl.Series([None] * 4, dtype=pl.String), nominal(None, None, None, None)
    yield pl.Series([Fraction(1, 2), None, 1, 2], dtype=pl.Object), numeric(0.5, None, 1, 2)


def test_every_dtype_of_polars():
    pl = pytest.importorskip("polars")
    series, expected = zip(*polars_columns(), strict=True)
    for one, its_content in zip(series, expected, strict=True):
        assert content(read_columns(one.to_frame())) == [its_content], one.dtype
    frame = pl.DataFrame([one.alias(str(i)) for i, one in enumerate(series)])
    assert content(read_columns(frame)) == list(expected)


def arrow_columns():
    pa = pytest.importorskip("pyarrow")
    words = ["b", None, "a", "b"]
    for text in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        yield pa.array(words, text), nominal(0, None, 1, 0)
    yield pa.DictionaryArray.from_arrays([0, 1, 2, 3], ["u", None, "v", "u"]), nominal(0, None, 1, 0)
    yield pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2]), [7, 8, 7]), nominal(0, None, 1, 0)
    yield pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), [0.5, NAN, 2]), nominal(0, None, 1, 0)
    yield pa.array([True, None, False, True]), nominal(0, None, 1, 0)
    yield pa.array([2**53 + 1, None, 2**53, 1]), numeric(2**53 + 1, None, 2**53, 1)
    yield pa.array([2**64 - 1, 0, None, 1], pa.uint64()), numeric(2**64 - 1, 0, None, 1)
    for float_type in (pa.float16(), pa.float32(), pa.float64()):
        yield pa.array([0.5, NAN, None, 2], float_type), numeric(0.5, None, None, 2)
    yield pa.array([Decimal("0.5"), None, Decimal(1), Decimal(2)]), numeric(0.5, None, 1, 2)
    for temporal in (pa.date32(), pa.time32("s"), pa.time64("us"), pa.timestamp("s"), pa.timestamp("ns", "UTC"),
                     pa.duration("ms")):  # fmt: skip
        integers = pa.int32() if temporal.bit_width == 32 else pa.int64()
        yield pa.array([3, None, 1, 3], integers).cast(temporal), numeric(3, None, 1, 3)
    day = 86_400_000
    yield pa.array([3 * day, None, day, 0], pa.int64()).cast(pa.date64()), numeric(3 * day, None, day, 0)
    yield pa.nulls(4), numeric(None, None, None, None)
    yield pa.nulls(4, pa.string()), nominal(None, None, None, None)


def test_every_dtype_of_arrow():
    pa = pytest.importorskip("pyarrow")
    arrays, expected = zip(*arrow_columns(), strict=True)
    for array, its_content in zip(arrays, expected, strict=True):
        assert content(read_columns(pa.table([array], ["a"]))) == [its_content], array.type
    table = pa.table(list(arrays), [str(i) for i in range(len(arrays))])
    assert content(read_columns(table)) == list(expected)
    assert content(read_columns(pa.concat_tables([table.slice(0, 3), table.slice(3)]))) == list(expected)


def test_numbers_of_one_kind_share_a_block_that_holds_them_all():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": np.float32([1, 2]), "b": np.int8([-1, 2]), "c": [0.5, 0.1], "d": np.uint32([2**32 - 1, 0]),
         "e": np.uint64([2**64 - 1, 0]), "f": pd.to_datetime(["1970-01-01", None])}
    )  # fmt: skip
    columns = read_columns(frame)
    assert {(block.values.dtype.name, tuple(block.columns.tolist())) for block in columns.numeric} == {
        ("float32", (0,)), ("float64", (2,)), ("int64", (1, 3, 5)), ("uint64", (4,)),
    }  # fmt: skip
    assert content(columns) == [
        numeric(1, 2), numeric(-1, 2), numeric(0.5, 0.1), numeric(2**32 - 1, 0), numeric(2**64 - 1, 0),
        numeric(0, None),
    ]  # fmt: skip
    assert the_block(read_columns(frame[["a"]].assign(z=np.float32(1)))).values.dtype == np.float32


def test_a_frame_of_one_dtype_is_not_copied_when_it_is_one_array():
    pd = pytest.importorskip("pandas")
    X = np.arange(12.0).reshape(4, 3)
    assert np.shares_memory(the_block(read_columns(pd.DataFrame(X, copy=False))).values, X)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_infinite_categories_are_refused_by_name(infinite):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = [0.5, infinite, None, 0.5]
    frames = [
        pd.DataFrame({"b": pd.Categorical(values)}),
        pa.table({"b": pa.array(values).dictionary_encode()}),
        pd.DataFrame({"b": pd.Series(pa.array(values).dictionary_encode(), dtype=pd.ArrowDtype(
            pa.dictionary(pa.int32(), pa.float64())))}),
    ]  # fmt: skip
    for frame in frames:
        with pytest.raises(ValueError, match=r"finite values; there are infinite ones in column 'b'\. .* as missing"):
            read_columns(frame)
    unused = pd.DataFrame({"b": pd.Categorical([0.5, 1.5], categories=[0.5, 1.5, infinite])})
    assert content(read_columns(unused)) == [nominal(0, 1)]


def test_columns_in_any_order_of_kinds():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"a": ["x", "y"], "b": [1, 2], "c": [True, False], "d": [0.5, None], "e": ["z", None], "f": [3, 4]}
    )
    assert content(read_columns(frame)) == [
        nominal(0, 1), numeric(1, 2), nominal(0, 1), numeric(0.5, None), nominal(0, None), numeric(3, 4),
    ]  # fmt: skip


def refused_pandas():
    pd = pytest.importorskip("pandas")
    yield pd.DataFrame({"when": pd.period_range("2020", periods=2, freq="M")}), "period"
    yield pd.DataFrame({"when": pd.interval_range(0, 2)}), "interval"


def refused_polars():
    pl = pytest.importorskip("polars")
    for cells in ([[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]):
        yield pl.DataFrame({"when": cells}), "(?i)list|struct|binary"
    yield pl.DataFrame({"when": pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2))}), "Array"
    yield pl.DataFrame({"when": pl.Series([None], dtype=pl.List(pl.Int8))}), "List"


def refused_arrow():
    pa = pytest.importorskip("pyarrow")
    for cells in ([[1], [2]], [{"a": 1}], [b"a"]):
        yield pa.table({"when": cells}), "list|struct|binary"
    yield pa.table({"when": pa.nulls(2, pa.month_day_nano_interval())}), "interval"
    yield pa.table({"when": pa.nulls(2, pa.map_(pa.string(), pa.int8()))}), "map"


@pytest.mark.parametrize("refused", [refused_pandas, refused_polars, refused_arrow])
def test_dtypes_that_are_no_values_are_refused_with_the_name_of_the_column(refused):
    for X, words in refused():
        with pytest.raises(TypeError, match=r"column 'when' has dtype .* Convert it or drop it") as caught:
            read_columns(X)
        assert caught.match(words)


def test_complex_columns_of_frames_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"^Complex data not supported: column 'b'"):
        read_columns(pd.DataFrame({"a": [1, 2], "b": [1j, 2]}))


def test_a_lazy_frame_is_refused():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"LazyFrame is lazy .*\.collect\(\)"):
        read_columns(pl.LazyFrame({"a": [1]}))


def test_column_names_become_strings_and_must_differ():
    pd = pytest.importorskip("pandas")
    assert read_columns(pd.DataFrame([[1, 2]], columns=[10, ("a", 1)])).names == ("10", "('a', 1)")
    assert read_columns(pd.DataFrame([[1, 2]], columns=["column_names", "shape"])).names == ("column_names", "shape")
    for names in (["a", "a", "b"], [1, "1", "b"]):
        with pytest.raises(ValueError, match=rf"Column names must differ; .* named '{names[0]}'\. Rename"):
            read_columns(pd.DataFrame([[1, 2, 3]], columns=names))
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"Column names must differ; .* named 'a'"):
        read_columns(pa.table([[1], [2]], names=["a", "a"]))


# --- declared columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ([3], r"must lie between -3 and 2; got 3\. X has 3 columns"),
        ([-4, 0], "must lie between -3 and 2; got -4"),
        ([True, False], "one entry per column; it has 2 and X has 3 columns"),
        ([False] * 4, "one entry per column; it has 4 and X has 3 columns"),
        ([1, 1], "each column once; it repeats 'x1'"),
        ([2, -1], "each column once; it repeats 'x2'"),
        (["a"], r"column names only when X is a data frame; got 'a'.* Give indices"),
        ("a", r"must be \"from_dtype\", None, or a list .*; got 'a'\. For one column, write \['a'\]\."),
        (1, r"got 1\. For one column, write \[1\]"),
        ("all", "got 'all'"),
        ([0.5], r"got \[0\.5\]"),
        (["a", 1], r"got \['a', 1\]"),
        ([True, 1], r"got \[True, 1\]"),
        ([None], r"got \[None\]"),
        ({"a": 1}, "got {'a': 1}"),
        (np.zeros((3, 1), bool), 'must be "from_dtype"'),
    ],
)
def test_declarations_that_do_not_fit_are_refused(declared, words):
    with pytest.raises(ValueError, match=words):
        read_columns(np.zeros((2, 3)), declared)


@pytest.mark.parametrize("door", FRAMES)
def test_declared_names_must_be_names_of_columns(door):
    with pytest.raises(ValueError, match=r"X has no column 'colur'\. Its columns are 'size', 'colour'"):
        read_columns(door(), ["colur"])
    with pytest.raises(ValueError, match="it repeats 'size'"):
        read_columns(door(), ["size", "ok", "size"])


def test_declared_names_of_a_frame_whose_labels_are_numbers():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame([[1, 2], [3, 2]], columns=[5, 6])
    assert [kind for kind, _ in content(read_columns(X, ["5"]))] == ["nominal", "numeric"]
    assert [kind for kind, _ in content(read_columns(X, [1]))] == ["numeric", "nominal"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "i8", "u8", "f4", "f8"])
def test_declared_small_numbers_are_coded_from_their_minimum(dtype, order):
    info = np.iinfo(dtype if dtype[0] != "f" else "i2")
    low, high = info.min, info.max
    X = np.empty((3, 4), dtype, order)
    for j, cells in enumerate(([0, 2, 0], [low, low + 255, low + 9], [high, high - 255, high - 1], [5, 5, 5])):
        X[:, j] = cells
    block = the_block(read_columns(X, [0, 1, 2, 3]))
    assert block.codes.dtype == np.uint8
    assert block.codes.tolist() == [[0, 0, 255, 0], [2, 255, 0, 0], [0, 9, 254, 0]]
    assert block.n_codes.tolist() == [3, 256, 256, 1]
    assert block.unknown is None


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("span", [255, 256, 257])
def test_a_range_just_too_wide_for_one_byte_joins_no_categories(dtype, span):
    X = np.array([[0], [span], [1], [span - 1], [0]], dtype)
    assert content(read_columns(X, [0])) == [nominal(0, 1, 2, 3, 0)]


def test_codes_that_are_there_already_are_not_copied():
    X = np.array([[0, 2], [1, 0]], np.uint8)
    assert np.shares_memory(the_block(read_columns(X, [0, 1])).codes, X)
    signed = X.astype("i1")
    assert np.shares_memory(the_block(read_columns(signed, [0, 1])).codes, signed)
    assert the_block(read_columns(X + 7, [0, 1])).codes.tolist() == X.tolist()
    assert the_block(read_columns(np.asfortranarray(X), [0, 1])).codes.tolist() == X.tolist()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_unknown_numbers_stay_unknown_when_declared(dtype):
    X = np.array([[NAN, 1, NAN, 0.25], [3, 1, NAN, 0.5], [5, NAN, NAN, NAN], [3, 2, NAN, 0.25]], dtype)
    expected = [
        nominal(None, 0, 1, 0), nominal(0, 0, None, 1), nominal(None, None, None, None), nominal(0, 1, None, 0)
    ]  # fmt: skip
    assert content(read_columns(X, [0, 1, 2, 3])) == expected
    assert content(read_columns(np.asfortranarray(X), [0, 1, 2, 3])) == expected


def test_unknown_integers_stay_unknown_when_declared():
    X = np.ma.MaskedArray(
        [[-128, 9, 1, 10**9], [3, 9, 2, 7], [5, 9, 3, -(10**9)]],
        [[True, False, True, False], [False, True, True, True], [False, False, True, False]],
    )
    expected = [nominal(None, 0, 1), nominal(0, None, 0), nominal(None, None, None), nominal(0, None, 1)]
    for dtype in ("i8", "M8[s]", "m8[ns]"):
        assert content(read_columns(X.astype(dtype), [0, 1, 2, 3])) == expected
    small = read_columns(X[:, :3].astype("i1"), [0, 1, 2])
    assert content(small) == expected[:3]
    assert the_block(small).n_codes.tolist() == [3, 1, 1]  # -128 under the mask widens nothing


@pytest.mark.parametrize(
    "cells",
    [
        [-200.0, 0.0, 2.0**-60, 0.0],  # the last two differ by less than float64 tells at a distance of 200
        [-(2.0**-54), 1.0, 1 - 2.0**-53, 1.0],
        [0.5, 1.5, 2.5, 0.5],
        [0.0, -0.0, 1.0, 0.0],
        [1e300, -1e300, 1e300, 0.0],
        [2.0**60, 2.0**60 + 256, 2.0**60 - 128, 2.0**60],
        [1.7e308, -1.7e308, 0.0, 1.7e308],
        [5e-324, 0.0, 5e-324, 1e-323],
        [0.0, 255.99999999999997, 255.0, 255.5],
        [0.0, 256.0, 1.0, 256.0],
    ],
)
def test_declared_fractions_are_equal_only_if_they_are_equal(cells):
    assert content(read_columns(np.array(cells)[:, None], [0])) == [nominal(*as_they_occur(cells))]
    both = np.array([cells, [1.0, 2.0, 3.0, 1.0]]).T  # beside a column that needs no sorting
    assert content(read_columns(both, [0, 1])) == [nominal(*as_they_occur(cells)), nominal(0, 1, 2, 0)]


@given(
    hnp.arrays(st.sampled_from(["f8", "f4", "i8", "u8", "i1", "i2"]), st.tuples(st.integers(1, 6), st.integers(1, 4))),
    st.booleans(),
    st.data(),
)
def test_declared_columns_keep_exactly_their_equalities(X, small, data):
    if X.dtype.kind == "f":
        X[np.isinf(X)] = 3
        X = np.round(X % 7) if small else X
    is_declared = data.draw(st.lists(st.booleans(), min_size=X.shape[1], max_size=X.shape[1]))
    found = content(read_columns(X, is_declared))
    for j, declared in enumerate(is_declared):
        cells = [None if cell != cell else cell for cell in X[:, j].tolist()]
        assert found[j] == (nominal(*as_they_occur(cells)) if declared else numeric(*cells))


@pytest.mark.parametrize("shape", [(3, 2), (130, 1), (1, 130), (70, 70)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_stripes_of_any_size_cover_the_array(monkeypatch, shape, order):
    rng = np.random.default_rng(3)
    whole = rng.integers(0, 9, shape)
    for cells in (1, 7, 129, 10**6):
        monkeypatch.setattr(codes, "STRIPE_CELLS", cells)
        for X in (whole, np.where(rng.random(shape) < 0.2, NAN, whole)):
            block = the_block(read_columns(np.array(X, order=order), [True] * shape[1]))
            low = np.fmin.reduce(X, axis=0)
            unknown = np.isnan(X)
            np.testing.assert_array_equal(block.codes, np.where(unknown, 0, X - np.nan_to_num(low)))
            assert (block.unknown is None) == (not unknown.any())


def test_infinity_in_a_declared_column_is_refused_by_name():
    X = np.zeros((3, 4))
    X[1, 2] = -np.inf
    with pytest.raises(ValueError, match=r"must hold finite values; .* column 'x2'\. Replace them"):
        read_columns(X, [1, 2])
    assert content(read_columns(X, [1]))[2] == numeric(0, -np.inf, 0)


# --- many categories ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_categories", "dtype"), [(256, np.uint8), (257, np.uint16), (65_535, np.uint16)])
def test_codes_take_one_byte_up_to_256_categories_and_two_above(n_categories, dtype):
    numbers = np.arange(n_categories)[::-1] * 1000 - 5
    for X, declared in ((numbers[:, None], [0]), (numbers.astype(str)[:, None], None)):
        block = the_block(read_columns(X, declared))
        assert block.codes.dtype == dtype
        assert block.n_codes.tolist() == [n_categories]
        assert len(np.unique(block.codes)) == n_categories


def test_wide_and_narrow_codes_are_two_blocks_with_their_own_unknown():
    X = np.arange(300.0)[:, None] * [1, 0, 1000, 0.5]
    X[4, 3] = NAN
    columns = read_columns(X, [0, 1, 2, 3])
    narrow, wide = columns.nominal
    assert (narrow.columns.tolist(), wide.columns.tolist()) == ([1], [0, 2, 3])
    assert narrow.unknown is None
    assert np.argwhere(wide.unknown).tolist() == [[4, 2]]
    assert [cells for _, cells in content(columns)][2] == list(range(300))


@pytest.mark.parametrize("library", ["list", "array", "declared", "pandas", "polars", "pyarrow"])
def test_too_many_categories_are_refused_with_their_number(library):
    numbers = np.arange(65_536)
    words = numbers.astype(str)
    declared = None
    if library == "list":
        X, name = [[word] for word in words.tolist()], "x0"
    elif library == "array":
        X, name = words[:, None], "x0"
    elif library == "declared":
        X, name, declared = numbers[:, None] * 3, "x0", [0]
    elif library == "pyarrow":
        X, name = pytest.importorskip("pyarrow").table({"id": words.tolist()}), "id"
    else:
        X, name = pytest.importorskip(library).DataFrame({"id": words.tolist()}), "id"
    with pytest.raises(ValueError, match=rf"at most 65,535 categories; column '{name}' has 65,536\. Drop it"):
        read_columns(X, declared)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_declared_categories_that_do_not_occur_take_no_room(library):
    module = pytest.importorskip(library)
    names = [f"c{i}" for i in range(70_000)]
    words = ["c69999", "c5", None, "c69999"]
    if library == "pandas":
        X = module.DataFrame({"a": module.Categorical(words, categories=names)})
    else:
        X = module.DataFrame({"a": module.Series(words, dtype=module.Enum(names))})
    block = the_block(read_columns(X))
    assert block.codes.dtype == np.uint8
    assert block.n_codes.tolist() == [2]


# --- sparse ---------------------------------------------------------------------------------------------------


def test_implicit_zeros_are_values_and_the_dtype_stays():
    X = scipy.sparse.csc_matrix(np.array([[0, 3], [5, 0], [0, 0]], np.int16))
    columns = read_columns(X, [1])
    assert content(columns) == [numeric(0, 5, 0), nominal(0, 1, 1)]
    assert columns.numeric[0].values.dtype == np.int16
    assert the_block(read_columns(X.astype(np.float32))).values.dtype == np.float32
    assert content(read_columns(X.astype(bool))) == [nominal(0, 1, 0), nominal(0, 1, 1)]


@pytest.mark.parametrize("dtype, cell", [("f8", 8), ("f4", 4), ("i1", 4)])
def test_a_sparse_matrix_that_is_too_large_dense_is_refused_with_the_number(monkeypatch, dtype, cell):
    X = scipy.sparse.csr_array((10, 10), dtype=dtype)
    monkeypatch.setattr(source, "DENSE_LIMIT_BYTES", 100 * cell)
    assert content(read_columns(X)) == [numeric(*[0] * 10)] * 10
    monkeypatch.setattr(source, "DENSE_LIMIT_BYTES", 100 * cell - 1)
    with pytest.raises(
        ValueError, match=rf"at most {100 * cell - 1} bytes .* this one takes {100 * cell}\. Select fewer"
    ):
        read_columns(X)


def test_the_bound_for_sparse_matrices_is_two_gibibytes():
    with pytest.raises(ValueError, match=r"at most 2,147,483,648 bytes .* takes 8,000,000,000,000\. .* float32"):
        read_columns(scipy.sparse.csr_array((10**6, 10**6)))


def test_complex_sparse_matrices_are_refused():
    with pytest.raises(ValueError, match=r"^Complex data not supported"):
        read_columns(scipy.sparse.csr_matrix(np.array([[1j]])))
