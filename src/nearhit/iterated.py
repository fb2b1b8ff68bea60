"""What the iterated members share: features are weighed anew in each step, and the weights decide who is near.

They have no k and no sampled targets, and find their weights in floats: the same bits for any number of threads, and to
1e-9 for any order of rows (DESIGN.md, promise 1).
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from nearhit.fitting import Fit
from nearhit.ranking import ranks_of
from nearhit.relief import OfClasses
from nearhit.selection import is_chebyshev, select_features


class Iterated(OfClasses):
    """A member that weighs the features anew in each step. Not for use by itself."""

    # What other members have parameters for is fixed here.
    n_neighbors = "all"
    metric, diff, ramp, scale = "manhattan", "linear", (0.04, 0.10), "range"
    weights, sigma, ties, n_targets = "equal", 1.0, "share", None
    device, random_state = "auto", None
    p_values, n_permutations, redundancy = None, 1000, False

    def __init__(
        self, *, missing: str, categorical_features: Any, select: Any, n_jobs: int | None, verbose: int
    ) -> None:
        self.missing = missing
        self.categorical_features = categorical_features
        self.select = select
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _keep(self, fit: Fit) -> None:
        self.weights_ = fit.weights
        self.ranking_ = ranks_of(fit.weights)
        self.support_ = select_features(
            self.select, fit.weights, fit.n_targets, shares=getattr(self, "stability_", None)
        )
        self.target_kind_ = self._target_kind
        self.kernel_ = fit.ran_on

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.missing == "skip":
            raise ValueError(
                f'missing="skip" leaves pairs out of a mean over neighbours, and {type(self).__name__} weighs distances: '
                'use "expected" or "uniform".'
            )
        if is_chebyshev(self.select):
            raise ValueError(
                f"the Chebyshev threshold holds for the weights of one fit only: not with {type(self).__name__}."
            )

    def _check_count(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < 1:
            raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")

    def _check_positive(self, name: str) -> None:
        value = getattr(self, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
            raise ValueError(f"{name} must be a finite number greater than 0; got {value!r}.")
