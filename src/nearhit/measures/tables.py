"""From columns to tables: for each feature the tables over which a measure takes its largest value.

A categorical feature has one table, all its values. A number has a table of two rows for each cut between different
values (one sort per column, no loop over cuts), or one table of the bins into which it is cut. Columns go through in
batches, so that many short ones cost no more than few long ones, and no batch takes much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.intake import Columns, NominalBlock, NumericBlock
from nearhit.measures.counts import Cases, IntArray
from nearhit.measures.moments import NumberCases

#: Cells of a batch: rows x columns (x parts of a table). On a shared machine 2,000 x 20,000 genotypes took 0.2 s and
#: 2,000 x 1,000 numbers 0.5 s with 2^16; with 2^22 both took twice that, as temporaries leave the cache.
BATCH_CELLS = 2**16


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of some features, as whole numbers of units.

    Attributes
    ----------
    columns : array of shape (n_columns,)
        Where the features stand in the input.
    tables : array of shape (n_tables, values, parts)
        The tables of one feature lie together.
    starts : array of shape (n_columns,)
        Where those of each feature begin.
    of_values : bool
        One table per feature, a row for each category.
    """

    columns: npt.NDArray[np.intp]
    tables: IntArray
    starts: npt.NDArray[np.intp]
    of_values: bool = False


def tables_of_values(block: NominalBlock, cases: Cases | NumberCases) -> Iterator[Tables]:
    """All values of categorical features."""
    n_rows, parts = len(block.codes), cases.parts().shape[1]
    for n_codes in np.unique(block.n_codes).tolist():
        chosen = np.flatnonzero(block.n_codes == n_codes)
        cells = n_rows + n_codes * parts
        for some in _batches(chosen, cells):
            codes = block.codes[:, some]
            if block.unknown is not None:
                codes = np.where(block.unknown[:, some], n_codes, codes.astype(np.int64))
            tables = cases.tables_of(codes, n_codes)
            yield Tables(block.columns[some], tables, np.arange(len(some)), of_values=True)


def tables_of_bins(codes: npt.NDArray[Any], n_bins: int, column: int, cases: Cases | NumberCases) -> Tables:
    """One number that was cut into bins."""
    return Tables(np.array([column]), cases.tables_of(codes[:, None], n_bins), np.zeros(1, np.intp))


def tables_of_splits(block: NumericBlock, cases: Cases | NumberCases) -> Iterator[Tables]:
    """All splits of numbers in two, between different values; a single value is split from nothing."""
    parts = cases.parts()
    for some in _batches(np.arange(len(block.columns)), parts.size):
        values = np.ascontiguousarray(block.values[:, some].T)
        if block.unknown is None:
            order = np.argsort(values, axis=1)  # NaN behind all numbers, infinity included
            n_known = values.shape[1] - np.isnan(values).sum(axis=1)
        else:
            unknown = block.unknown[:, some].T
            order = np.lexsort((values, unknown), axis=1)
            n_known = values.shape[1] - unknown.sum(axis=1)
        tables, starts = _cuts(np.take_along_axis(values, order, axis=1), parts[order].cumsum(axis=1), n_known)
        yield Tables(block.columns[some], tables, starts)


def _cuts(
    values: npt.NDArray[Any], below: IntArray, n_known: npt.NDArray[np.intp]
) -> tuple[IntArray, npt.NDArray[np.intp]]:
    """The tables of all cuts of sorted columns, and where those of each column start.

    A column that cannot be cut has one table: everything on the left.
    """
    n_columns, n_rows = values.shape
    each = np.arange(n_columns)
    last = np.maximum(n_known - 1, 0)
    everything = below[each, last] * (n_known > 0)[:, None]
    is_cut = np.zeros((n_columns, n_rows), bool)
    is_cut[:, :-1] = (values[:, 1:] != values[:, :-1]) & (np.arange(1, n_rows) < n_known[:, None])
    is_cut[each, last] |= ~is_cut.any(axis=1)
    column = np.nonzero(is_cut)[0]
    left = below[is_cut]
    left[n_known[column] == 0] = 0
    return np.stack([left, everything[column] - left], axis=1), np.searchsorted(column, each)


def known_values(block: NumericBlock, j: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The known numbers of a column, as floats, and which rows have one."""
    values = block.values[:, j]
    is_known = ~np.isnan(values) if block.unknown is None else ~block.unknown[:, j]
    return values[is_known].astype(np.float64), is_known


def rows_of(columns: Columns, rows: npt.NDArray[Any]) -> Columns:
    """Some rows of a table."""

    def some(cells: Any) -> Any:
        return None if cells is None else cells[rows]

    return Columns(
        columns.names,
        int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows),
        tuple(NumericBlock(b.columns, some(b.values), some(b.unknown)) for b in columns.numeric),
        tuple(NominalBlock(b.columns, some(b.codes), b.n_codes, some(b.unknown)) for b in columns.nominal),
    )


def _batches(columns: npt.NDArray[np.intp], cells_per_column: int) -> Iterator[npt.NDArray[np.intp]]:
    size = max(1, BATCH_CELLS // max(cells_per_column, 1))
    return (columns[start : start + size] for start in range(0, len(columns), size))
