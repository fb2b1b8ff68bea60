"""Information gain: how many bits the value of a feature tells about the class (K94 equation 1).

H = -sum_C P(C) log2 P(C)        gain = H(C) - sum_V P(V) H(C | V)        SPEC.md section 4
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import FloatArray, shares, total


def information_gain(counts: npt.NDArray[Any]) -> Any:
    """Information gain, in bits, from a table of counts.

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
    >>> from nearhit.measures import information_gain
    >>> float(information_gain(np.array([[4, 0], [0, 4]])))
    1.0
    """
    of_values = shares(counts.sum(axis=-1), axis=-1)
    gain = entropy(counts.sum(axis=-2)) - total(of_values * entropy(counts))
    return np.maximum(gain, 0.0)  # both terms are rounded, and a feature that tells nothing would be at -1e-17


def entropy(counts: npt.NDArray[Any]) -> FloatArray:
    """The entropy over the last axis in bits; 0 log 0 is 0."""
    p = shares(counts, axis=-1)
    return total(-p * np.log2(np.where(p > 0, p, 1.0)))
