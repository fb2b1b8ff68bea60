"""Mantaras distance: how far the partition of the rows by a feature is from their partition into classes.

    distance = 1 - gain / H(C, V)        H(C, V) = -sum_CV P(C, V) log2 P(C, V)        SPEC.md section 4

A97 (table 1) and this library report the similarity gain / H(C, V), so that larger is better as everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from nearhit.measures.counts import ratio
from nearhit.measures.information_gain import entropy, information_gain


def mantaras_similarity(counts: npt.NDArray[Any]) -> Any:
    """One less the distance of Mantaras, from a table of counts; 0 where value and class are always the same.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    similarity : float or array of shape (...)
        Between 0 and 1: 1 where value and class are two names of one thing.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import mantaras_similarity
    >>> float(mantaras_similarity(np.array([[0, 4], [4, 0]])))
    1.0
    >>> float(mantaras_similarity(np.array([[2, 0], [2, 0], [0, 2], [0, 2]])))
    0.5
    """
    cells = counts.reshape(*counts.shape[:-2], counts.shape[-2] * counts.shape[-1])
    return ratio(information_gain(counts), entropy(cells))
