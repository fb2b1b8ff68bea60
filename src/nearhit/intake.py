"""The one door through which a table comes in: whatever X is, typed blocks of columns come out.

A column is numeric or nominal by its dtype, or nominal because the caller declared it; its values are never
counted to guess. Nothing is written to the caller's data, and a plain numeric array is passed on as a view
without being read. What happens to the values later (ranges, codes on a grid, scores) is not decided here.

    input -> blocks by dtype -> declared columns coded by equality -> blocks of one kind put together
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import compress, count
from numbers import Complex, Integral, Real
from operator import not_
from typing import Any, NoReturn, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt
import scipy.sparse

# A sparse matrix is made dense here. A cell costs its own width now and four bytes once the table has coded
# it, so the wider of the two counts. 2 GiB are 5,000 rows of 100,000 float32 columns: a laptop holds that.
DENSE_LIMIT_BYTES = 2 * 1024**3

# Codes take at most two bytes. A column with more categories than that is an identifier in every likely case.
MAX_CATEGORIES = 65_535

# Codes are made in stripes of this many cells, so that the temporaries stay in the second-level cache.
# Float64, 2,000 x 20,000, all declared: 2^17 cells take 90 ms (columns contiguous: 115 ms), 2^13 cells 95 (305),
# the whole array at once 145 (308). AMD EPYC, 2 cores of a virtual machine.
STRIPE_CELLS = 2**17

_Array: TypeAlias = npt.NDArray[Any]
_Mask: TypeAlias = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class NumericBlock:
    """Columns of numbers of one dtype.

    Attributes
    ----------
    columns : ndarray of intp
        Where the columns stand in the input, ascending.
    values : ndarray of shape (n_rows, len(columns))
        float32, float64 or any integer dtype, in any memory order; the caller's own data where possible.
    unknown : ndarray of bool of the same shape, or None
        Which integers are unknown; what `values` holds there means nothing. None when all are known, and
        always for floats, where NaN is the unknown value.
    """

    columns: npt.NDArray[np.intp]
    values: _Array
    unknown: _Mask | None


@final
@dataclass(frozen=True, eq=False)
class NominalBlock:
    """Columns of categories, as numbers that can only be compared for equality.

    Attributes
    ----------
    columns : ndarray of intp
        Where the columns stand in the input, ascending.
    codes : ndarray of shape (n_rows, len(columns)), C order
        uint8 when every column has at most 256 codes, else uint16; 0 where unknown. The caller's own data if
        those are codes already.
    n_codes : ndarray of int64
        The codes of a column lie in ``range(n_codes)``; not all of them need occur. At least 1.
    unknown : ndarray of bool of the same shape, or None
        None when nothing is unknown.
    """

    columns: npt.NDArray[np.intp]
    codes: _Array
    n_codes: npt.NDArray[np.int64]
    unknown: _Mask | None


@dataclass(frozen=True, eq=False)
class Columns:
    """A table read: every column of the input stands in exactly one block.

    Attributes
    ----------
    names : tuple of str
        The data frame's column names, else "x0", "x1", ...
    n_rows : int
    numeric : tuple of NumericBlock
        At most three: floats, integers, uint64 beside other integers.
    nominal : tuple of NominalBlock
        At most two: codes of one byte and codes of two.
    """

    names: tuple[str, ...]
    n_rows: int
    numeric: tuple[NumericBlock, ...]
    nominal: tuple[NominalBlock, ...]

    @property
    def n_features(self) -> int:
        """How many columns the input has."""
        return len(self.names)


_Block: TypeAlias = NumericBlock | NominalBlock
_BlockT = TypeVar("_BlockT", NumericBlock, NominalBlock)


def read_columns(X: Any, categorical_features: Any = "from_dtype", *, estimator_name: str = "ReliefF") -> Columns:
    """Sort the columns of a table into numeric and nominal ones.

    Parameters
    ----------
    X : array, data frame, sparse matrix or list of rows, of shape (n_rows, n_features)
        NumPy, pandas, polars, pyarrow, scipy sparse, nested lists, or anything with ``__array__``.
        Categories, strings and booleans are nominal; numbers, dates and durations (counted in their own
        ticks) are numeric. NaN, None, NA, NaT, null and masked entries are unknown.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns that are nominal whatever their dtype, in addition to those that are by dtype: names (data
        frames only), indices (negative ones count from the end) or a boolean mask. None means the same as
        "from_dtype".
    estimator_name : str, default="ReliefF"
        Who asks, for error messages.

    Returns
    -------
    Columns

    Examples
    --------
    >>> table = read_columns([[1.5, "red"], [None, "blue"], [2.5, "red"]])
    >>> table.names
    ('x0', 'x1')
    >>> table.numeric[0].values.ravel()
    array([1.5, nan, 2.5])
    >>> table.nominal[0].codes.ravel()
    array([0, 1, 0], dtype=uint8)
    """
    source = _open(X, estimator_name)
    declared = _declared_columns(categorical_features, source)
    blocks: list[_Block] = []
    for block in source.read():
        blocks.extend(_with_declared_coded(block, declared, source.names))
    return Columns(
        source.names,
        source.n_rows,
        tuple(_merged_numeric([block for block in blocks if isinstance(block, NumericBlock)])),
        tuple(_merged_nominal([block for block in blocks if isinstance(block, NominalBlock)])),
    )


# --- what came in -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """An input whose shape and names are known and whose values have not been looked at."""

    names: tuple[str, ...]
    is_named: bool
    n_rows: int
    read: Callable[[], Iterator[_Block]]


def _open(X: Any, estimator_name: str) -> _Source:
    """Find out what X is, and refuse what is no table."""
    if isinstance(X, list | tuple):
        X = _array_of_rows(X)
    if isinstance(X, np.ndarray):
        return _open_array(X, estimator_name)
    if scipy.sparse.issparse(X):
        return _open_sparse(X, estimator_name)
    frame = _data_frame(X)
    if frame is not None:
        return _open_frame(frame, estimator_name)
    return _open_array(np.asarray(X), estimator_name)


def _open_array(X: _Array, estimator_name: str) -> _Source:
    if X.dtype.names is not None:
        raise TypeError(
            f"{estimator_name} needs a two-dimensional array or a data frame; X is a structured array with "
            f"fields {_listed(X.dtype.names)}. pandas.DataFrame(X) makes a data frame of it."
        )
    _check_shape(X.shape, estimator_name, X)
    names = _numbered_names(X.shape[1])
    mask = None
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        mask = np.ma.getmaskarray(X)
    values = np.asarray(X)
    return _Source(names, False, len(X), lambda: _array_blocks(values, np.arange(len(names)), names, mask))


def _open_sparse(X: Any, estimator_name: str) -> _Source:
    """Implicit zeros are values, so the matrix is made dense, if that is possible."""
    _check_shape(X.shape, estimator_name, X)
    n_bytes = X.shape[0] * X.shape[1] * max(4, X.dtype.itemsize)
    if n_bytes > DENSE_LIMIT_BYTES:
        raise ValueError(
            f"A sparse X may take at most {DENSE_LIMIT_BYTES:,} bytes as a dense table; with shape {X.shape} and "
            f"dtype {X.dtype} this one takes {n_bytes:,}. Select fewer columns or rows"
            f"{', or convert it to float32' if X.dtype.itemsize > 4 else ''}."
        )
    names = _numbered_names(X.shape[1])
    return _Source(names, False, X.shape[0], lambda: _array_blocks(X.toarray(), np.arange(len(names)), names, None))


def _open_frame(X: Any, estimator_name: str) -> _Source:
    import narwhals.stable.v1 as nw

    labels = X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns
    names = tuple(map(str, labels))
    _check_shape((X.shape[0], len(names)), estimator_name, X)
    if len(set(names)) < len(names):
        twice = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"Column names must differ; X has more than one column named {_listed(twice)}. Rename them.")
    return _Source(names, True, X.shape[0], lambda: _frame_blocks(X, names))


def _check_shape(shape: tuple[int, ...], estimator_name: str, X: Any) -> None:
    """Refuse what is not two-dimensional or is empty, in the words scikit-learn's checks look for."""
    if len(shape) < 2:
        raise ValueError(
            f"Expected 2D array, got {'1D' if shape else 'scalar'} array instead:\narray={X}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    if len(shape) > 2:
        raise ValueError(f"Found array with dim {len(shape)}. {estimator_name} expected <= 2.")
    for number, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if number == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required by {estimator_name}."
            )


