"""Entropy ranking: which columns keep the rows as alike and as different as they are; no target (DM section 3.4)."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nearhit.feature_scorer import FeatureScorer
from nearhit.fitting import choose_coder
from nearhit.intake import Columns
from nearhit.measures.cut_points import find_cut_points
from nearhit.progress import progress
from nearhit.ranking import ranks_of
from nearhit.reduction.number_columns import numbers_of
from nearhit.reduction.removal import SPEED, PairDisorder, Removals, remove_features
from nearhit.reduction.similarity import FRACTION_BITS, Similarity, SquaredDistances, equal_values, squared_distances
from nearhit.selection import select_features
from nearhit.table import Table, make_table
from nearhit.thread_limits import count_threads

BINNINGS = ("equal frequency", "equal width")


class EntropyRanking(FeatureScorer):
    """Rank features without a target, by how much the order among the rows would change without them.

    Rows that are alike have a similarity S near 1, rows far apart one near 0; both are order. The entropy
    E = -sum (S log2 S + (1 - S) log2 (1 - S)) over all pairs of rows measures the lack of it. The feature whose removal
    changes E least is removed, then the next, until none is left; the first removed is ranked last.

    Numbers: S = e^(-alpha D), D the Euclidean distance of the columns divided by their ranges. Categories: S is the share
    of the features with equal values. A table with both has its numbers cut into bins first, which are compared as
    categories.

    Parameters
    ----------
    alpha : "mean distance" or float, default="mean distance"
        For numbers: S is one half at the mean distance of all pairs of rows, in all features; or a constant such as 0.5.
    n_bins : int, default=5
        How many bins a number is cut into beside categories.
    binning : {"equal frequency", "equal width"}, default="equal frequency"
        How it is cut.
    threshold : float, optional
        Stop removing once every removal would change E by more than this share of E of all features. What is left is
        selected and shares the first rank.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Which columns are compared for equality only. Strings, booleans and categories always are; numbers only if
        named here.
    select : None, int, float, str or callable, default=None
        What `transform` keeps, by the weights: everything, so many features, a share, those above a number (">0.5"), or
        what a function of the weights returns. Not together with `threshold`.
    n_jobs : int or None, default=None
        Threads. None takes all cores, or one inside a parallel worker of joblib. No bit of the result depends on it.
    verbose : int, default=0
        1 reports progress on stderr also where there is no terminal.

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        Which place a feature had in the order of removal, as a share: 1 for the last one left. 0 for columns without a
        known value. Also `feature_importances_`.
    ranking_ : array of shape (n_features,)
        1 for the feature that was left.
    entropy_ : float
        E of all features, in bits.
    entropy_changes_ : array of shape (n_features,)
        How much E changed when a feature was removed, as it was then; NaN for those that were not.
    alpha_ : float or None
        What alpha was; None for categories.
    similarity_ : {"distance", "equal values", "equal values and bins"}
        How rows were compared.
    support_ : array of shape (n_features,)
        Mask of the selected features.
    kernel_ : str
        What ran.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    The work grows with the squares of the rows and of the features: 500 rows of 50 features take about a second, 2,000
    rows of 20 three. Pairs of rows are not stored. Removals are compared in whole numbers, so twins tie; of features that
    tie the later column goes first. Columns of one known value, which tell no rows apart, go before all others and are left
    out of E: as categories they would make all rows more alike.

    An unknown number differs by the squared difference that is expected of the known values of its column, an unknown
    category is equal with the probability that is expected of them.

    Examples
    --------
    The five rows of the textbook:

    >>> from nearhit import EntropyRanking
    >>> X = [list(row) for row in ("AX1", "BY2", "CY2", "BX3", "CZ3")]
    >>> ranking = EntropyRanking().fit(X)
    >>> round(ranking.entropy_, 3)
    4.591
    >>> ranking.entropy_changes_.round(3).tolist()
    [0.0, 4.0, 0.591]
    >>> ranking.top(3)
    ['x0', 'x1', 'x2']
    """

    def __init__(
        self,
        *,
        alpha: float | str = "mean distance",
        n_bins: int = 5,
        binning: str = "equal frequency",
        threshold: float | None = None,
        categorical_features: Any = "from_dtype",
        select: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.n_bins = n_bins
        self.binning = binning
        self.threshold = threshold
        self.categorical_features = categorical_features
        self.select = select
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Find the order in which features can be spared.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars data frame, Arrow table, scipy sparse matrix or nested lists; numbers,
            categories and missing values. It is neither kept nor written to.
        y : ignored

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        columns = self._read_columns(X, None)
        if columns.n_rows < 2:
            raise ValueError(
                f"Found array with 1 sample(s) (shape={(1, columns.n_features)}) while a minimum of 2 is required by "
                f"{type(self).__name__}, which compares rows."
            )
        table = make_table(columns, [], coder=choose_coder(columns, self.n_jobs))
        compared = compare_rows(table, columns, self.n_bins, self.binning)
        threads = count_threads(self.n_jobs)
        disorder = PairDisorder(compared.similarity, table.n_rows, threads)
        self._choose_alpha(disorder)
        features, constants = compared.with_values()
        n_looks = disorder.n_looks(len(features))
        with progress(type(self).__name__, n_looks, n_looks / SPEED, self.verbose) as report:
            removals = remove_features(disorder, features, self.threshold, report)
        removals = replace(  # the later column goes first, as always where nothing else decides
            removals,
            features=[*reversed(constants), *removals.features],
            changes=[0] * len(constants) + removals.changes,
        )
        self.similarity_ = compared.how
        self.kernel_ = f"numpy, {threads} thread{'s' if threads > 1 else ''}"
        self._keep_order(removals, compared.cells.columns)

    def _choose_alpha(self, disorder: PairDisorder) -> None:
        """-ln 0.5 / mean distance in all features; kept for the sets of features that are left later."""
        similarity = disorder.similarity
        self.alpha_ = None
        if not isinstance(similarity, SquaredDistances):
            return
        if isinstance(self.alpha, str):
            mean = disorder.mean(range(similarity.n_features), similarity.distances)
            self.alpha_ = math.log(2) / mean if mean > 0 else 1.0  # rows that are all equal are so at any alpha
        else:
            self.alpha_ = float(self.alpha)
        disorder.similarity = replace(similarity, alpha=self.alpha_)

    def _keep_order(self, removals: Removals, columns: npt.NDArray[np.intp]) -> None:
        """From positions among the compared columns to features, and from the order of removal to weights."""
        n = len(removals.features) + len(removals.left)
        removed = columns[np.array(removals.features, np.intp)]
        left = columns[np.array(removals.left, np.intp)]
        self.weights_ = np.zeros(self.n_features_in_)
        self.weights_[removed] = np.arange(1, len(removed) + 1) / max(n, 1)
        self.weights_[left] = 1.0
        self.ranking_ = ranks_of(self.weights_)
        self.entropy_ = removals.everything / 2**FRACTION_BITS
        self.entropy_changes_ = np.full(self.n_features_in_, np.nan)
        self.entropy_changes_[removed] = np.array(removals.changes, float) / 2**FRACTION_BITS
        if self.threshold is None:
            self.support_ = select_features(self.select, self.weights_, 1)
        else:
            self.support_ = np.isin(np.arange(self.n_features_in_), left)

    def _check_parameters(self) -> None:
        is_name = isinstance(self.alpha, str) and self.alpha == "mean distance"
        if not is_name and not _is_positive(self.alpha):
            raise ValueError(f'alpha must be "mean distance" or a finite number greater than 0; got {self.alpha!r}.')
        if not isinstance(self.n_bins, numbers.Integral) or isinstance(self.n_bins, bool) or self.n_bins < 2:
            raise ValueError(f"n_bins must be an integer of at least 2; got {self.n_bins!r}.")
        if not isinstance(self.binning, str) or self.binning not in BINNINGS:
            raise ValueError(f"binning must be one of {', '.join(map(repr, BINNINGS))}; got {self.binning!r}.")
        if self.threshold is not None and not (self.threshold == 0 or _is_positive(self.threshold)):
            raise ValueError(f"threshold must be None or a share of the entropy of at least 0; got {self.threshold!r}.")
        if self.threshold is not None and self.select is not None:
            raise ValueError(
                f"threshold={self.threshold!r} and select={self.select!r} both say what to keep; give one of them."
            )
        if isinstance(self.select, str) and self.select.startswith("chebyshev"):
            raise ValueError(
                "the Chebyshev threshold holds for Relief weights only; give a number or a share of features."
            )
        jobs = self.n_jobs
        if jobs is not None and (not isinstance(jobs, numbers.Integral) or isinstance(jobs, bool) or jobs == 0):
            raise ValueError(f"n_jobs must be None, a number of threads, or -1 for all; got {jobs!r}.")
        if not isinstance(self.verbose, numbers.Integral) or self.verbose < 0:
            raise ValueError(f"verbose must be an integer of at least 0; got {self.verbose!r}.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


@dataclass(frozen=True, eq=False)
class _Cells:
    """Codes of columns of one kind, which are unknown, and where the columns stand in the input."""

    codes: npt.NDArray[Any]
    unknown: npt.NDArray[np.bool_] | None
    columns: npt.NDArray[np.intp]

    def in_order(self) -> _Cells:
        """In the order of the input, by which ties are broken."""
        order = np.argsort(self.columns)
        unknown = None if self.unknown is None else self.unknown[:, order]
        return _Cells(self.codes[:, order], unknown, self.columns[order])


@dataclass(frozen=True, eq=False)
class Compared:
    """How rows are compared, by which columns, and what users are told of it."""

    similarity: Similarity
    cells: _Cells
    how: str

    def with_values(self) -> tuple[list[int], list[int]]:
        """The columns that tell rows apart, and those of one known value, which cannot.

        Of columns without a known value nothing can be said: they are in neither list.
        """
        codes = self.cells.codes
        known = True if self.cells.unknown is None else ~self.cells.unknown
        limits = np.iinfo(codes.dtype)
        low = codes.min(axis=0, where=known, initial=limits.max)
        high = codes.max(axis=0, where=known, initial=limits.min)
        return np.flatnonzero(low < high).tolist(), np.flatnonzero(low == high).tolist()


def compare_rows(table: Table, columns: Columns, n_bins: int, binning: str) -> Compared:
    """By distance if all columns are numbers, else by equal values, of numbers that were cut into bins."""
    if not len(table.nominal_columns):
        cells = _Cells(table.numeric, table.numeric_unknown, table.numeric_columns).in_order()
        return Compared(squared_distances(cells.codes, cells.unknown, table.grid), cells, "distance")
    cells = _Cells(table.nominal, table.nominal_unknown, table.nominal_columns)
    how = "equal values"
    if len(table.numeric_columns):
        cells, how = _with_bins(cells, columns, n_bins, binning), "equal values and bins"
    cells = cells.in_order()
    return Compared(equal_values(cells.codes, cells.unknown), cells, how)


def _with_bins(cells: _Cells, columns: Columns, n_bins: int, binning: Any) -> _Cells:
    """The codes of the categories, and the bins of the numbers behind them."""
    found = numbers_of(columns)
    values = np.column_stack(list(found.values()))
    unknown = np.isnan(values)
    bins = np.zeros(values.shape, np.int64)
    for j in range(len(found)):
        known = ~unknown[:, j]
        cuts = find_cut_points(values[known, j], binning, n_bins=n_bins)
        bins[known, j] = np.searchsorted(cuts, values[known, j], side="left")
    of_categories = np.zeros(cells.codes.shape, bool) if cells.unknown is None else cells.unknown
    return _Cells(
        np.concatenate([cells.codes.astype(np.int64), bins], axis=1),
        np.concatenate([of_categories, unknown], axis=1),
        np.concatenate([cells.columns, np.array(list(found), np.intp)]),
    )


def _is_positive(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf
