"""Cut points: where to cut the numbers of a column into bins (SPEC.md sections 4 and 7).

A value v belongs to bin ``np.searchsorted(cuts, v, side="left")``: up to and including a cut goes left of it. Except for
equal width, a cut lies half-way between two neighbouring different values, so equal values are never torn apart, and
only the order of the values and whole counts decide: neither the order of the rows nor the names of the classes matter.

    equal width      the range in equal parts
    equal frequency  as many rows in each bin, as near as ties allow
    chimerge         Kerber 1992: neighbouring bins are merged while their classes do not differ significantly
    entropy-mdl      Fayyad and Irani 1993: the best cut in two by information gain, again and again, while it pays
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import chdtri

from nearhit.measures.counts import Cases, FloatArray, count_categories, total
from nearhit.measures.information_gain import entropy

CutMethod = Literal["equal width", "equal frequency", "chimerge", "entropy-mdl"]
#: those that look at the classes
SUPERVISED = ("chimerge", "entropy-mdl")


def find_cut_points(
    values: npt.NDArray[Any],
    method: CutMethod = "equal frequency",
    *,
    n_bins: int | None = 5,
    classes: npt.NDArray[Any] | None = None,
    n_classes: int = 0,
    units: npt.NDArray[np.int64] | None = None,
    one: int = 1,
    significance: float = 0.95,
    min_bins: int = 1,
) -> FloatArray:
    """Where to cut a column of numbers into bins.

    Parameters
    ----------
    values : array of shape (n_rows,)
        Numbers, none of them NaN; infinite ones not for equal width.
    method : {"equal width", "equal frequency", "chimerge", "entropy-mdl"}
    n_bins : int or None, default=5
        So many with equal width and equal frequency, fewer where there are too few different values. ChiMerge merges on
        beyond its threshold until there are so few; with None it stops there. Entropy-MDL decides for itself.
    classes : array of shape (n_rows,), optional
        Codes 0, 1, … of the classes, for the last two methods; `n_classes` of them, or as many as the largest says.
    units : array of shape (n_rows,), optional
        Whole numbers: row i counts as ``units[i] / one`` rows.
    significance : float, default=0.95
        For ChiMerge: neighbouring bins stay apart if their classes differ at this level.
    min_bins : int, default=1
        For ChiMerge: stop merging at so few bins. Neighbouring values with the same shares of classes are merged in any
        case, as a cut between them tells nothing.

    Returns
    -------
    cuts : array of float64, ascending

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures.cut_points import find_cut_points
    >>> values = np.array([1.0, 2.0, 3.0, 4.0, 7.0, 9.0])
    >>> find_cut_points(values, "equal width", n_bins=2).tolist()
    [5.0]
    >>> find_cut_points(values, "equal frequency", n_bins=3).tolist()
    [2.5, 5.5]
    >>> find_cut_points(np.arange(40.0), "entropy-mdl", classes=np.arange(40) // 20).tolist()
    [19.5]
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}.")
    if n_bins is None and method in ("equal width", "equal frequency"):
        raise ValueError(f'method="{method}" needs a number of bins.')
    if method in SUPERVISED and classes is None:
        raise ValueError(f'method="{method}" needs the classes of the rows.')
    counted = _count_values(values, classes if method in SUPERVISED else None, n_classes, units, one)
    if len(counted.values) < 2:
        return np.empty(0)
    return METHODS[method](counted, _Limits(n_bins or len(counted.values), significance, min_bins))


@dataclass(frozen=True)
class _Limits:
    """When a method stops."""

    n_bins: int
    significance: float
    min_bins: int


@dataclass(frozen=True, eq=False)
class _Counted:
    """The different values, ascending, and how much weight each has in each class (in one column without classes)."""

    values: FloatArray
    counts: npt.NDArray[np.int64]
    one: int


