"""Codes: categories as small integers, equal values and only those with equal codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nearhit.intake.blocks import Array, Block, Mask, NominalBlock, NumericBlock, part
from nearhit.intake.messages import refuse_infinite_categories

# Codes take at most two bytes. A column with more categories than that is an identifier in every likely case.
MAX_CATEGORIES = 65_535

# Codes are made in stripes of this many cells, so that the temporaries stay in the second-level cache.
# Float64, 2,000 x 20,000, all declared: 2^17 cells take 90 ms (columns contiguous: 115 ms), 2^13 cells 95 (305),
# the whole array at once 145 (308). AMD EPYC, 2 cores of a virtual machine.
STRIPE_CELLS = 2**17


def nominal_column(codes: Array, unknown: Mask | None, position: int, name: str) -> NominalBlock:
    """One column of codes, whoever made them: integers from 0 on where known, anything where unknown."""
    known = codes if unknown is None else codes[~unknown]
    n_codes = int(known.max()) + 1 if known.size else 1
    if n_codes > 256:  # room for fewer, if not every code occurs
        occurs = np.zeros(n_codes, dtype=bool)
        occurs[known] = True
        codes = (np.cumsum(occurs) - 1).take(codes, mode="clip")
        n_codes = int(np.count_nonzero(occurs))
    if n_codes > MAX_CATEGORIES:
        raise ValueError(
            f"A categorical column may have at most {MAX_CATEGORIES:,} categories; column {name!r} has "
            f"{n_codes:,}. Drop it if it identifies rows, or let it be numeric if its values are quantities."
        )
    codes = codes.astype(np.uint8 if n_codes <= 256 else np.uint16)
    mask = None
    if unknown is not None and unknown.any():
        codes[unknown] = 0
        mask = unknown[:, None]
    return NominalBlock(np.array([position]), codes[:, None], np.array([n_codes]), mask)


def with_declared_coded(block: Block, is_declared: Mask, names: Sequence[str]) -> Iterator[Block]:
    """The block as it is, or its declared columns as nominal ones beside the rest."""
    if isinstance(block, NominalBlock) or not is_declared[block.columns].any():
        yield block
        return
    chosen = is_declared[block.columns]
    if not chosen.all():
        yield part(block, ~chosen)
        block = part(block, chosen)
    yield from _coded_by_equality(block, names)


def _coded_by_equality(block: NumericBlock, names: Sequence[str]) -> Iterator[NominalBlock]:
    """Numbers as categories: equal numbers and only those get one code.

    Most declared columns hold small whole numbers, and then ``value - minimum`` is the code: all columns at
    once, no sorting. It is when the range is below 256 and ``minimum + code`` gives back every value; the other
    columns are sorted one by one.
    """
    low, high, unknown = _known_range(block)
    infinite = ~(np.isfinite(low) & np.isfinite(high))
    if infinite.any():
        strange = (names[position] for position in block.columns[infinite])
        refuse_infinite_categories(strange, "take the column out of categorical_features")
    block = replace(block, unknown=unknown)
    span = _span(low, high)
    is_narrow = span < 256
    if is_narrow.any():
        narrow = part(block, is_narrow)
        codes, is_exact = _codes_above(low[is_narrow], narrow)
        n_codes = span[is_narrow].astype(np.int64) + 1
        if is_exact.any():
            yield part(NominalBlock(narrow.columns, codes, n_codes, narrow.unknown), is_exact)
        is_narrow[is_narrow] = is_exact
    for j in np.flatnonzero(~is_narrow):
        yield _coded_by_sorting(block, int(j), names)


def _known_range(block: NumericBlock) -> tuple[Array, Array, Mask | None]:
    """Smallest and largest known value of every column, 0 and 0 where there is none, and what is unknown."""
    values, unknown = block.values, block.unknown
    if values.dtype.kind == "f":
        low, high = values.min(axis=0), values.max(axis=0)
        if np.isnan(low).any():
            unknown = np.isnan(values)
            low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    elif unknown is None:
        low, high = values.min(axis=0), values.max(axis=0)
    else:
        limits = np.iinfo(values.dtype)
        low = values.min(axis=0, where=~unknown, initial=limits.max)
        high = values.max(axis=0, where=~unknown, initial=limits.min)
    if unknown is not None:
        nothing_known = unknown.all(axis=0)
        low[nothing_known] = high[nothing_known] = 0
    return low, high, unknown


def _span(low: Array, high: Array) -> Array:
    """``high - low`` that cannot wrap around."""
    if low.dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.asarray(high - low)
    return high.astype(np.uint64) - low.astype(np.uint64)  # right modulo 2^64, and any difference is below that


def _codes_above(low: Array, block: NumericBlock) -> tuple[Array, Mask]:
    """``values - low`` in one byte, for columns that span less than 256; and for which of them that is exact."""
    values, unknown = block.values, block.unknown
    is_exact = np.ones(len(low), dtype=bool)
    if values.dtype.itemsize == 1 and values.flags.c_contiguous and unknown is None and not low.any():
        return values.view(np.uint8), is_exact
    codes = np.empty(values.shape, dtype=np.uint8)
    for stripe in _stripes(values):
        piece, start = values[stripe], low[stripe[1]]
        if unknown is not None:
            piece = np.where(unknown[stripe], start, piece)
        np.copyto(codes[stripe], piece - start, casting="unsafe")  # if integers wrap, the low byte is right
        if values.dtype.kind == "f":
            # Test the sum: 0 and 2^-60 both lie 200 above -200 in float64, but only one of them is the sum.
            is_exact[stripe[1]] &= (codes[stripe] + start == piece).all(axis=0)
    return codes, is_exact


def _stripes(values: Array) -> Iterator[tuple[slice, slice]]:
    """Slices that cut an array into pieces of STRIPE_CELLS cells that lie together in memory."""
    n_rows, n_columns = values.shape
    row_step, column_step = map(abs, values.strides)
    everything = slice(None)
    if row_step >= column_step:
        height = max(1, STRIPE_CELLS // n_columns)
        yield from ((slice(at, at + height), everything) for at in range(0, n_rows, height))
    else:
        width = max(1, STRIPE_CELLS // n_rows)
        yield from ((everything, slice(at, at + width)) for at in range(0, n_columns, width))


def _coded_by_sorting(block: NumericBlock, j: int, names: Sequence[str]) -> NominalBlock:
    column = block.values[:, j]
    unknown = None if block.unknown is None else block.unknown[:, j]
    known = slice(None) if unknown is None else ~unknown
    codes = np.zeros(len(column), dtype=np.int64)
    codes[known] = np.unique(column[known], return_inverse=True)[1]
    position = int(block.columns[j])
    return nominal_column(codes, unknown, position, names[position])
