"""Typed blocks of columns: what a table is made of once it is read, and how blocks are cut and put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class NumericBlock:
    """Columns of numbers of one dtype.

    Attributes
    ----------
    columns : ndarray of intp
        Where the columns stand in the input, ascending.
    values : ndarray of shape (n_rows, len(columns))
        float32, float64 or any integer dtype, in any memory order; the caller's own data where possible.
    unknown : ndarray of bool of the same shape, or None
        Which integers are unknown; what `values` holds there means nothing. None when all are known, and
        always for floats, where NaN is the unknown value.
    """

    columns: npt.NDArray[np.intp]
    values: Array
    unknown: Mask | None


@final
@dataclass(frozen=True, eq=False)
class NominalBlock:
    """Columns of categories, as numbers that can only be compared for equality.

    Attributes
    ----------
    columns : ndarray of intp
        Where the columns stand in the input, ascending.
    codes : ndarray of shape (n_rows, len(columns)), C order
        uint8 when every column has at most 256 codes, else uint16; 0 where unknown. The caller's own data if
        those are codes already.
    n_codes : ndarray of int64
        The codes of a column lie in ``range(n_codes)``; not all of them need occur. At least 1.
    unknown : ndarray of bool of the same shape, or None
        None when nothing is unknown.
    """

    columns: npt.NDArray[np.intp]
    codes: Array
    n_codes: npt.NDArray[np.int64]
    unknown: Mask | None


@dataclass(frozen=True, eq=False)
class Columns:
    """A table read: every column of the input stands in exactly one block.

    Attributes
    ----------
    names : tuple of str
        The data frame's column names, else "x0", "x1", ...
    n_rows : int
    numeric : tuple of NumericBlock
        At most four: float64, float32, integers, uint64 beside other integers.
    nominal : tuple of NominalBlock
        At most two: codes of one byte and codes of two.
    """

    names: tuple[str, ...]
    n_rows: int
    numeric: tuple[NumericBlock, ...]
    nominal: tuple[NominalBlock, ...]

    @property
    def n_features(self) -> int:
        """How many columns the input has."""
        return len(self.names)


Block: TypeAlias = NumericBlock | NominalBlock
BlockT = TypeVar("BlockT", NumericBlock, NominalBlock)


def part(block: BlockT, chosen: Mask) -> BlockT:
    """Some columns of a block."""
    if chosen.all():
        return block
    unknown = None if block.unknown is None else _some_columns(block.unknown, chosen)
    if unknown is not None and not unknown.any():
        unknown = None
    if isinstance(block, NumericBlock):
        return NumericBlock(block.columns[chosen], _some_columns(block.values, chosen), unknown)
    codes = _some_columns(block.codes, chosen)
    return NominalBlock(block.columns[chosen], codes, block.n_codes[chosen], unknown)


def _some_columns(values: Array, chosen: Mask) -> Array:
    """Columns copied in the memory order they have."""
    positions = np.flatnonzero(chosen)
    if values.flags.c_contiguous:
        return values.take(positions, axis=1)
    return values.T.take(positions, axis=0).T


def merged_numeric(blocks: list[NumericBlock]) -> Iterator[NumericBlock]:
    """Floats of each width in one block, integers in another, and uint64, as no dtype holds it and negative integers.

    Floats do not share one: as a float64, 0.1 read as float32 is no decimal any more, and its ties are lost (grid.py).
    """
    groups: defaultdict[str, list[NumericBlock]] = defaultdict(list)
    for block in blocks:
        dtype = block.values.dtype
        group_name = "integer" if dtype.kind in "iu" and dtype != np.uint64 else dtype.name
        groups[group_name].append(block)
    for group in groups.values():
        if len(group) == 1:
            yield group[0]
            continue
        columns = np.sort(np.concatenate([block.columns for block in group]))
        dtype = np.result_type(*{block.values.dtype for block in group})
        values = np.empty((len(columns), len(group[0].values)), dtype).T  # most came column by column
        for block in group:
            values.T[np.searchsorted(columns, block.columns)] = block.values.T
        yield NumericBlock(columns, values, _merged_unknown(columns, group))


def merged_nominal(blocks: list[NominalBlock]) -> Iterator[NominalBlock]:
    """Codes of one byte in one block and codes of two in another."""
    for dtype in (np.uint8, np.uint16):
        group = [block for block in blocks if block.codes.dtype == dtype and len(block.columns)]
        if len(group) == 1:
            yield group[0]
        elif group:
            columns = np.sort(np.concatenate([block.columns for block in group]))
            codes = np.empty((len(group[0].codes), len(columns)), dtype)
            n_codes = np.empty(len(columns), np.int64)
            for block in group:
                places = np.searchsorted(columns, block.columns)
                codes[:, places] = block.codes
                n_codes[places] = block.n_codes
            yield NominalBlock(columns, codes, n_codes, _merged_unknown(columns, group))


def _merged_unknown(columns: Array, group: Sequence[Block]) -> Mask | None:
    if all(block.unknown is None for block in group):
        return None
    n_rows = next(len(block.unknown) for block in group if block.unknown is not None)
    unknown = np.zeros((n_rows, len(columns)), dtype=bool)
    for block in group:
        if block.unknown is not None:
            unknown[:, np.searchsorted(columns, block.columns)] = block.unknown
    return unknown