def _count_values(
    values: npt.NDArray[Any], classes: npt.NDArray[Any] | None, n_classes: int, units: Any, one: int
) -> _Counted:
    values = np.asarray(values).astype(np.float64)
    cases = Cases(np.zeros(len(values), np.int32), 1, units)
    if classes is not None:
        cases = Cases(np.asarray(classes, np.int32), max(n_classes, int(np.max(classes, initial=-1)) + 1), units)
    if units is not None and not np.all(units):
        values, cases = values[units > 0], cases.take(units > 0)
    different, codes = np.unique(values, return_inverse=True)
    counts = count_categories(codes.ravel(), len(different), cases).astype(np.int64)
    return _Counted(different, counts[:, counts.any(axis=0)], one)


def cuts_behind(values: FloatArray, places: npt.NDArray[np.intp]) -> FloatArray:
    """Cuts behind some of ascending values, half-way to the next: never at or above it, whatever rounding does."""
    low, high = values[places], values[places + 1]
    with np.errstate(invalid="ignore"):
        middle = low / 2 + high / 2  # their sum could overflow
    return np.where((low <= middle) & (middle < high), middle, low)


# ------------------------------------------------------------------------------------------------ without classes


def _equal_width(counted: _Counted, limits: _Limits) -> FloatArray:
    low, high = counted.values[0], counted.values[-1]
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError('method="equal width" needs finite values: an infinite range has no equal parts.')
    shares = np.arange(1, limits.n_bins) / limits.n_bins
    cuts = np.unique(low * (1 - shares) + high * shares)
    return cuts[(low <= cuts) & (cuts < high)]  # a range of a few floats has no more parts


