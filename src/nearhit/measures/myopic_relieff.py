"""Myopic ReliefF: what ReliefF estimates when every row is a neighbour, in closed form (K94; RK equation 5).

    W' = P_equal * Gini' / (P_samecl * (1 - P_samecl))
    P_equal = sum_V P(V)^2        P_samecl = sum_C P(C)^2        SPEC.md section 3

For classes of equal size it is ReliefF(n_neighbors="all") if rows are their own hits; for others it is not.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from nearhit.measures.counts import ratio
from nearhit.measures.gini_prime import coincidences


def myopic_relieff(counts: npt.NDArray[Any]) -> Any:
    """Myopic ReliefF from a table of counts; 0 where there is one class.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    weight : float or array of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import myopic_relieff
    >>> float(myopic_relieff(np.array([[4, 0], [0, 4]])))
    1.0
    """
    same_class_if_equal, equal, same_class = coincidences(counts)
    return ratio(equal * (same_class_if_equal - same_class), same_class * (1 - same_class))
