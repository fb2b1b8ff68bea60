"""Value reduction: the numbers of a column as a few bins (DM section 3.6)."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from nearhit.feature_scorer import refuse_other_length
from nearhit.fitting import Options, choose_coder
from nearhit.intake import Columns, as_table, read_columns
from nearhit.intake.messages import listed
from nearhit.intake.source import whole_labels
from nearhit.kept_columns import as_array, as_frame, keep_columns
from nearhit.measures.cut_points import SUPERVISED, CutMethod, find_cut_points
from nearhit.reduction.afresh import afresh
from nearhit.reduction.guided_cuts import WeighedPairs, find_guided_cuts, weigh_pairs
from nearhit.reduction.number_columns import is_number, numbers_of, refuse_infinity
from nearhit.table import RowWeights, make_table, whole_weights
from nearhit.target import read_classes, read_numbers, read_row_weights

FloatArray = npt.NDArray[np.float64]
METHODS = ("equal frequency", "equal width", "chimerge", "entropy-mdl", "relieff", None)
TARGETS = ("auto", "classes", "numeric")


class ValueReducer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers as bins, found by one of five methods or given by hand. Categories stay what they are.

    Parameters
    ----------
    method : {"equal frequency", "equal width", "chimerge", "entropy-mdl", "relieff"} or None, default="equal frequency"
        Equal frequency: as many rows in each bin as ties allow. Equal width: the range in equal parts. ChiMerge (Kerber):
        neighbouring bins are merged while their classes do not differ significantly. Entropy-MDL (Fayyad and Irani): a
        bin is cut where the classes tell most while that saves bits. ReliefF: a cut is added where it tells near rows of
        different classes apart, near as judged in all columns, so it sees cuts that matter only together with another
        column. None: only `cut_points`.
    n_bins : int or None, default=5
        So many bins with the first two methods. At most so many with ChiMerge and ReliefF, or with None as many as they
        find. Entropy-MDL decides for itself.
    cut_points : dict, optional
        Cut points by hand, a list for each column (its name, or its position): a value up to and including the first
        goes into the first bin. The other columns are cut by `method`.
    labels : dict, optional
        Names of the bins, a list for each column; with ``output="labels"``. Bins without a name are called by their
        limits.
    output : {"codes", "labels"}, default="codes"
        Codes 0, 1, … as floats, or labels: text in an array, ordered categories in a data frame (`set_output`).
    significance : float, default=0.95
        For ChiMerge: neighbouring bins stay apart if their classes differ at this level.
    n_neighbors : int, optional
        For ReliefF: the neighbours of a row, from each class; 10 by default, 70 of all rows for a numeric target.
    target : {"auto", "classes", "numeric"}, default="auto"
        For ReliefF: what y is. Numbers with a fraction are numeric by default, all else is classes. The other methods that
        look at y want classes.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Columns that stay as they are. Strings, booleans and categories always do; numbers only if named here.
    n_jobs : int or None, default=None
        Threads, for ReliefF. None takes all cores, or one inside a parallel worker of joblib. No cut depends on it.

    Attributes
    ----------
    cut_points_ : dict
        An ascending array for each column that is cut, by name ("x0", "x1", … for an array).
    labels_ : dict
        The names of the bins of each of these columns.
    target_kind_ : {"classes", "numeric", None}
        What y was taken for; None if it was not looked at.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Notes
    -----
    A missing value stays missing. Values beyond those seen in `fit` go into the first or the last bin.

    Examples
    --------
    >>> import pandas as pd
    >>> from nearhit import ValueReducer
    >>> people = pd.DataFrame({"age": [4, 15, 33, 52, 80, None], "height": [1.0, 1.7, 1.8, 1.6, 1.7, 1.9]})
    >>> by_hand = ValueReducer(
    ...     "equal width",
    ...     n_bins=3,
    ...     cut_points={"age": [12, 19, 39, 64]},
    ...     labels={"age": ["child", "adolescent", "adult", "middle age", "elderly"]},
    ...     output="labels",
    ... )
    >>> by_hand.set_output(transform="pandas").fit_transform(people)
              age      height
    0       child      <= 1.3
    1  adolescent       > 1.6
    2       adult       > 1.6
    3  middle age  (1.3, 1.6]
    4     elderly       > 1.6
    5         NaN       > 1.6

    Two columns whose cuts matter only together, which is what ReliefF is for:

    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 4))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    >>> ValueReducer("entropy-mdl").fit(X, y).cut_points_["x0"].tolist()
    []
    >>> ValueReducer("relieff", n_bins=2).fit(X, y).cut_points_["x0"].round(2).tolist()
    [0.5]
    """

    def __init__(
        self,
        method: str | None = "equal frequency",
        *,
        n_bins: int | None = 5,
        cut_points: Mapping[Any, Sequence[float]] | None = None,
        labels: Mapping[Any, Sequence[str]] | None = None,
        output: str = "codes",
        significance: float = 0.95,
        n_neighbors: int | None = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_bins = n_bins
        self.cut_points = cut_points
        self.labels = labels
        self.output = output
        self.significance = significance
        self.n_neighbors = n_neighbors
        self.target = target
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars data frame, Arrow table, scipy sparse matrix or nested lists; numbers,
            categories and missing values. It is neither kept nor written to.
        y : array of shape (n_samples,), optional
            The target, for the methods that look at it.
        sample_weight : array of shape (n_samples,), optional
            A weight w counts as w copies of a row; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        with afresh(self):
            self._fit(X, y, sample_weight)
        return self

    def transform(self, X: Any) -> Any:
        """The table with bins in place of numbers.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever `fit` takes, with the features that it saw.

        Returns
        -------
        X_reduced : array of shape (n_samples, n_features)
            Codes as floats, NaN where a value is missing; an array of objects where there are labels or categories. With
            ``set_output`` a data frame.
        """
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        columns = self._read(table, reset=False)
        found, bins = numbers_of(columns), {}
        for i, name in enumerate(self._names_):
            if name not in self.cut_points_:
                continue
            if i not in found:
                raise ValueError(
                    f"column {name!r} held numbers in fit and holds categories now. Convert it to numbers, or fit again."
                )
            bins[i] = _bins_of(found[i], self.cut_points_[name])
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted == "default":
            return self._as_array(table, bins)
        return self._as_pandas(table, bins) if wanted == "pandas" else self._as_polars(table, bins)

    # ------------------------------------------------------------------------------------------------ the way in

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        X = as_table(X, type(self).__name__)
        columns = self._read(X, reset=True)
        labels = whole_labels(X)
        by_hand = {
            self._position(name, columns, "cut_points", labels): cuts for name, cuts in (self.cut_points or {}).items()
        }
        found = numbers_of(columns)
        refuse_infinity(found, columns.names)
        target = self._read_target(y, columns.n_rows)
        weights = read_row_weights(sample_weight, columns.n_rows)
        finder = _Finder(self, columns, target, weights)
        cuts = {
            i: _checked_cuts(by_hand[i], columns.names[i]) if i in by_hand else finder.cuts_of(found[i])
            for i in sorted(found)
            if i in by_hand or self.method is not None
        }
        named = {self._position(name, columns, "labels", labels): names for name, names in (self.labels or {}).items()}
        if strange := [columns.names[i] for i in named if i not in cuts]:
            raise ValueError(f"labels names columns that are not cut: {listed(strange)}.")
        self.cut_points_ = {columns.names[i]: points for i, points in cuts.items()}
        self.labels_ = {
            columns.names[i]: _checked_labels(named[i], len(points) + 1, columns.names[i])
            if i in named
            else labels_of(points)
            for i, points in cuts.items()
        }

    def _read(self, X: Any, *, reset: bool) -> Columns:
        # Later only the columns with cuts are read as numbers, so it does not matter which others were declared.
        declared = self.categorical_features if reset else "from_dtype"
        columns = read_columns(X, declared, estimator_name=type(self).__name__)
        validate_data(self, X, skip_check_array=True, reset=reset)
        if reset:
            self._names_ = columns.names
        return columns

    def _position(self, column: Any, columns: Columns, parameter: str, labels: dict[int, int]) -> int:
        """Where a column named by the caller stands; it must hold numbers."""
        position = None
        if isinstance(column, str) and column in columns.names:
            position = columns.names.index(column)
        elif isinstance(column, numbers.Integral) and int(column) in labels:
            position = labels[int(column)]
        elif isinstance(column, numbers.Integral) and 0 <= int(column) < columns.n_features:
            position = int(column)
        if position is None:
            raise ValueError(
                f"{parameter} must name columns of X, or give positions; there is no column {column!r}. "
                f"Its columns are {listed(columns.names, at_most=20)}."
            )
        if not is_number(columns)[position]:
            raise ValueError(
                f"{parameter} names column {columns.names[position]!r}, which holds categories, not numbers."
            )
        return position

    def _read_target(self, y: Any, n_rows: int) -> npt.NDArray[Any] | None:
        """Class codes as integers, numbers as floats, None where no method asks."""
        self.target_kind_: str | None = None
        if self.method not in (*SUPERVISED, "relieff"):
            return None
        if y is None:
            raise ValueError(f'ValueReducer(method="{self.method}") requires y to be passed, but the target y is None.')
        who = type(self).__name__
        is_numeric = self.method == "relieff" and (
            self.target == "numeric" or (self.target == "auto" and _is_continuous(y))
        )
        target = read_numbers(y, who) if is_numeric else read_classes(y, who).codes
        refuse_other_length(target, n_rows)
        self.target_kind_ = "numeric" if is_numeric else "classes"
        return target

    def _check_parameters(self) -> None:
        for name, allowed in (("method", METHODS), ("output", ("codes", "labels")), ("target", TARGETS)):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)) or value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
        for name, least in (("n_bins", 2), ("n_neighbors", 1)):
            value = getattr(self, name)
            is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least
            if value is not None and not is_count:
                raise ValueError(f"{name} must be None or an integer of at least {least}; got {value!r}.")
        if self.n_bins is None and self.method in ("equal width", "equal frequency"):
            raise ValueError(f'method="{self.method}" needs a number of bins; got n_bins=None.')
        level = self.significance
        if not isinstance(level, numbers.Real) or isinstance(level, bool) or not 0 < level < 1:
            raise ValueError(f"significance must be a number between 0 and 1; got {level!r}.")
        for name in ("cut_points", "labels"):
            if not isinstance(getattr(self, name), Mapping | None):
                raise ValueError(f"{name} must be a dict with a list for each column; got {getattr(self, name)!r}.")
        if self.labels and self.output == "codes":
            raise ValueError('labels are what output="labels" returns; got output="codes".')
        if self.method is None and not self.cut_points:
            raise ValueError("method=None cuts by hand only; give cut_points.")

    # ------------------------------------------------------------------------------------------------ the way out

    def _as_array(self, table: Any, bins: dict[int, npt.NDArray[np.intp]]) -> npt.NDArray[Any]:
        columns = {
            i: _codes(of) if self.output == "codes" else _text(of, self.labels_[self._names_[i]])
            for i, of in bins.items()
        }
        others = [i for i in range(self.n_features_in_) if i not in bins]
        if others:
            rest = as_array(keep_columns(table, np.isin(np.arange(self.n_features_in_), others)))
            rest = rest.toarray() if issparse(rest) else rest
            columns.update(zip(others, rest.T, strict=True))
        floats = all(column.dtype.kind in "fiu" for column in columns.values())
        out = np.empty((table.shape[0], self.n_features_in_), np.float64 if floats else object)
        for i, column in columns.items():
            out[:, i] = column
        return out

    def _as_pandas(self, table: Any, bins: dict[int, npt.NDArray[np.intp]]) -> Any:
        import pandas as pd

        frame = as_frame(table, "pandas")
        if not isinstance(frame, pd.DataFrame):
            frame = pd.DataFrame(frame.toarray() if issparse(frame) else frame).infer_objects()
        columns = {}
        for i in range(self.n_features_in_):
            if i not in bins:
                columns[i] = frame.iloc[:, i]
            elif self.output == "codes":
                columns[i] = pd.Series(_codes(bins[i]), index=frame.index)
            else:
                kind = pd.CategoricalDtype(self.labels_[self._names_[i]], ordered=True)
                columns[i] = pd.Series(pd.Categorical.from_codes(bins[i], dtype=kind), index=frame.index)
        return pd.DataFrame(columns, index=frame.index).set_axis(frame.columns, axis=1)

    def _as_polars(self, table: Any, bins: dict[int, npt.NDArray[np.intp]]) -> Any:
        import polars as pl

        frame = as_frame(table, "polars")
        if not isinstance(frame, pl.DataFrame):
            rows = frame.toarray() if issparse(frame) else frame
            frame = pl.DataFrame({str(j): rows[:, j].tolist() for j in range(rows.shape[1])}, strict=False)
        columns = frame.get_columns()
        for i, of in bins.items():
            if self.output == "codes":
                columns[i] = pl.Series(_codes(of), nan_to_null=True)
            else:
                names = list(self.labels_[self._names_[i]])
                columns[i] = pl.Series([names[b] if b >= 0 else None for b in of.tolist()], dtype=pl.Enum(names))
            columns[i] = columns[i].alias(frame.columns[i])
        return pl.DataFrame(columns)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cut_points_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.target_tags.required = self.method in (*SUPERVISED, "relieff")
        return tags


