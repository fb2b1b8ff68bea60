"""Minus the mean squared error of a numeric target around the means of the values of a feature.

    MSE = sum_V P(V) R(V)        R(V) = (1/n_V) sum_i (y_i - mean_V)^2        RK equations 17 and 18, SPEC.md section 4

RK's estimate of a feature is the smallest error over its splits in two. A feature that tells nothing is at minus the
variance of the target; 0 is the best there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import ratio, total


def minus_mean_squared_error(moments: npt.NDArray[Any]) -> Any:
    """Minus the mean squared error from a table of moments.

    Parameters
    ----------
    moments : array of shape (..., values, 3)
        For each value of a feature: how many rows have it (or their weight), the sum of their targets and the sum of
        the squares of these. Targets should lie around 0: subtract a number in their middle first, or digits get lost.
        Axes before the last two are tables apart.

    Returns
    -------
    minus_error : float or array of shape (...)

    Examples
    --------
    Targets 1 and 3 where the feature has one value, 5 and 5 where it has the other: (1 + 1 + 0 + 0) / 4.

    >>> import numpy as np
    >>> from nearhit.measures import minus_mean_squared_error
    >>> float(minus_mean_squared_error(np.array([[2, 1 + 3, 1 + 9], [2, 5 + 5, 25 + 25]])))
    -0.5
    """
    n, sums, squares = (moments[..., part] for part in range(3))
    errors = np.maximum(squares - ratio(np.square(sums, dtype=float), n), 0.0)
    return 0.0 - ratio(total(errors), n.sum(axis=-1))  # not -0.0