def _array_of_rows(X: Sequence[Any]) -> _Array:
    """Rows in lists as an object array, where a string in one column does not turn the others into strings."""
    # A masked array among the rows would lose its mask on the way into the object array.
    rows = [row.tolist() if isinstance(row, np.ma.MaskedArray) else row for row in X]
    try:
        values = np.array(rows, dtype=object)
        is_ragged = values.ndim == 1 and any(_is_row(row) for row in rows)
    except ValueError:
        is_ragged = True
    if is_ragged:
        lengths = Counter(f"{len(row)} values" if _is_row(row) else "no list" for row in rows)
        raise ValueError(
            f"The rows of X must be equally long; there are rows of {_listed(lengths)}. "
            "None stands for a value that is unknown."
        )
    return values


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim > 0)


def _numbered_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{position}" for position in range(n_features))


def _listed(names: Iterable[Any], at_most: int = 5) -> str:
    """Names for a message: the first few and how many more there are."""
    every = list(names)
    rest = f" and {len(every) - at_most} more" if len(every) > at_most else ""
    return ", ".join(map(repr, every[:at_most])) + rest


# --- which columns the caller declared ----------------------------------------------------------------------


def _declared_columns(declared: Any, source: _Source) -> _Mask:
    """Which columns `categorical_features` names, as a mask over all columns."""
    n_features = len(source.names)
    is_declared = np.zeros(n_features, dtype=bool)
    entries = _declared_entries(declared)
    if all(isinstance(entry, bool | np.bool_) for entry in entries):
        if entries and len(entries) != n_features:
            raise ValueError(
                f"A mask in categorical_features must have one entry per column; it has {len(entries)} and X "
                f"has {n_features} columns. Give a mask of that length, or indices."
            )
        is_declared[np.flatnonzero(entries)] = True
        return is_declared
    if all(isinstance(entry, str) for entry in entries):
        positions = _positions_of_names(entries, source)
    elif all(isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_) for entry in entries):
        positions = _positions_of_indices(entries, n_features)
    else:
        _refuse_declaration(declared)
    twice = [source.names[position] for position, times in Counter(positions).items() if times > 1]
    if twice:
        raise ValueError(
            f"categorical_features must give each column once; it repeats {_listed(twice)}. Remove what is repeated."
        )
    is_declared[positions] = True
    return is_declared


