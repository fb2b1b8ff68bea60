"""The classical members of the Relief family as scikit-learn estimators: `ReliefF`, `RReliefF`, `Relief`.

Each is a thin face over a recipe (recipes.py). docs/recipes.md says which parameters make which letter of the papers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nearhit import recipes
from nearhit.estimator import ReliefEstimator
from nearhit.fitting import Fit, fit_one_against_rest
from nearhit.intake import Columns
from nearhit.recipes import Recipe
from nearhit.significance import NullSource, null_of_one_against_rest, refuse_stir
from nearhit.table import Table
from nearhit.target import check_target_kind, kind_of_target, read_classes, read_numbers

#: what `misses=` stands for: (grouping, weight of a miss, whether hits count)
MISSES: dict[str, tuple[recipes.Grouping, recipes.Miss, bool]] = {
    "each class": ("each class", "prior over others", True),
    "as printed": ("each class", "prior as printed", True),
    "any class": ("hits and misses", "equal", True),
    "only": ("hits and misses", "equal", False),
}

_SHARED_PARAMETERS = """metric : {"manhattan", "euclidean"}, default="manhattan"
        How the diffs of the features add up to the distance that decides who is near.
    diff : {"linear", "squared", "ramp"}, default=%(diff)s
        The diff of two numbers: their distance in ranges of the column, its square, or a ramp between `ramp[0]`
        (equal) and `ramp[1]` (different). Used in the distance and in the weights.
    ramp : (float, float), default=(0.04, 0.10)
        Where the ramp starts and ends, as shares of the range; only for ``diff="ramp"``.
    scale : {"range", None}, default="range"
        None: columns are on one common scale and are not divided by their ranges.
    missing : {"expected", "uniform", "skip"}, default="expected"
        An unknown value differs by what is expected given the classes, or by what two random values differ by, or the
        latter in the distance while the pair is left out of that feature's weight.
    weights : {"equal", "rank", "distance", "squared distance"}, default=%(weights)s
        How much each neighbour counts: alike, e^-(rank/sigma)^2, 1/distance or 1/distance^2.
    sigma : float, default=20
        For ``weights="rank"``.
    n_targets : int, float or None, default=None
        How many rows (or which share) look for neighbours, drawn without replacement; None: all. Every row with a
        positive sample weight is as likely to be drawn as any other; once drawn it counts with its weight.
    ties : {"share", "first"}, default="share"
        Rows at equal distance share the places they compete for, so that the order of rows does not matter; or the
        first in row order wins.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Which columns are compared for equality only. Strings, booleans and categories always are; numbers only if
        named here.
    select : None, int, float, str or callable, default=None
        What `transform` keeps: everything, so many features, a share, those above the widest "gap", above the
        "chebyshev(0.05)" threshold, above a number (">0.02"), those with a p-value under a level ("p<0.05", or adjusted
        "p(max-T)<0.05", "p(bh)<0.05", "p(by)<0.05"), or what a function of the weights returns (mask or positions).
        "stability>0.8": those among the best in more than 80 %% of 100 halves of the rows, which takes about 30 times
        as long; "stability(10)>0.8" says among the best how many.
    redundancy : bool or float, default=False
        True looks for twins among the 50 best features, a number in (0, 1] for those with such a correlation of diffs
        or more (True: 0.95), and puts them into `redundancy_`. Takes a few times as long as the weights.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the work runs; reported in `kernel_`.
    n_jobs : int or None, default=None
        Threads. None takes all cores, or one inside a parallel worker of joblib. No bit of the result depends on it.
    random_state : int, RandomState or None, default=None
        For `n_targets`, for the permutations and for ``select="stability>…"``.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.
    p_values : {None, "permutation", "stir"}, default=None
        "permutation": how often does a feature weigh as much once the targets have been shuffled? See
        `adjusted_p_values` for many features at once, and `groups` of `fit` for rows that may not change places freely.
        "stir": a t-test of miss diffs against hit diffs, for classes; quick, and only roughly right.
    n_permutations : int, default=1000
        The smallest p-value is 1 / (n_permutations + 1)."""

_SHARED_ATTRIBUTES = """weights_ : array of shape (n_features,)
        How much each feature matters; about 0 or below for irrelevant ones. Also `feature_importances_`.
    ranking_ : array of shape (n_features,)
        1 for the best; equal weights share a rank.
    support_ : array of shape (n_features,)
        Mask of the selected features.
    n_neighbors_used_ : int
        The smallest neighbourhood that was averaged: less than `n_neighbors` where a class is small.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    redundancy_ : Redundancy
        With `redundancy`: features that tell the same as a better one.
    target_kind_ : str
        "classes" or "numeric": what y was taken for.
    kernel_ : str
        What ran.
    p_values_ : array of shape (n_features,)
        With `p_values`: the chance of a weight as large if no feature had anything to do with the target.
    null_ : str
        With `p_values`: what the weights were compared with.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn."""


class OfClasses(ReliefEstimator):
    """What the members for a nominal target share."""

    _target_kind: ClassVar[str] = "classes"

    def _read_target(self, y: Any) -> npt.NDArray:
        target = read_classes(y, type(self).__name__)
        self.classes_ = target.classes
        return target.codes

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        super()._refuse_too_little(columns, target, row_weights)
        seen = target if row_weights is None else target[row_weights > 0]
        present = np.unique(seen)
        if len(present) < 2:
            only = (
                self.classes_[present[0]].item()
                if hasattr(self.classes_[present[0]], "item")
                else self.classes_[present[0]]
            )
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in y; all {len(seen)} rows are {only!r} (one class)."
            )
        self.classes_ = self.classes_[present]  # a class of no weight is none


class OfEither(OfClasses):
    """What the members share that take classes or numbers, as their parameter `target` says."""

    target: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_target_kind(self.target)

    def _read_target(self, y: Any) -> npt.NDArray:
        self.target_kind_ = kind_of_target(y) if self.target == "auto" else self.target
        if self.target_kind_ == "classes":
            return super()._read_target(y)
        return read_numbers(y, type(self).__name__)

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        if self.target_kind_ == "classes":
            super()._refuse_too_little(columns, target, row_weights)
        else:
            ReliefEstimator._refuse_too_little(self, columns, target, row_weights)
            refuse_constant(type(self).__name__, target, row_weights)

    def _kind(self) -> str:
        return self.target_kind_


def refuse_constant(who: str, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
    """Numbers must vary."""
    seen = target if row_weights is None else target[row_weights > 0]
    if seen.min() == seen.max():
        raise ValueError(f"{who} needs a target that varies; y is {seen[0]:g} in all {len(seen)} rows.")


class ReliefF(OfClasses):
    __doc__ = f"""Which features tell the classes apart, alone or together (Kononenko 1994; Robnik-Šikonja and Kononenko).

    For each row ReliefF looks at its nearest neighbours of the same class and of each other class. A feature gains
    where it differs from a near row of another class, and loses where it differs from a near row of the same class.
    Because *near* is judged on all features, it sees features that matter only in combination.

    Parameters
    ----------
    n_neighbors : int or "all", default=10
        Neighbours from each class.
    misses : {{"each class", "as printed", "any class", "only"}}, default="each class"
        Which neighbours of other classes count: the nearest of each other class, weighted by its share among the other
        classes; the same with the bare share, as printed in 1994; the nearest of any other class; those, and no hits.
    {_SHARED_PARAMETERS % {"diff": '"linear"', "weights": '"equal"'}}

    Attributes
    ----------
    {_SHARED_ATTRIBUTES}
    classes_ : array
        The classes of y.

    See Also
    --------
    RReliefF : the same for a numeric target.

    Examples
    --------
    Two columns that tell nothing alone and everything together:

    >>> import numpy as np
    >>> from nearhit import ReliefF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> y = X[:, 3] ^ X[:, 7]
    >>> sorted(ReliefF().fit(X, y).top(2))
    ['x3', 'x7']
    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        misses: str = "each class",
        metric: str = "manhattan",
        diff: str = "linear",
        ramp: tuple[float, float] = (0.04, 0.10),
        scale: str | None = "range",
        missing: str = "expected",
        weights: str = "equal",
        sigma: float = 20,
        n_targets: int | float | None = None,
        ties: str = "share",
        categorical_features: Any = "from_dtype",
        select: Any = None,
        redundancy: bool | float = False,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        p_values: str | None = None,
        n_permutations: int = 1000,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            diff=diff,
            ramp=ramp,
            scale=scale,
            missing=missing,
            weights=weights,
            sigma=sigma,
            n_targets=n_targets,
            ties=ties,
            categorical_features=categorical_features,
            select=select,
            redundancy=redundancy,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            p_values=p_values,
            n_permutations=n_permutations,
        )
        self.misses = misses

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.misses, str) or self.misses not in MISSES:
            raise ValueError(f"misses must be one of {', '.join(map(repr, MISSES))}; got {self.misses!r}.")

    def _recipe(self) -> Recipe:
        grouping, miss, hits = MISSES[self.misses]
        return replace(recipes.RELIEFF, grouping=grouping, miss=miss, hits=hits, **self._shared_choices())


