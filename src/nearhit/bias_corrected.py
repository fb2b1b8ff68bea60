"""`BiasCorrectedRelief`: Relief without its bias against features that peak inside their range (SPEC.md section 5).

Points come from reflection.py, sums from same_side.py; this file is the scikit-learn face.
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nearhit import recipes
from nearhit.fitting import Fit
from nearhit.intake import Columns
from nearhit.recipes import Recipe
from nearhit.reflection import Scales, find_points
from nearhit.relief import OfEither
from nearhit.same_side import Form, fit_same_side
from nearhit.table import Classes, Numbers, Table, make_target

FloatArray = npt.NDArray[np.float64]
FORMS = ("relieff", "averaged")
NO_POINTS = 'points must be "auto", None or one number for each feature; got %s.'


class BiasCorrectedRelief(OfEither):
    """Which features tell the target, without the bias against those that peak inside their range (Bins and Draper).

    The near rows of a row may lie on both sides of a feature's peak, and then a feature that tells the target well looks
    as if it did not: ReliefF gives such a feature a third to a half of what it gives a monotonic one that tells as much,
    the older forms next to nothing. Here the peak or valley of each feature is found, and the feature is judged
    only by hits and misses on the same side of it, with diffs as shares of that side.

    Parameters
    ----------
    n_neighbors : int or "all", default=10
        Neighbours from each class, before those on the other side are left out, feature by feature.
    form : {"relieff", "averaged"}, default="relieff"
        "relieff": ReliefF on one side. "averaged" is the form of the paper: the squared diff from the mean of
        the neighbours, misses weighted by P(C) as printed in 1994, so that zero is not quite "irrelevant".
    target : {"auto", "classes", "numeric"}, default="auto"
        What y is. "auto" takes floats with a fraction as numbers and all else as classes; reported in `target_kind_`.
    n_bins : int, default=10
        Numeric targets are cut into so many classes of equal frequency, or fewer, if there are not two rows for each;
        points are found on the numbers themselves.
    points : "auto", None or array of shape (n_features,), default="auto"
        The reflection points: found, none (then this is ReliefF, or Relief on averages), or given in the units of the
        features, with NaN where there is none.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        How the diffs of the features add up to the distance that decides who is near.
    weights : {"equal", "rank", "distance", "squared distance"}, default="equal"
        How much each neighbour counts: alike, e^-(rank/sigma)^2, 1/distance or 1/distance^2.
    sigma : float, default=20
        For ``weights="rank"``.
    n_targets : int, float or None, default=None
        How many rows (or which share) look for neighbours, drawn without replacement; None: all.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Which columns are compared for equality only. They have no order, hence no reflection point.
    select : None, int, float, str or callable, default=None
        What `transform` keeps; see `nearhit.ReliefF`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the work runs; reported in `kernel_`.
    n_jobs : int or None, default=None
        Threads. None takes all cores, or one inside a parallel worker of joblib. No bit of the result depends on it.
    random_state : int, RandomState or None, default=None
        For `n_targets`, for the permutations and for ``select="stability>…"``.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.
    p_values : {None, "permutation"}, default=None
        How often does a feature weigh as much once the targets have been shuffled? A fit for each permutation, which
        finds reflection points of its own.
    n_permutations : int, default=1000
        The smallest p-value is 1 / (n_permutations + 1).

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        How much each feature matters; about 0 or below for irrelevant ones. Also `feature_importances_`.
    reflection_points_ : array of shape (n_features,)
        Where each feature is reflected, in its own units; NaN for monotonic features and categories.
    n_targets_used_ : array of shape (n_features,)
        How many rows (or how much weight) had a hit and a miss on their side.
    ranking_ : array of shape (n_features,)
        1 for the best; equal weights share a rank.
    support_ : array of shape (n_features,)
        Mask of the selected features.
    n_neighbors_used_ : int
        The smallest neighbourhood that was looked at, before sides: less than `n_neighbors` where a class is small.
    target_kind_ : str
        "classes" or "numeric": what y was taken for.
    classes_ : array
        The classes of y, unless it was taken for numbers.
    n_bins_ : int
        How many classes were made of numbers: fewer than `n_bins` where rows are few or many values equal.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    kernel_ : str
        What ran.
    p_values_ : array of shape (n_features,)
        With `p_values`: the chance of a weight as large if no feature had anything to do with the target.
    null_ : str
        With `p_values`: what the weights were compared with.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    find_reflection_points : the points alone.
    ReliefF : without the correction.

    Examples
    --------
    The second feature tells as much as the first, but half of its rows are mirrored:

    >>> from nearhit import BiasCorrectedRelief, ReliefF
    >>> from nearhit.domains import reflected
    >>> X, y, names = reflected(features=("L1",), random_state=0)
    >>> ReliefF().fit(X, (y * 5).astype(int)).weights_.round(2)
    array([0.27, 0.13, 0.15])
    >>> corrected = BiasCorrectedRelief(n_bins=5).fit(X, y)
    >>> corrected.weights_.round(2), corrected.reflection_points_.round(1)
    (array([0.27, 0.27, 0.29]), array([nan, 0.5, 0.5]))
    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        form: str = "relieff",
        target: str = "auto",
        n_bins: int = 10,
        points: Any = "auto",
        metric: str = "manhattan",
        weights: str = "equal",
        sigma: float = 20,
        n_targets: int | float | None = None,
        categorical_features: Any = "from_dtype",
        select: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        p_values: str | None = None,
        n_permutations: int = 1000,
    ) -> None:
        # Sides are linear shares of ranges, and rows at equal distance share their places: the rest is not for choice.
        super().__init__(
            n_neighbors,
            metric=metric,
            diff="linear",
            ramp=(0.04, 0.10),
            scale="range",
            missing="expected",
            weights=weights,
            sigma=sigma,
            n_targets=n_targets,
            ties="share",
            categorical_features=categorical_features,
            select=select,
            device=device,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            p_values=p_values,
            n_permutations=n_permutations,
        )
        self.form = form
        self.target = target
        self.n_bins = n_bins
        self.points = points

    # ------------------------------------------------------------------------------------------- checks at the door

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.form, str) or self.form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(map(repr, FORMS))}; got {self.form!r}.")
        bins = self.n_bins
        if not isinstance(bins, numbers.Integral) or isinstance(bins, bool) or bins < 2:
            raise ValueError(f"n_bins must be an integer of at least 2; got {bins!r}.")
        if isinstance(self.points, str) and self.points != "auto":
            raise ValueError(NO_POINTS % repr(self.points))

    def _refuse_too_little(self, columns: Columns, target: npt.NDArray, row_weights: npt.NDArray | None) -> None:
        super()._refuse_too_little(columns, target, row_weights)
        self._scales_ = Scales.of(columns, row_weights)
        self._given_ = None if isinstance(self.points, str) else self._read_points(columns)

    def _read_points(self, columns: Columns) -> FloatArray:
        """The points that were given; NaN for none."""
        if self.points is None:
            return np.full(columns.n_features, np.nan)
        try:
            points = np.array(self.points, np.float64)
        except (TypeError, ValueError):
            raise ValueError(NO_POINTS % repr(self.points)) from None
        if points.shape != (columns.n_features,):
            raise ValueError(
                f"points must hold one number for each of the {columns.n_features} features, NaN where there is none; "
                f"got an array of shape {points.shape}."
            )
        for j in np.flatnonzero(~np.isnan(points)):
            low, width, unit = (part[j] for part in self._scales_)
            if np.isnan(unit):
                name = columns.names[j]
                raise ValueError(f"column {name!r} holds categories, which have no reflection point; give NaN.")
            if not low < points[j] / unit < low + width:
                warnings.warn(
                    f"the reflection point {points[j]:g} of column {columns.names[j]!r} does not lie inside its range, so "
                    "the column is taken as monotonic. Give NaN if it is.",
                    UserWarning,
                    stacklevel=5,
                )
                points[j] = np.nan
        return points

    # ------------------------------------------------------------------------------------------------- the fit itself

    def _recipe(self) -> Recipe:
        miss: recipes.Miss = "prior as printed" if self.form == "averaged" else "prior over others"
        return replace(recipes.RELIEFF, miss=miss, **self._shared_choices())

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        points = self._points_of(table)
        if isinstance(table.targets[0], Numbers):
            bins = bins_of_equal_frequency(table, int(self.n_bins))
            self.n_bins_ = bins.n_classes
            table = replace(table, targets=(bins,))
        found = fit_same_side(recipe, table, points, cast(Form, self.form), targets, self._options())
        self._found_ = (points, table, found.n_targets_used)
        return found.fit

    def _points_of(self, table: Table) -> FloatArray:
        if isinstance(self.points, str):
            return find_points(table)
        if self.points is None:
            return np.full(table.n_features, np.nan)
        given = getattr(
            self, "_given_", None
        )  # none where another estimator scores parts of its own table with this one
        if given is None or len(given) != table.n_features:
            raise ValueError(
                "points were given for all features, and some of them are to be scored alone. Use points="
                '"auto" inside an estimator that drops features.'
            )
        return self._scales_.in_codes(given, table)

    def _keep(self, fit: Fit) -> None:
        super()._keep(fit)
        points, table, self.n_targets_used_ = self._found_
        in_units = self._scales_.in_units_of_features
        self.reflection_points_ = in_units(points, table) if self._given_ is None else self._given_
        del self._scales_, self._given_, self._found_


def bins_of_equal_frequency(table: Table, n_bins: int) -> Classes:
    """A numeric target as classes: a value belongs to the bin in which the middle of its rows lies.

    Equal values stay together; bins without a value are gone. In a table of few rows there are fewer bins, so that two rows
    fall into each: a class of one row has no hit.
    """
    target, units = table.targets[0], table.units()
    n_bins = max(2, min(n_bins, table.all_units // (2 * table.one)))
    _, position = np.unique(target.codes, return_inverse=True)
    own = np.bincount(position, weights=units)  # whole floats
    middle = np.cumsum(own) - own / 2
    bins = np.minimum(np.floor(middle * n_bins / own.sum()), n_bins - 1).astype(np.int64)[position]
    classes = make_target(np.unique(bins, return_inverse=True)[1], units)
    assert isinstance(classes, Classes)
    return classes