class _Finder:
    """The cuts of one column after the other; neighbours are looked for once, when the first column asks."""

    def __init__(
        self,
        reducer: ValueReducer,
        columns: Columns,
        target: npt.NDArray[Any] | None,
        row_weights: FloatArray | None,
    ) -> None:
        self.reducer = reducer
        self.columns = columns
        self.target = target
        self.row_weights = row_weights
        self.units: RowWeights | None = None if row_weights is None else whole_weights(row_weights)
        self._pairs: WeighedPairs | None = None

    def cuts_of(self, values: FloatArray) -> FloatArray:
        if self.reducer.method == "relieff":
            counts = slice(None) if self.units is None else self.units.units > 0
            return find_guided_cuts(values[counts], self._weighed_pairs(), self.reducer.n_bins)
        known = ~np.isnan(values)
        return find_cut_points(
            values[known],
            cast(CutMethod, self.reducer.method),
            n_bins=self.reducer.n_bins,
            classes=None if self.target is None else self.target[known],
            units=None if self.units is None else self.units.units[known],
            one=1 if self.units is None else self.units.one,
            significance=self.reducer.significance,
        )

    def _weighed_pairs(self) -> WeighedPairs:
        if self._pairs is None:
            reducer, coder = self.reducer, choose_coder(self.columns, self.reducer.n_jobs)
            assert self.target is not None
            table = make_table(self.columns, [self.target], self.row_weights, coder=coder)
            options = Options(reducer.n_jobs, 0, type(reducer).__name__)
            self._pairs = weigh_pairs(table, reducer.n_neighbors, options)
        return self._pairs


