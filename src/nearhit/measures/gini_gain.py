"""Gini gain: how much purer the classes become once the value of a feature is known.

gini = 1 - sum_C P(C)^2        gain = gini(C) - sum_V P(V) gini(C | V)        SPEC.md section 4
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import FloatArray, shares, total


def gini_gain(counts: npt.NDArray[Any]) -> Any:
    """Gini gain from a table of counts.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    gain : float or array of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import gini_gain
    >>> float(gini_gain(np.array([[4, 0], [0, 4]])))
    0.5
    """
    of_values = shares(counts.sum(axis=-1), axis=-1)
    gain = impurity(counts.sum(axis=-2)) - total(of_values * impurity(counts))
    return np.maximum(gain, 0.0)  # both terms are rounded, and a feature that tells nothing would be at -1e-17


def impurity(counts: npt.NDArray[Any]) -> FloatArray:
    """1 - sum_C P(C)^2 as sum_C P(C) (1 - P(C)): the same number, and 0 for no cases at all."""
    p = shares(counts, axis=-1)
    return total(p * (1 - p))