def _declared_entries(declared: Any) -> list[Any]:
    if declared is None or (isinstance(declared, str) and declared == "from_dtype"):
        return []
    if isinstance(declared, str | bytes | dict) or not isinstance(declared, Iterable):
        _refuse_declaration(declared)
    if isinstance(declared, np.ndarray) and declared.ndim != 1:
        _refuse_declaration(declared)
    return list(declared)


def _refuse_declaration(declared: Any) -> NoReturn:
    hint = f" For one column, write [{declared!r}]." if isinstance(declared, str | Integral) else ""
    raise ValueError(
        'categorical_features must be "from_dtype", None, or a list of column names, of column indices or of '
        f"one boolean per column; got {declared!r}.{hint}"
    )


def _positions_of_names(entries: list[str], source: _Source) -> list[int]:
    if not source.is_named:
        raise ValueError(
            f"categorical_features may hold column names only when X is a data frame; got {_listed(entries)} and "
            "an X without names. Give indices or a boolean mask, or X as a data frame."
        )
    position_of = {name: position for position, name in enumerate(source.names)}
    strange = [entry for entry in entries if entry not in position_of]
    if strange:
        raise ValueError(
            f"categorical_features must name columns of X; X has no column {_listed(strange)}. "
            f"Its columns are {_listed(source.names, at_most=20)}."
        )
    return [position_of[entry] for entry in entries]


def _positions_of_indices(entries: list[Any], n_features: int) -> list[int]:
    strange = [int(entry) for entry in entries if not -n_features <= entry < n_features]
    if strange:
        raise ValueError(
            f"Indices in categorical_features must lie between {-n_features} and {n_features - 1}; got "
            f"{_listed(strange)}. X has {n_features} columns; the first has index 0."
        )
    return [int(entry) % n_features for entry in entries]


# --- arrays -------------------------------------------------------------------------------------------------


