"""Members that look within a radius instead of at k neighbours: SURF, MultiSURF, their starred forms, SWRF*.

    near: D < T            far: D > T              T the mean distance of all pairs                           SURF, SURF*
    near: D < T - s/2      far: D > T + s/2        T, s mean and deviation of the target's own distances      MultiSURF(*)

Greene et al. 2009 (SURF) and 2010 (SURF*), Stokes and Visweswaran 2012 (SWRF*), Granizo-Mackenzie and Moore 2013
(MultiSURF*), Urbanowicz et al. 2018 (MultiSURF). Each is a recipe (recipes.py); what is the same for all is here once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, cast

from nearhit import recipes
from nearhit.recipes import Diff, DiffKind, Recipe
from nearhit.relief import OfEither
from nearhit.selection import is_chebyshev

_PARAMETERS = """target : {"auto", "classes", "numeric"}, default="auto"
        What y is. "auto" takes floats with a fraction for numbers, everything else for classes, and says so in
        `target_kind_`. With numbers, a pair is a hit whose targets differ by less than one standard deviation.
    diff : {"linear", "squared", "ramp"}, default="linear"
        The diff of two numbers: their distance in ranges of the column, its square, or a ramp between `ramp[0]`
        (equal) and `ramp[1]` (different). Used in the distance and in the weights.
    ramp : (float, float), default=(0.04, 0.10)
        Where the ramp starts and ends, as shares of the range; only for ``diff="ramp"``.
    scale : {"range", None}, default="range"
        None: columns are on one common scale and are not divided by their ranges.
    missing : {"expected", "uniform", "skip"}, default="expected"
        An unknown value differs by what is expected given the classes, or by what two random values differ by, or the
        latter in the distance while the pair is left out of that feature's weight.
    n_targets : int, float or None, default=None
        How many rows (or which share) look around, drawn without replacement; None: all.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Which columns are compared for equality only. Strings, booleans and categories always are; numbers only if
        named here.
    select : None, int, float, str or callable, default=None
        What `transform` keeps; see `nearhit.ReliefF`.
    redundancy : bool or float, default=False
        True looks for twins among the best features; see `nearhit.ReliefF`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where the work runs; reported in `kernel_`.
    n_jobs : int or None, default=None
        Threads. None takes all cores, or one inside a parallel worker of joblib. No bit of the result depends on it.
    random_state : int, RandomState or None, default=None
        For `n_targets`, for the permutations and for ``select="stability>…"``.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.
    p_values : {None, "permutation"}, default=None
        How often does a feature weigh as much once the targets have been shuffled? A fit for each permutation.
    n_permutations : int, default=1000
        The smallest p-value is 1 / (n_permutations + 1)."""

_ATTRIBUTES = """weights_ : array of shape (n_features,)
        How much each feature matters. Also `feature_importances_`.
    ranking_ : array of shape (n_features,)
        1 for the best; equal weights share a rank.
    support_ : array of shape (n_features,)
        Mask of the selected features.
    n_neighbors_used_ : int
        The smallest group of hits or misses that a row found near; 0 where one found none of a class.
    target_kind_ : str
        "classes" or "numeric": what y was taken for.
    classes_ : array
        The classes of y, unless it was taken for numbers.
    kernel_ : str
        What ran.
    p_values_ : array of shape (n_features,)
        With `p_values`: the chance of a weight as large if no feature had anything to do with the target.
    null_ : str
        With `p_values`: what the weights were compared with.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    redundancy_ : Redundancy
        With `redundancy`: features that tell the same as a better one, by their diffs on near rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn."""


class RadiusMember(OfEither):
    """What these members share. Not for use by itself."""

    _member: ClassVar[Recipe]
    # What members with k neighbours have parameters for is fixed here.
    n_neighbors = "all"
    metric, weights, sigma, ties = "manhattan", "equal", 20.0, "share"

    def __init__(
        self,
        *,
        target: str = "auto",
        diff: str = "linear",
        ramp: tuple[float, float] = (0.04, 0.10),
        scale: str | None = "range",
        missing: str = "expected",
        n_targets: int | float | None = None,
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
        self.target = target
        self.diff = diff
        self.ramp = ramp
        self.scale = scale
        self.missing = missing
        self.n_targets = n_targets
        self.categorical_features = categorical_features
        self.select = select
        self.redundancy = redundancy
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.p_values = p_values
        self.n_permutations = n_permutations

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.p_values == "stir":
            raise ValueError(
                f'p_values="stir" is a test for k neighbours, which {type(self).__name__} does not look for. Use '
                'p_values="permutation".'
            )
        if self._member.far and is_chebyshev(self.select):
            raise ValueError(
                "the Chebyshev threshold holds for weights of near rows only: not with "
                f"{type(self).__name__}, which subtracts what the far rows say. Use a number of features, a share or "
                'p_values="permutation".'
            )

    def _recipe(self) -> Recipe:
        grouping: recipes.Grouping = "each class" if self.target_kind_ == "classes" else "hits and misses"
        diff = Diff(cast(DiffKind, self.diff), *map(float, self.ramp))
        return replace(self._member, grouping=grouping, diff=diff, unknown=cast(recipes.Unknown, self.missing))


class SURF(RadiusMember):
    __doc__ = f"""All rows nearer than the mean distance of all pairs are neighbours (Greene et al. 2009).

    No number of neighbours has to be chosen. Each class that has rows near a target speaks with their mean; the hits
    count against a feature, the misses of a class for it by its share among the classes that are near.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    See Also
    --------
    MultiSURF : each row has a radius of its own; the better choice in most cases.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import SURF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(SURF().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.SURF


class SURFStar(RadiusMember):
    __doc__ = f"""SURF*: near rows as in `SURF`, and the far ones with the opposite sign (Greene et al. 2010).

    A feature gains where it differs from a far row of the same class, and loses where it differs from a far row of
    another. That makes pairs that interact stand out. A feature that matters by itself may come out last: `MultiSURF`
    finds both.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import SURFStar
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(SURFStar().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.SURF_STAR


class MultiSURF(RadiusMember):
    __doc__ = f"""Each row has its own radius: its mean distance less half a standard deviation (Urbanowicz et al. 2018).

    The member that its authors recommend where nothing is known of the data: no number of neighbours to choose, and
    main effects as well as interactions are found.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    See Also
    --------
    ReliefF : a fixed number of neighbours; faster, and better for interactions of many features.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import MultiSURF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(MultiSURF().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.MULTISURF


class MultiSURFStar(RadiusMember):
    __doc__ = f"""MultiSURF*: near rows as in `MultiSURF`, far ones with opposite sign (Granizo-Mackenzie and Moore 2013).

    Far is beyond the mean distance and half a standard deviation; between the two a row does not count. As in
    `SURFStar`, a feature that matters by itself may come out last.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import MultiSURFStar
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(MultiSURFStar().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.MULTISURF_STAR


class SWRFStar(RadiusMember):
    __doc__ = f"""SWRF*: every row counts, by a sigmoid of its distance (Stokes and Visweswaran 2012).

    A row at distance D weighs 2 / (1 + exp(-4 (T - D) / s)) - 1, T and s the mean and the standard deviation of the
    distances of all pairs: towards 1 for the nearest, 0 at the mean, towards -1 for the farthest. As in `SURFStar` each
    class speaks with the mean over its near rows and, with the opposite sign, with that over its far ones, and a feature
    that matters by itself may come out last.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import SWRFStar
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(SWRFStar().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.SWRF_STAR


class MultiSWRFStar(RadiusMember):
    __doc__ = f"""`SWRFStar` with the mean and the standard deviation of each row's own distances.

    Like all members with a star it is for interactions: a feature that matters by itself may come out last.

    Parameters
    ----------
    {_PARAMETERS}

    Attributes
    ----------
    {_ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import MultiSWRFStar
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(200, 10))
    >>> sorted(MultiSWRFStar().fit(X, X[:, 3] ^ X[:, 7]).top(2))
    ['x3', 'x7']
    """
    _member = recipes.MULTI_SWRF_STAR
