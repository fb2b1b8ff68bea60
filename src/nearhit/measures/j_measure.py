"""J-measure: what single values, and rules made of them, tell about the class (Smyth and Goodman).

    of a value                      J(V) = P(V) sum_C P(C|V) log2(P(C|V) / P(C))
    of a rule "if V then C"      J(V, C) = P(V) [p log2(p/q) + (1-p) log2((1-p)/(1-q))], p = P(C|V), q = P(C)

SPEC.md section 4. The values add up to information gain; with two classes both rules of a value have its J.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.measures.counts import FloatArray, ratio, shares, total


def j_measure(counts: npt.NDArray[Any]) -> FloatArray:
    """The J-measure of each value, in bits, from a table of counts.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    j : array of shape (..., values)
        The sum over the values is the information gain.

    Examples
    --------
    The second value tells nothing, the others 1/4 bit each:

    >>> import numpy as np
    >>> from nearhit.measures import j_measure
    >>> j_measure(np.array([[2, 0], [2, 2], [0, 2]])).tolist()
    [0.25, 0.0, 0.25]
    """
    of_classes = shares(counts.sum(axis=-2), axis=-1)[..., None, :]
    surprise = total(_x_log_x_over_y(shares(counts, axis=-1), of_classes))
    return np.maximum(shares(counts.sum(axis=-1), axis=-1) * surprise, 0.0)  # as in information_gain.py


def j_measure_of_rules(counts: npt.NDArray[Any]) -> FloatArray:
    """The J-measure of each rule "if the feature has this value, the class is that", in bits.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    j : array of shape (..., values, classes)
        Large also for rules that are wrong more often than chance: the measure asks how much is told.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import j_measure_of_rules
    >>> j_measure_of_rules(np.array([[2, 0], [2, 2], [0, 2]])).tolist()
    [[0.25, 0.25], [0.0, 0.0], [0.25, 0.25]]
    """
    of_values, of_classes = counts.sum(axis=-1), counts.sum(axis=-2)
    everything = of_values.sum(axis=-1)[..., None]
    p, q = ratio(counts, of_values[..., None]), ratio(of_classes, everything)[..., None, :]
    # 1 - p and 1 - q from counts: they are 0 where they should be.
    not_p = ratio(of_values[..., None] - counts, of_values[..., None])
    not_q = ratio(everything - of_classes, everything)[..., None, :]
    surprise = _x_log_x_over_y(p, q) + _x_log_x_over_y(not_p, not_q)
    return np.maximum(shares(of_values, axis=-1)[..., None] * surprise, 0.0)


def best_j_measure(counts: npt.NDArray[Any]) -> Any:
    """What the best single value of a feature tells: its largest J-measure, in bits.

    Parameters
    ----------
    counts : array of shape (..., values, classes)
        How often (or with how much weight) each value comes with each class. Axes before the last two are tables apart.

    Returns
    -------
    j : float or array of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit.measures import best_j_measure
    >>> float(best_j_measure(np.array([[2, 0], [2, 2], [0, 2]])))
    0.25
    """
    return j_measure(counts).max(axis=-1)


def _x_log_x_over_y(x: FloatArray, y: FloatArray) -> FloatArray:
    """x log2(x / y); 0 where x is 0."""
    quotient = ratio(x, y)
    return x * np.log2(np.where(quotient > 0, quotient, 1.0))