def _array_blocks(
    values: _Array, columns: npt.NDArray[np.intp], names: Sequence[str], mask: _Mask | None
) -> Iterator[_Block]:
    """The columns of an array of any dtype; `mask` says which entries are unknown whatever their value."""
    values = values.view()
    values.flags.writeable = False  # it may be the caller's data; nothing behind this line can write to it
    kind = values.dtype.kind
    if kind == "b":
        codes = values.view(np.uint8) if mask is None else np.where(mask, np.uint8(0), values)
        yield NominalBlock(columns, np.ascontiguousarray(codes, np.uint8), np.full(len(columns), 2), mask)
    elif kind in "iu":
        yield NumericBlock(columns, _native(values), mask)
    elif kind == "f":
        floats = _native(values)
        if mask is not None:
            floats = np.where(mask, floats.dtype.type("nan"), floats)
        yield NumericBlock(columns, floats, None)
    elif kind in "mM":
        unknown = np.isnat(values) if mask is None else np.isnat(values) | mask
        yield NumericBlock(columns, _native(values).view(np.int64), unknown if unknown.any() else None)
    elif kind in "OUST":
        for j, position in enumerate(columns):
            cells = values[:, j].tolist()
            if kind == "S":  # an array of bytes is text of one byte per letter; bytes anywhere else are refused
                cells = [cell.decode("latin-1") for cell in cells]
            if mask is not None:
                cells = [None if masked else cell for cell, masked in zip(cells, mask[:, j], strict=True)]
            yield _cells_block(cells, int(position), names[position])
    else:
        _refuse_dtype(names[columns[0]], values.dtype, is_complex=kind == "c")


def _native(values: _Array) -> _Array:
    """The same numbers in this machine's byte order, floats as float32 or float64."""
    dtype = values.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, which is refused later
        return values.astype(dtype, copy=False)


def _refuse_dtype(name: str, dtype: object, *, is_complex: bool = False) -> NoReturn:
    if is_complex:
        raise ValueError(
            f"Complex data not supported: column {name!r} has dtype {dtype}. Give the real and the imaginary "
            "part as two columns."
        )
    raise TypeError(
        f"Columns must hold numbers, dates, durations, strings, booleans or categories; column {name!r} has "
        f"dtype {dtype}. Convert it or drop it."
    )


# --- columns of Python objects ------------------------------------------------------------------------------


def _cells_block(cells: list[Any], position: int, name: str) -> _Block:
    """A column of Python objects: numeric if every known cell is a number, nominal if all are text or all bool."""
    kind_of = {cell_type: _kind_of_cell(cell_type) for cell_type in set(map(type, cells))}
    known, unknown = cells, np.zeros(len(cells), dtype=bool)
    if not {"missing", "real", "time"}.isdisjoint(kind_of.values()):
        is_unknown = [_is_unknown(cell, kind_of[type(cell)]) for cell in cells]
        known, unknown = list(compress(cells, map(not_, is_unknown))), np.array(is_unknown)
    known_types = set(map(type, known))
    kinds = {kind_of[cell_type] for cell_type in known_types}
    if kinds == {"integer"}:
        return _integers_block(known, unknown, position)
    if kinds <= {"integer", "real"}:  # or nothing is known: then there is nothing that says category
        return _floats_block(known, unknown, position)
    if kinds == {"string"} or kinds == {"boolean"}:
        number_of: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.zeros(len(cells), dtype=np.int64)
        codes[~unknown] = list(map(number_of.__getitem__, known))
        return _nominal_column(codes, unknown, position, name)
    _refuse_cells(name, known_types, kind_of)


def _is_unknown(cell: Any, kind: str) -> bool:
    # Only NaN and NaT differ from themselves. Other kinds are not compared: their answer may be an array.
    return kind == "missing" or (kind in ("real", "time") and bool(cell != cell))


def _kind_of_cell(cell_type: type) -> str:
    pandas = sys.modules.get("pandas")  # NA and NaT cannot be here unless pandas is loaded
    missing = (type(None), type(np.ma.masked)) + ((type(pandas.NA), type(pandas.NaT)) if pandas else ())
    kinds: tuple[tuple[str, Any], ...] = (
        ("missing", missing),
        ("time", (np.datetime64, np.timedelta64)),  # before the integers: NumPy files timedelta64 among them
        ("boolean", (bool, np.bool_)),  # before the integers: Python files bool among them
        ("string", str),
        ("integer", Integral),
        ("real", (Real, Decimal)),
        ("complex", Complex),
    )
    return next((kind for kind, types in kinds if issubclass(cell_type, types)), "other")


