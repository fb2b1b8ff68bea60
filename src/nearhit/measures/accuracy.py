"""Accuracy: how often the class is right if each value of the feature stands for its most frequent class.

    accuracy = sum_V P(V) max_C P(C | V)        RK equation 16, SPEC.md section 4

A feature that tells nothing is at the share of the largest class, max_C P(C). CORElearn subtracts that share.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from nearhit.measures.counts import ratio


def accuracy(counts: npt.NDArray[Any]) -> Any:
    """Accuracy from a table of counts.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    accuracy : float or array of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import accuracy
    >>> float(accuracy(np.array([[3, 1], [0, 4]])))
    0.875
    """
    return ratio(counts.max(axis=-1).sum(axis=-1), counts.sum(axis=(-1, -2)))
