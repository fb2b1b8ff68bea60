"""What came in: the kind, the shape and the names of X, found out before its values are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from nearhit.intake.arrays import array_blocks
from nearhit.intake.blocks import Array, Block
from nearhit.intake.frames import data_frame, frame_blocks
from nearhit.intake.messages import listed

# A sparse matrix is made dense here. A cell costs its own width now and four bytes once the table has coded
# it, so the wider of the two counts. 2 GiB are 5,000 rows of 100,000 float32 columns: a laptop holds that.
DENSE_LIMIT_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Source:
    """An input whose shape and names are known and whose values have not been looked at."""

    names: tuple[str, ...]
    is_named: bool
    n_rows: int
    read: Callable[[], Iterator[Block]]


def open_source(X: Any, estimator_name: str) -> Source:
    """Find out what X is, and refuse what is no table."""
    X = as_table(X, estimator_name)
    if isinstance(X, np.ndarray):
        return _open_array(X)
    return _open_sparse(X) if scipy.sparse.issparse(X) else _open_frame(X)


def as_table(X: Any, estimator_name: str) -> Any:
    """X as an array, a sparse matrix or a data frame of pandas, polars or pyarrow, of two dimensions and not empty."""
    if isinstance(X, list | tuple):
        X = _array_of_rows(X)
    elif not isinstance(X, np.ndarray) and not scipy.sparse.issparse(X):
        frame = data_frame(X)
        X = np.asarray(X) if frame is None else frame
    elif isinstance(X, np.matrix):  # whose columns would have two dimensions
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise TypeError(
            f"{estimator_name} needs a two-dimensional array or a data frame; X is a structured array with "
            f"fields {listed(X.dtype.names)}. pandas.DataFrame(X) makes a data frame of it."
        )
    _check_shape(X.shape, estimator_name, X)
    return X


def _open_array(X: Array) -> Source:
    names = _numbered_names(X.shape[1])
    mask = None
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        mask = np.ma.getmaskarray(X)
    values = np.asarray(X)
    return Source(names, False, len(X), lambda: array_blocks(values, np.arange(len(names)), names, mask))


def _open_sparse(X: Any) -> Source:
    """Implicit zeros are values, so the matrix is made dense, if that is possible."""
    n_bytes = X.shape[0] * X.shape[1] * max(4, X.dtype.itemsize)
    if n_bytes > DENSE_LIMIT_BYTES:
        raise ValueError(
            f"A sparse X may take at most {DENSE_LIMIT_BYTES:,} bytes as a dense table; with shape {X.shape} and "
            f"dtype {X.dtype} this one takes {n_bytes:,}. Select fewer columns or rows"
            f"{', or convert it to float32' if X.dtype.itemsize > 4 else ''}."
        )
    names = _numbered_names(X.shape[1])
    return Source(names, False, X.shape[0], lambda: array_blocks(X.toarray(), np.arange(len(names)), names, None))


def _open_frame(X: Any) -> Source:
    import narwhals.stable.v1 as nw

    labels = X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns
    names = tuple(map(str, labels))
    if len(set(names)) < len(names):
        twice = [name for name, times in Counter(names).items() if times > 1]
        raise ValueError(f"Column names must differ; X has more than one column named {listed(twice)}. Rename them.")
    return Source(names, True, X.shape[0], lambda: frame_blocks(X, names))


def whole_labels(X: Any) -> dict[int, int]:
    """Where columns stand that a data frame labels by whole numbers; as labels these come before positions."""
    import narwhals.stable.v1 as nw

    if not nw.dependencies.is_pandas_dataframe(X):  # others have names of text only
        return {}
    return {int(label): i for i, label in enumerate(X.columns) if _is_whole(label)}


def _is_whole(label: Any) -> bool:
    return isinstance(label, Integral) and not isinstance(label, bool | np.bool_)


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


def _array_of_rows(X: Sequence[Any]) -> Array:
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
            f"The rows of X must be equally long; there are rows of {listed(lengths)}. "
            "None stands for a value that is unknown."
        )
    return values


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or (isinstance(row, np.ndarray) and row.ndim > 0)


def _numbered_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{position}" for position in range(n_features))
