"""The scikit-learn face that the whole family shares: check the input, run a recipe, keep the result."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from nearhit import recipes
from nearhit.fitting import Fit, Options, choose_coder, fit_recipe
from nearhit.intake import Columns, as_table, read_columns
from nearhit.kept_columns import array_of_rows, as_array, as_frame, keep_columns
from nearhit.ranking import Ranking, ranks_of
from nearhit.recipes import Diff, DiffKind, Recipe
from nearhit.selection import check_rule, p_value_rule, select_features
from nearhit.significance import (
    NO_LARGEST,
    Exchange,
    NullSource,
    PermutationTest,
    Refits,
    Significance,
    find_exchange,
    null_of,
    refuse_stir,
    stir_test,
)
from nearhit.table import Table, make_table
from nearhit.target import read_groups, read_row_weights

#: the form in which a fitted estimator is pickled; an older one is refused
STATE = 1
#: a column with fewer codes between its extremes is not scored to three digits
FEWEST_CODES = 1000
FLOATS = np.finfo(np.float64)
CHOICES = {
    "metric": ("manhattan", "euclidean"),
    "diff": ("linear", "squared", "ramp"),
    "scale": ("range", None),
    "missing": ("expected", "uniform", "skip"),
    "weights": ("equal", "rank", "distance", "squared distance"),
    "ties": ("share", "first"),
    "device": ("auto", "cpu", "cuda"),
    "p_values": (None, "permutation", "stir"),
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
        p_values: str | None = None,
        n_permutations: int = 1000,
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
        self.p_values = p_values
        self.n_permutations = n_permutations

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
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
        groups : array of shape (n_samples,), optional
            Which rows may change their targets with each other, for ``p_values="permutation"``: those of one group. Where
            y is the same in all rows of each group, whole groups of one size change places instead.

        Returns
        -------
        self
        """
        self._forget()
        try:
            self._fit(X, y, sample_weight, groups)
        except BaseException:  # Ctrl-C too: half a fit is no fit
            self._forget()
            raise
        return self

    def ranking(self) -> Ranking:
        """All features, the best first, with weight and rank, and with p-values if `p_values` asked for them."""
        check_is_fitted(self)
        tested = self._tested()
        if tested is None:
            return Ranking.of(self._names(), self.weights_)
        return Ranking.of(self._names(), self.weights_, self.p_values_, tested.least)

    def adjusted_p_values(self, method: str = "max-T") -> npt.NDArray[np.float64]:
        """p-values corrected for looking at many features.

        Parameters
        ----------
        method : {"max-T", "bh", "by"}, default="max-T"
            The chance that any irrelevant feature does as well (step-down maxima of the permuted weights), or the share of
            irrelevant features among those kept, by Benjamini and Hochberg or, under any dependence, Benjamini and
            Yekutieli.

        Returns
        -------
        p_values : array of shape (n_features,)

        Examples
        --------
        >>> import numpy as np
        >>> from nearhit import ReliefF
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(0, 2, size=(200, 10))
        >>> y = X[:, 3] ^ X[:, 7]
        >>> relief = ReliefF(p_values="permutation", n_permutations=199, random_state=0).fit(X, y)
        >>> np.flatnonzero(relief.adjusted_p_values() < 0.05).tolist()
        [3, 7]
        """
        check_is_fitted(self)
        tested = self._tested()
        if tested is None:
            raise AttributeError('there are no p-values: fit with p_values="permutation" or "stir".')
        return tested.adjusted(method).copy()

    def top(self, n: int) -> list[str]:
        """The names of the n best features ("x0", "x1", … for an array, labels as text for a data frame)."""
        if not isinstance(n, numbers.Integral) or n < 1:
            raise ValueError(f"n must be an integer of at least 1; got {n!r}.")
        return [row.feature for row in self.ranking().rows[:n]]

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The weights under scikit-learn's name for them."""
        return self.weights_

    # ------------------------------------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        self._check_parameters()
        self._refuse_idle_groups(groups)
        X = as_table(X, type(self).__name__)
        columns = read_columns(X, self.categorical_features, estimator_name=type(self).__name__)
        validate_data(self, X, y, skip_check_array=True)
        if not isinstance(X, np.ndarray) and not issparse(X) and not hasattr(self, "feature_names_in_"):
            self._names_ = columns.names  # labels that are no strings: scikit-learn keeps no names then
        check_rule(self.select, columns.n_features)
        target = self._read_target(y)
        if len(target) != columns.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {columns.n_rows} rows, "
                f"y has {len(target)}."
            )
        row_weights = read_row_weights(sample_weight, columns.n_rows)
        exchange = self._read_exchange(groups, target, row_weights)
        self._refuse_too_little(columns, target, row_weights)
        self._warn_of_light_rows(row_weights)
        table = make_table(columns, [target], row_weights, scale=self.scale, coder=choose_coder(columns, self.n_jobs))
        self._refuse_weights_beyond_floats(table)
        self._warn_of_narrow_columns(table, columns)
        recipe = self._recipe()
        if recipe.ties == "first" and table.weights is not None and set(np.unique(table.weights.units)) != {1}:
            raise ValueError('ties="first" has no meaning for sample weights other than 0 and 1; use ties="share".')
        if self.p_values == "stir":
            self._refuse_stir(recipe, table)
        targets = self._draw_targets(table.n_rows)
        fit = self._run(recipe, table, targets)
        self._significance_ = self._test(fit, recipe, table, targets, exchange)
        self._keep(fit)

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        return fit_recipe(recipe, table, targets, self._options())

    def _options(self) -> Options:
        return Options(self.n_jobs, self.verbose, type(self).__name__, self._beside)

    def _keep(self, fit: Fit) -> None:
        self.weights_ = fit.weights
        self.ranking_ = ranks_of(fit.weights)
        tested = self._tested()
        self.support_ = select_features(self.select, fit.weights, fit.n_targets, tested.by_name if tested else None)
        if tested:
            self.p_values_ = tested.p_values
            self.null_ = tested.how
        found = fit.fewest_neighbours
        self.n_neighbors_used_ = int(found) if found == int(found) else found
        self.target_kind_ = self._target_kind
        self.kernel_ = fit.ran_on

    # ------------------------------------------------------------------------------------------- significance

    #: so many fits of this estimator run beside each other
    _beside = 1

    def _tested(self) -> Significance | None:
        return getattr(self, "_significance_", None)

    def _test(
        self, fit: Fit, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, exchange: Exchange | None
    ) -> Significance | None:
        """The p-values, if `p_values` asks for any."""
        if self.p_values == "stir":
            return stir_test(recipe, table, targets, self._options())
        if exchange is None:
            return None
        seed = self.random_state
        if not isinstance(seed, numbers.Integral):
            seed = check_random_state(seed).randint(2**31)
        test = PermutationTest(int(self.n_permutations), int(seed), exchange)
        return test.run(fit.weights, self._null(recipe, table, targets), type(self).__name__, self.verbose)

    def _null(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> NullSource:
        """Where the weights under permuted targets come from; a member with a `_run` of its own is fitted again."""
        if type(self)._run is ReliefEstimator._run:
            return null_of(recipe, table, targets, self._options())

        def fit_weights(permuted: Table, beside: int) -> npt.NDArray[np.float64]:
            worker = copy(self)
            worker.n_jobs, worker.verbose, worker._beside = 1, -1, beside
            return worker._run(recipe, permuted, targets).weights

        return Refits(fit_weights, table, self._options())

    def _refuse_stir(self, recipe: Recipe, table: Table) -> None:
        if type(self)._run is not ReliefEstimator._run:
            raise ValueError(
                f'p_values="stir" is a test for one pass over neighbours, which {type(self).__name__} does not make. '
                'Use p_values="permutation".'
            )
        refuse_stir(recipe, table)

    def _refuse_idle_groups(self, groups: Any) -> None:
        if groups is not None and self.p_values != "permutation":
            raise ValueError(
                "groups say which targets may change places in a permutation test; they do nothing with "
                f'p_values={self.p_values!r}. Use p_values="permutation", or leave groups out.'
            )

    def _read_exchange(self, groups: Any, target: npt.NDArray, row_weights: npt.NDArray | None) -> Exchange | None:
        """What may change places among the rows of positive weight; None where nothing is permuted."""
        if self.p_values != "permutation":
            return None
        labels = read_groups(groups, len(target))
        if row_weights is None:
            return find_exchange(target, labels)
        counts = row_weights > 0
        return find_exchange(target[counts], None if labels is None else labels[counts])

    def _read_target(self, y: Any) -> npt.NDArray:
        raise NotImplementedError  # each member knows its own kind of target

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        rows = len(target) if row_weights is None else int((row_weights > 0).sum())
        if rows < 2:
            raise ValueError(
                f"Found array with {rows} sample(s) (shape={(columns.n_rows, columns.n_features)}) while a minimum of 2 "
                f"is required by {type(self).__name__}, which compares rows."
            )

    def _warn_of_light_rows(self, row_weights: npt.NDArray | None) -> None:
        if row_weights is None or self.n_neighbors == "all" or row_weights.max() >= 1:
            return
        if row_weights.sum() > self.n_neighbors:
            return
        warnings.warn(
            f"the sample weights add up to {row_weights.sum():.3g}, and a weight counts as that many rows: with "
            f"n_neighbors={self.n_neighbors} every row is a neighbour of every other. Multiply the weights by a constant if "
            "they were meant as shares.",
            UserWarning,
            stacklevel=4,
        )

    def _refuse_weights_beyond_floats(self, table: Table) -> None:
        """On a common scale weights are in the user's numbers, or their squares, which must be floats themselves.

        Ranges above a quarter of the largest float may have been brought under it by a factor (grid.py): refused too.
        """
        power = 2 if self.diff == "squared" else 1
        smallest, largest = FLOATS.tiny ** (1 / power), (FLOATS.max / 4) ** (1 / power)
        if self.scale is None and self.diff != "ramp" and not smallest <= table.unit <= largest:
            raise ValueError(
                f'with scale=None and diff="{self.diff}" the widest range of a column must lie between {smallest:.2g} and '
                f"{largest:.2g}, or no float holds the weights; got {table.unit:.2g} or more. "
                'Use scale="range", or multiply all columns by a constant.'
            )

    def _warn_of_narrow_columns(self, table: Table, columns: Columns) -> None:
        """On a common scale a column may be so much narrower than the widest that few codes are left for its diffs."""
        if self.scale is not None or self.diff == "ramp":
            return
        spans = table.in_column_order(np.concatenate([table.top, np.full(len(table.nominal_columns), table.mismatch)]))
        codes = spans.astype(float) if self.diff == "linear" else spans.astype(float) ** 2 / 2**31
        for j in np.flatnonzero((spans > 0) & (codes < FEWEST_CODES)):
            warnings.warn(
                f"column {columns.names[j]!r} is so much narrower than the widest one that with scale=None its diffs are "
                'coarse or 0. Use scale="range", or bring the columns to one scale before.',
                UserWarning,
                stacklevel=4,
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
            if not (value is None or isinstance(value, str)) or value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
        k = self.n_neighbors
        is_all = isinstance(k, str) and k == "all"
        if not is_all and (not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1):
            raise ValueError(f'n_neighbors must be an integer of at least 1 or "all"; got {k!r}.')
        m = self.n_targets
        is_count = isinstance(m, numbers.Integral) and not isinstance(m, bool) and m >= 1
        is_share = isinstance(m, numbers.Real) and not isinstance(m, numbers.Integral) and 0 < m <= 1
        if m is not None and not is_count and not is_share:
            raise ValueError(f"n_targets must be None, an integer of at least 1 or a share in (0, 1]; got {m!r}.")
        if not _is_number(self.sigma) or not 0 < self.sigma < float("inf"):
            raise ValueError(f"sigma must be a finite number greater than 0; got {self.sigma!r}.")
        jobs = self.n_jobs
        if jobs is not None and (not isinstance(jobs, numbers.Integral) or isinstance(jobs, bool) or jobs == 0):
            raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all; got {jobs!r}.")
        if not _is_ramp(self.ramp):
            raise ValueError(
                "ramp must be two shares of a column's range, (equal, different) with 0 <= equal < different <= 1; "
                f"got {self.ramp!r}."
            )
        if not isinstance(self.verbose, numbers.Integral) or self.verbose < 0:
            raise ValueError(f"verbose must be an integer of at least 0; got {self.verbose!r}.")
        _check_seed(self.random_state)
        if self.device == "cuda":
            raise RuntimeError(
                'device="cuda" was asked for, but this version of nearhit has no CUDA kernel. Use device="cpu", or "auto" '
                "to take what is there."
            )
        self._check_significance()
        if isinstance(self.select, str) and self.select.startswith("chebyshev") and self.scale is None:
            raise ValueError("the Chebyshev threshold holds for weights in [-1, 1] only: not with scale=None.")

    def _check_significance(self) -> None:
        n = self.n_permutations
        if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n_permutations must be an integer of at least 1; got {n!r}.")
        rule = p_value_rule(self.select)
        if rule is None:
            return
        if self.p_values is None:
            raise ValueError(f'select="{self.select}" needs p-values: add p_values="permutation".')
        if self.p_values == "stir" and rule[0].lower() == "max-t":
            raise ValueError(NO_LARGEST)
        if self.p_values == "permutation" and rule[1] * (n + 1) <= 1:
            raise ValueError(
                f'select="{self.select}" can keep nothing: of {n} permutations the smallest p-value is 1/{n + 1}. Use a '
                "larger n_permutations, or a higher level."
            )

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

    def transform(self, X: Any) -> Any:
        """The selected columns of a table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever `fit` takes, with the features that it saw.

        Returns
        -------
        X_selected : array of shape (n_samples, n_selected_features)
            Unknown values as NaN; an array of objects where the columns are of different kinds. A sparse matrix stays
            one. With ``set_output`` a data frame keeps the dtypes of its columns.
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        validate_data(self, table, skip_check_array=True, reset=False)
        self._warn_of_nothing_selected()
        kept = keep_columns(table, self.support_)
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted != "default":
            return as_frame(kept, wanted)
        return array_of_rows(kept) if isinstance(X, list | tuple) else as_array(kept)

    def _warn_of_nothing_selected(self) -> None:
        if not self.support_.any():
            warnings.warn(
                f"select={self.select!r} keeps none of the {self.n_features_in_} features: what transform returns has no "
                "column. Use a lower threshold, or a number of features.",
                UserWarning,
                stacklevel=4,
            )

    def inverse_transform(self, X: Any) -> Any:
        """The selected columns back in their places, zeros in the others; missing values stay missing."""
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        selected = array_of_rows(table) if isinstance(X, list | tuple) else as_array(table)
        if issparse(selected):
            return super().inverse_transform(selected)
        if selected.shape[1] != self.support_.sum():
            raise ValueError(
                f"X has a different shape than during fitting: it has {selected.shape[1]} columns, and "
                f"{self.support_.sum()} features are selected."
            )
        everything = np.zeros((len(selected), self.n_features_in_), selected.dtype)
        everything[:, self.support_] = selected
        return everything

    def _names(self) -> Sequence[str]:
        """The names by which X was read, as `categorical_features` and messages have them."""
        if hasattr(self, "feature_names_in_"):
            return self.feature_names_in_
        return getattr(self, "_names_", None) or [f"x{i}" for i in range(self.n_features_in_)]

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
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


def _check_seed(random_state: Any) -> None:
    try:
        check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer from 0 to 4294967295 or a numpy.random.RandomState; "
            f"got {random_state!r}."
        ) from None


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_ramp(value: Any) -> bool:
    """Whatever `diff` is: a wrong one would come to light with the first diff="ramp". NaN fails the comparison."""
    if np.ndim(value) != 1 or len(value) != 2 or not all(map(_is_number, value)):
        return False
    equal, different = value
    return bool(0 <= equal < different <= 1)
