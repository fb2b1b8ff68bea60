"""Gini', the form of Gini gain that ReliefF turns into when every row is a neighbour (K94, RK equation 4).

    Gini' = sum_V [P(V)^2 / sum_V P(V)^2 * sum_C P(C | V)^2] - sum_C P(C)^2        SPEC.md section 3

Where Gini gain weighs a value by P(V), Gini' weighs it by P(V)^2. It can fall below 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import FloatArray, ratio, total


def gini_prime(counts: npt.NDArray[Any]) -> Any:
    """Gini' from a table of counts.

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
    >>> from nearhit.measures import gini_prime
    >>> float(gini_prime(np.array([[4, 0], [0, 4]])))
    0.5
    """
    same_class_if_equal, _, same_class = coincidences(counts)
    return same_class_if_equal - same_class


def coincidences(counts: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For two rows drawn with replacement: P(same class | equal value), P(equal value), P(same class).

    From squares of counts, which are whole numbers: a feature that tells nothing is at 0, not beside it.
    """
    counts = np.asarray(counts, float)
    of_values, of_classes = counts.sum(axis=-1), counts.sum(axis=-2)
    pairs = of_values.sum(axis=-1) ** 2
    equal_pairs = total(of_values**2)
    both = total(total(counts**2))
    return ratio(both, equal_pairs), ratio(equal_pairs, pairs), ratio(total(of_classes**2), pairs)
