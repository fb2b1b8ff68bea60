"""TuRF: fit a member of the family, drop the worst features, fit the rest again (Moore and White 2007).

Irrelevant features blur who is near. Once the worst of them are gone, the neighbours of the next round are found among
the remaining features only, and what matters stands out more clearly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearhit.fitting import Fit
from nearhit.recipes import Recipe
from nearhit.table import Table
from nearhit.wrappers import Wrapper, is_count, is_share

Features = npt.NDArray[np.intp]
Weights = npt.NDArray[np.float64]


class Round(NamedTuple):
    """One fit: the positions of the features that were still there, and their weights."""

    features: Features
    weights: Weights


class TuRF(Wrapper):
    """Drop the worst features, fit the rest again, and so on (Moore and White 2007).

    Helps where few features matter among very many: each round finds the neighbours without the features that were
    dropped before. The data are checked once, and all rounds run on one table.

    Parameters
    ----------
    estimator : member of the Relief family or None, default=None
        What is fitted in each round; None stands for ``ReliefF()``. It is copied, and never changed. Threads, sampled
        targets (the same in all rounds) and categories are its parameters; but `select`,
        `p_values` and `redundancy` must not be set there. A search for its parameters (``estimator__n_neighbors``) needs
        an object here, not None.
    drop : float or int, default=0.1
        How many features fall in a round: this share of those that are still there, or this number (``n_features // n``
        makes n rounds, as published). One at least. Features of equal weight fall together or not at all.
    keep : int or float, default=10
        Stop when so many features, or this share of all, are left. Fewer than act together would tear groups apart.
    n_rounds : int or None, default=None
        Stop after so many fits in any case.
    select : None, int, float, str or callable, default=None
        What `transform` keeps, as in `ReliefF`; but no rule of Chebyshev or p-values.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        The weight of the last round that a feature took part in, but less than that of every feature that stayed
        longer. Also `feature_importances_`.
    ranking_ : array of shape (n_features,)
        1 for the best: the features of the last round by their weight, then those that fell in the round before, by
        theirs, and so on. Equal weights of one round share a rank.
    n_rounds_ : int
        How many fits there were.
    history_ : list of (features, weights)
        For each round the positions of the features that took part, and what the member made of them.
    stability_ : array of shape (n_features,)
        With ``select="stability>…"``: the share of the halves in which each feature was among the best (drawn by the
        `random_state` of the estimator, if it has one).
    support_, n_neighbors_used_, target_kind_, kernel_, n_features_in_, feature_names_in_
        As in `ReliefF`; the smallest neighbourhood of any round.

    See Also
    --------
    VLSRelief : fits on random subsets of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import ReliefF, TuRF
    >>> rng = np.random.default_rng(5)
    >>> X = rng.integers(0, 2, size=(300, 1000))
    >>> y = X[:, 20] ^ X[:, 70]
    >>> ReliefF().fit(X, y).ranking_[[20, 70]].tolist()
    [14, 1]
    >>> turf = TuRF(ReliefF()).fit(X, y)
    >>> turf.ranking_[[20, 70]].tolist()
    [2, 1]
    >>> turf.n_rounds_, len(turf.history_[0].features), len(turf.history_[-1].features)
    (45, 1000, 10)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        drop: float | int = 0.1,
        keep: int | float = 10,
        n_rounds: int | None = None,
        select: Any = None,
    ) -> None:
        super().__init__(estimator, select=select)
        self.drop = drop
        self.keep = keep
        self.n_rounds = n_rounds

    def _run(self, recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None) -> Fit:
        member, fits = self._member(), []

        def fit(left: Table) -> Weights:
            fits.append(member._run(recipe, left, targets))
            return fits[-1].weights

        most = math.inf if self.n_rounds is None else self.n_rounds
        keep = max(1, round(self.keep * table.n_features)) if is_share(self.keep) else int(self.keep)
        self.history_ = tune(fit, table, self._n_to_drop, keep, most)
        self.n_rounds_ = len(self.history_)
        weights = weights_of_rounds(self.history_, table.n_features)
        return replace(fits[0], weights=weights, fewest_neighbours=min(fit.fewest_neighbours for fit in fits))

    def _n_to_drop(self, n_left: int) -> int:
        return max(1, round(self.drop * n_left)) if is_share(self.drop) else int(self.drop)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_count(self.drop) and not (is_share(self.drop) and float(self.drop) < 1):
            raise ValueError(
                f"drop must be a share of the features that are left, between 0 and 1, or a number of features; got "
                f"{self.drop!r}."
            )
        if not is_count(self.keep) and not is_share(self.keep):
            raise ValueError(f"keep must be a number of features or a share of all, in (0, 1]; got {self.keep!r}.")
        if self.n_rounds is not None and not is_count(self.n_rounds):
            raise ValueError(f"n_rounds must be None or an integer of at least 1; got {self.n_rounds!r}.")


def tune(
    fit: Callable[[Table], Weights], table: Table, n_to_drop: Callable[[int], int], keep: int, n_rounds: float
) -> list[Round]:
    """All rounds; in the last one nothing falls."""
    left = np.arange(table.n_features)
    rounds: list[Round] = []
    while True:
        weights = fit(table)
        rounds.append(Round(left, weights))
        falls = worst_features(weights, min(n_to_drop(len(left)), len(left) - keep), len(left) - keep)
        if len(rounds) >= n_rounds or not falls.any():
            return rounds
        left, table = left[~falls], table.take_columns(np.flatnonzero(~falls))


def worst_features(weights: Weights, n: int, most: int) -> npt.NDArray[np.bool_]:
    """A mask of about n features, never more than `most`: equal ones fall together, so that no order of columns decides.

    Where the border runs between equal features they all stay; if there is none worse, they all fall, or no one does.
    """
    if n < 1:
        return np.zeros(len(weights), bool)
    border = np.partition(weights, n - 1)[n - 1]
    worse, not_better = weights < border, weights <= border
    if np.count_nonzero(not_better) == n or (not worse.any() and np.count_nonzero(not_better) <= most):
        return not_better
    return worse


def weights_of_rounds(rounds: list[Round], n_features: int) -> Weights:
    """The last weight of each feature, lowered where needed to below those of the features that stayed longer.

    So one number says what the rounds have said: sorted by weight, the features of the last round come first. A feature
    that has to be lowered goes just below the one before it, by the last bit: sizes stay what the member estimated.
    """
    last, stayed = np.empty(n_features), np.empty(n_features, np.intp)
    for i, (features, weights) in enumerate(rounds):
        last[features], stayed[features] = weights, i
    order = np.lexsort((-last, -stayed))
    weights = np.empty(n_features)
    weights[order] = list(_descending(zip(stayed[order].tolist(), last[order].tolist(), strict=True)))
    return weights


def _descending(rounds_and_weights: Iterable[tuple[int, float]]) -> Iterable[float]:
    """The weights, each below the one before unless both are the same in the same round."""
    before, lowest = None, math.inf
    for pair in rounds_and_weights:
        if pair != before:
            before, lowest = pair, min(pair[1], math.nextafter(lowest, -math.inf))
        yield lowest
