"""Chi-squared: Pearson's statistic of independence between the values of a feature and the classes.

    chi2 = sum_CV (n_CV - e_CV)^2 / e_CV        e_CV = n_C n_V / n        SPEC.md section 4

It grows with the number of rows, and under independence it is about (values - 1)(classes - 1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import ratio, total


def chi_squared(counts: npt.NDArray[Any]) -> Any:
    """Pearson's chi-squared from a table of counts.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    statistic : float or array of shape (...)

    Examples
    --------
    Two rows are expected in each of the four cells, and each is off by two:

    >>> import numpy as np
    >>> from nearhit.measures import chi_squared
    >>> float(chi_squared(np.array([[4, 0], [0, 4]])))
    8.0
    """
    counts = np.asarray(counts, float)  # products of counts need not fit in 64 bits
    of_values, of_classes = counts.sum(axis=-1, keepdims=True), counts.sum(axis=-2, keepdims=True)
    expected = ratio(of_values * of_classes, of_values.sum(axis=-2, keepdims=True))
    return total(total(ratio((counts - expected) ** 2, expected)))
