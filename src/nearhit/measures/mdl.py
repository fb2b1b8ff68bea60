"""MDL: how many bits per row it saves to write the classes down value by value (Kononenko 1995).

    [log2 multinomial(n; n_C) - sum_V log2 multinomial(n_V; n_CV)
     + log2 binomial(n+c-1, c-1) - sum_V log2 binomial(n_V+c-1, c-1)] / n        SPEC.md section 4

Writing down n classes takes a list of counts and the place among all orders with these counts. A feature pays for the
counts of each of its values, so one that tells nothing falls below 0, the deeper the more values it has.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from nearhit.measures.counts import FloatArray, ratio, total

#: code lengths that differ by this share of the largest term differ in nothing but roundings
ROUNDING = 1e-14


def mdl(counts: npt.NDArray[Any]) -> Any:
    """The bits per row that a feature saves, from a table of counts.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.
        The number of classes c is that of the columns, whether they occur or not.

    Returns
    -------
    saved : float or array of shape (...)

    Examples
    --------
    Eight rows: log2 70 + log2 9 bits without the feature, 2 log2 5 with it:

    >>> import numpy as np
    >>> from nearhit.measures import mdl
    >>> float(mdl(np.array([[4, 0], [0, 4]])).round(6))
    0.581919
    """
    n = counts.sum(axis=(-1, -2))
    saved = _code_length(counts.sum(axis=-2)) - total(_code_length(counts))
    nothing = ROUNDING * _log2_factorial(n + (counts.shape[-1] - 1))
    return ratio(np.where(np.abs(saved) <= nothing, 0.0, saved), n)


def _code_length(counts: npt.NDArray[Any]) -> FloatArray:
    """log2 of multinomial(n; n_C) binomial(n+c-1, c-1) = (n+c-1)! / ((c-1)! prod_C n_C!)."""
    c = counts.shape[-1]
    return (
        _log2_factorial(counts.sum(axis=-1) + (c - 1)) - math.lgamma(c) / math.log(2) - total(_log2_factorial(counts))
    )


def _log2_factorial(x: npt.NDArray[Any]) -> FloatArray:
    if x.dtype.kind in "iu" and x.size and x.max() < 2 * x.size + 100:  # looked up: the same numbers, sooner
        return (gammaln(np.arange(int(x.max()) + 1) + 1.0) / math.log(2))[x]
    return gammaln(x + 1.0) / math.log(2)
