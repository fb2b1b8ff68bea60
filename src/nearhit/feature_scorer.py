"""The scikit-learn face of whatever gives each feature a weight: names, ranking, selection, transform, pickling.

The Relief family (estimator.py) and the myopic measures (myopic.py) are such scorers. A scorer has the parameters
`categorical_features` and `select`, and says in `_fit` how weights come about.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from nearhit.intake import Columns, as_table, read_columns
from nearhit.kept_columns import array_of_rows, as_array, as_frame, keep_columns
from nearhit.ranking import Ranking
from nearhit.selection import check_rule

#: the form in which a fitted estimator is pickled; an older one is refused
STATE = 1


class FeatureScorer(SelectorMixin, BaseEstimator):
    """What all estimators that give each feature a weight do alike. Not for use by itself.

    `_fit` sets `weights_`, `ranking_`, `support_` and `target_kind_`; everything else works from these.
    """

    _target_kind: ClassVar[str]
    categorical_features: Any
    select: Any

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
        """The names of the n best features ("x0", "x1", … for an array, labels as text for a data frame)."""
        if not isinstance(n, numbers.Integral) or n < 1:
            raise ValueError(f"n must be an integer of at least 1; got {n!r}.")
        return [row.feature for row in self.ranking().rows[:n]]

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """The weights under scikit-learn's name for them."""
        return self.weights_

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        raise NotImplementedError  # each scorer knows how weights come about

    def _read_columns(self, X: Any, y: Any) -> Columns:
        """The door for X: typed columns, and the names by which X was read."""
        X = as_table(X, type(self).__name__)
        columns = read_columns(X, self.categorical_features, estimator_name=type(self).__name__)
        validate_data(self, X, y, skip_check_array=True)
        if not isinstance(X, np.ndarray) and not issparse(X) and not hasattr(self, "feature_names_in_"):
            self._names_ = columns.names  # labels that are no strings: scikit-learn keeps no names then
        check_rule(self.select, columns.n_features)
        return columns

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


def refuse_other_length(target: npt.NDArray, n_rows: int) -> None:
    """X and y must have the same rows."""
    if len(target) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(target)}."
        )


def check_seed(random_state: Any) -> None:
    try:
        check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer from 0 to 4294967295 or a numpy.random.RandomState; "
            f"got {random_state!r}."
        ) from None


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
