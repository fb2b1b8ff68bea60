"""The grid: how numbers become the integers that distances are made of.

    code = round(grid * (x - min) / range)                                                  SPEC.md section 2

The difference of two codes is an integer and a distance an integer sum, so equal distances are equal in whatever
order they are added. The grid is 2**31, or a little less where that keeps more true ties: the values of a column
such as 4.3, 4.4 … 7.9 are whole steps of 0.1, and distances of such columns are often equal in decimals. Where a
column has such steps the grid is made a multiple of their number, so that those distances stay equal
(docs/decisions/0002-the-grid.md has the measurements).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.engines import InLine
from nearhit.intake import NumericBlock

FINEST_GRID = 2**31
#: the 15-bit filter wants a mismatch of categories in whole units of its own (kernels/native.py)
FILTER_UNIT = 2**16
#: steps are honoured while their common multiple stays under this: it costs the grid less than 1 %
LARGEST_COMMON_STEPS = 2**24
MOST_DECIMALS = 6
ROWS_TO_REFUSE_STEPS = 64
CELLS_AT_A_TIME = 2**18


@dataclass(frozen=True)
class Coder:
    """Who reads and codes the numbers: native code, or NumPy if None; and where its shares of the rows run."""

    native: Any = None
    engine: Any = field(default_factory=InLine)

    def takes(self, block: NumericBlock) -> bool:
        """Whether a block lies in memory as the native code wants it: floats, row by row."""
        values = block.values
        return bool(self.native and values.dtype in (np.float32, np.float64) and _lies_in_rows(values))

    def map(self, work: Callable[[slice], Any], n_rows: int, n_columns: int) -> list[Any]:
        """Do something with all rows, some at a time."""
        return list(self.engine.map(work, list(_row_slices(n_rows, n_columns))))


NUMPY = Coder()


@dataclass(frozen=True, eq=False)
class Spread:
    """A numeric block with what its coding needs: where each column starts, how wide it is, in how many steps.

    ``places`` are the decimal places of float32 columns, None unless a column has some; then ``values`` rounds.
    """

    block: NumericBlock
    low: npt.NDArray
    width: npt.NDArray[np.float64]
    steps: list[int]  # of each column that varies in whole steps
    has_unknown: bool
    places: npt.NDArray[np.int64] | None = None

    def values(self, rows: slice) -> npt.NDArray:
        """The numbers of some rows, float32 decimals as they were meant."""
        values = self.block.values[rows]
        return values if self.places is None else _as_meant(values, self.places)


def measure_spread(block: NumericBlock, names: Sequence[str], coder: Coder = NUMPY) -> Spread:
    """Find the range of each column; refuse infinite values, naming the column."""
    low, high, has_unknown = _native_extremes(block, coder) if coder.takes(block) else _extremes(block)
    if low.dtype.kind == "f":
        _refuse_infinity(low, high, block, names)
        low, high = np.nan_to_num(low), np.nan_to_num(high)  # a column without a known value is coded 0 throughout
        if not np.isfinite(range_of(low, high)).all():
            # max - min exceeds the largest float: a quarter of everything has the same codes.
            return measure_spread(replace(block, values=block.values.astype(np.float64) / 4), names, coder)
    if block.values.dtype != np.float32:
        return Spread(block, low, range_of(low, high), _steps(block.values, low, high), has_unknown)
    places = _decimals_of_columns(block.values)
    low, high = _as_meant(np.stack([low, high]), places)
    steps = _steps(block.values, low, high, places)
    return Spread(block, low, range_of(low, high), steps, has_unknown, places if (places > 0).any() else None)


def grid_for(spreads: Sequence[Spread], with_categories: bool) -> int:
    """The largest grid up to 2**31 on which as many columns as possible have whole steps."""
    common = FILTER_UNIT if with_categories else 1
    limit = max(LARGEST_COMMON_STEPS, common)
    for steps in sorted({steps for spread in spreads for steps in spread.steps}):
        together = math.lcm(common, steps)
        if together <= limit:
            common = together
    return FINEST_GRID // common * common


def encode(
    spread: Spread,
    width: npt.NDArray[np.float64],
    grid: int,
    codes: npt.NDArray,
    unknown: npt.NDArray | None,
    coder: Coder = NUMPY,
) -> None:
    """Write the codes of a block, and which of its cells are unknown, a few rows at a time."""

    def write(rows: slice) -> None:
        values, mask = spread.values(rows), None if unknown is None else unknown[rows]
        if coder.takes(spread.block):
            divisor = np.where(width == 0, np.inf, width)
            coder.native.write_codes(values, spread.low.astype(values.dtype), divisor, float(grid), codes[rows], mask)
            return
        codes[rows] = codes_of(values, spread.low, width, grid)
        if mask is None:
            return
        if spread.block.unknown is not None:
            mask[:] = spread.block.unknown[rows]
            codes[rows][mask] = 0
        elif values.dtype.kind == "f":
            mask[:] = np.isnan(values)  # not out=mask: NumPy 2.4 goes wrong there when the mask is strided

    coder.map(write, *codes.shape)


def codes_of(values, low, width, grid) -> npt.NDArray[np.uint32]:
    """round(grid * (x - low) / width); 0 for NaN and where the width is 0."""
    if values.dtype.kind in "iu":
        above = values.astype(np.uint64) - low.astype(np.uint64)  # modular, so exact for integers of any width
    else:
        above = np.subtract(values, low, dtype=np.float64)
    share = np.divide(above, np.where(width == 0, np.inf, width))
    share *= grid
    np.rint(share, out=share)
    if values.dtype.kind == "f":
        np.nan_to_num(share, copy=False)
    else:
        np.clip(share, 0, FINEST_GRID, out=share)  # cells under a mask may hold anything
    return share.astype(np.uint32)


def range_of(low, high) -> npt.NDArray[np.float64]:
    """high - low as floats, exact for integers of any width."""
    low, high = np.asarray(low), np.asarray(high)
    if low.dtype.kind in "iu":
        return (high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)
    with np.errstate(over="ignore"):
        return high.astype(np.float64) - low.astype(np.float64)


# ------------------------------------------------------------------------------------------------------ extremes


def _extremes(block: NumericBlock) -> tuple[npt.NDArray, npt.NDArray, bool]:
    """The smallest and largest known value of each column (NaN where there is none), and whether any is unknown."""
    values = block.values
    if block.unknown is None:
        low = values.min(axis=0)
        if values.dtype.kind == "f" and np.isnan(low).any():
            return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0), True
        return low, values.max(axis=0), False
    bounds = np.finfo(values.dtype) if values.dtype.kind == "f" else np.iinfo(values.dtype)
    low = np.where(block.unknown, bounds.max, values).min(axis=0).astype(values.dtype)
    high = np.where(block.unknown, bounds.min, values).max(axis=0).astype(values.dtype)
    nothing_known = block.unknown.all(axis=0)
    return np.where(nothing_known, low.dtype.type(0), low), np.where(nothing_known, low.dtype.type(0), high), True


def _native_extremes(block: NumericBlock, coder: Coder) -> tuple[npt.NDArray, npt.NDArray, bool]:
    found = coder.map(lambda rows: coder.native.find_extremes(block.values[rows]), *block.values.shape)
    low, high = np.min([share[0] for share in found], axis=0), np.max([share[1] for share in found], axis=0)
    nothing_known = low > high
    return np.where(nothing_known, np.nan, low), np.where(nothing_known, np.nan, high), any(share[2] for share in found)


def _lies_in_rows(values: npt.NDArray) -> bool:
    size = values.itemsize
    return values.strides[1] == size and values.strides[0] >= 0 and values.strides[0] % size == 0 and values.flags.aligned


def _refuse_infinity(low, high, block: NumericBlock, names: Sequence[str]) -> None:
    infinite = np.isinf(low) | np.isinf(high)
    if infinite.any():
        column = names[int(block.columns[int(np.argmax(infinite))])]
        raise ValueError(
            f"Input X contains infinity: column {column!r} has at least one infinite value. "
            "Replace such values by numbers, or mark them as missing (NaN)."
        )


# --------------------------------------------------------------------------------------------------------- steps


def _steps(values: npt.NDArray, low, high, places: npt.NDArray[np.int64] | None = None) -> list[int]:
    """In how many steps of one size each column runs from min to max, for those columns where that is exact."""
    if values.dtype.kind in "iu":
        widths = {int(h) - int(l) for l, h in zip(low, high, strict=True)}
    else:
        found = _decimals_of_columns(values, places)
        stepped = np.flatnonzero(found >= 0)
        powers = [10 ** int(found[j]) for j in stepped]
        widths = {round(float(high[j]) * p) - round(float(low[j]) * p) for j, p in zip(stepped, powers, strict=True)}
    return [width for width in widths if 0 < width <= LARGEST_COMMON_STEPS]


def _as_meant(values: npt.NDArray, places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Decimals read as float32, as float64: 0.1 as a float32 is off by more than the grid."""
    meant = values.astype(np.float64)
    rounded = np.flatnonzero(places > 0)  # whole numbers are what they are, and so are numbers without an end
    power = 10.0 ** places[rounded]
    meant[:, rounded] = np.rint(meant[:, rounded] * power) / power
    return meant


