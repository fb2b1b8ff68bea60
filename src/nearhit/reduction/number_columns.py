"""The numbers of a table, column by column as floats, for what works on numbers rather than on codes of a grid."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearhit.intake import Columns, NumericBlock


def is_number(columns: Columns) -> npt.NDArray[np.bool_]:
    """Which columns hold numbers."""
    mask = np.zeros(columns.n_features, bool)
    for block in columns.numeric:
        mask[block.columns] = True
    return mask


def numbers_of(columns: Columns) -> dict[int, npt.NDArray[np.float64]]:
    """Each column of numbers by its position, unknown values as NaN."""
    return {
        int(position): _as_floats(block, j) for block in columns.numeric for j, position in enumerate(block.columns)
    }


def refuse_infinity(numbers: dict[int, npt.NDArray[np.float64]], names: tuple[str, ...]) -> None:
    """As for every estimator (grid.py)."""
    for position, values in sorted(numbers.items()):
        if np.isinf(values).any():
            raise ValueError(
                f"Input X contains infinity: column {names[position]!r} has at least one infinite value. "
                "Replace such values, or mark them as missing (NaN)."
            )


def _as_floats(block: NumericBlock, j: int) -> npt.NDArray[np.float64]:
    values = block.values[:, j].astype(np.float64)
    if block.unknown is not None:
        values[block.unknown[:, j]] = np.nan
    return values
