"""What the Relief family shares behind its scikit-learn face: check the input, run a recipe, keep the result."""

from __future__ import annotations

import numbers
import warnings
from copy import copy
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from nearhit import recipes
from nearhit.feature_scorer import FeatureScorer, check_seed, is_number, refuse_other_length
from nearhit.fitting import Fit, Options, choose_coder, fit_recipe
from nearhit.intake import Columns
from nearhit.ranking import Ranking, ranks_of
from nearhit.recipes import Diff, DiffKind, Recipe
from nearhit.redundancy import TWINS, check_threshold, find_twins
from nearhit.resampling import seed_of, stable_shares
from nearhit.selection import is_chebyshev, p_value_rule, select_features, stability_rule
from nearhit.significance import (
    NO_LARGEST,
    Exchange,
    NullSource,
    PermutationTest,
    Refits,
    Significance,
    find_exchange,
    mean_weights_differ,
    null_of,
    refuse_stir,
    stir_test,
)
from nearhit.table import Table, make_table
from nearhit.target import read_groups, read_row_weights

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


class ReliefEstimator(FeatureScorer):
    """What all members of the family do alike. Not for use by itself."""

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
        redundancy: bool | float = False,
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
        self.redundancy = redundancy
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
            return super().ranking()
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
            if not self._takes("p_values"):
                raise AttributeError(f"{self._says_no_p_values()}.")
            raise AttributeError('there are no p-values: fit with p_values="permutation" or "stir".')
        return tested.adjusted(method).copy()

    # ------------------------------------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> None:
        recipe, table, targets = self._prepare(X, y, sample_weight)
        exchange = self._read_exchange(groups, table, _num_samples(y), sample_weight)
        if self.p_values == "stir":
            self._refuse_stir(recipe, table)
        fit = self._run(recipe, table, targets)
        self._significance_ = self._test(fit, recipe, table, targets, exchange)
        self._look_closer(fit, recipe, table, targets)
        self._keep(fit)

    def _look_closer(self, fit: Fit, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> None:
        """What was asked for beside the weights, while the table is there."""
        if rule := stability_rule(self.select):
            self.stability_ = stable_shares(rule, self, recipe, table, targets, self._seed_of_resamples())
        redundancy = getattr(self, "redundancy", False)
        if redundancy is not False:
            threshold = TWINS if redundancy is True else float(redundancy)
            names, options = self._names(), self._options()
            self.redundancy_ = find_twins(recipe, table, targets, fit.weights, names, threshold, options=options)

    def _seed_of_resamples(self) -> int:
        """For members that have no `random_state` the halves are the same in each fit: nothing else of them is drawn."""
        return seed_of(self.random_state) if self._takes("random_state") else 0

    def _takes(self, parameter: str) -> bool:
        """Whether this is a parameter, and not a choice that the member has made."""
        return parameter in self._get_param_names()

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Recipe, Table, npt.NDArray[np.intp] | None]:
        """Check everything; the recipe, the table and the target rows that are to run."""
        self._check_parameters()
        columns = self._read_columns(X, y)
        target = self._read_target(y)
        refuse_other_length(target, columns.n_rows)
        row_weights = read_row_weights(sample_weight, columns.n_rows, stacklevel=5)
        self._refuse_too_little(columns, target, row_weights)
        self._warn_of_light_rows(row_weights)
        table = make_table(columns, [target], row_weights, scale=self.scale, coder=choose_coder(columns, self.n_jobs))
        self._refuse_weights_beyond_floats(table)
        self._warn_of_narrow_columns(table, columns)
        recipe = self._recipe()
        if recipe.ties == "first" and table.weights is not None and set(np.unique(table.weights.units)) != {1}:
            raise ValueError('ties="first" has no meaning for sample weights other than 0 and 1; use ties="share".')
        return recipe, table, self._draw_targets(table.n_rows)

    def _kind(self) -> str:
        """What y was taken for."""
        return self._target_kind

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        return fit_recipe(recipe, table, targets, self._options())

    def _options(self) -> Options:
        return Options(self.n_jobs, self.verbose, type(self).__name__, self._beside)

    def _keep(self, fit: Fit) -> None:
        self.weights_ = fit.weights
        self.ranking_ = ranks_of(fit.weights)
        tested = self._tested()
        stable = getattr(self, "stability_", None)
        self.support_ = select_features(
            self.select, fit.weights, fit.n_targets, tested.by_name if tested else None, shares=stable
        )
        if tested:
            self.p_values_ = tested.p_values
            self.null_ = tested.how
        found = fit.fewest_neighbours
        self.n_neighbors_used_ = int(found) if found == int(found) else found
        self.target_kind_ = self._kind()
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

    def _read_exchange(self, groups: Any, table: Table | None, n_rows: int, sample_weight: Any) -> Exchange | None:
        """What may change places among the rows of positive weight; None where nothing is permuted."""
        if self.p_values != "permutation":
            if groups is not None and not self._takes("p_values"):
                raise ValueError(
                    "groups say which targets may change places in a permutation test: leave groups out. "
                    f"{self._says_no_p_values()}."
                )
            if groups is not None:
                raise ValueError(
                    "groups say which targets may change places in a permutation test; they do nothing with "
                    f'p_values={self.p_values!r}. Use p_values="permutation", or leave groups out.'
                )
            return None
        assert table is not None
        labels = read_groups(groups, n_rows)
        if labels is not None and table.n_rows < n_rows:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it has been said
                weights = read_row_weights(sample_weight, n_rows)
            assert weights is not None  # rows are missing in the table because they weigh nothing
            labels = labels[weights > 0]
        if mean_weights_differ(table):
            warnings.warn(
                "sample weights differ between the classes and within them: p-values hold for weights that have nothing to "
                "do with y, or for one weight for each class. Test without weights, or give one to each class.",
                UserWarning,
                stacklevel=5,
            )
        return find_exchange(table.targets[0].codes, labels)

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
            stacklevel=5,
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
                stacklevel=5,
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
        if not is_number(self.sigma) or not 0 < self.sigma < float("inf"):
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
        check_seed(self.random_state)
        if not isinstance(self.redundancy, bool):
            check_threshold("redundancy", self.redundancy, "True, False or ")
        if self.device == "cuda":
            raise RuntimeError(
                'device="cuda" was asked for, but this version of nearhit has no CUDA kernel. Use device="cpu", or "auto" '
                "to take what is there."
            )
        self._check_significance()
        if is_chebyshev(self.select) and self.scale is None:
            raise ValueError("the Chebyshev threshold holds for weights in [-1, 1] only: not with scale=None.")

    def _check_significance(self) -> None:
        n = self.n_permutations
        if not isinstance(n, numbers.Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n_permutations must be an integer of at least 1; got {n!r}.")
        rule = p_value_rule(self.select)
        if rule is None:
            return
        self._refuse_p_value_rule()
        if self.p_values is None:
            raise ValueError(f'select="{self.select}" needs p-values: add p_values="permutation".')
        if self.p_values == "stir" and rule[0].lower() == "max-t":
            raise ValueError(NO_LARGEST)
        if self.p_values == "permutation" and rule[1] * (n + 1) <= 1:
            raise ValueError(
                f'select="{self.select}" can keep nothing: of {n} permutations the smallest p-value is 1/{n + 1}. Use a '
                "larger n_permutations, or a higher level."
            )

    def _refuse_p_value_rule(self) -> None:
        """Where no parameter could bring p-values."""
        if p_value_rule(self.select) and not self._takes("p_values"):
            raise ValueError(f'select="{self.select}" needs p-values. {self._says_no_p_values()}.')

    def _says_no_p_values(self) -> str:
        return (
            f"{type(self).__name__} has no p-values; how steady its ranking is says "
            'nearhit.stability, or select="stability>0.8"'
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


def refuse_idle(estimator: ReliefEstimator, who: str) -> None:
    """Refuse what an estimator was asked for beside its weights, where `who` looks at its weights only."""
    name = type(estimator).__name__
    if estimator.p_values is not None:
        raise ValueError(
            f"p_values={estimator.p_values!r} was given to the estimator inside {who}, which takes its weights only. Leave "
            f"it out there, and fit {name}(p_values={estimator.p_values!r}) by itself for p-values."
        )
    if estimator.redundancy is not False:
        raise ValueError(
            f"redundancy={estimator.redundancy!r} was given to the estimator inside {who}, which takes its weights only. "
            "Leave it out there, and call nearhit.find_redundancy for twins."
        )


def _is_ramp(value: Any) -> bool:
    """Whatever `diff` is: a wrong one would come to light with the first diff="ramp". NaN fails the comparison."""
    if np.ndim(value) != 1 or len(value) != 2 or not all(map(is_number, value)):
        return False
    equal, different = value
    return bool(0 <= equal < different <= 1)
