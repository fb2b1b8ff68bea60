"""Myopic measures: what each feature tells about the class alone, to be set beside what it tells together (ReliefF).

A measure is a function of a table of counts (counts.py); `score_features` makes the tables from data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.intake import NominalBlock, NumericBlock, read_columns
from nearhit.measures.counts import Cases, count_categories, count_splits
from nearhit.measures.gini_gain import gini_gain
from nearhit.measures.information_gain import information_gain
from nearhit.table import whole_weights
from nearhit.target import read_classes, read_row_weights

__all__ = ["gini_gain", "information_gain", "score_features"]

Measure = Callable[[npt.NDArray[Any]], Any]
MEASURES: dict[str, Measure] = {"information gain": information_gain, "gini gain": gini_gain}


def score_features(
    X: Any,
    y: Any,
    measure: str = "information gain",
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
) -> npt.NDArray[np.float64]:
    """What each feature tells about the class by itself.

    A categorical feature is scored with all its values; a number by the best split in two, over all cuts between
    different values. Rows in which a feature is unknown are left out of that feature's table.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `nearhit.ReliefF`. Infinite numbers are allowed: only the order of numbers counts.
    y : array of shape (n_samples,)
        The classes.
    measure : {"information gain", "gini gain"}, default="information gain"
        Larger is better in each of them.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `nearhit.ReliefF`.
    sample_weight : array of shape (n_samples,), optional
        A weight w counts as w copies of a row.

    Returns
    -------
    scores : array of shape (n_features,)

    Examples
    --------
    Neither column of an exclusive or tells anything alone:

    >>> from nearhit.measures import score_features
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> score_features(X, ["no", "yes", "yes", "no"]).tolist()
    [0.0, 0.0]
    """
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(map(repr, MEASURES))}; got {measure!r}.")
    columns = read_columns(X, categorical_features, estimator_name="score_features")
    cases = _read_cases(y, sample_weight, columns.n_rows)
    scores = np.zeros(columns.n_features)
    for block in columns.numeric + columns.nominal:
        for j, column in enumerate(block.columns):
            scores[column] = _score(block, j, cases, MEASURES[measure], columns.names[column])
    return scores


def _read_cases(y: Any, sample_weight: Any, n_rows: int) -> Cases:
    target = read_classes(y, "score_features")
    if len(target.codes) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {len(target.codes)}."
        )
    weights = read_row_weights(sample_weight, n_rows)
    return Cases(target.codes, len(target.classes), None if weights is None else whole_weights(weights).units)


def _score(block: NumericBlock | NominalBlock, j: int, cases: Cases, measure: Measure, name: str) -> float:
    values = (block.values if isinstance(block, NumericBlock) else block.codes)[:, j]
    is_known = values == values if block.unknown is None else ~block.unknown[:, j]  # NaN differs from itself
    if not is_known.all():
        values, cases = values[is_known], cases.take(is_known)
    if not len(values) or (cases.units is not None and not cases.units.any()):
        warnings.warn(f"column {name!r} has no known value; its score is 0.", UserWarning, stacklevel=3)
        return 0.0
    if isinstance(block, NominalBlock):
        return float(measure(count_categories(values, int(block.n_codes[j]), cases)))
    return float(measure(count_splits(values, cases)).max(initial=0.0))
