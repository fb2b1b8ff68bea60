"""The door for y and sample_weight: what a target may be, and what it is taken for."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from nearhit.table import whole_weights


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Classes of the rows as codes 0, 1, …, and what the codes stand for."""

    codes: npt.NDArray[np.int32]
    classes: npt.NDArray[Any]


def read_classes(y: Any, who: str) -> ClassTarget:
    """A nominal target; floats with a fraction are refused as everywhere in scikit-learn."""
    y = _known(y, f"{who} needs a known class in every row")
    if y.dtype == object:
        if len({isinstance(value, str) for value in y}) > 1:
            raise TypeError(f"y mixes strings and other values; {who} needs classes of one kind.")
        y = np.array(y.tolist())  # whole numbers or booleans that came as objects
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return ClassTarget(codes.astype(np.int32), classes)


def read_numbers(y: Any, who: str) -> npt.NDArray[np.float64]:
    """A numeric target, finite in every row."""
    y = _known(y, f"{who} needs a known target in every row")
    if y.dtype.kind in "OUSMmc":
        try:
            y = _to_numbers(y)
        except (TypeError, ValueError):
            raise ValueError(
                f"{who} needs a numeric y; got values such as {y.tolist()[0]!r}. Use ReliefF for a target of classes."
            ) from None
    y = y.astype(np.float64)
    if np.isinf(y).any():
        raise ValueError(f"Input y contains infinity. {who} needs finite numbers.")
    return y


def read_row_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Weights of the rows: finite, not negative, not all zero; a single number is the weight of every row.

    A weight that is nothing beside the largest (under a millionth of it) is returned as 0: the row is left out.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one for each row; got something else.") from None
    if isinstance(sample_weight, Real) or weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!")
    if not np.isfinite(weights).all():
        raise ValueError("Input sample_weight contains NaN or infinity; give each row a finite weight.")
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight must not be negative; row {row} has {weights[row]:g}.")
    if not weights.any():
        raise ValueError("every sample weight is zero; at least two rows must count.")
    return np.where(whole_weights(weights).units > 0, weights, 0.0)


def _known(y: Any, who_needs_what: str) -> npt.NDArray:
    """y as a vector without missing entries, in whatever way its kind says missing."""
    is_masked = np.ma.is_masked(y)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        missing = np.isnan(y).any()
    elif y.dtype.kind in "mM":
        missing = np.isnat(y).any()
    else:
        missing = y.dtype == object and any(_is_missing(value) for value in y)
    if is_masked or missing:
        raise ValueError(f"Input y contains NaN. {who_needs_what}: drop the rows without one.")
    return y


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and pandas' NA, which cannot even say whether it equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _to_numbers(y: npt.NDArray) -> npt.NDArray[np.float64]:
    if y.dtype.kind in "cUS" or any(isinstance(value, str) for value in y):
        raise TypeError("not numbers")
    return y.astype(np.float64)
