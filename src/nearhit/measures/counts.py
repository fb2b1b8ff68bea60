"""Tables of counts: how much weight the rows with each value of a feature have in each class.

Every myopic measure of classes is a function of such a table (SPEC.md section 4). Counts are added as whole numbers, so
the order of the rows cannot change them; a feature's unknown rows are left out of its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: up to so many terms a sum is taken term by term over whole arrays
FEW_TERMS = 32


@dataclass(frozen=True, eq=False)
class Cases:
    """The class of each row and what the row counts, in whole units of 1/one; None where each row counts once."""

    classes: npt.NDArray[np.int32]
    n_classes: int
    units: IntArray | None = None
    one: int = 1

    def take(self, rows: npt.NDArray[np.bool_]) -> Cases:
        return Cases(self.classes[rows], self.n_classes, None if self.units is None else self.units[rows], self.one)

    def parts(self) -> IntArray:
        """What each row adds to a table: its units, in the column of its class."""
        parts = np.zeros((len(self.classes), self.n_classes), np.int64)
        parts[np.arange(len(parts)), self.classes] = 1 if self.units is None else self.units
        return parts

    def tables_of(self, codes: npt.NDArray[Any], n_codes: int) -> IntArray:
        """A table for each column of codes, shape (columns, codes, classes); a code of n_codes is left out."""
        n_columns = codes.shape[1]
        cells = (codes + np.arange(n_columns) * (n_codes + 1)) * self.n_classes + self.classes[:, None]
        weights = None if self.units is None else np.repeat(self.units, n_columns)
        # Sums of whole numbers are exact in float64 up to 2**53: 2**33 rows of the finest weights.
        counts = np.bincount(cells.ravel(), weights=weights, minlength=n_columns * (n_codes + 1) * self.n_classes)
        return counts.astype(np.int64, copy=False).reshape(n_columns, n_codes + 1, self.n_classes)[:, :-1]

    def finished(self, tables: IntArray) -> npt.NDArray[Any]:
        """Tables of units as tables of rows, or of copies of rows."""
        return tables if self.one == 1 else tables / self.one


def count_categories(codes: npt.NDArray[Any], n_codes: int, cases: Cases) -> npt.NDArray:
    """One row per category, one column per class; categories that do not occur have rows of zeros."""
    return cases.finished(cases.tables_of(codes[:, None], n_codes)[0])


def count_splits(values: npt.NDArray[Any], cases: Cases) -> npt.NDArray:
    """A table for each cut between two different values: shape (cuts, 2, classes)."""
    different, codes = np.unique(values, return_inverse=True)
    below = count_categories(codes, len(different), cases).cumsum(axis=0)
    return np.stack([below[:-1], below[-1:] - below[:-1]], axis=1)


def shares(counts: npt.NDArray, axis: int) -> FloatArray:
    """Relative frequencies along an axis; 0 where nothing was counted."""
    return ratio(counts, counts.sum(axis=axis, keepdims=True))


def ratio(top: Any, bottom: Any) -> FloatArray:
    """top / bottom, and 0 where there is nothing to divide by."""
    top, bottom = np.asarray(top), np.asarray(bottom)
    return np.divide(top, bottom, out=np.zeros(np.broadcast_shapes(top.shape, bottom.shape)), where=bottom > 0)


def total(terms: FloatArray) -> FloatArray:
    """The sum over the last axis, in order of size: neither classes nor values have an order of their own.

    One term after the other, so that terms of 0 (values that do not occur) change no bit either.
    """
    n_terms = terms.shape[-1]
    if n_terms > 2:  # of two terms in whatever order
        terms = np.sort(terms, axis=-1)
    if n_terms > FEW_TERMS:
        return terms.cumsum(axis=-1)[..., -1]
    sums = terms[..., 0] if n_terms else np.zeros(terms.shape[:-1])
    for j in range(1, n_terms):
        sums = sums + terms[..., j]
    return sums
