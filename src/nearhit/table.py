"""The table: checked data, made once and never changed.

Numeric columns are codes on the grid (grid.py), nominal columns are category codes, of which only equality counts.
Rows of weight 0 are gone, targets are class codes or codes on a grid of their own. Kernels see this and nothing else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nearhit import grid as grids
from nearhit.intake import Columns, NominalBlock, NumericBlock

#: row weights that are not whole numbers are kept as multiples of the largest weight / 2**20
WEIGHT_BITS = 20

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Classes:
    """A nominal target: the class of each row, and the weight of each class in whole units."""

    codes: npt.NDArray[np.int32]
    weight: IntArray

    @property
    def n_classes(self) -> int:
        return len(self.weight)

    def take(self, rows: npt.NDArray[np.intp], units: IntArray) -> Classes:
        return _classes(self.codes[rows], units, self.n_classes)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A numeric target, coded on the finest grid."""

    codes: npt.NDArray[np.uint32]

    def take(self, rows: npt.NDArray[np.intp], units: IntArray) -> Numbers:
        return Numbers(self.codes[rows])


Target = Classes | Numbers


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Row weights as whole numbers: a row counts as ``units / one`` copies of itself."""

    units: IntArray
    one: int

    @property
    def are_whole(self) -> bool:
        return self.one == 1


@dataclass(frozen=True, eq=False)
class Table:
    """What a kernel needs to know of the data.

    One row per instance; unknown cells are 0 in the codes and True in the masks, which are None where nothing is
    unknown. ``top`` is the largest code of each numeric column, ``grid`` the integer that means a diff of 1, and
    ``unit`` what a diff of 1 means in the user's numbers (1 unless ``scale=None``).
    """

    numeric: npt.NDArray[np.uint32]
    numeric_unknown: BoolArray | None
    numeric_columns: npt.NDArray[np.intp]
    top: npt.NDArray[np.uint32]
    nominal: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
    nominal_unknown: BoolArray | None
    nominal_columns: npt.NDArray[np.intp]
    n_codes: IntArray
    n_values: IntArray
    grid: int
    mismatch: int
    unit: float
    weights: RowWeights | None
    targets: tuple[Target, ...]

    @property
    def n_rows(self) -> int:
        return len(self.numeric)

    @property
    def n_features(self) -> int:
        return len(self.numeric_columns) + len(self.nominal_columns)

    @property
    def has_unknown(self) -> bool:
        return self.numeric_unknown is not None or self.nominal_unknown is not None

    def units(self) -> IntArray:
        """The weight of each row in whole units; all 1 without row weights."""
        return np.ones(self.n_rows, np.int64) if self.weights is None else self.weights.units

    @cached_property
    def all_units(self) -> int:
        """The weight of all rows together."""
        return self.n_rows if self.weights is None else int(self.weights.units.sum())

    def units_of(self, rows: npt.NDArray[np.intp]) -> int:
        """The weight of some rows together."""
        return len(rows) if self.weights is None else int(self.weights.units[rows].sum())

    @property
    def one(self) -> int:
        """The units of a row of weight 1."""
        return 1 if self.weights is None else self.weights.one

    def in_column_order(self, numeric_first: npt.NDArray) -> npt.NDArray:
        """Bring an array whose last axis is (numeric columns, nominal columns) into the order of the input."""
        ordered = np.empty_like(numeric_first)
        ordered[..., np.concatenate([self.numeric_columns, self.nominal_columns])] = numeric_first
        return ordered

    def take(self, rows: npt.NDArray[np.intp]) -> Table:
        """These rows only; ranges and numbers of values stay those of the whole table (the node of a tree)."""

        def some(array):
            return None if array is None else array[rows]

        weights = None if self.weights is None else replace(self.weights, units=self.weights.units[rows])
        units = self.units()[rows]
        return replace(
            self,
            numeric=self.numeric[rows],
            numeric_unknown=some(self.numeric_unknown),
            nominal=self.nominal[rows],
            nominal_unknown=some(self.nominal_unknown),
            weights=weights,
            targets=tuple(target.take(rows, units) for target in self.targets),
        )

    def take_columns(self, features: npt.NDArray[np.intp]) -> Table:
        """These features only, in this order, each of them once; codes, ranges and the grid stay as they are."""
        place = np.full(self.n_features, -1, np.intp)
        place[features] = np.arange(len(features))
        numeric = np.flatnonzero(place[self.numeric_columns] >= 0)
        nominal = np.flatnonzero(place[self.nominal_columns] >= 0)
        return replace(
            self,
            numeric=self.numeric.take(numeric, axis=1),  # unlike an index, leaves rows contiguous
            numeric_unknown=_unknown_of(self.numeric_unknown, numeric),
            numeric_columns=place[self.numeric_columns[numeric]],
            top=self.top[numeric],
            nominal=self.nominal.take(nominal, axis=1),
            nominal_unknown=_unknown_of(self.nominal_unknown, nominal),
            nominal_columns=place[self.nominal_columns[nominal]],
            n_codes=self.n_codes[nominal],
            n_values=self.n_values[nominal],
        )


def make_table(
    columns: Columns,
    targets: Sequence[npt.NDArray],
    row_weights: npt.NDArray[np.float64] | None = None,
    *,
    scale: str | None = "range",
    coder: grids.Coder = grids.NUMPY,
) -> Table:
    """Put checked columns on the grid.

    Parameters
    ----------
    columns : Columns
        What `nearhit.intake.read_columns` returned.
    targets : sequence of arrays
        Integer arrays are class codes 0, 1, …; float arrays are numeric targets.
    row_weights : array of shape (n_rows,), optional
        Not negative; rows of weight 0 are left out before ranges are taken.
    scale : {"range", None}
        None keeps the columns on one common scale, without division by each column's own range.
    coder : Coder
        Who does the work; the codes are the same.
    """
    weights = None if row_weights is None else whole_weights(row_weights)
    keep = None
    if weights is not None and not weights.units.all():
        keep = np.flatnonzero(weights.units)
        weights = replace(weights, units=weights.units[keep])
    spreads = [grids.measure_spread(_numeric_rows(block, keep), columns.names, coder) for block in columns.numeric]
    n_rows = columns.n_rows if keep is None else len(keep)
    unit = 1.0 if scale else _common_unit(spreads, bool(columns.nominal))
    grid = grids.grid_for(spreads, bool(columns.nominal)) if scale else grids.FINEST_GRID

    codes, unknown, top, numeric_columns = _join_numeric(spreads, n_rows, grid, None if scale else unit, coder)
    nominal = _join_nominal([_nominal_rows(block, keep) for block in columns.nominal], n_rows)
    units = np.ones(n_rows, np.int64) if weights is None else weights.units
    table = Table(
        numeric=codes,
        numeric_unknown=unknown,
        numeric_columns=numeric_columns,
        top=top,
        nominal=nominal.codes,
        nominal_unknown=nominal.unknown,
        nominal_columns=nominal.columns,
        n_codes=nominal.n_codes,
        n_values=_count_values(nominal),
        grid=grid,
        mismatch=grid if scale or not columns.nominal else round(grid / unit),
        unit=unit,
        weights=weights,
        targets=tuple(make_target(target if keep is None else _kept(target, keep), units) for target in targets),
    )
    _warn_of_empty_columns(table, columns.names)
    return table


def make_target(values: npt.NDArray, units: IntArray) -> Target:
    """A target from class codes (integers) or from numbers (floats)."""
    if values.dtype.kind == "f":
        low, high = values.min(keepdims=True), values.max(keepdims=True)
        if not np.isfinite(grids.range_of(low, high)).all():
            return make_target(values / 4, units)
        return Numbers(grids.codes_of(values, low, grids.range_of(low, high), grids.FINEST_GRID))
    return _classes(values, units, int(values.max()) + 1)


def _kept(target: npt.NDArray, keep: npt.NDArray[np.intp]) -> npt.NDArray:
    """The target of the rows that count; classes without such a row are gone, the others numbered anew."""
    return target[keep] if target.dtype.kind == "f" else np.unique(target[keep], return_inverse=True)[1]


def whole_weights(weights: npt.NDArray[np.float64]) -> RowWeights:
    """Weights as integers: whole numbers as they are, others to a millionth of the largest."""
    largest = float(weights.max())
    if largest <= 2**WEIGHT_BITS and (weights == np.floor(weights)).all():
        return RowWeights(weights.astype(np.int64), one=1)
    shift = WEIGHT_BITS - math.frexp(largest)[1]
    if not 1 <= shift <= 2 * WEIGHT_BITS:
        raise ValueError(
            f"the largest sample weight must lie between {2.0**-WEIGHT_BITS:.1g} and {2 ** (WEIGHT_BITS - 1)}, because a "
            f"weight w counts as w copies of a row; got {largest:g}. Multiply all weights by a constant."
        )
    return RowWeights(np.rint(np.ldexp(weights, shift)).astype(np.int64), one=2**shift)


def _classes(codes: npt.NDArray, units: IntArray, n_classes: int) -> Classes:
    weight = np.zeros(n_classes, np.int64)
    np.add.at(weight, codes, units)
    return Classes(np.ascontiguousarray(codes, np.int32), weight)


def _unknown_of(unknown: BoolArray | None, columns: npt.NDArray[np.intp]) -> BoolArray | None:
    """The mask of some columns; None where all of them are known, which has faster ways."""
    some = None if unknown is None else unknown.take(columns, axis=1)
    return None if some is None or not some.any() else some


# ------------------------------------------------------------------------------------------------ numeric columns


def _numeric_rows(block: NumericBlock, keep: npt.NDArray | None) -> NumericBlock:
    if keep is None:
        return block
    return replace(block, values=block.values[keep], unknown=None if block.unknown is None else block.unknown[keep])


def _common_unit(spreads: list[grids.Spread], with_categories: bool) -> float:
    """One scale for all columns: the widest range, and not under the 1 that a mismatch of categories is."""
    widest = max((float(spread.width.max(initial=0.0)) for spread in spreads), default=0.0)
    unit = max(widest, 1.0) if with_categories else widest
    return unit if unit > 0 else 1.0


def _join_numeric(spreads: list[grids.Spread], n_rows: int, grid: int, common: float | None, coder: grids.Coder):
    n_columns = sum(len(spread.low) for spread in spreads)
    codes = np.empty((n_rows, n_columns), np.uint32)
    unknown = np.zeros(codes.shape, bool) if any(spread.has_unknown for spread in spreads) else None
    top = np.empty(n_columns, np.uint32)
    positions = np.empty(n_columns, np.intp)
    start = 0
    for spread in spreads:
        place = slice(start, start + len(spread.low))
        width = spread.width if common is None else np.where(spread.width == 0, 0, common)
        grids.encode(spread, width, grid, codes[:, place], None if unknown is None else unknown[:, place], coder)
        top[place] = np.rint(np.divide(spread.width, np.where(width == 0, np.inf, width)) * grid)
        positions[place] = spread.block.columns
        start = place.stop
    if unknown is not None and not unknown.any():
        unknown = None
    return codes, unknown, top, positions


# ------------------------------------------------------------------------------------------------ nominal columns


def _nominal_rows(block: NominalBlock, keep: npt.NDArray | None) -> NominalBlock:
    if keep is None:
        return block
    return replace(block, codes=block.codes[keep], unknown=None if block.unknown is None else block.unknown[keep])


def _join_nominal(blocks: list[NominalBlock], n_rows: int) -> NominalBlock:
    if len(blocks) == 1:
        return blocks[0]
    none = NominalBlock(np.empty(0, np.intp), np.empty((n_rows, 0), np.uint8), np.empty(0, np.int64), None)
    blocks = [none, *blocks]
    masks = [np.zeros(b.codes.shape, bool) if b.unknown is None else b.unknown for b in blocks]
    return NominalBlock(
        columns=np.concatenate([block.columns for block in blocks]),
        codes=np.concatenate([block.codes for block in blocks], axis=1),
        n_codes=np.concatenate([block.n_codes for block in blocks]),
        unknown=np.concatenate(masks, axis=1) if any(b.unknown is not None for b in blocks) else None,
    )


def _count_values(nominal: NominalBlock) -> IntArray:
    """How many different values occur in each column; only rule B asks, so only tables with holes are counted."""
    if nominal.unknown is None:
        return nominal.n_codes
    known = ~nominal.unknown
    return np.array([len(np.unique(nominal.codes[known[:, j], j])) for j in range(len(nominal.columns))], np.int64)


def _warn_of_empty_columns(table: Table, names: Sequence[str]) -> None:
    for unknown, columns in (
        (table.numeric_unknown, table.numeric_columns),
        (table.nominal_unknown, table.nominal_columns),
    ):
        for j in [] if unknown is None else np.flatnonzero(unknown.all(axis=0)):
            warnings.warn(
                f"column {names[columns[j]]!r} has no known value; its score is 0.", UserWarning, stacklevel=6
            )