def _integers_block(known: list[Any], unknown: _Mask, position: int) -> NumericBlock:
    """Integers stay integers, also beside unknown ones: as floats those above 2^53 would run together."""
    integers = list(map(int, known))
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(integers) and max(integers) <= np.iinfo(dtype).max:
            values = np.zeros((len(unknown), 1), dtype)
            values[~unknown, 0] = integers
            return NumericBlock(np.array([position]), values, unknown[:, None] if unknown.any() else None)
    return _floats_block(integers, unknown, position)


def _floats_block(known: list[Any], unknown: _Mask, position: int) -> NumericBlock:
    values = np.full((len(unknown), 1), np.nan)
    values[~unknown, 0] = list(map(_as_float, known))
    return NumericBlock(np.array([position]), values, None)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of more than 308 digits; the next stage refuses infinity by name
        return float("inf") if number > 0 else float("-inf")


def _refuse_cells(name: str, types: set[type], kind_of: dict[type, str]) -> NoReturn:
    """The words "argument must be a string or a real number" are those scikit-learn's checks look for."""
    words = {"integer": "numbers", "real": "numbers", "string": "strings", "boolean": "booleans"}
    if any(kind_of[cell_type] == "complex" for cell_type in types):
        _refuse_dtype(name, "object with complex numbers in it", is_complex=True)
    strange = sorted(repr(cell_type.__name__) for cell_type in types if kind_of[cell_type] not in words)
    found = sorted({words[kind_of[cell_type]] for cell_type in types if kind_of[cell_type] in words}) + strange
    raise TypeError(
        f"column {name!r} {'mixes' if len(found) > 1 else 'holds'} {' and '.join(found)}: argument must be a "
        f"string or a real number in every row of a column, not {strange[0] if strange else 'some of each'}. "
        "Convert the column to one of them."
    )


# --- data frames --------------------------------------------------------------------------------------------


def _data_frame(X: Any) -> Any:
    """X as a pandas, polars or pyarrow table if it is a data frame, else None."""
    import narwhals.stable.v1 as nw

    X = nw.to_native(X, pass_through=True)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    if nw.dependencies.is_pandas_dataframe(X) or nw.dependencies.is_polars_dataframe(X):
        return X
    if nw.dependencies.is_pyarrow_table(X):
        return X
    if nw.dependencies.is_into_dataframe(X):  # other libraries, in the form they all can give
        frame = nw.from_native(X, eager_only=True)
        return frame.to_pandas() if nw.dependencies.is_pandas_like_dataframe(X) else frame.to_arrow()
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise TypeError(
            f"X must be a table with rows; {type(X).__name__} is lazy and has none yet. Give X.collect() instead."
        )
    return None


def _frame_blocks(X: Any, names: Sequence[str]) -> Iterator[_Block]:
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_pandas_dataframe(X):
        yield from _pandas_blocks(X, names)
    elif nw.dependencies.is_polars_dataframe(X):
        yield from _polars_blocks(X, names)
    else:
        for position, column in enumerate(X.columns):
            yield _arrow_block(column, position, names[position])


def _pandas_blocks(X: Any, names: Sequence[str]) -> Iterator[_Block]:
    """Columns of one NumPy dtype are taken together: pandas then gives its own array, often without a copy."""
    positions_of: defaultdict[np.dtype[Any], list[int]] = defaultdict(list)
    for position, dtype in enumerate(X.dtypes):
        if isinstance(dtype, np.dtype):
            positions_of[dtype].append(position)
        else:
            yield _pandas_extension_block(X.iloc[:, position], position, names[position])
    for positions in positions_of.values():
        part = X if len(positions) == len(names) else X.iloc[:, positions]
        yield from _array_blocks(part.to_numpy(), np.array(positions), names, None)


def _pandas_extension_block(series: Any, position: int, name: str) -> _Block:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        return _column_block(series.sparse.to_dense().to_numpy(), None, position, name)
    if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        codes, _ = series.factorize()
        return _nominal_column(codes, codes < 0, position, name)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _column_block(series.to_numpy(dtype=f"M8[{dtype.unit}]"), None, position, name)
    if isinstance(dtype, pd.ArrowDtype):
        import pyarrow as pa

        column = pa.array(series)
        if not isinstance(column, pa.ChunkedArray):
            column = pa.chunked_array([column])
        return _arrow_block(column, position, name)
    numpy_dtype = getattr(dtype, "numpy_dtype", None)  # Int64, Float64, boolean and their sisters
    if numpy_dtype is None:
        _refuse_dtype(name, dtype)
    values = series.to_numpy(dtype=numpy_dtype, na_value=0)
    return _column_block(values, series.isna().to_numpy(), position, name)


