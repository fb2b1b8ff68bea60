"""The columns that `transform` keeps: in the container in which they came, or as one array.

scikit-learn's own selectors make an array of X first and choose columns then. That refuses or spoils part of what nearhit
reads: masks are dropped, integers beside other types are rounded, categories of polars become objects. Here columns are
chosen first. One array is made of them only if no data frame is wanted, of the narrowest dtype that holds every value:
numbers as numbers, unknown ones as NaN, and Python objects where columns are of different kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from nearhit.intake.blocks import Array, Mask, NumericBlock
from nearhit.intake.cells import cells_block


def keep_columns(X: Any, mask: Mask) -> Any:
    """Some columns of what `nearhit.intake.as_table` gave, in the same container."""
    positions = np.flatnonzero(mask).tolist()
    if isinstance(X, np.ndarray):
        return X[:, mask]
    if scipy.sparse.issparse(X):
        return X.tocsr()[:, positions]
    library = library_of(X)
    return (
        X.iloc[:, positions] if library == "pandas" else X[:, positions] if library == "polars" else X.select(positions)
    )


def library_of(X: Any) -> str:
    """Whose data frame X is: "pandas", "polars" or "pyarrow"."""
    import narwhals.stable.v1 as nw

    if nw.dependencies.is_pandas_dataframe(X):
        return "pandas"
    return "polars" if nw.dependencies.is_polars_dataframe(X) else "pyarrow"


def as_array(X: Any) -> Any:
    """A container as one array; sparse matrices stay sparse."""
    if scipy.sparse.issparse(X):
        return X
    if isinstance(X, np.ndarray):
        return _unmasked(X) if isinstance(X, np.ma.MaskedArray) else X
    if library_of(X) == "pandas":
        return _array_of_pandas(X)
    if library_of(X) == "polars":
        return _joined([_cells_of_polars(series) for series in X.get_columns()], X.height)
    return _joined([_cells_of_arrow(column) for column in X.columns], X.num_rows)


def array_of_rows(X: Array) -> Array:
    """Rows that came as lists, and are an array of objects now, as an array of numbers if that is what they are."""
    return _joined([_cells_of_objects(column.tolist()) for column in X.T], len(X))


def as_frame(X: Any, library: str) -> Any:
    """A data frame as one of "pandas" or "polars", its dtypes kept; of everything else an array."""
    if isinstance(X, np.ndarray) or scipy.sparse.issparse(X):
        return as_array(X)
    if (own := library_of(X)) == library:
        return X
    try:
        if library == "pandas":
            return X.to_pandas()
        import polars as pl

        return pl.from_pandas(X.set_axis(map(str, range(X.shape[1])), axis=1)) if own == "pandas" else pl.from_arrow(X)
    except ImportError:  # some of these ways need pyarrow
        return as_array(X)


# ------------------------------------------------------------------------------------------------ many columns as one


@dataclass(frozen=True, eq=False)
class Cells:
    """One column as an array of its own dtype; dates also as Python objects, of which NumPy makes bare integers."""

    values: Array
    dates: Callable[[], Any] | None = None


def _joined(columns: list[Cells], n_rows: int) -> Array:
    joined = np.empty((n_rows, len(columns)), _dtype_for([column.values for column in columns]))
    for j, column in enumerate(columns):
        joined[:, j] = column.dates() if joined.dtype == object and column.dates else column.values
    return joined


def _dtype_for(arrays: list[Array]) -> np.dtype[Any]:
    """The dtype that holds the values of all columns as they are."""
    kinds = {"number" if values.dtype.kind in "iuf" else values.dtype.kind for values in arrays}
    if not kinds:
        return np.dtype(np.float64)
    if len(kinds) > 1 or kinds == {"O"}:
        return np.dtype(object)
    dtype = np.result_type(*{values.dtype for values in arrays})
    return dtype if dtype.kind != "f" or all(_fits(values, dtype) for values in arrays) else np.dtype(object)


def _fits(values: Array, floats: np.dtype[Any]) -> bool:
    """Whether integers are the same as floats."""
    if values.dtype.kind == "f" or not values.size:
        return True
    return max(-int(values.min()), int(values.max())) <= 2 ** (np.finfo(floats).nmant + 1)


def _with_unknown(values: Array, unknown: Mask) -> Array:
    """Numbers or booleans of which some are unknown: floats with NaN if floats hold them, else objects with NaN."""
    if not unknown.any():
        return values
    known = np.where(unknown, values.dtype.type(0), values)
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    if values.dtype.kind == "b" or not _fits(known, dtype):
        dtype = np.dtype(object)
    filled = known.astype(dtype)
    filled[unknown] = np.nan
    return filled


def _unmasked(X: np.ma.MaskedArray) -> Array:
    """Masked entries as NaN or NaT."""
    values, unknown = np.asarray(X), np.ma.getmaskarray(X)
    if values.dtype.kind in "biuf":
        return _with_unknown(values, unknown)
    filled = values.copy() if values.dtype.kind in "mM" or not unknown.any() else values.astype(object)
    filled[unknown] = values.dtype.type("NaT") if values.dtype.kind in "mM" else np.nan
    return filled


# ------------------------------------------------------------------------------------------------ one column of a kind


def _cells_of_objects(cells: list[Any]) -> Cells:
    block = cells_block(cells, 0, "X")
    if isinstance(block, NumericBlock):
        unknown = np.zeros(len(cells), bool) if block.unknown is None else block.unknown[:, 0]
        return Cells(_with_unknown(block.values[:, 0], unknown))
    is_boolean = all(isinstance(cell, bool | np.bool_) for cell in cells)
    return Cells(np.array(cells, bool if is_boolean else object))


def _array_of_pandas(X: Any) -> Any:
    import pandas as pd

    dtypes = set(X.dtypes)
    if len(dtypes) == 1 and isinstance(next(iter(dtypes)), np.dtype):
        return X.to_numpy()
    if dtypes and all(isinstance(dtype, pd.SparseDtype) and dtype.fill_value == 0 for dtype in dtypes):
        return X.sparse.to_coo().tocsr()  # as everywhere in scikit-learn
    return _joined([_cells_of_pandas(X.iloc[:, j]) for j in range(X.shape[1])], len(X))


def _cells_of_pandas(series: Any) -> Cells:
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        is_date = dtype.kind in "mM"
        return Cells(series.to_numpy(), (lambda: series.astype(object).to_numpy()) if is_date else None)
    unknown = series.isna().to_numpy()
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and numpy_dtype.kind in "biuf":  # Int64, boolean, Arrow's numbers
        return Cells(_with_unknown(series.to_numpy(dtype=numpy_dtype, na_value=0), unknown))
    objects = series.astype(object).to_numpy(copy=True)
    objects[unknown] = np.nan  # pandas' NA cannot even be compared, so encoders stumble over it
    return Cells(objects)


def _cells_of_polars(series: Any) -> Cells:
    dtype = series.dtype
    if dtype.is_float():
        return Cells(series.to_numpy())
    if dtype.is_temporal() and str(dtype) != "Time":  # NumPy has no time of day
        return Cells(series.to_numpy(), series.to_list)
    if str(dtype) == "Boolean" or (dtype.is_integer() and "128" not in str(dtype)):
        known = series.fill_null(0 if dtype.is_integer() else False)
        return Cells(_with_unknown(known.to_numpy(), series.is_null().to_numpy()))
    return Cells(np.array(series.to_list(), object))


def _cells_of_arrow(column: Any) -> Cells:
    import pyarrow as pa

    kind, is_a = column.type, pa.types
    if is_a.is_integer(kind) or is_a.is_boolean(kind):
        known = column.fill_null(0 if is_a.is_integer(kind) else False)
        return Cells(_with_unknown(known.to_numpy(), column.is_null().to_numpy()))
    if is_a.is_floating(kind):
        return Cells(column.to_numpy())
    if is_a.is_date32(kind) or is_a.is_timestamp(kind) or is_a.is_duration(kind):
        return Cells(column.to_numpy(), column.to_pylist)
    return Cells(np.array(column.to_pylist(), object))
