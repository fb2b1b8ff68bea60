"""What estimators around a member of the family share: the member reads the input, they run it on parts of its table."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from nearhit.estimator import ReliefEstimator, refuse_idle
from nearhit.fitting import Fit, Options
from nearhit.ranking import ranks_of
from nearhit.recipes import Recipe
from nearhit.relief import ReliefF
from nearhit.selection import check_rule, is_chebyshev, select_features
from nearhit.table import Table


class Wrapper(ReliefEstimator):
    """An estimator that fits a member of the family many times. Not for use by itself."""

    p_values, n_permutations, redundancy = None, 1000, False

    def __init__(self, estimator: Any, *, select: Any) -> None:
        self.estimator = estimator
        self.select = select

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        self._read_exchange(groups, None, 0, sample_weight)  # refused: nothing is permuted
        self._check_parameters()  # as in _prepare, a call less deep: the member's warnings point to who called fit
        member = self._member()
        recipe, table, targets = member._prepare(X, y, sample_weight)
        self._take_over(member)
        fit = self._run(recipe, table, targets)
        self._look_closer(fit, recipe, table, targets)
        self._keep(fit)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Recipe, Table, npt.NDArray[np.intp] | None]:
        """For a wrapper around this one: the member's table."""
        self._check_parameters()
        member = self._member()
        prepared = member._prepare(X, y, sample_weight)
        self._take_over(member)
        return prepared

    def _take_over(self, member: ReliefEstimator) -> None:
        """What the member has seen of the input; rules and sizes can be checked against it now."""
        for name in ("n_features_in_", "feature_names_in_", "_names_", "classes_"):
            if hasattr(member, name):
                setattr(self, name, getattr(member, name))
        self.target_kind_ = member._kind()
        check_rule(self.select, self.n_features_in_)
        self._check_sizes(self.n_features_in_)

    def _kind(self) -> str:
        return self.target_kind_

    def _keep(self, fit: Fit) -> None:
        self.weights_ = fit.weights
        self.ranking_ = ranks_of(fit.weights)
        self.support_ = select_features(
            self.select, fit.weights, fit.n_targets, shares=getattr(self, "stability_", None)
        )
        found = fit.fewest_neighbours
        self.n_neighbors_used_ = int(found) if found == int(found) else found
        self.kernel_ = fit.ran_on

    def _options(self) -> Options:
        """Threads and progress bars are the member's."""
        return self._member()._options()

    def _seed_of_resamples(self) -> int:
        """Its own, or the member's where the wrapper draws nothing."""
        return super()._seed_of_resamples() if self._takes("random_state") else self._member()._seed_of_resamples()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the estimator as ``estimator__n_neighbors``.

        Parameters
        ----------
        **params
            Parameters by name. Those of the estimator need one that was given: None, which stands for ``ReliefF()``, has
            none to be set.

        Returns
        -------
        self
        """
        inner = [name for name in params if name.startswith("estimator__")]
        if inner and params.get("estimator", self.estimator) is None:
            raise ValueError(
                f"{inner[0]} sets a parameter of the estimator inside {type(self).__name__}, and there is none: give one, "
                f"as in {type(self).__name__}(ReliefF())."
            )
        return super().set_params(**params)

    def _member(self) -> ReliefEstimator:
        """A fresh copy of the member, so that the one that was given stays as it is."""
        return ReliefF() if self.estimator is None else clone(self.estimator)

    def _check_parameters(self) -> None:
        member = self.estimator
        if member is not None and (not isinstance(member, ReliefEstimator) or isinstance(member, type)):
            raise TypeError(
                f"estimator must be a member of the Relief family, such as ReliefF() or RReliefF(); got {member!r}."
            )
        name = type(self).__name__
        if member is not None and member.select is not None:
            raise ValueError(
                f"select={member.select!r} was given to the estimator inside {name}, which selects nothing. "
                f"Give it to {name}."
            )
        if member is not None:
            refuse_idle(member, name)
        self._refuse_p_value_rule()
        if is_chebyshev(self.select):
            raise ValueError(f"the Chebyshev threshold holds for the weights of one fit only: not with {name}.")

    def _check_sizes(self, n_features: int) -> None:
        """Parameters that have to fit the number of features."""


def is_count(value: Any) -> bool:
    """A whole number of at least 1."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def is_share(value: Any) -> bool:
    """A fraction in (0, 1]; 1 as a whole number is a count."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1
