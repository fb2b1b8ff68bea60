"""Principal components: the fewest linear combinations that keep a share of the variance (DM section 3.5).

    R(m) = (lambda_1 + ... + lambda_m) / (lambda_1 + ... + lambda_a)        the smallest m with R(m) >= R*

The lambdas are the eigenvalues of the covariance matrix (divided by n - 1), or of the correlation matrix. They come from a
singular value decomposition of the centred table, which never forms that matrix: more digits, and wide tables fit.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from nearhit.intake import Columns, as_table, read_columns
from nearhit.intake.messages import listed
from nearhit.reduction.afresh import afresh
from nearhit.reduction.number_columns import numbers_of, refuse_infinity

FloatArray = npt.NDArray[np.float64]
MATRICES = ("correlation", "covariance")
FLOATS = np.finfo(np.float64)
#: R = R* must not fail by rounding
SLACK = 1e-12
COMPONENTS_SHOWN = 6


class PrincipalComponents(TransformerMixin, BaseEstimator):
    """The fewest principal components that keep a share of the variance.

    Unlike `sklearn.decomposition.PCA` it takes tables with names, standardises by default, keeps R >= R* (not R > R*),
    turns each component so that its largest loading is positive, and shows what it is made of.

    Parameters
    ----------
    share : float, default=0.95
        R*: the share of the variance to keep, in (0, 1].
    matrix : {"correlation", "covariance"}, default="correlation"
        Correlation: each feature is divided by its standard deviation first, so that units do not matter.

    Attributes
    ----------
    n_components_ : int
    eigenvalues_ : array
        Of the matrix, the largest first, as many as the smaller of rows - 1 and features; the variances of the components.
    shares_ : array
        Each eigenvalue as a share of their sum; ``shares_.cumsum()`` is R.
    components_ : array of shape (n_components_, n_features)
        The directions, of length 1.
    loadings_ : array of shape (n_features, n_components_)
        ``components_.T * sqrt(eigenvalues_)``: on the correlation matrix, how each feature correlates with each component.
    mean_, scale_ : arrays of shape (n_features,)
        What features are centred by and divided by; a constant feature is divided by 1.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from nearhit import PrincipalComponents
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).data
    >>> pca = PrincipalComponents().fit(iris)
    >>> pca.eigenvalues_.round(2).tolist()
    [2.92, 0.91, 0.15, 0.02]
    >>> pca.loadings()
    feature               PC1    PC2
    sepal length (cm)   0.890  0.361
    sepal width (cm)   -0.460  0.883
    petal length (cm)   0.992  0.023
    petal width (cm)    0.965  0.064
    eigenvalue          2.918  0.914
    share               0.730  0.229
    """

    def __init__(self, share: float = 0.95, *, matrix: str = "correlation") -> None:
        self.share = share
        self.matrix = matrix

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers without missing values, in whatever container.
        y : ignored

        Returns
        -------
        self
        """
        with afresh(self):
            self._fit(X)
        return self

    def _fit(self, X: Any) -> None:
        self._check_parameters()
        values, columns = self._read(X, reset=True)
        if columns.n_rows < 2:
            raise ValueError(
                f"Found array with 1 sample(s) (shape={values.shape}) while a minimum of 2 is required by "
                f"{type(self).__name__}: one row has no variance."
            )
        is_constant = (values == values[0]).all(axis=0)
        if is_constant.all():
            raise ValueError(
                f"{type(self).__name__} needs a feature that varies; all {values.shape[1]} are constant "
                f"({listed(columns.names)})."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            mean = values.mean(axis=0)
            deviations = _standard_deviations(values - mean)
            sizes = deviations if self.matrix == "correlation" else deviations**2
            total = sizes.sum()
        if not FLOATS.tiny <= total <= FLOATS.max:
            which = columns.names[int(np.argmax(np.nan_to_num(deviations, nan=np.inf)))]
            raise ValueError(
                f"the variance of column {which!r} is too large or too small for a float. Multiply the columns by a "
                'constant; with matrix="correlation" their scale does not matter otherwise.'
            )
        scale = np.where(is_constant, 1.0, deviations) if self.matrix == "correlation" else np.ones_like(mean)
        self._keep(mean, scale, (values - mean) / scale)

    def _keep(self, mean: FloatArray, scale: FloatArray, standard: FloatArray) -> None:
        n, a = standard.shape
        _, singular, directions = np.linalg.svd(standard / np.sqrt(n - 1), full_matrices=False)
        n_found = min(n - 1, a)  # centred rows have one degree of freedom less
        self.eigenvalues_ = singular[:n_found] ** 2
        self.shares_ = self.eigenvalues_ / self.eigenvalues_.sum()
        self.n_components_ = min(int(np.searchsorted(self.shares_.cumsum(), self.share - SLACK)) + 1, n_found)
        kept = directions[: self.n_components_]
        self.components_ = kept * _signs(kept)[:, None]
        self.loadings_ = self.components_.T * singular[: self.n_components_]
        self.mean_, self.scale_ = mean, scale

    def transform(self, X: Any) -> Any:
        """The values of the components, one column each."""
        check_is_fitted(self)
        values, _ = self._read(X, reset=False)
        return ((values - self.mean_) / self.scale_) @ self.components_.T

    def inverse_transform(self, X: Any) -> FloatArray:
        """The table that has these values of the components, and the mean of what was left out."""
        check_is_fitted(self)
        scores = np.asarray(X, np.float64)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have one column for each of the {self.n_components_} components; got shape {scores.shape}."
            )
        return scores @ self.components_ * self.scale_ + self.mean_

    def loadings(self) -> Loadings:
        """Which feature goes into which component, with names."""
        check_is_fitted(self)
        n = self.n_components_
        return Loadings(
            tuple(map(str, self._names())), self.loadings_.copy(), self.eigenvalues_[:n].copy(), self.shares_[:n].copy()
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """PC1, PC2, …"""
        check_is_fitted(self)
        return _component_names(self.n_components_)

    def _read(self, X: Any, *, reset: bool) -> tuple[FloatArray, Columns]:
        who = type(self).__name__
        X = as_table(X, who)
        columns = read_columns(X, estimator_name=who)
        validate_data(self, X, skip_check_array=True, reset=reset)
        if reset:
            self._names_ = columns.names
        if columns.nominal:
            strange = sorted(int(position) for block in columns.nominal for position in block.columns)
            raise ValueError(
                f"{who} needs columns of numbers; categories are in {listed(columns.names[i] for i in strange)}. "
                "Encode them as numbers, or drop them."
            )
        found = numbers_of(columns)
        refuse_infinity(found, columns.names)
        empty = [columns.names[i] for i, values in sorted(found.items()) if np.isnan(values).any()]
        if empty:
            raise ValueError(
                f"Input X contains NaN: values are missing in column {listed(empty)}, and a linear combination needs all of "
                f"them. Drop those rows, or fill them in before {who}, with sklearn.impute.SimpleImputer for example."
            )
        return np.column_stack([found[i] for i in range(columns.n_features)]), columns

    def _names(self) -> Sequence[str]:
        return self.feature_names_in_ if hasattr(self, "feature_names_in_") else self._names_

    def _check_parameters(self) -> None:
        share = self.share
        if not isinstance(share, numbers.Real) or isinstance(share, bool) or not 0 < share <= 1:
            raise ValueError(f"share must be a number greater than 0 and not above 1; got {share!r}.")
        if not isinstance(self.matrix, str) or self.matrix not in MATRICES:
            raise ValueError(f"matrix must be one of {', '.join(map(repr, MATRICES))}; got {self.matrix!r}.")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True, eq=False)
