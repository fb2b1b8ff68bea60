"""The door for y, sample_weight and groups: what a target may be, and what it is taken for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from nearhit.table import whole_weights

#: whole numbers above this are not all floats
EXACT_IN_FLOATS = 2**53
#: what to do with classes where a parameter says what y is
FOR_CLASSES = 'For classes, use target="classes".'


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """Classes of the rows as codes 0, 1, …, and what the codes stand for."""

    codes: npt.NDArray[np.int32]
    classes: npt.NDArray[Any]


def read_classes(y: Any, who: str) -> ClassTarget:
    """A nominal target; floats with a fraction are refused as everywhere in scikit-learn."""
    y = _known(y, f"{who} needs a known class in every row")
    if y.dtype == object:
        kinds = {_kind_of_class(value) for value in y}
        if len(kinds) > 1:
            raise TypeError(
                f"y mixes {' and '.join(sorted(kinds))}; {who} needs classes of one kind. Convert y to one."
            )
        y = np.array(y.tolist())  # whole numbers or booleans that came as objects
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return ClassTarget(codes.astype(np.int32), classes)


def read_numbers(y: Any, who: str, advice: str = FOR_CLASSES) -> npt.NDArray[np.float64]:
    """A numeric target, finite in every row; `advice` is for those who have classes."""
    y = _known(y, f"{who} needs a known target in every row")
    try:
        y = _to_numbers(y)
    except (TypeError, ValueError):
        raise ValueError(f"{who} needs a numeric y; got values such as {y.tolist()[0]!r}. {advice}") from None
    except OverflowError:  # an integer of more than 308 digits
        y = np.array([np.inf])
    if np.isinf(y).any():
        raise ValueError(f"Input y contains infinity. {who} needs finite numbers.")
    return y


def read_row_weights(sample_weight: Any, n_rows: int, stacklevel: int = 4) -> npt.NDArray[np.float64] | None:
    """Weights of the rows: finite, not negative, not all zero; a single number is the weight of every row.

    A weight that is nothing beside the largest (under a millionth of it) is returned as 0: the row is left out.
    """
    if sample_weight is None:
        return None
    weights = _weights_as_floats(sample_weight)
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
    counts = whole_weights(weights).units > 0
    if lost := np.count_nonzero(weights[~counts]):
        warnings.warn(
            f"{lost} of {n_rows} rows have a positive sample weight under a millionth of the largest, which rounds to 0: "
            "they are left out. Lower the largest weights if these rows should count.",
            UserWarning,
            stacklevel=stacklevel,
        )
    return np.where(counts, weights, 0.0)


def read_groups(groups: Any, n_rows: int) -> npt.NDArray[np.intp] | None:
    """The groups of the rows, numbered as they come, so that their names do not matter."""
    if groups is None:
        return None
    labels = np.ma.asarray(groups) if np.ma.is_masked(groups) else np.asarray(groups)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise ValueError(f"groups must have one label for each of the {n_rows} rows; got shape {labels.shape}.")
    names = labels.tolist()  # what is masked becomes None
    if any(map(_is_missing, names)):
        raise ValueError("groups has a row without a label. Give such rows a group of their own, or drop them.")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.intp)


def _weights_as_floats(sample_weight: Any) -> npt.NDArray[np.float64]:
    """Numbers of any kind as floats, unknown ones as NaN; strings, dates and complex numbers are no weights."""
    weights = np.ma.asarray(sample_weight) if np.ma.is_masked(sample_weight) else np.asarray(sample_weight)
    if weights.dtype == object:
        weights = np.where([_is_missing(value) for value in weights.flat], np.nan, weights.ravel()).reshape(
            weights.shape
        )
        is_number = all(isinstance(value, Real | Decimal) for value in weights.flat)
    else:
        is_number = weights.dtype.kind in "biuf"
    if not is_number:
        raise ValueError(f"sample_weight must be numbers, one for each row; got values such as {weights.flat[0]!r}.")
    return np.ma.filled(weights.astype(np.float64), np.nan)


def _known(y: Any, who_needs_what: str) -> npt.NDArray:
    """y as a vector without missing entries, in whatever way its kind says missing."""
    is_masked = np.ma.is_masked(y)
    y = column_or_1d(_as_plain_array(y), warn=True)
    if y.dtype.kind == "f":
        missing = np.isnan(y).any()
    elif y.dtype.kind in "mM":
        missing = np.isnat(y).any()
    else:
        missing = y.dtype == object and any(_is_missing(value) for value in y)
    if is_masked or missing:
        raise ValueError(f"Input y contains NaN. {who_needs_what}: drop the rows without one.")
    return y


def _as_plain_array(y: Any) -> Any:
    """Types of pandas and NumPy that would become floats or be refused, in a dtype that holds the same values."""
    if isinstance(y, list | tuple) and _has_values_of_several_types(y):
        return np.array(y, object)  # NumPy would make strings of [nan, "a"] and numbers of [True, 2]
    dtype = getattr(y, "dtype", None)
    if (numpy_dtype := getattr(dtype, "numpy_dtype", None)) is not None:  # Int64, boolean and their sisters
        return y.to_numpy(dtype=object if y.isna().any() else numpy_dtype)
    return y.astype(object) if getattr(dtype, "kind", None) == "T" else y  # strings of any length


def _has_values_of_several_types(y: Sequence[Any]) -> bool:
    """Whether a list holds values of several types, also as a column of lists; not where it is no table of values."""
    types = set(map(type, y))
    if types <= {list, tuple}:
        types = {type(value) for row in y for value in row}
    return len(types) > 1 and not any(issubclass(type_, list | tuple | np.ndarray) for type_ in types)


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, and pandas' NA, which cannot even say whether it equals itself."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # a signalling NaN of decimal answers with the latter
        return True


def _kind_of_class(value: Any) -> str:
    """True is equal to 1, so booleans beside numbers would run together."""
    return "strings" if isinstance(value, str) else "booleans" if isinstance(value, bool | np.bool_) else "numbers"


def _to_numbers(y: npt.NDArray) -> npt.NDArray[np.float64]:
    """The numbers as floats; whole numbers too large for that as their differences to the smallest."""
    if y.dtype.kind in "cUS" or (y.dtype == object and any(isinstance(value, str) for value in y)):
        raise TypeError("not numbers")
    if y.dtype.kind in "mM":
        y = y.astype(np.int64)
    if y.dtype.kind in "iu" or (y.dtype == object and all(isinstance(value, Integral) for value in y)):
        low, high = int(y.min()), int(y.max())
        if low < high and max(-low, high) > EXACT_IN_FLOATS:
            return np.array([float(int(value) - low) for value in y])
    return y.astype(np.float64)


TARGET_KINDS = ("auto", "classes", "numeric")


def check_target_kind(target: Any) -> None:
    """Refuse what is no kind of target."""
    if not isinstance(target, str) or target not in TARGET_KINDS:
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGET_KINDS))}; got {target!r}.")


def kind_of_target(y: Any) -> str:
    """ "numeric" for floats with a fraction, else "classes": what scikit-learn's `type_of_target` takes for continuous.

    Categories are classes whatever they are made of.
    """
    if str(getattr(y, "dtype", "")).lower().startswith(("category", "categorical", "enum")):
        return "classes"
    values = np.ma.filled(_as_plain_array(y), np.nan) if np.ma.is_masked(y) else np.asarray(_as_plain_array(y))
    if values.dtype == object and all(isinstance(v, Real) and not isinstance(v, bool) for v in values.flat):
        values = values.astype(np.float64)
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else np.zeros(0)
    # Beyond 64 bits no float has a fraction, and none is the number of a class.
    return "numeric" if bool(((known != np.floor(known)) | (np.abs(known) >= 2.0**63)).any()) else "classes"