def _polars_blocks(X: Any, names: Sequence[str]) -> Iterator[_Block]:
    """As for pandas: columns of one dtype that NumPy has go through one array if they are full."""
    positions_of: defaultdict[Any, list[int]] = defaultdict(list)
    for position, series in enumerate(X.get_columns()):
        dtype = series.dtype
        if dtype.is_numeric() and str(dtype) in _POLARS_DTYPES_OF_NUMPY and not series.null_count():
            positions_of[dtype].append(position)
        else:
            yield _polars_block(series, position, names[position])
    for positions in positions_of.values():
        part = X if len(positions) == len(names) else X[:, positions]
        yield from _array_blocks(part.to_numpy(), np.array(positions), names, None)


_POLARS_DTYPES_OF_NUMPY = frozenset(
    ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
)


def _polars_block(series: Any, position: int, name: str) -> _Block:
    import polars as pl

    dtype = series.dtype
    unknown = series.is_null().to_numpy() if series.null_count() else None
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        if dtype == pl.String:
            series = series.cast(pl.Categorical)
        return _nominal_column(series.to_physical().fill_null(0).to_numpy(), unknown, position, name)
    if dtype.is_temporal():
        series = series.to_physical()  # int32 or int64 ticks
    if dtype.is_numeric() and str(dtype) not in _POLARS_DTYPES_OF_NUMPY:  # decimals, 16 and 128 bits
        series = series.cast(pl.Float64)
    if dtype == pl.Boolean or series.dtype.is_integer():
        filled = series if unknown is None else series.fill_null(False if dtype == pl.Boolean else 0)
        return _column_block(filled.to_numpy(), unknown, position, name)
    if series.dtype.is_float():
        return _column_block(series.to_numpy(), None, position, name)
    if dtype in (pl.Object, pl.Null):
        return _cells_block(series.to_list(), position, name)
    _refuse_dtype(name, dtype)


def _arrow_block(column: Any, position: int, name: str) -> _Block:
    import pyarrow as pa

    kind, is_a = column.type, pa.types
    unknown = column.is_null().to_numpy() if column.null_count else None
    if str(kind) in ("string", "large_string", "string_view") or is_a.is_dictionary(kind):
        return _arrow_nominal_block(column, position, name)
    if is_a.is_float32(kind) or is_a.is_float64(kind):
        return _column_block(column.to_numpy(), None, position, name)
    if is_a.is_float16(kind) or is_a.is_decimal(kind):
        return _column_block(column.cast(pa.float64()).to_numpy(), None, position, name)
    if is_a.is_temporal(kind) and not is_a.is_interval(kind):
        column, kind = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()), pa.int64()
    if is_a.is_integer(kind) or is_a.is_boolean(kind):
        column = column if unknown is None else column.fill_null(False if is_a.is_boolean(kind) else 0)
        return _column_block(column.to_numpy(), unknown, position, name)
    if is_a.is_null(kind):
        return _cells_block([None] * len(column), position, name)
    _refuse_dtype(name, kind)


def _arrow_nominal_block(column: Any, position: int, name: str) -> _Block:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        # A dictionary may hold a value twice, or null, or NaN. Encoding it anew settles the first two.
        column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
    chunks = column.dictionary_encode().unify_dictionaries().chunks
    codes = np.concatenate([chunk.indices.fill_null(0).to_numpy() for chunk in chunks])
    return _nominal_column(codes, column.is_null().to_numpy(), position, name)


def _column_block(values: _Array, unknown: _Mask | None, position: int, name: str) -> _Block:
    """One column that a data frame gave as an array."""
    mask = unknown[:, None] if unknown is not None and unknown.any() else None
    (block,) = _array_blocks(values[:, None], np.array([0]), [name], mask)
    return replace(block, columns=np.array([position]))


# --- codes --------------------------------------------------------------------------------------------------


