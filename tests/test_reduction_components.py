"""Principal components: the table of the textbook, the definition by eigenvalues, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearhit import PrincipalComponents

NAN = float("nan")


@parametrize_with_checks([PrincipalComponents(), PrincipalComponents(0.5, matrix="covariance")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def iris():
    return load_iris(as_frame=True).data


def test_iris(iris):
    pca = PrincipalComponents().fit(iris)
    # Published: 2.91082, 0.92122, 0.14735, 0.02061; recent copies of Iris differ in three cells.
    assert pca.eigenvalues_ == pytest.approx([2.91082, 0.92122, 0.14735, 0.02061], abs=0.008)
    assert pca.eigenvalues_.sum() == pytest.approx(4)
    assert pca.n_components_ == 2  # (2.91 + 0.92) / 4 = 0.958 >= 0.95
    correlations = np.corrcoef(iris.T)
    assert pca.eigenvalues_ == pytest.approx(np.linalg.eigvalsh(correlations)[::-1])
    scores = pca.transform(iris)
    both = np.corrcoef(iris.T, scores.T)[:4, 4:]
    assert pca.loadings_ == pytest.approx(both)
    assert np.var(scores, axis=0, ddof=1) == pytest.approx(pca.eigenvalues_[:2])


def test_the_published_iris():
    """The old copy of the UCI repository has Fisher's rows 35 and 38 wrong; with them, every digit of the textbook."""
    iris = load_iris().data.copy()
    assert iris[[34, 37]].tolist() == [[4.9, 3.1, 1.5, 0.2], [4.9, 3.6, 1.4, 0.1]]
    iris[[34, 37]] = [4.9, 3.1, 1.5, 0.1]
    assert PrincipalComponents().fit(iris).eigenvalues_.round(5).tolist() == [2.91082, 0.92122, 0.14735, 0.02061]


@pytest.mark.parametrize("matrix", ["covariance", "correlation"])
@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
def test_the_components_are_those_of_scikit_learn(matrix, shape):
    X = np.random.default_rng(0).normal(size=shape) * np.arange(1, shape[1] + 1) + 100
    Z = X if matrix == "covariance" else StandardScaler().fit_transform(X) * np.sqrt(1 - 1 / len(X))
    other = PCA(svd_solver="full").fit(Z)
    ours = PrincipalComponents(1.0, matrix=matrix).fit(X)
    n = min(shape[0] - 1, shape[1])
    assert ours.n_components_ == len(ours.eigenvalues_) == n
    assert ours.eigenvalues_ == pytest.approx(other.explained_variance_[:n])
    assert np.abs(ours.transform(X)) == pytest.approx(np.abs(other.transform(Z)[:, :n]), abs=1e-9)
    assert ours.inverse_transform(ours.transform(X)) == pytest.approx(X)
    largest = np.abs(ours.components_).argmax(axis=1)
    assert (ours.components_[np.arange(n), largest] > 0).all()


def test_the_fewest_components_that_reach_the_share():
    # Uncorrelated columns of variances 4, 2, 1, 1: R = 1/2, 3/4, 7/8, 1.
    signs = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]).T
    signs = np.vstack([signs, -signs])
    X = signs * np.sqrt(np.array([4, 2, 1, 1]) * 7 / 8)
    assert PrincipalComponents(matrix="covariance").fit(X).eigenvalues_ == pytest.approx([4, 2, 1, 1])
    for share, n in ((0.1, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.875, 3), (0.9, 4), (1.0, 4)):
        assert PrincipalComponents(share, matrix="covariance").fit(X).n_components_ == n


def test_a_share_is_reached_also_if_rounding_says_not_quite():
    X = np.random.default_rng(0).normal(size=(30, 6))
    reached = PrincipalComponents().fit(X).shares_.cumsum()
    for k in range(6):
        assert PrincipalComponents(min(1.0, float(np.nextafter(reached[k], 2)))).fit(X).n_components_ == k + 1


