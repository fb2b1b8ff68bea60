"""Data frames: the columns of pandas, polars and pyarrow, whose own types say what is a category."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nearhit.intake.arrays import array_blocks
from nearhit.intake.blocks import Array, Block, Mask
from nearhit.intake.cells import cells_block
from nearhit.intake.codes import nominal_column
from nearhit.intake.messages import refuse_dtype, refuse_infinite_categories


def data_frame(X: Any) -> Any:
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


def frame_blocks(X: Any, names: Sequence[str]) -> Iterator[Block]:
    """The columns of what `data_frame` gave."""
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_pandas_dataframe(X):
        yield from _pandas_blocks(X, names)
    elif nw.dependencies.is_polars_dataframe(X):
        yield from _polars_blocks(X, names)
    else:
        for position, column in enumerate(X.columns):
            yield _arrow_block(column, position, names[position])


def _pandas_blocks(X: Any, names: Sequence[str]) -> Iterator[Block]:
    """Columns of one NumPy dtype are taken together: pandas then gives its own array, often without a copy."""
    positions_of: defaultdict[np.dtype[Any], list[int]] = defaultdict(list)
    for position, dtype in enumerate(X.dtypes):
        if isinstance(dtype, np.dtype):
            positions_of[dtype].append(position)
        else:
            yield _pandas_extension_block(X.iloc[:, position], position, names[position])
    for positions in positions_of.values():
        part = X if len(positions) == len(names) else X.iloc[:, positions]
        yield from array_blocks(part.to_numpy(), np.array(positions), names, None)


def _pandas_extension_block(series: Any, position: int, name: str) -> Block:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        return _column_block(series.sparse.to_dense().to_numpy(), None, position, name)
    if isinstance(dtype, pd.CategoricalDtype | pd.StringDtype):
        codes, categories = series.factorize()
        _refuse_infinite(np.asarray(categories), name)
        return nominal_column(codes, codes < 0, position, name)
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
        refuse_dtype(name, dtype)
    values = series.to_numpy(dtype=numpy_dtype, na_value=0)
    return _column_block(values, series.isna().to_numpy(), position, name)


def _polars_blocks(X: Any, names: Sequence[str]) -> Iterator[Block]:
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
        yield from array_blocks(part.to_numpy(), np.array(positions), names, None)


_POLARS_DTYPES_OF_NUMPY = frozenset(
    ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
)


def _polars_block(series: Any, position: int, name: str) -> Block:
    import polars as pl

    dtype = series.dtype
    unknown = series.is_null().to_numpy() if series.null_count() else None
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        if dtype == pl.String:
            series = series.cast(pl.Categorical)
        return nominal_column(series.to_physical().fill_null(0).to_numpy(), unknown, position, name)
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
        return cells_block(series.to_list(), position, name)
    refuse_dtype(name, dtype)


def _arrow_block(column: Any, position: int, name: str) -> Block:
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
        return cells_block([None] * len(column), position, name)
    refuse_dtype(name, kind)


def _arrow_nominal_block(column: Any, position: int, name: str) -> Block:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        # A dictionary may hold a value twice, or null, or NaN. Encoding it anew settles the first two.
        column = column.cast(column.type.value_type)
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), None, column)
            _refuse_infinite(column.unique().to_numpy(zero_copy_only=False), name)
    chunks = column.dictionary_encode().unify_dictionaries().chunks
    codes = np.concatenate([chunk.indices.fill_null(0).to_numpy() for chunk in chunks])
    return nominal_column(codes, column.is_null().to_numpy(), position, name)


def _refuse_infinite(categories: Array, name: str) -> None:
    """As in a column of numbers that is declared to hold categories (codes.py)."""
    if categories.dtype.kind == "f" and np.isinf(categories).any():
        refuse_infinite_categories([name], "mark them as missing")


def _column_block(values: Array, unknown: Mask | None, position: int, name: str) -> Block:
    """One column that a data frame gave as an array."""
    mask = unknown[:, None] if unknown is not None and unknown.any() else None
    (block,) = array_blocks(values[:, None], np.array([0]), [name], mask)
    return replace(block, columns=np.array([position]))