def _decimals_of_columns(values: npt.NDArray, places: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
    """With how many decimal places all values of a column are written; -1 for more than a few.

    With ``places`` the values are looked at as they were meant.
    """
    found = np.full(values.shape[1], -1)
    undecided = np.arange(len(found))
    for decimals in range(MOST_DECIMALS + 1):
        exact = _written_with_throughout(values[:ROWS_TO_REFUSE_STEPS], undecided, decimals, places)
        exact[exact] = _written_with_throughout(values, undecided[exact], decimals, places)
        found[undecided[exact]] = decimals
        undecided = undecided[~exact]
        if not len(undecided):
            break
    return found


def _written_with_throughout(values, columns, decimals: int, places) -> npt.NDArray[np.bool_]:
    """The same for all rows, a few at a time: little memory, and Ctrl-C is heard in between."""
    exact = np.ones(len(columns), bool)
    for rows in _row_slices(len(values), max(len(columns), 1)):
        still = np.flatnonzero(exact)
        if not len(still):
            break
        some = values[rows][:, columns[still]]
        exact[still] = _written_with(some if places is None else _as_meant(some, places[columns[still]]), decimals)
    return exact


def _written_with(values, decimals: int) -> npt.NDArray[np.bool_]:
    """Whether every value of a column is exactly what a number with that many decimals is read as."""
    power = values.dtype.type(10**decimals)
    with np.errstate(over="ignore", invalid="ignore"):
        exact = (np.rint(values * power) / power == values) | np.isnan(values)
    return exact.all(axis=0)


def _row_slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, CELLS_AT_A_TIME // max(n_columns, 1))
    return (slice(start, start + step) for start in range(0, n_rows, step))