class Loadings:
    """Features by components, with the eigenvalue and the share of each component below."""

    features: tuple[str, ...]
    values: FloatArray
    eigenvalues: FloatArray
    shares: FloatArray

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name: what pandas, polars and pyarrow build a table from."""
        names = _component_names(len(self.eigenvalues))
        return {"feature": list(self.features), **dict(zip(names, self.values.T.tolist(), strict=True))}

    def to_pandas(self) -> Any:
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        n = min(len(self.eigenvalues), COMPONENTS_SHOWN)
        titles = ["feature", *self.features, "eigenvalue", "share"]
        width = max(map(len, titles))
        numbers_ = [*self.values[:, :n], self.eigenvalues[:n], self.shares[:n]]
        cells = [[str(name) for name in _component_names(n)], *([f"{x:.3f}" for x in line] for line in numbers_)]
        widths = [max(len(line[k]) for line in cells) for k in range(n)]
        lines = [
            f"{title:<{width}}  " + "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
            for title, line in zip(titles, cells, strict=True)
        ]
        more = len(self.eigenvalues) - n
        return "\n".join(lines) + (f"\n… {more} more components" if more else "")


def _component_names(n: int) -> npt.NDArray[np.object_]:
    return np.array([f"PC{k + 1}" for k in range(n)], object)


def _standard_deviations(centred: FloatArray) -> FloatArray:
    """With n - 1, after division by the largest deviation: squares of large or tiny numbers are no floats."""
    largest = np.abs(centred).max(axis=0)
    return largest * np.sqrt(((centred / np.where(largest == 0, 1, largest)) ** 2).sum(axis=0) / (len(centred) - 1))


def _signs(components: FloatArray) -> FloatArray:
    """-1 for those whose largest loading is negative: an eigenvector has no sign of its own."""
    largest = np.abs(components).argmax(axis=1)
    return np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)
