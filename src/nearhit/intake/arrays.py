"""Arrays: every NumPy dtype is numbers, codes, cells to look at one by one, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from nearhit.intake.blocks import Array, Block, Mask, NominalBlock, NumericBlock
from nearhit.intake.cells import cells_block
from nearhit.intake.messages import refuse_dtype


def array_blocks(
    values: Array, columns: npt.NDArray[np.intp], names: Sequence[str], mask: Mask | None
) -> Iterator[Block]:
    """The columns of an array of any dtype; `mask` says which entries are unknown whatever their value."""
    values = values.view()
    values.flags.writeable = False  # it may be the caller's data; nothing behind this line can write to it
    kind = values.dtype.kind
    if kind == "b":
        codes = values.view(np.uint8) if mask is None else np.where(mask, np.uint8(0), values)
        yield NominalBlock(columns, np.ascontiguousarray(codes, np.uint8), np.full(len(columns), 2), mask)
    elif kind in "iu":
        yield NumericBlock(columns, _native(values), mask)
    elif kind == "f":
        floats = _native(values)
        if mask is not None:
            floats = np.where(mask, floats.dtype.type("nan"), floats)
        yield NumericBlock(columns, floats, None)
    elif kind in "mM":
        unknown = np.isnat(values) if mask is None else np.isnat(values) | mask
        yield NumericBlock(columns, _native(values).view(np.int64), unknown if unknown.any() else None)
    elif kind in "OUST":
        for j, position in enumerate(columns):
            cells = values[:, j].tolist()
            if kind == "S":  # an array of bytes is text of one byte per letter; bytes anywhere else are refused
                cells = [cell.decode("latin-1") for cell in cells]
            if mask is not None:
                cells = [None if masked else cell for cell, masked in zip(cells, mask[:, j], strict=True)]
            yield cells_block(cells, int(position), names[position])
    else:
        refuse_dtype(names[columns[0]], values.dtype, is_complex=kind == "c")


def _native(values: Array) -> Array:
    """The same numbers in this machine's byte order, floats as float32 or float64."""
    dtype = values.dtype.newbyteorder("=")
    if dtype.kind == "f" and dtype not in (np.float32, np.float64):
        dtype = np.dtype(np.float64)
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, which is refused later
        return values.astype(dtype, copy=False)