class Relief(OfClasses):
    __doc__ = f"""The original of the family (Kira and Rendell 1992): one nearest hit, one nearest miss, squared diffs.

    More than two classes are taken as they proposed: each class against the rest, and the mean weighted by the share
    of the classes. `ReliefF` is the better choice for real work; this one is for comparison and for the papers.

    Parameters
    ----------
    n_neighbors : int or "all", default=1
        Hits and misses.
    {_SHARED_PARAMETERS % {"diff": '"squared"', "weights": '"equal"'}}

    Attributes
    ----------
    {_SHARED_ATTRIBUTES}
    classes_ : array
        The classes of y.

    Examples
    --------
    >>> from nearhit import Relief
    >>> X = [[3, 4], [2, 5], [6, 7], [5, 6]]
    >>> Relief(scale=None, select=">5").fit(X, ["C1", "C1", "C2", "C2"]).weights_.tolist()
    [5.5, 3.5]
    """

    def __init__(
        self,
        n_neighbors: int | str = 1,
        *,
        metric: str = "manhattan",
        diff: str = "squared",
        ramp: tuple[float, float] = (0.04, 0.10),
        scale: str | None = "range",
        missing: str = "expected",
        weights: str = "equal",
        sigma: float = 20,
        n_targets: int | float | None = None,
        ties: str = "share",
        categorical_features: Any = "from_dtype",
        select: Any = None,
        redundancy: bool | float = False,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        p_values: str | None = None,
        n_permutations: int = 1000,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            diff=diff,
            ramp=ramp,
            scale=scale,
            missing=missing,
            weights=weights,
            sigma=sigma,
            n_targets=n_targets,
            ties=ties,
            categorical_features=categorical_features,
            select=select,
            redundancy=redundancy,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            p_values=p_values,
            n_permutations=n_permutations,
        )

    def _recipe(self) -> Recipe:
        return replace(recipes.RELIEF, **self._shared_choices())

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        return fit_one_against_rest(recipe, table, targets, self._options())

    def _refuse_stir(self, recipe: Recipe, table: Table) -> None:
        if len(self.classes_) > 2:
            raise ValueError(
                f'p_values="stir" has no form for each class against the rest; y has {len(self.classes_)} classes. Use '
                'ReliefF, or p_values="permutation".'
            )
        refuse_stir(recipe, table)

    def _null(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> NullSource:
        return null_of_one_against_rest(recipe, table, targets, self._options())


class RReliefF(ReliefEstimator):
    __doc__ = f"""Which features tell a numeric target, alone or together (Robnik-Šikonja and Kononenko 1997).

    Without classes there are no hits and misses: a feature gains where it differs between near rows in as far as their
    targets differ, and loses where it differs although they agree. Numbers, categories and missing values as in
    `ReliefF`; an unknown value differs by what is expected over the whole table.

    Parameters
    ----------
    n_neighbors : int or "all", default=70
        Neighbours of each row.
    {_SHARED_PARAMETERS % {"diff": '"linear"', "weights": '"rank"'}}

    Attributes
    ----------
    {_SHARED_ATTRIBUTES}

    See Also
    --------
    ReliefF : the same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import RReliefF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 8))
    >>> y = (X[:, 2] - 0.5) * (X[:, 5] - 0.5)
    >>> sorted(RReliefF().fit(X, y).top(2))
    ['x2', 'x5']
    """

    _target_kind: ClassVar[str] = "numeric"

    def __init__(
        self,
        n_neighbors: int | str = 70,
        *,
        metric: str = "manhattan",
        diff: str = "linear",
        ramp: tuple[float, float] = (0.04, 0.10),
        scale: str | None = "range",
        missing: str = "expected",
        weights: str = "rank",
        sigma: float = 20,
        n_targets: int | float | None = None,
        ties: str = "share",
        categorical_features: Any = "from_dtype",
        select: Any = None,
        redundancy: bool | float = False,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        p_values: str | None = None,
        n_permutations: int = 1000,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            diff=diff,
            ramp=ramp,
            scale=scale,
            missing=missing,
            weights=weights,
            sigma=sigma,
            n_targets=n_targets,
            ties=ties,
            categorical_features=categorical_features,
            select=select,
            redundancy=redundancy,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            p_values=p_values,
            n_permutations=n_permutations,
        )

    def _recipe(self) -> Recipe:
        return replace(recipes.RRELIEFF, **self._shared_choices())

    def _read_target(self, y: Any) -> npt.NDArray:
        return read_numbers(y, type(self).__name__, "Use ReliefF for a target of classes.")

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        super()._refuse_too_little(columns, target, row_weights)
        refuse_constant(type(self).__name__, target, row_weights)