def test_units_and_constants():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    expected = PrincipalComponents().fit(X)
    for factor in (1e-200, 1e200):
        scaled = PrincipalComponents().fit(X * [1, factor, 1])
        assert scaled.eigenvalues_ == pytest.approx(expected.eigenvalues_)
    with_constant = PrincipalComponents().fit(np.column_stack([X[:, :2], np.full(40, 0.1), X[:, 2]]))
    assert with_constant.eigenvalues_[:3] == pytest.approx(expected.eigenvalues_)
    assert with_constant.eigenvalues_[3] == pytest.approx(0, abs=1e-12)
    assert with_constant.loadings_[2] == pytest.approx(0, abs=1e-7)
    order = rng.permutation(40)
    assert PrincipalComponents().fit(X[order]).loadings_ == pytest.approx(expected.loadings_, abs=1e-9)


def test_names_tables_and_containers(iris):
    pca = PrincipalComponents().fit(iris)
    assert pca.get_feature_names_out().tolist() == ["PC1", "PC2"]
    table = pca.loadings().to_pandas()
    assert table.columns.tolist() == ["feature", "PC1", "PC2"]
    assert table["feature"].tolist() == iris.columns.tolist()
    assert pca.loadings().to_polars()["PC1"].to_list() == pca.loadings_[:, 0].tolist()
    frame = pca.set_output(transform="pandas").transform(iris)
    assert frame.columns.tolist() == ["PC1", "PC2"] and (frame.index == iris.index).all()
    pca.set_output(transform="default")
    scores = pca.transform(iris)
    for same in (pl.from_pandas(iris), iris.to_numpy().tolist(), sp.csr_array(iris.to_numpy())):
        assert PrincipalComponents().fit(same).transform(same) == pytest.approx(scores)
    numbered = iris.set_axis([1, 2, 3, 4], axis=1)
    assert PrincipalComponents().fit(numbered).loadings().features == ("1", "2", "3", "4")
    assert pickle.loads(pickle.dumps(pca)).transform(iris).tolist() == scores.tolist()
    wide = PrincipalComponents(1.0).fit(np.random.default_rng(0).normal(size=(20, 9)))
    assert "… 3 more components" in repr(wide.loadings())


@pytest.mark.parametrize(
    "X, message",
    [
        ([[1.0, NAN], [2.0, 3.0]], "Input X contains NaN: values are missing in column 'x1'.*SimpleImputer"),
        ([[1.0, np.inf], [2.0, 3.0]], "Input X contains infinity: column 'x1'"),
        ([[1.0, "a"], [2.0, "b"]], "needs columns of numbers; categories are in 'x1'"),
        ([[1.0, 2.0]], "minimum of 2 is required"),
        ([[1.0, 2.0], [1.0, 2.0]], "needs a feature that varies; all 2 are constant"),
    ],
)
def test_bad_tables(X, message):
    with pytest.raises(ValueError, match=message):
        PrincipalComponents().fit(X)


@pytest.mark.parametrize(
    "params, message",
    [
        (dict(share=0), "share must be a number greater than 0 and not above 1; got 0"),
        (dict(share=1.5), "share must be"),
        (dict(share=True), "share must be"),
        (dict(matrix="cosine"), "matrix must be one of 'correlation', 'covariance'; got 'cosine'"),
    ],
)
def test_bad_parameters(params, message, iris):
    with pytest.raises(ValueError, match=message):
        PrincipalComponents(**params).fit(iris)


def test_numbers_whose_squares_are_none():
    X = np.random.default_rng(1).normal(size=(40, 3)) * [1, 1e200, 1]
    assert PrincipalComponents().fit(X).n_components_ == 3
    for factor in (1e200, 1e-200):
        with pytest.raises(
            ValueError, match=r"variance of column 'x1' is too large or too small for a float.*correlation"
        ):
            PrincipalComponents(matrix="covariance").fit(np.sign(X) * factor * [0.5, 1, 0.5])
    with pytest.raises(ValueError, match="variance of column 'x0' is too large or too small for a float"):
        PrincipalComponents().fit(np.sign(X) * 1e308)


def test_bad_rows_afterwards(iris):
    pca = PrincipalComponents().fit(iris)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        pca.transform(iris.assign(**{"petal width (cm)": pd.NA}))
    with pytest.raises(ValueError, match="one column for each of the 2 components; got shape"):
        pca.inverse_transform(np.ones((3, 3)))
