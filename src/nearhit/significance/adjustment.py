"""From null weights to p-values, and p-values for many features at once.

max-T   the chance that any irrelevant feature does as well: step-down maxima of the null weights (Westfall and
        Young 1993), under the dependence that the features have
BH, BY  the expected share of irrelevant features among those kept (Benjamini and Hochberg 1995; Benjamini and
        Yekutieli 2001, for any dependence)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
ADJUSTMENTS = ("max-T", "bh", "by")
NO_LARGEST = 'max-T compares with the largest of the permuted weights: only with p_values="permutation".'


@dataclass(frozen=True, eq=False)
class Significance:
    """The p-values of a fit.

    Attributes
    ----------
    p_values
        Of each feature by itself.
    max_t
        Adjusted by step-down maxima; None where there are no null weights.
    least
        The smallest p-value that could have come out: 1 / (n_permutations + 1).
    how
        What was done, in words.
    """

    p_values: FloatArray
    max_t: FloatArray | None
    least: float
    how: str

    def by_name(self, adjustment: str) -> FloatArray:
        """The p-values as they are (""), or adjusted."""
        return self.adjusted(adjustment) if adjustment else self.p_values

    def adjusted(self, method: str) -> FloatArray:
        """p-values for all features at once, by one of `ADJUSTMENTS`."""
        known = {name.lower(): name for name in ADJUSTMENTS}
        if not isinstance(method, str) or method.lower() not in known:
            raise ValueError(f"method must be one of {', '.join(map(repr, ADJUSTMENTS))}; got {method!r}.")
        if known[method.lower()] != "max-T":
            from scipy.stats import false_discovery_control  # half a second to import, for those who ask

            return false_discovery_control(self.p_values, method=method.lower())
        if self.max_t is None:
            raise ValueError(NO_LARGEST)
        return self.max_t


@dataclass(eq=False)
class Tally:
    """How often null weights reach the weights of a fit, feature by feature and by step-down maxima."""

    weights: FloatArray
    n: int = 0
    reached: npt.NDArray[np.int64] = field(init=False)
    reached_by_largest: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.order = np.argsort(-self.weights, kind="stable")
        self.reached = np.zeros(len(self.weights), np.int64)
        self.reached_by_largest = np.zeros(len(self.weights), np.int64)  # in that order

    def add(self, null: FloatArray) -> None:
        """Null weights, one line for each permutation."""
        self.n += len(null)
        self.reached += (null >= self.weights).sum(axis=0)
        # The largest null weight of this feature and of all that are ranked below it.
        largest = np.maximum.accumulate(null[:, self.order[::-1]], axis=1)[:, ::-1]
        self.reached_by_largest += (largest >= self.weights[self.order]).sum(axis=0)

    def p_values(self) -> FloatArray:
        return (1 + self.reached) / (1 + self.n)

    def max_t(self) -> FloatArray:
        """A feature is not more significant than one that is ranked above it."""
        adjusted = np.empty(len(self.weights))
        adjusted[self.order] = np.maximum.accumulate((1 + self.reached_by_largest) / (1 + self.n))
        return adjusted

    def finish(self, how: str) -> Significance:
        return Significance(self.p_values(), self.max_t(), 1 / (1 + self.n), how)
