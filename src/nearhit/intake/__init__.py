"""The one door through which a table comes in: whatever X is, typed blocks of columns come out.

A column is numeric or nominal by its dtype, or nominal because the caller declared it; its values are never
counted to guess. Nothing is written to the caller's data, and a plain numeric array is passed on as a view
without being read. What happens to the values later (ranges, codes on a grid, scores) is not decided here.

    input -> blocks by dtype -> declared columns coded by equality -> blocks of one kind put together
"""

from __future__ import annotations

from typing import Any

from nearhit.intake.blocks import Block, Columns, NominalBlock, NumericBlock, merged_nominal, merged_numeric
from nearhit.intake.codes import with_declared_coded
from nearhit.intake.declared import declared_columns
from nearhit.intake.source import as_table, open_source

__all__ = ["Columns", "NominalBlock", "NumericBlock", "as_table", "read_columns"]


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
    source = open_source(X, estimator_name)
    declared = declared_columns(categorical_features, source)
    blocks: list[Block] = []
    for block in source.read():
        blocks.extend(with_declared_coded(block, declared, source.names))
    return Columns(
        source.names,
        source.n_rows,
        tuple(merged_numeric([block for block in blocks if isinstance(block, NumericBlock)])),
        tuple(merged_nominal([block for block in blocks if isinstance(block, NominalBlock)])),
    )
