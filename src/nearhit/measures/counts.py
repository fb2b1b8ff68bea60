"""Tables of counts: how much weight the rows with each value of a feature have in each class.

Every myopic measure is a function of such a table (SPEC.md section 4). Counts are whole numbers, so the order of the
rows cannot change them; a feature's unknown rows are left out of its table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cases:
    """The class of each row and what the row counts, in whole units; None where each row counts once."""

    classes: npt.NDArray[np.int32]
    n_classes: int
    units: npt.NDArray[np.int64] | None = None

    def take(self, rows: npt.NDArray[np.bool_]) -> Cases:
        return Cases(self.classes[rows], self.n_classes, None if self.units is None else self.units[rows])


def count_categories(codes: npt.NDArray[Any], n_codes: int, cases: Cases) -> npt.NDArray:
    """One row per category, one column per class; categories that do not occur have rows of zeros."""
    cells = codes.astype(np.int64) * cases.n_classes + cases.classes
    # Sums of whole numbers are exact in float64 up to 2**53: 2**33 rows of the finest weights.
    counts = np.bincount(cells, weights=cases.units, minlength=n_codes * cases.n_classes)
    return counts.reshape(n_codes, cases.n_classes)


def count_splits(values: npt.NDArray[Any], cases: Cases) -> npt.NDArray:
    """A table for each cut between two different values: shape (cuts, 2, classes)."""
    different, codes = np.unique(values, return_inverse=True)
    below = count_categories(codes, len(different), cases).cumsum(axis=0)
    return np.stack([below[:-1], below[-1:] - below[:-1]], axis=1)


def shares(counts: npt.NDArray, axis: int) -> FloatArray:
    """Relative frequencies along an axis; 0 where nothing was counted."""
    total = counts.sum(axis=axis, keepdims=True)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)


def total(terms: FloatArray) -> FloatArray:
    """The sum over the last axis, in order of size: neither classes nor values have an order of their own."""
    return np.sort(terms, axis=-1).sum(axis=-1)
