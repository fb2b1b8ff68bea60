"""Tables of moments: the rows, the sum and the sum of squares of a numeric target, for each value of a feature.

What counts are for classes. Sums of floats depend on the order of the rows in the last bit; these do not, and a weight
is exactly a number of copies: a target is taken from the middle of all targets and becomes a whole number of steps of
2**-51 of half their range, in three limbs of 17 bits, and so does its square. Sums of limbs are exact in 64 bits as long
as the rows weigh less than 2**46 units together, 2**26 rows of the finest weights. The steps are about as coarse as the
floats that targets come as.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import FloatArray, IntArray

LIMB_BITS = 17
LIMBS = 3
STEP_BITS = LIMB_BITS * LIMBS
#: beyond these powers of two, the square of a target is no float
LARGEST_EXPONENT, SMALLEST_EXPONENT = 500, -500


@dataclass(frozen=True, eq=False)
class NumberCases:
    """The target of each row as limbs of its steps and of their squares, and what the row counts.

    Attributes
    ----------
    limbs : array of shape (n_rows, 6)
        Of the target, then of its square; the most significant limb first.
    exponent : int
        Targets lie within 2**exponent of the middle.
    units, one
        As in `nearhit.measures.counts.Cases`.
    """

    limbs: npt.NDArray[np.int32]
    exponent: int
    units: IntArray | None = None
    one: int = 1

    @staticmethod
    def of(y: FloatArray, units: IntArray | None = None, one: int = 1) -> NumberCases:
        """From finite targets of rows of positive weight."""
        around = y - (y.min() / 2 + y.max() / 2)
        exponent = int(np.frexp(np.abs(around).max())[1])
        if around.any() and not SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
            raise ValueError(
                f"y must range between {2.0**SMALLEST_EXPONENT:.1g} and {2.0**LARGEST_EXPONENT:.1g}, or no float holds "
                f"squares of it; it ranges from {y.min():g} to {y.max():g}. Multiply y by a constant."
            )
        scaled = np.ldexp(around, -exponent)
        limbs = np.concatenate([_limbs(scaled), _limbs(scaled**2)], axis=1)
        return NumberCases(limbs.astype(np.int32), exponent, units, one)

    def take(self, rows: npt.NDArray[Any]) -> NumberCases:
        return NumberCases(self.limbs[rows], self.exponent, None if self.units is None else self.units[rows], self.one)

    def parts(self) -> IntArray:
        """What each row adds to a table: its units, and its limbs as often."""
        units = np.ones(len(self.limbs), np.int64) if self.units is None else self.units
        return np.concatenate([units[:, None], self.limbs * units[:, None]], axis=1)

    def tables_of(self, codes: npt.NDArray[Any], n_codes: int) -> IntArray:
        """A table for each column of codes, shape (columns, codes, parts); a code of n_codes is left out."""
        parts = self.parts()
        tables = np.zeros((codes.shape[1], n_codes, parts.shape[1]), np.int64)
        for table, column in zip(tables, codes.T, strict=True):
            order = np.argsort(column, kind="stable")  # a radix sort for codes of one or two bytes
            ends = np.searchsorted(column[order], np.arange(n_codes), side="right")
            sums = np.concatenate([np.zeros((1, parts.shape[1]), np.int64), parts[order].cumsum(axis=0)])
            table[:] = np.diff(sums[ends], axis=0, prepend=0)
        return tables

    def finished(self, tables: IntArray) -> FloatArray:
        """Tables of limbs as tables of rows, sums and sums of squares, in the numbers that y came in."""
        squares_from = 1 + LIMBS
        sums = np.ldexp(_joined(tables[..., 1:squares_from]), self.exponent)
        squares = np.ldexp(_joined(tables[..., squares_from:]), 2 * self.exponent)
        return np.stack([tables[..., 0].astype(float), sums, squares], axis=-1) / self.one


def _limbs(scaled: FloatArray) -> IntArray:
    """Numbers from -1 to 1 as whole steps, in limbs; only the first limb has a sign."""
    steps = np.rint(np.ldexp(scaled, STEP_BITS)).astype(np.int64)
    shifts = np.arange(LIMBS - 1, -1, -1) * LIMB_BITS
    limbs = steps[:, None] >> shifts
    limbs[:, 1:] &= 2**LIMB_BITS - 1
    return limbs


def _joined(limbs: IntArray) -> FloatArray:
    joined = np.zeros(limbs.shape[:-1])
    for place in range(LIMBS):  # the most significant first, and each step rounds the same sums
        joined += np.ldexp(limbs[..., place].astype(float), -(place + 1) * LIMB_BITS)
    return joined


def variance(cases: NumberCases) -> float:
    """Of the target over all rows; 0 for none."""
    n, total, squares = cases.finished(cases.parts().sum(axis=0))
    return max(float(squares - math.pow(total, 2) / n) / float(n), 0.0) if n else 0.0