def _equal_frequency(counted: _Counted, limits: _Limits) -> FloatArray:
    """The cuts nearest to 1/b, 2/b … of the rows; of two as near the lower one."""
    below = counted.counts.sum(axis=1).cumsum()
    n, b = int(below[-1]), limits.n_bins
    # in whole numbers, b times as large, so that halves and thirds are exact
    wanted, reached = np.arange(1, b) * n, below[:-1] * b
    right = np.searchsorted(reached, wanted).clip(0, len(reached) - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(np.abs(wanted - reached[left]) <= np.abs(reached[right] - wanted), left, right)
    return cuts_behind(counted.values, np.unique(nearest))


# ------------------------------------------------------------------------------------------------ ChiMerge


def _chimerge(counted: _Counted, limits: _Limits) -> FloatArray:
    """Merge the two neighbours of the lowest chi2 (the leftmost of equal ones) until all exceed the threshold.

    A heap of pairs; an entry is out of date once either neighbour has been merged, which the sizes tell.
    """
    ends, counts = _merge_equal_shares(counted.counts)
    freedom = counted.counts.shape[1] - 1
    # chi2 grows in proportion to the counts, and those are in units
    threshold = float(chdtri(freedom, 1 - limits.significance)) * counted.one if freedom else math.inf
    rows: list[list[int] | None] = counts.tolist()
    n = len(rows)
    before, after = list(range(-1, n - 1)), list(range(1, n + 1))
    current: list[float] = [math.nan] * n  # the chi2 of each bin and the one after it
    heap: list[tuple[float, int]] = []

    def weigh(i: int) -> None:
        if i >= 0 and after[i] < n:
            current[i] = _chi2(rows[i], rows[after[i]])
            heapq.heappush(heap, (current[i], i))

    for i in range(n - 1):
        weigh(i)
    n_bins = n
    while heap and n_bins > limits.min_bins:
        chi2, i = heapq.heappop(heap)
        if rows[i] is None or chi2 != current[i]:
            continue
        if chi2 > threshold and n_bins <= limits.n_bins:
            break
        _join(rows, before, after, i)
        current[i] = math.nan
        weigh(i)
        weigh(before[i])
        n_bins -= 1
    firsts = [i for i in range(n) if rows[i] is not None]
    return cuts_behind(counted.values, ends[np.array(firsts[1:], np.intp) - 1])


def _merge_equal_shares(counts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Neighbours with the same shares of classes as one: the place of the last value of each, and its counts.

    Their chi2 is 0, the lowest there is, and that of two merged ones with a third is that of each: they would be merged
    before all others in any order. Most tables shrink to a fraction here, at the speed of NumPy.
    """
    reduced = counts // np.gcd.reduce(counts, axis=1, keepdims=True)
    ends = np.flatnonzero(np.append((reduced[1:] != reduced[:-1]).any(axis=1), True))
    return ends, np.add.reduceat(counts, np.concatenate([[0], ends[:-1] + 1]), axis=0)


def _chi2(a: Any, b: Any) -> float:
    """The sum of (A - E)^2 / E over the two rows, in one fraction a class; a class in neither adds nothing.

    Python's integers do not overflow, and `fsum` rounds once: the order of the classes is nothing to it.
    """
    n_a, n_b = sum(a), sum(b)
    return math.fsum((x * n_b - y * n_a) ** 2 / (n_a * n_b * (x + y)) for x, y in zip(a, b, strict=True) if x + y)


def _join(rows: list[list[int] | None], before: list[int], after: list[int], i: int) -> None:
    """Bin i takes in the one after it."""
    j = after[i]
    rows[i] = [x + y for x, y in zip(rows[i] or [], rows[j] or [], strict=True)]
    rows[j] = None
    after[i] = after[j]
    if after[j] < len(rows):
        before[after[j]] = i


# ------------------------------------------------------------------------------------------------ entropy-MDL


def _entropy_mdl(counted: _Counted, limits: _Limits) -> FloatArray:
    """Cut where the classes' entropy falls most, if that saves bits; then cut both parts likewise.

    The best cut is always at the edge of a run of values that are all of one class (Fayyad and Irani's theorem), so
    such runs are one from the start.
    """
    ends, counts = _merge_pure_runs(counted.counts)
    below = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), counts.cumsum(axis=0)])
    found, waiting = [], [(0, len(counts))]
    while waiting:
        first, last = waiting.pop()
        cut = _best_cut(below[first : last + 1] - below[first], counted.one)
        if cut is not None:
            found.append(first + cut)
            waiting += [(first, first + cut), (first + cut, last)]
    return cuts_behind(counted.values, ends[np.sort(np.array(found, np.intp)) - 1])


def _merge_pure_runs(counts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    class_if_pure = np.where((counts > 0).sum(axis=1) == 1, counts.argmax(axis=1), -1)
    ends = np.flatnonzero(np.append((class_if_pure[1:] != class_if_pure[:-1]) | (class_if_pure[1:] < 0), True))
    return ends, np.add.reduceat(counts, np.concatenate([[0], ends[:-1] + 1]), axis=0)


def _best_cut(below: npt.NDArray[np.int64], one: int) -> int | None:
    """How many runs go left of the best cut (the first of equal ones), or None if no cut pays.

    gain > log2(N - 1) / N + (log2(3^k - 2) - k Ent + k1 Ent1 + k2 Ent2) / N, k classes in N rows
    """
    if len(below) < 3:
        return None
    left, everything = below[1:-1], below[-1]
    right = everything - left
    n, n_left, n_right = int(everything.sum()), left.sum(axis=1), right.sum(axis=1)
    of_left, of_right = entropy(left), entropy(right)
    after = total(np.stack([n_left / n * of_left, n_right / n * of_right], axis=-1))
    best = int(np.argmin(after))
    before, k = float(entropy(everything)), int((everything > 0).sum())
    k1, k2 = int((left[best] > 0).sum()), int((right[best] > 0).sum())
    rows = n / one
    if rows < 2:  # weights may be that light, and log2(N - 1) is below 0 there
        return None
    bits = k * math.log2(3) + math.log2(1 - 2 * 3.0**-k)
    bits -= k * before - math.fsum([k1 * of_left[best], k2 * of_right[best]])
    return best + 1 if (before - float(after[best])) * rows > math.log2(rows - 1) + bits else None


METHODS: dict[str, Callable[[_Counted, _Limits], FloatArray]] = {
    "equal width": _equal_width,
    "equal frequency": _equal_frequency,
    "chimerge": _chimerge,
    "entropy-mdl": _entropy_mdl,
}