def _nominal_column(codes: _Array, unknown: _Mask | None, position: int, name: str) -> NominalBlock:
    """One column of codes, whoever made them: integers from 0 on where known, anything where unknown."""
    known = codes if unknown is None else codes[~unknown]
    n_codes = int(known.max()) + 1 if known.size else 1
    if n_codes > 256:  # room for fewer, if not every code occurs
        occurs = np.zeros(n_codes, dtype=bool)
        occurs[known] = True
        codes = (np.cumsum(occurs) - 1).take(codes, mode="clip")
        n_codes = int(np.count_nonzero(occurs))
    if n_codes > MAX_CATEGORIES:
        raise ValueError(
            f"A categorical column may have at most {MAX_CATEGORIES:,} categories; column {name!r} has "
            f"{n_codes:,}. Drop it if it identifies rows, or let it be numeric if its values are quantities."
        )
    codes = codes.astype(np.uint8 if n_codes <= 256 else np.uint16)
    mask = None
    if unknown is not None and unknown.any():
        codes[unknown] = 0
        mask = unknown[:, None]
    return NominalBlock(np.array([position]), codes[:, None], np.array([n_codes]), mask)


def _with_declared_coded(block: _Block, is_declared: _Mask, names: Sequence[str]) -> Iterator[_Block]:
    """The block as it is, or its declared columns as nominal ones beside the rest."""
    if isinstance(block, NominalBlock) or not is_declared[block.columns].any():
        yield block
        return
    chosen = is_declared[block.columns]
    if not chosen.all():
        yield _part(block, ~chosen)
        block = _part(block, chosen)
    yield from _coded_by_equality(block, names)


def _coded_by_equality(block: NumericBlock, names: Sequence[str]) -> Iterator[NominalBlock]:
    """Numbers as categories: equal numbers and only those get one code.

    Most declared columns hold small whole numbers, and then ``value - minimum`` is the code: all columns at
    once, no sorting. It is when the range is below 256 and ``minimum + code`` gives back every value; the other
    columns are sorted one by one.
    """
    low, high, unknown = _known_range(block)
    infinite = ~(np.isfinite(low) & np.isfinite(high))
    if infinite.any():
        raise ValueError(
            "A categorical column must hold finite values; there are infinite ones in column "
            f"{_listed(names[position] for position in block.columns[infinite])}. Replace them, or take the "
            "column out of categorical_features."
        )
    block = replace(block, unknown=unknown)
    span = _span(low, high)
    is_narrow = span < 256
    if is_narrow.any():
        narrow = _part(block, is_narrow)
        codes, is_exact = _codes_above(low[is_narrow], narrow)
        n_codes = span[is_narrow].astype(np.int64) + 1
        if is_exact.any():
            yield _part(NominalBlock(narrow.columns, codes, n_codes, narrow.unknown), is_exact)
        is_narrow[is_narrow] = is_exact
    for j in np.flatnonzero(~is_narrow):
        yield _coded_by_sorting(block, int(j), names)


def _known_range(block: NumericBlock) -> tuple[_Array, _Array, _Mask | None]:
    """Smallest and largest known value of every column, 0 and 0 where there is none, and what is unknown."""
    values, unknown = block.values, block.unknown
    if values.dtype.kind == "f":
        low, high = values.min(axis=0), values.max(axis=0)
        if np.isnan(low).any():
            unknown = np.isnan(values)
            low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    elif unknown is None:
        low, high = values.min(axis=0), values.max(axis=0)
    else:
        limits = np.iinfo(values.dtype)
        low = values.min(axis=0, where=~unknown, initial=limits.max)
        high = values.max(axis=0, where=~unknown, initial=limits.min)
    if unknown is not None:
        nothing_known = unknown.all(axis=0)
        low[nothing_known] = high[nothing_known] = 0
    return low, high, unknown


def _span(low: _Array, high: _Array) -> _Array:
    """``high - low`` that cannot wrap around."""
    if low.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(high - low)
    return high.astype(np.uint64) - low.astype(np.uint64)  # right modulo 2^64, and any difference is below that


def _codes_above(low: _Array, block: NumericBlock) -> tuple[_Array, _Mask]:
    """``values - low`` in one byte, for columns that span less than 256; and for which of them that is exact."""
    values, unknown = block.values, block.unknown
    is_exact = np.ones(len(low), dtype=bool)
    if values.dtype.itemsize == 1 and values.flags.c_contiguous and unknown is None and not low.any():
        return values.view(np.uint8), is_exact
    codes = np.empty(values.shape, dtype=np.uint8)
    for stripe in _stripes(values):
        piece, start = values[stripe], low[stripe[1]]
        if unknown is not None:
            piece = np.where(unknown[stripe], start, piece)
        np.copyto(codes[stripe], piece - start, casting="unsafe")  # if integers wrap, the low byte is right
        if values.dtype.kind == "f":
            # Test the sum: 0 and 2^-60 both lie 200 above -200 in float64, but only one of them is the sum.
            is_exact[stripe[1]] &= (codes[stripe] + start == piece).all(axis=0)
    return codes, is_exact


