"""The door for y and sample_weight: what a target may be, and what it is taken for."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Classes of the rows as codes 0, 1, …, and what the codes stand for."""

    codes: npt.NDArray[np.int32]
    classes: npt.NDArray[Any]


def read_classes(y: Any, who: str) -> ClassTarget:
    """A nominal target; floats with a fraction are refused as everywhere in scikit-learn."""
    y = column_or_1d(y, warn=True)
    if _has_missing(y):
        raise ValueError(f"Input y contains NaN. {who} needs a known class in every row: drop the rows without one.")
    check_classification_targets(y)
    if y.dtype == object and len({isinstance(value, str) for value in y}) > 1:
        raise TypeError(f"y mixes strings and other values; {who} needs classes of one kind.")
    classes, codes = np.unique(y, return_inverse=True)
    return ClassTarget(codes.astype(np.int32), classes)


def read_numbers(y: Any, who: str) -> npt.NDArray[np.float64]:
    """A numeric target, finite in every row."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "OUSMm" or y.dtype.kind == "c":
        try:
            y = _to_numbers(y)
        except (TypeError, ValueError):
            raise ValueError(
                f"{who} needs a numeric y; got values such as {y.tolist()[0]!r}. Use ReliefF for a target of classes."
            ) from None
    y = y.astype(np.float64)
    if np.isnan(y).any():
        raise ValueError(f"Input y contains NaN. {who} needs a known target in every row: drop the rows without one.")
    if np.isinf(y).any():
        raise ValueError(f"Input y contains infinity. {who} needs finite numbers.")
    return y


def read_row_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Weights of the rows: finite, not negative, not all zero. None and a single number mean no weights."""
    if sample_weight is None or isinstance(sample_weight, Real):
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity; give each row a finite weight.")
    if (weights < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; row {int(np.argmax(weights < 0))} has {weights.min():g}."
        )
    if not weights.any():
        raise ValueError("every sample weight is zero; at least two rows must count.")
    return weights


def _has_missing(y: npt.NDArray) -> bool:
    if y.dtype.kind == "f":
        return bool(np.isnan(y).any())
    return y.dtype == object and any(value is None or value != value for value in y)


def _to_numbers(y: npt.NDArray) -> npt.NDArray[np.float64]:
    if y.dtype.kind in "cUS" or any(isinstance(value, str) for value in y):
        raise TypeError("not numbers")
    return y.astype(np.float64)
