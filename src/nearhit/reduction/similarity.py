"""How alike two rows are, as whole numbers: sums over the columns, from which a column can be taken away again.

    numbers        D^2 = sum_A ((x_A - y_A) / range_A)^2      S = e^(-alpha D)                SPEC.md section 7
    categories     S = share of the columns with equal values
    disorder       h(S) = -S log2 S - (1 - S) log2(1 - S) bits of a pair

A numeric column is codes on a grid, so D^2 is an integer sum. h is rounded once to a multiple of 2**-40, so sums over pairs
are integers too. Neither the order of rows and columns nor the threads can change a bit of them, and what a column
added can be subtracted without a trace.

An unknown number differs by the squared diff that is expected of the known values of its column, an unknown category is
equal with the probability that is expected of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

FRACTION_BITS = 40
#: an equal value where some are unknown, and are equal to a share
FINE_UNIT = 2**30
#: a squared distance has that many bits
BITS_OF_A_SQUARE = 62
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Stretch:
    """Pairs of rows: row i in [low, high) with row i + shift, for each shift in [first, last), going round at the end."""

    first: int
    last: int
    low: int
    high: int

    @property
    def n_pairs(self) -> int:
        return (self.last - self.first) * (self.high - self.low)


def all_pairs(n_rows: int, most: int) -> list[Stretch]:
    """Each pair of rows once, in stretches of not more than `most` pairs.

    By shifts, so that no triangle has to be masked out. With n even, a shift of n / 2 meets each of its pairs twice:
    half of the rows do.
    """
    half = (n_rows + 1) // 2
    shifts = max(1, most // n_rows)
    stretches = [
        Stretch(first, min(first + shifts, half), low, min(low + most, n_rows))
        for first in range(1, half, shifts)
        for low in range(0, n_rows, most)
    ]
    if n_rows % 2 == 0:
        stretches += [Stretch(half, half + 1, low, min(low + most, half)) for low in range(0, half, most)]
    return stretches


class Similarity(Protocol):
    """Columns of one kind, as the ranking sees them."""

    @property
    def n_features(self) -> int: ...

    def parts(self, feature: int, stretch: Stretch) -> IntArray:
        """What a column adds to the similarity (or the squared distance) of each pair."""

    def bits(self, sums: IntArray, n_left: int) -> IntArray:
        """h of each pair in units of 2**-40, from the sums over the columns that are left; `sums` may be overwritten."""


# ------------------------------------------------------------------------------------------------ numbers


@dataclass(frozen=True, eq=False)
class Unknown:
    """Where a column is unknown, and what it adds to a pair then: beside each row, and where both are unknown."""

    mask: npt.NDArray[np.bool_]
    beside: IntArray
    both: int

    def fill(self, parts: IntArray, stretch: Stretch) -> None:
        """Correct the parts of the pairs with an unknown value; the arrays hold all rows twice over."""
        here, there = _of_pairs(self.mask, stretch)
        beside_here, beside_there = _of_pairs(self.beside, stretch)
        np.copyto(parts, beside_here, where=there & ~here)
        np.copyto(parts, beside_there, where=here & ~there)
        np.copyto(parts, self.both, where=here & there)


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """Numeric columns: D^2 in units of `unit`, and S = e^(-alpha D)."""

    codes: IntArray
    unknown: dict[int, Unknown]
    unit: float
    alpha: float = 1.0

    @property
    def n_features(self) -> int:
        return len(self.codes)

    def parts(self, feature: int, stretch: Stretch) -> IntArray:
        here, there = _of_pairs(self.codes[feature], stretch)
        parts = there - here
        parts *= parts
        if feature in self.unknown:
            self.unknown[feature].fill(parts, stretch)
        return parts

    def distances(self, sums: IntArray) -> IntArray:
        """D of each pair, in units of 2**-40."""
        return np.rint(np.sqrt(sums) * (self._scale() * 2.0**FRACTION_BITS)).astype(np.int64)

    def bits(self, sums: IntArray, n_left: int) -> IntArray:
        exponent = np.sqrt(sums)
        exponent *= self.alpha * self._scale()
        similar = np.exp(-exponent)
        apart = 1 - similar  # where that cancels, h is next to 0
        similar *= exponent  # -S ln S
        np.maximum(apart, np.finfo(float).tiny, out=apart)
        apart *= np.log(apart, out=exponent)
        similar -= apart
        similar *= 2.0**FRACTION_BITS / math.log(2)
        return np.rint(similar, out=similar).astype(np.int64)

    def _scale(self) -> float:
        return math.sqrt(self.unit)


def squared_distances(codes: npt.NDArray[Any], unknown: npt.NDArray[np.bool_] | None, grid: int) -> SquaredDistances:
    """From codes of shape (rows, columns) on a grid that means the range of a column."""
    n_features = codes.shape[1]
    # The grid is made as coarse as the sum of all squares asks for: 2**28 for up to 64 columns.
    shift = max(0, (grid - 1).bit_length() - (BITS_OF_A_SQUARE - n_features.bit_length()) // 2)
    codes = codes.astype(np.int64).T
    codes = (codes + ((1 << shift) >> 1)) >> shift
    masks = {} if unknown is None else {f: unknown[:, f] for f in range(n_features) if unknown[:, f].any()}
    holes = {f: _expected_square(codes[f], mask) for f, mask in masks.items()}
    return SquaredDistances(_twice(codes), holes, (2.0**shift / grid) ** 2)


def _expected_square(codes: IntArray, mask: npt.NDArray[np.bool_]) -> Unknown:
    """E (x - V)^2 = (x - mean)^2 + variance and E (V - V')^2 = 2 variance, V one of the known values."""
    known = codes[~mask]
    k = max(len(known), 1)
    squares = known * known
    total, of_squares = int(known.sum()), (int((squares >> 32).sum()) << 32) + int((squares & (2**32 - 1)).sum())
    mean, variance = total / k, (k * of_squares - total * total) / k**2
    beside = np.rint((codes - mean) ** 2 + variance).astype(np.int64)
    return Unknown(_twice(mask), _twice(beside if len(known) else np.zeros_like(beside)), round(2 * variance))


# ------------------------------------------------------------------------------------------------ categories


@dataclass(frozen=True, eq=False)
class EqualValues:
    """Nominal columns: how many are equal, in units of `unit`, and S = that share of those that are left."""

    codes: npt.NDArray[Any]
    unknown: dict[int, Unknown]
    unit: int

    @property
    def n_features(self) -> int:
        return len(self.codes)

    def parts(self, feature: int, stretch: Stretch) -> IntArray:
        here, there = _of_pairs(self.codes[feature], stretch)
        parts = (here == there).astype(np.int64)
        if self.unit != 1:
            parts *= self.unit
        if feature in self.unknown:
            self.unknown[feature].fill(parts, stretch)
        return parts

    def bits(self, sums: IntArray, n_left: int) -> IntArray:
        if n_left == 0:
            return np.zeros_like(sums)
        if self.unit == 1:
            levels = [round(_disorder(equal / n_left) * 2**FRACTION_BITS) for equal in range(n_left + 1)]
            return np.array(levels, np.int64)[sums]
        similar = sums / (self.unit * n_left)
        apart = np.maximum(1 - similar, 0)
        result = -similar * np.log2(np.maximum(similar, np.finfo(float).tiny))
        result -= apart * np.log2(np.maximum(apart, np.finfo(float).tiny))
        return np.rint(result * 2.0**FRACTION_BITS).astype(np.int64)


def equal_values(codes: npt.NDArray[Any], unknown: npt.NDArray[np.bool_] | None) -> EqualValues:
    """From category codes of shape (rows, columns)."""
    codes = np.ascontiguousarray(codes.T)
    if unknown is None or not unknown.any():
        return EqualValues(_twice(codes), {}, 1)
    masks = {f: unknown[:, f] for f in range(len(codes)) if unknown[:, f].any()}
    return EqualValues(_twice(codes), {f: _expected_share(codes[f], mask) for f, mask in masks.items()}, FINE_UNIT)


def _expected_share(codes: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> Unknown:
    """P(V) beside the value V, and sum_V P(V)^2 where both are unknown."""
    counts = np.bincount(codes[~mask], minlength=int(codes.max()) + 1)
    k = max(int(counts.sum()), 1)
    both = sum(count * count for count in counts.tolist()) / k**2
    beside = np.rint(counts[codes] / k * FINE_UNIT).astype(np.int64)
    return Unknown(_twice(mask), _twice(beside), round(both * FINE_UNIT))


def _disorder(similar: float) -> float:
    """h(S) in bits."""
    return -sum(p * math.log2(p) for p in (similar, 1 - similar) if p > 0)


# ------------------------------------------------------------------------------------------------ pairs


def _twice(by_row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All rows and once more, so that shifted rows lie in one piece."""
    return np.concatenate([by_row, by_row], axis=-1)


def _of_pairs(twice: npt.NDArray[Any], stretch: Stretch) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """What the first and the second rows of some pairs hold: views, the second one line a shift."""
    n_shifts, width = stretch.last - stretch.first, stretch.high - stretch.low
    beyond = twice[stretch.low + stretch.first :]
    there = np.lib.stride_tricks.as_strided(
        beyond, (n_shifts, width), (twice.itemsize, twice.itemsize), writeable=False
    )
    return twice[stretch.low : stretch.high], there
