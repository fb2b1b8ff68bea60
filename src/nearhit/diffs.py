"""The diff of two numbers, in integer codes: what SPEC.md section 2 defines, in every form that recipes offer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearhit.recipes import Diff

Codes = npt.NDArray[np.int64]


def diff_code(apart: Codes, diff: Diff, grid: int) -> Codes:
    """The diff of two numbers whose codes lie `apart`."""
    if diff.kind == "linear":
        return apart
    if diff.kind == "squared":
        return square(apart)
    equal, slope = ramp_codes(diff, grid)
    return np.minimum(np.rint(np.maximum(apart - equal, 0) * slope), grid).astype(np.int64)


def exact_diff(apart: Codes, diff: Diff, grid: int) -> Codes:
    """The diff before it is rounded to a code, as a whole number: `diff_divisor` times as large. For mean diffs."""
    if diff.kind == "linear":
        return apart
    if diff.kind == "squared":
        return apart * apart
    return np.clip(apart - ramp_codes(diff, grid)[0], 0, ramp_width(diff, grid)) * grid


def diff_divisor(diff: Diff, grid: int) -> int:
    """What an exact diff has to be divided by to be a code."""
    return {"linear": 1, "squared": 2**31, "ramp": ramp_width(diff, grid)}[diff.kind]


def ramp_width(diff: Diff, grid: int) -> int:
    """How far the ramp climbs, in codes."""
    return max(round(diff.different * grid) - round(diff.equal * grid), 1)


def ramp_codes(diff: Diff, grid: int) -> tuple[int, float]:
    """Where the ramp starts on the grid, and how fast it climbs."""
    return round(diff.equal * grid), grid / ramp_width(diff, grid)


def square(codes: Codes) -> Codes:
    """Squares of codes, rounded to the grid 2**31."""
    return (codes * codes + 2**30) >> 31


def square_shift(n_features: int) -> int:
    """How many bits squares lose in a Euclidean distance, so that the sum of all features stays under 2**63."""
    return max(0, n_features.bit_length() - 1)


def one_as_code(diff: Diff, grid: int) -> float:
    """The code that means a diff of 1."""
    return grid * (grid / 2**31) if diff.kind == "squared" else float(grid)


def expected_uniform_code(top: int, diff: Diff, grid: int) -> int:
    """The expected diff of two numbers drawn uniformly between the codes 0 and `top`."""
    if top == 0:
        return 0
    if diff.kind == "linear":
        return divide_rounded(top, 3)
    if diff.kind == "squared":
        return divide_rounded(top * top, 6 * 2**31)
    width, equal, different = top / grid, diff.equal, diff.different
    if width <= equal:
        return 0
    # |x - y| has the density 2 (width - t) / width^2: the climbing part of the ramp, then the flat one.
    climb = min(different, width) - equal
    rising = ((width - equal) * climb**2 / 2 - climb**3 / 3) * 2 / (width**2 * (different - equal))
    flat = (max(width - different, 0) / width) ** 2
    return round((rising + flat) * grid)


def divide_rounded(numerator: int, denominator: int) -> int:
    """numerator / denominator, rounded half up, in whole numbers of any size."""
    return (2 * int(numerator) + int(denominator)) // (2 * int(denominator))
