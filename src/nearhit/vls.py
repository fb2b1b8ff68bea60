"""VLSRelief: a member of the family on random subsets of the features (Eppstein and Haake 2008).

Among very many features no row has near neighbours: all are about equally far. Among a few, the neighbours tell more,
and two features that act together stand out in those subsets that hold both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from nearhit.feature_scorer import check_seed
from nearhit.fitting import Fit
from nearhit.recipes import Recipe
from nearhit.table import Table
from nearhit.wrappers import Wrapper, is_count, is_share


class VLSRelief(Wrapper):
    """The best, or the mean, weight over random subsets of the features (very large scale Relief).

    For tables so wide that distances over all columns tell nothing. The features are put into a random order, which is
    cut into subsets of one size; then into another order, until there are enough subsets. Each pass over the features
    takes about as long as one fit on all of them. Two features can only be seen to act together in a subset that holds
    both: after p passes with subsets of a share s, a given pair has met with probability 1 - (1 - s)^p.

    Parameters
    ----------
    estimator : member of the Relief family or None, default=None
        What is fitted on each subset; None stands for ``ReliefF()``. It is copied, and never changed. Threads, sampled
        targets (the same for all subsets) and categories are its parameters; but `select`,
        `p_values` and `redundancy` must not be set there. A search for its parameters (``estimator__n_neighbors``) needs
        an object here, not None.
    n_subsets : int, default=100
        How many subsets; enough that each feature is in one at least.
    subset_size : float or int, default=0.2
        Features in a subset: a share of all (two at least), or a number.
    aggregate : {"max", "mean"}, default="max"
        The largest weight over the subsets that hold a feature, as published, or the mean. The largest of many is
        above 0 for irrelevant features too; the mean is not, and dilutes what is seen in few subsets only.
    select : None, int, float, str or callable, default=None
        What `transform` keeps, as in `ReliefF`; but no rule of Chebyshev or p-values.
    random_state : int, RandomState or None, default=None
        For the subsets.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        How much each feature matters. Also `feature_importances_`.
    times_drawn_ : array of shape (n_features,)
        In how many subsets each feature was.
    pairs_met_ : float
        The share of all pairs of features that can be expected to have been in a subset together. Pairs that were not
        cannot be seen to matter together.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best.
    ranking_, support_, n_neighbors_used_, target_kind_, kernel_, n_features_in_, feature_names_in_
        As in `ReliefF`; the smallest neighbourhood of any fit.

    See Also
    --------
    TuRF : drops the worst features and fits the rest again.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import ReliefF, VLSRelief
    >>> rng = np.random.default_rng(5)
    >>> X = rng.integers(0, 2, size=(300, 1000))
    >>> y = X[:, 20] ^ X[:, 70]
    >>> ReliefF().fit(X, y).ranking_[[20, 70]].tolist()
    [14, 1]
    >>> VLSRelief(ReliefF(), random_state=0).fit(X, y).ranking_[[20, 70]].tolist()
    [1, 2]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_subsets: int = 100,
        subset_size: float | int = 0.2,
        aggregate: str = "max",
        select: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(estimator, select=select)
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.aggregate = aggregate
        self.random_state = random_state

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        member, a = self._member(), table.n_features
        subsets = draw_subsets(a, self._size(a), self.n_subsets, check_random_state(self.random_state))
        largest, total, drawn = np.full(a, -np.inf), np.zeros(a), np.zeros(a, np.intp)
        fewest = np.inf
        for subset in subsets:
            fit = member._run(recipe, table.take_columns(subset), targets)
            largest[subset] = np.maximum(largest[subset], fit.weights)
            total[subset] += fit.weights
            drawn[subset] += 1
            fewest = min(fewest, fit.fewest_neighbours)
        self.times_drawn_ = drawn
        self.pairs_met_ = expected_share_of_pairs(a, self._size(a), self.n_subsets)
        weights = largest if self.aggregate == "max" else total / drawn
        return replace(fit, weights=weights, fewest_neighbours=fewest)

    def _size(self, n_features: int) -> int:
        """How large a subset is; of fewer features (inside another wrapper) all of them."""
        if isinstance(self.subset_size, Integral):
            return min(int(self.subset_size), n_features)
        return min(max(2, round(float(self.subset_size) * n_features)), n_features)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_count(self.n_subsets):
            raise ValueError(f"n_subsets must be an integer of at least 1; got {self.n_subsets!r}.")
        if not is_count(self.subset_size) and not is_share(self.subset_size):
            raise ValueError(
                f"subset_size must be a share of the features in (0, 1], or a number of them; got {self.subset_size!r}."
            )
        if not isinstance(self.aggregate, str) or self.aggregate not in ("max", "mean"):
            raise ValueError(f"aggregate must be one of 'max', 'mean'; got {self.aggregate!r}.")
        check_seed(self.random_state)

    def _check_sizes(self, n_features: int) -> None:
        if isinstance(self.subset_size, Integral) and self.subset_size > n_features:
            raise ValueError(f"subset_size={self.subset_size} asks for more features than the {n_features} there are.")
        needed = subsets_of_a_pass(n_features, self._size(n_features))
        if self.n_subsets < needed:
            raise ValueError(
                f"n_subsets={self.n_subsets} subsets of {self._size(n_features)} features cannot hold each of the "
                f"{n_features} features; use at least {needed}, several times that for features that act together."
            )


def draw_subsets(n_features: int, size: int, n_subsets: int, rng: np.random.RandomState) -> list[npt.NDArray[np.intp]]:
    """Random orders of the features, cut into subsets; the last of each order is filled up with the first of it.

    So no feature is in a second more subset than another, but for the few that fill up, and each is in one at least.
    """
    in_a_pass = subsets_of_a_pass(n_features, size)
    subsets: list[npt.NDArray[np.intp]] = []
    while len(subsets) < n_subsets:
        order = np.resize(rng.permutation(n_features), in_a_pass * size)
        subsets += [np.sort(some) for some in order.reshape(in_a_pass, size)]
    return subsets[:n_subsets]


def expected_share_of_pairs(n_features: int, size: int, n_subsets: int) -> float:
    """The share of pairs that meet in a subset, as it is to be expected of random orders of the features."""
    if n_features < 2:
        return 1.0
    in_a_pass = subsets_of_a_pass(n_features, size)
    passes, rest = divmod(n_subsets, in_a_pass)
    twice = in_a_pass * size - n_features  # those that fill up the last subset were in the first one together
    pairs = math.comb(n_features, 2)
    of_a_pass = (in_a_pass * math.comb(size, 2) - math.comb(twice, 2)) / pairs
    return 1 - (1 - of_a_pass) ** passes * (1 - rest * math.comb(size, 2) / pairs)


def subsets_of_a_pass(n_features: int, size: int) -> int:
    """How many subsets it takes to hold each feature."""
    return -(-n_features // size)