def labels_of(cuts: FloatArray) -> tuple[str, ...]:
    """Names of bins by their limits, with as many digits as tell them apart."""
    if not len(cuts):
        return ("all",)
    for digits in range(4, 18):
        limits = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(limits)) == len(limits):
            break
    between = [f"({low}, {high}]" for low, high in pairwise(limits)]
    return (f"<= {limits[0]}", *between, f"> {limits[-1]}")


def _bins_of(values: FloatArray, cuts: FloatArray) -> npt.NDArray[np.intp]:
    """The bin of each value, -1 for missing ones."""
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="left"))


def _codes(bins: npt.NDArray[np.intp]) -> FloatArray:
    return np.where(bins < 0, np.nan, bins)


def _text(bins: npt.NDArray[np.intp], labels: Sequence[str]) -> npt.NDArray[np.object_]:
    return np.array([*labels, np.nan], object)[bins]  # -1 is the last


def _checked_cuts(cuts: Any, name: str) -> FloatArray:
    try:
        points = np.asarray(cuts, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.array(np.nan)
    if points.ndim != 1 or not np.isfinite(points).all() or (points[1:] <= points[:-1]).any():
        raise ValueError(f"the cut points of column {name!r} must be finite numbers in ascending order; got {cuts!r}.")
    return points


def _checked_labels(labels: Any, n_bins: int, name: str) -> tuple[str, ...]:
    texts = [] if isinstance(labels, str) else list(labels)
    if len(texts) != n_bins or len(set(texts)) != n_bins or not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"column {name!r} has {n_bins} bins and needs as many different names, as strings; got {labels!r}."
        )
    return tuple(texts)


def _is_continuous(y: Any) -> bool:
    try:
        return type_of_target(y).startswith("continuous")
    except (TypeError, ValueError):
        return False  # what is wrong with it, the reader of classes says
