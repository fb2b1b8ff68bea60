"""The scikit-learn face that the whole family shares: check the input, run a recipe, keep the result."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from nearhit import recipes
from nearhit.fitting import Fit, Options, fit_recipe
from nearhit.intake import Columns, read_columns
from nearhit.ranking import Ranking, ranks_of
from nearhit.recipes import Diff, DiffKind, Recipe
from nearhit.selection import check_rule, select_features
from nearhit.table import Table, make_table
from nearhit.target import read_row_weights

#: the form in which a fitted estimator is pickled; an older one is refused
STATE = 1
CHOICES = {
    "metric": ("manhattan", "euclidean"),
    "diff": ("linear", "squared", "ramp"),
    "scale": ("range", None),
    "missing": ("expected", "uniform", "skip"),
    "weights": ("equal", "rank", "distance", "squared distance"),
    "ties": ("share", "first"),
    "device": ("auto", "cpu", "cuda"),
}


class ReliefEstimator(SelectorMixin, BaseEstimator):
    """What all members of the family do alike. Not for use by itself."""

    _target_kind: ClassVar[str]

    def __init__(
        self,
        n_neighbors: int | str,
        *,
        metric: str,
        diff: str,
        ramp: tuple[float, float],
        scale: str | None,
        missing: str,
        weights: str,
        sigma: float,
        n_targets: int | float | None,
        ties: str,
        categorical_features: Any,
        select: Any,
        device: str,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.diff = diff
        self.ramp = ramp
        self.scale = scale
        self.missing = missing
        self.weights = weights
        self.sigma = sigma
        self.n_targets = n_targets
        self.ties = ties
        self.categorical_features = categorical_features
        self.select = select
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find out how much each feature matters.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars data frame, Arrow table, scipy sparse matrix or nested lists; numbers,
            categories and missing values. It is neither kept nor written to.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of shape (n_samples,), optional
            A weight w counts as w copies of a row; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._forget()
        try:
            self._fit(X, y, sample_weight)
        except BaseException:  # Ctrl-C too: half a fit is no fit
            self._forget()
            raise
        return self

    def ranking(self) -> Ranking:
        """All features, the best first, with weight and rank."""
        check_is_fitted(self)
        return Ranking.of(self._names(), self.weights_)

    def top(self, n: int) -> list[str]:
        """The names of the n best features ("x0", "x1", … for an array without names)."""
        if not isinstance(n, numbers.Integral) or n < 1:
            raise ValueError(f"n must be an integer of at least 1; got {n!r}.")
        return [row.feature for row in self.ranking().rows[:n]]

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The weights under scikit-learn's name for them."""
        return self.weights_

    # ------------------------------------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        columns = read_columns(X, self.categorical_features, estimator_name=type(self).__name__)
        validate_data(self, X, y, skip_check_array=True)
        check_rule(self.select, columns.n_features)
        target = self._read_target(y)
        if len(target) != columns.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {columns.n_rows} rows, "
                f"y has {len(target)}."
            )
        row_weights = read_row_weights(sample_weight, columns.n_rows)
        self._refuse_too_little(columns, target, row_weights)
        table = make_table(columns, [target], row_weights, scale=self.scale)
        recipe = self._recipe()
        if recipe.ties == "first" and table.weights is not None and set(np.unique(table.weights.units)) != {1}:
            raise ValueError('ties="first" has no meaning for sample weights other than 0 and 1; use ties="share".')
        fit = self._run(recipe, table, self._draw_targets(table.n_rows))
        self._keep(fit)

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        return fit_recipe(recipe, table, targets, self._options())

    def _options(self) -> Options:
        return Options(self.n_jobs, self.verbose, type(self).__name__)

    def _keep(self, fit: Fit) -> None:
        self.weights_ = fit.weights
        self.ranking_ = ranks_of(fit.weights)
        self.support_ = select_features(self.select, fit.weights, fit.n_targets)
        found = fit.fewest_neighbours
        self.n_neighbors_used_ = int(found) if found == int(found) else found
        self.target_kind_ = self._target_kind
        self.kernel_ = fit.ran_on

    def _read_target(self, y: Any) -> npt.NDArray:
        raise NotImplementedError  # each member knows its own kind of target

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        rows = len(target) if row_weights is None else int((row_weights > 0).sum())
        if rows < 2:
            raise ValueError(
                f"Found array with {rows} sample(s) (shape={(columns.n_rows, columns.n_features)}) while a minimum of 2 "
                f"is required by {type(self).__name__}, which compares rows."
            )

    def _draw_targets(self, n_rows: int) -> npt.NDArray[np.intp] | None:
        """The rows whose neighbours are looked at: all, or a sample without replacement."""
        wanted = self.n_targets
        if wanted is None:
            return None
        if isinstance(wanted, numbers.Integral):
            if wanted > n_rows:
                raise ValueError(f"n_targets={wanted} asks for more rows than the {n_rows} there are.")
            m = int(wanted)
        else:
            m = max(1, round(float(wanted) * n_rows))
        return check_random_state(self.random_state).choice(n_rows, m, replace=False).astype(np.intp)

    # -------------------------------------------------------------------------------------------- parameters

    def _check_parameters(self) -> None:
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if not any(value is choice or value == choice for choice in allowed):
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
        k = self.n_neighbors
        if k != "all" and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1):
            raise ValueError(f'n_neighbors must be an integer of at least 1 or "all"; got {k!r}.')
        m = self.n_targets
        is_count = isinstance(m, numbers.Integral) and not isinstance(m, bool) and m >= 1
        is_share = isinstance(m, numbers.Real) and not isinstance(m, numbers.Integral) and 0 < m <= 1
        if m is not None and not is_count and not is_share:
            raise ValueError(f"n_targets must be None, an integer of at least 1 or a share in (0, 1]; got {m!r}.")
        if not isinstance(self.sigma, numbers.Real) or not self.sigma > 0:
            raise ValueError(f"sigma must be a number greater than 0; got {self.sigma!r}.")
        if self.n_jobs is not None and (not isinstance(self.n_jobs, numbers.Integral) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all; got {self.n_jobs!r}.")
        if np.ndim(self.ramp) != 1 or len(self.ramp) != 2:
            raise ValueError(f"ramp must be two shares of a column's range, (equal, different); got {self.ramp!r}.")
        if self.device == "cuda":
            raise RuntimeError(
                'device="cuda" was asked for, but this version of nearhit has no CUDA kernel. Use device="cpu", or "auto" '
                "to take what is there."
            )
        if isinstance(self.select, str) and self.select.startswith("chebyshev") and self.scale is None:
            raise ValueError("the Chebyshev threshold holds for weights in [-1, 1] only: not with scale=None.")

    def _recipe(self) -> Recipe:
        raise NotImplementedError

    def _shared_choices(self) -> dict[str, Any]:
        """The part of a recipe that every member takes from its parameters."""
        kinds: dict[str, recipes.Weights] = {
            "equal": recipes.EqualWeights(),
            "rank": recipes.RankWeights(float(self.sigma)),
            "distance": recipes.DistanceWeights(1),
            "squared distance": recipes.DistanceWeights(2),
        }
        return {
            "k": None if self.n_neighbors == "all" else int(self.n_neighbors),
            "weights": kinds[self.weights],
            "diff": Diff(cast(DiffKind, self.diff), *map(float, self.ramp)),
            "metric": self.metric,
            "unknown": self.missing,
            "ties": self.ties,
        }

    # ------------------------------------------------------------------------------- what scikit-learn asks for

    def _get_support_mask(self) -> npt.NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def _names(self) -> npt.NDArray:
        return (
            self.feature_names_in_
            if hasattr(self, "feature_names_in_")
            else np.array([f"x{i}" for i in range(self.n_features_in_)], object)
        )

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_nearhit_state": STATE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        saved = state.pop("_nearhit_state", None)
        if saved != STATE:
            raise ValueError(
                f"this {type(self).__name__} was saved in state {saved} by another version of nearhit, which this version "
                f"(state {STATE}) does not read. Load it with the version that saved it, or fit again."
            )
        super().__setstate__(state)
