"""Gain ratio: information gain per bit that the feature itself takes (Quinlan), so that many values do not win by number.

ratio = gain / H(V)        H(V) = -sum_V P(V) log2 P(V)        SPEC.md section 4
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from nearhit.measures.counts import ratio
from nearhit.measures.information_gain import entropy, information_gain


def gain_ratio(counts: npt.NDArray[Any]) -> Any:
    """Gain ratio from a table of counts; 0 for a feature of one value.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    ratio : float or array of shape (...)
        Between 0 and 1: 1 where the class decides the value.

    Examples
    --------
    Four values that tell one bit, and need two:

    >>> import numpy as np
    >>> from nearhit.measures import gain_ratio
    >>> float(gain_ratio(np.array([[2, 0], [2, 0], [0, 2], [0, 2]])))
    0.5
    """
    return ratio(information_gain(counts), entropy(counts.sum(axis=-1)))