def _stripes(values: _Array) -> Iterator[tuple[slice, slice]]:
    """Slices that cut an array into pieces of STRIPE_CELLS cells that lie together in memory."""
    n_rows, n_columns = values.shape
    row_step, column_step = map(abs, values.strides)
    everything = slice(None)
    if row_step >= column_step:
        height = max(1, STRIPE_CELLS // n_columns)
        yield from ((slice(at, at + height), everything) for at in range(0, n_rows, height))
    else:
        width = max(1, STRIPE_CELLS // n_rows)
        yield from ((everything, slice(at, at + width)) for at in range(0, n_columns, width))


def _coded_by_sorting(block: NumericBlock, j: int, names: Sequence[str]) -> NominalBlock:
    column = block.values[:, j]
    unknown = None if block.unknown is None else block.unknown[:, j]
    known = slice(None) if unknown is None else ~unknown
    codes = np.zeros(len(column), dtype=np.int64)
    codes[known] = np.unique(column[known], return_inverse=True)[1]
    position = int(block.columns[j])
    return _nominal_column(codes, unknown, position, names[position])


# --- blocks taken apart and put together --------------------------------------------------------------------


def _part(block: _BlockT, chosen: _Mask) -> _BlockT:
    """Some columns of a block."""
    if chosen.all():
        return block
    unknown = None if block.unknown is None else _some_columns(block.unknown, chosen)
    if unknown is not None and not unknown.any():
        unknown = None
    if isinstance(block, NumericBlock):
        return NumericBlock(block.columns[chosen], _some_columns(block.values, chosen), unknown)
    codes = _some_columns(block.codes, chosen)
    return NominalBlock(block.columns[chosen], codes, block.n_codes[chosen], unknown)


def _some_columns(values: _Array, chosen: _Mask) -> _Array:
    """Columns copied in the memory order they have."""
    positions = np.flatnonzero(chosen)
    if values.flags.c_contiguous:
        return values.take(positions, axis=1)
    return values.T.take(positions, axis=0).T


def _merged_numeric(blocks: list[NumericBlock]) -> Iterator[NumericBlock]:
    """Floats in one block and integers in another; uint64 apart, as no dtype holds it and negative integers."""
    groups: defaultdict[str, list[NumericBlock]] = defaultdict(list)
    for block in blocks:
        dtype = block.values.dtype
        group_name = "uint64" if dtype == np.uint64 else "float" if dtype.kind == "f" else "integer"
        groups[group_name].append(block)
    for group in groups.values():
        if len(group) == 1:
            yield group[0]
            continue
        columns = np.sort(np.concatenate([block.columns for block in group]))
        dtype = np.result_type(*{block.values.dtype for block in group})
        values = np.empty((len(columns), len(group[0].values)), dtype).T  # most came column by column
        for block in group:
            values.T[np.searchsorted(columns, block.columns)] = block.values.T
        yield NumericBlock(columns, values, _merged_unknown(columns, group))


def _merged_nominal(blocks: list[NominalBlock]) -> Iterator[NominalBlock]:
    """Codes of one byte in one block and codes of two in another."""
    for dtype in (np.uint8, np.uint16):
        group = [block for block in blocks if block.codes.dtype == dtype and len(block.columns)]
        if len(group) == 1:
            yield group[0]
        elif group:
            columns = np.sort(np.concatenate([block.columns for block in group]))
            codes = np.empty((len(group[0].codes), len(columns)), dtype)
            n_codes = np.empty(len(columns), np.int64)
            for block in group:
                places = np.searchsorted(columns, block.columns)
                codes[:, places] = block.codes
                n_codes[places] = block.n_codes
            yield NominalBlock(columns, codes, n_codes, _merged_unknown(columns, group))


def _merged_unknown(columns: _Array, group: Sequence[_Block]) -> _Mask | None:
    if all(block.unknown is None for block in group):
        return None
    n_rows = next(len(block.unknown) for block in group if block.unknown is not None)
    unknown = np.zeros((n_rows, len(columns)), dtype=bool)
    for block in group:
        if block.unknown is not None:
            unknown[:, np.searchsorted(columns, block.columns)] = block.unknown
    return unknown
