"""Value reduction: bins by hand and by five methods, the plain reading of ReliefF's cuts, and what comes out as what."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from generated import Data
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearhit import EntropyRanking, PrincipalComponents, ReliefF, ValueReducer, recipes
from nearhit.fitting import Options
from nearhit.measures.cut_points import find_cut_points
from nearhit.neighbourhoods import find_neighbours
from nearhit.reduction.guided_cuts import find_guided_cuts, weigh_pairs
from nearhit.reduction.value_reducer import METHODS, labels_of
from nearhit.table import Classes

NAN = float("nan")
FOUND = [method for method in METHODS if method is not None]


@parametrize_with_checks([ValueReducer(), ValueReducer("entropy-mdl"), ValueReducer("relieff", n_jobs=1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def cuts_of(X, y, method, **more):
    return [cuts.tolist() for cuts in ValueReducer(method, **more).fit(X, y).cut_points_.values()]


# --- worked examples ------------------------------------------------------------------------------------------


def test_ages_by_hand():
    ages = pd.DataFrame({"age": [12.0, 12.5, 19, 40, 64.5, 150, NAN]})
    labels = ["child", "adolescent", "adult", "middle age", "elderly"]
    reducer = ValueReducer(None, cut_points={"age": [12, 19, 39, 64]}, labels={"age": labels}, output="labels")
    out = reducer.set_output(transform="pandas").fit_transform(ages)["age"]
    # up to and including a cut
    assert out.tolist()[:6] == ["child", "adolescent", "adolescent", "middle age", "elderly", "elderly"]
    assert out.isna().tolist() == [False] * 6 + [True]
    assert out.cat.categories.tolist() == labels and out.cat.ordered
    codes = ValueReducer(None, cut_points={0: [12, 19, 39, 64]}).fit_transform(ages)
    np.testing.assert_array_equal(codes[:, 0], [0, 1, 1, 3, 4, 4, NAN])


def test_each_method_is_that_of_cut_points():
    X, y = load_iris(return_X_y=True)
    for method in ("equal width", "equal frequency", "chimerge", "entropy-mdl"):
        expected = [find_cut_points(X[:, j], method, classes=y).tolist() for j in range(4)]
        assert cuts_of(X, y, method) == expected


def test_iris_as_it_is_quoted():
    """The cuts that textbooks and other programs give for both methods; ChiMerge at 0.90, where chi2 is 4.61."""
    X, y = load_iris(return_X_y=True)
    assert rounded(cuts_of(X, y, "entropy-mdl")) == [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    assert rounded(cuts_of(X, y, "chimerge", n_bins=None, significance=0.9)) == [
        [4.85, 4.95, 5.45, 5.75, 6.25, 7.05],
        [2.45, 2.85, 2.95, 3.35],
        [2.45, 4.75, 5.15],
        [0.8, 1.35, 1.75],
    ]


def rounded(cuts):
    return [[round(cut, 9) for cut in some] for some in cuts]


def test_relieff_finds_cuts_that_matter_only_together():
    X = np.random.default_rng(0).random((300, 3))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    assert cuts_of(X, y, "entropy-mdl")[:2] == [[], []]
    found = cuts_of(X, y, "relieff", n_bins=2)
    assert found[0] == pytest.approx([0.5], abs=0.03)
    assert found[1] == pytest.approx([0.5], abs=0.03)


def test_relieff_and_a_numeric_target():
    X = np.random.default_rng(2).random((300, 3))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.3), 10.0, 2.0) + X[:, 2] * 1e-3
    reducer = ValueReducer("relieff", n_bins=2, n_neighbors=10).fit(X, y)
    assert reducer.target_kind_ == "numeric"
    assert reducer.cut_points_["x0"] == pytest.approx([0.5], abs=0.03)
    assert reducer.cut_points_["x1"] == pytest.approx([0.3], abs=0.03)
    as_numbers = ValueReducer("relieff", n_bins=2, n_neighbors=10, target="numeric").fit(X, y.round())
    assert as_numbers.target_kind_ == "numeric" and as_numbers.cut_points_["x0"] == pytest.approx([0.5], abs=0.03)
    assert ValueReducer("relieff", n_bins=2).fit(X, y.round()).target_kind_ == "classes"


# --- ReliefF's cuts in plain loops ----------------------------------------------------------------------------


def plain_pairs(X, y, k):
    """(i, j, signed weight) as the definition of ReliefF has them; no ties in X."""
    n, prior = len(X), {c: np.mean(y == c) for c in set(y)}
    Z = X / (X.max(axis=0) - X.min(axis=0))
    for i in range(n):
        for c in prior:
            rows = [j for j in range(n) if j != i and y[j] == c]
            near = sorted(rows, key=lambda j: np.abs(Z[i] - Z[j]).sum())[:k]
            for j in near:
                yield i, j, (-1 if c == y[i] else prior[c] / (1 - prior[y[i]])) / len(near) / n


def plain_cuts(values, pairs, n_bins):
    """Each cut anew, by the weight of the bins."""

    def weight(cuts):
        bins = np.searchsorted(cuts, values)
        return sum(w for i, j, w in pairs if bins[i] != bins[j])

    return greedy(values, weight, n_bins)


@pytest.mark.parametrize("n_bins", [2, 4, 99])
@pytest.mark.parametrize("seed", range(3))
def test_the_cuts_are_those_of_plain_loops(n_bins, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=40) / 5, [-0.5, 0.4])
    pairs = list(plain_pairs(X, y, 4))
    expected = [plain_cuts(X[:, j], pairs, n_bins) for j in range(3)]
    found = cuts_of(X, y, "relieff", n_bins=n_bins, n_neighbors=4)
    for a, b in zip(found, expected, strict=True):
        assert a == pytest.approx(b)


def test_the_weight_of_the_bins_is_that_of_relieff():
    """With the bins as the only column beside the original ones' neighbours: what the pairs say is what W is."""
    rng = np.random.default_rng(5)
    X = rng.random((80, 2))
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    table = Data(X, np.zeros((80, 0), int), None, y, None).table()
    pairs = weigh_pairs(table, 10, Options())
    diff = np.abs(X[pairs.rows] - X[pairs.others]) / (X.max(axis=0) - X.min(axis=0))
    apart, together = (diff * (amount / amount.sum())[:, None] for amount in (pairs.apart, pairs.together))
    weights = apart.sum(axis=0) * pairs.weight_apart - together.sum(axis=0) * pairs.weight_together
    assert weights == pytest.approx(ReliefF(10).fit(X, y).weights_, abs=1e-7)


@pytest.mark.parametrize("numeric", [False, True])
def test_unknown_values_and_row_weights_by_rule_c(numeric):
    rng = np.random.default_rng(3)
    X = rng.random((40, 2)).round(2)
    y = rng.random(40) if numeric else rng.integers(0, 3, 40)
    X[rng.random(X.shape) < np.where(y > 0.5, 0.05, 0.6)[:, None]] = NAN  # hits and misses are lost unequally
    w = rng.integers(1, 4, 40).astype(float)
    table = Data(X, np.zeros((40, 0), int), None, y, w).table()
    found = list(find_neighbours(table, recipes.RRELIEFF if numeric else recipes.RELIEFF))
    parts = {"apart": [], "together": []}
    for some in found:
        for i, g, j, weight in zip(some.target, some.group, some.row, some.weight, strict=True):
            if numeric:
                diff = abs(y[i] - y[j]) / (y.max() - y.min())
                parts["apart"].append((i, j, w[i] * weight * diff))
                parts["together"].append((i, j, w[i] * weight * (1 - diff)))
            else:
                target = table.targets[0]
                assert isinstance(target, Classes)
                share = w[y == g].sum() / w[y != y[i]].sum()
                parts["together" if g == y[i] else "apart"].append((i, j, w[i] * weight * (1 if g == y[i] else share)))
    for values in X.T:

        def weight(cuts, values=values):
            bins, score = np.searchsorted(cuts, values), 0.0
            for name, sign in (("apart", 1), ("together", -1)):
                i, j, v = (np.array(part) for part in zip(*parts[name], strict=True))
                everything = 1 if numeric else v.sum() / w.sum()
                is_known = ~np.isnan(values[i] + values[j])
                score += sign * everything * v[is_known & (bins[i] != bins[j])].sum() / v[is_known].sum()
            return score

        pairs = weigh_pairs(table, None, Options())
        for n_bins in (2, 6):
            assert find_guided_cuts(values, pairs, n_bins).tolist() == greedy(values, weight, n_bins)


def greedy(values, weight, n_bins):
    """The cut that raises a weight most, and another, until none does."""
    different = np.unique(values[~np.isnan(values)])
    candidates, cuts = (different[1:] + different[:-1]) / 2, []
    while len(cuts) < n_bins - 1:
        gains = [weight(sorted([*cuts, c])) - weight(sorted(cuts)) for c in candidates]
        if max(gains) < 1e-9:
            break
        cuts.append(candidates[np.argmax(np.round(gains, 9))])
    return sorted(cuts)


# --- what changes nothing -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(rng.normal(size=(150, 3)).round(1), columns=["a", "b", "c"])
    y = np.where((frame["a"] > 0) ^ (frame["b"] > 0.3), "yes", "no")
    frame.loc[rng.random(150) < 0.1, "b"] = NAN
    return frame, y, rng


@pytest.mark.parametrize("method", FOUND)
def test_rows_columns_and_classes_have_no_order(table, method):
    frame, y, rng = table
    expected = {name: cuts.tolist() for name, cuts in ValueReducer(method).fit(frame, y).cut_points_.items()}
    rows = rng.permutation(len(frame))
    shuffled = ValueReducer(method, n_jobs=2).fit(frame.iloc[rows, ::-1], np.where(y == "yes", 1, 2)[rows])
    assert {name: cuts.tolist() for name, cuts in shuffled.cut_points_.items()} == expected


@pytest.mark.parametrize("method", FOUND)
def test_a_weight_is_a_number_of_copies(table, method):
    frame, y, rng = table
    copies = rng.integers(0, 3, len(frame))
    weighted = ValueReducer(method).fit(frame, y, sample_weight=copies)
    copied = ValueReducer(method).fit(frame.loc[frame.index.repeat(copies)], np.repeat(y, copies))
    for name in frame:
        assert weighted.cut_points_[name].tolist() == copied.cut_points_[name].tolist()


def test_light_rows_prove_less():
    """chi2 of 4 + 4 rows is 8, and 2 if each is a quarter of a row; the threshold is 3.84."""
    X, y = np.arange(8.0)[:, None], [0] * 4 + [1] * 4
    for weight, cuts in ((1, [3.5]), (0.25, []), (0.5, [3.5])):
        assert ValueReducer("chimerge").fit(X, y, sample_weight=[weight] * 8).cut_points_["x0"].tolist() == cuts


# --- what comes in and what goes out --------------------------------------------------------------------------


def mixed():
    return pd.DataFrame(
        {
            "size": [1.0, 2.0, NAN, 4.0, 5.0, 6.0],
            "colour": pd.Categorical(["red", "green", None, "red", "red", "green"]),
            "count": pd.array([1, 2, 3, None, 5, 6], "Int64"),
            "flag": [True, False, True, True, False, False],
        },
        index=list("uvwxyz"),
    )


def test_frames_keep_their_other_columns():
    frame = mixed()
    reducer = ValueReducer(n_bins=2).set_output(transform="pandas").fit(frame)
    assert list(reducer.cut_points_) == ["size", "count"]
    out = reducer.transform(frame)
    assert out.columns.tolist() == frame.columns.tolist() and out.index.tolist() == list("uvwxyz")
    pd.testing.assert_frame_equal(out[["colour", "flag"]], frame[["colour", "flag"]])
    assert out["size"].tolist()[:2] == [0, 0] and np.isnan(out["size"].iloc[2]) and out["size"].dtype == float
    labelled = clone(reducer).set_params(output="labels").set_output(transform="pandas").fit_transform(frame)
    assert labelled["size"].cat.codes.tolist() == [0, 0, -1, 1, 1, 1]
    assert labelled["size"].cat.categories.tolist() == list(labels_of(reducer.cut_points_["size"]))
    assert labelled["size"].isna().tolist() == frame["size"].isna().tolist()


def test_polars_and_arrow():
    frame = pl.from_pandas(mixed().reset_index(drop=True))
    reducer = ValueReducer(n_bins=2, output="labels").set_output(transform="polars").fit(frame)
    out = reducer.transform(frame)
    assert out.columns == frame.columns and out["flag"].to_list() == frame["flag"].to_list()
    assert isinstance(out["size"].dtype, pl.Enum) and out["size"].null_count() == 1
    codes = ValueReducer(n_bins=2).set_output(transform="polars").fit_transform(frame)
    assert codes["size"].to_list()[2] is None
    assert out["size"].to_physical().to_list() == [None if v is None else int(v) for v in codes["size"]]
    assert ValueReducer(n_bins=2).fit(frame.to_arrow()).cut_points_.keys() == reducer.cut_points_.keys()
    assert isinstance(frame.to_arrow(), pa.Table)


def test_arrays():
    X = np.array([[1.0, 5.0], [2.0, NAN], [3.0, 7.0], [4.0, 8.0]])
    expected = [[0, 0], [0, NAN], [1, 1], [1, 1]]
    for same in (X, X.astype(np.float32), X.tolist(), pd.DataFrame(X), sp.csr_array(X), np.ma.masked_invalid(X)):
        out = ValueReducer(n_bins=2).fit_transform(same)
        assert out.dtype == np.float64
        np.testing.assert_array_equal(out, expected)
    labels = ValueReducer(n_bins=2, output="labels").fit_transform(X)
    assert labels.dtype == object
    assert labels[:, 0].tolist() == ["<= 2.5", "<= 2.5", "> 2.5", "> 2.5"]
    assert np.isnan(labels[1, 1])
    frame = ValueReducer(n_bins=2).set_output(transform="pandas").fit_transform(X)
    np.testing.assert_array_equal(frame.to_numpy(), expected)
    for library in ("pandas", "polars"):
        words = np.array([[1, "a"], [2, "b"], [3, None], [4, "a"]], object)
        out = ValueReducer(n_bins=2).set_output(transform=library).fit_transform(words)
        assert list(out.columns) == ["x0", "x1"] and list(out["x0"]) == [0, 0, 1, 1]
    np.testing.assert_array_equal(ValueReducer(n_bins=2).fit_transform(words)[:, 1], words[:, 1])
    declared = ValueReducer(n_bins=2, categorical_features=[1]).fit_transform(X)
    np.testing.assert_array_equal(declared, np.column_stack([[0, 0, 1, 1], X[:, 1]]))
    assert ValueReducer(n_bins=2, categorical_features=[0, 1]).fit_transform(X).tolist()[0] == [1, 5]


def test_new_values_and_all_unknown_columns():
    reducer = ValueReducer("equal width", n_bins=2).fit([[1.0, None], [3.0, None]])
    np.testing.assert_array_equal(
        reducer.transform([[-9.0, 1.0], [np.inf, None], [2.0, 5.0]]), [[0, 0], [1, NAN], [0, 0]]
    )
    assert reducer.labels_ == {"x0": ("<= 2", "> 2"), "x1": ("all",)}


def test_labels_have_as_many_digits_as_they_need():
    assert labels_of(np.array([0.5])) == ("<= 0.5", "> 0.5")
    assert labels_of(np.array([1.23456, 1.234567, 2])) == ("<= 1.23456", "(1.23456, 1.23457]", "(1.23457, 2]", "> 2")
    cuts = np.array([1, 1 + 2**-52, 1e9])  # the next float
    assert len(set(labels_of(cuts))) == 4


def test_bins_are_categories_for_those_who_come_next():
    X, y = load_iris(return_X_y=True, as_frame=True)
    reducer = ValueReducer("entropy-mdl", output="labels").set_output(transform="pandas")
    relief = make_pipeline(reducer, ReliefF()).fit(X, y)[-1]
    assert relief.top(1)[0] in ("petal width (cm)", "petal length (cm)")
    bayes = make_pipeline(ValueReducer("entropy-mdl"), CategoricalNB(min_categories=5))
    assert cross_val_score(bayes, X, y).mean() > 0.9
    assert pickle.loads(pickle.dumps(reducer.fit(X, y))).transform(X).equals(reducer.transform(X))
    assert reducer.get_feature_names_out().tolist() == X.columns.tolist()


# --- errors at the door ---------------------------------------------------------------------------------------

X4, Y4 = [[1.0, "a"], [2.0, "b"], [3.0, "a"], [4.0, "b"]], [0, 1, 0, 1]


@pytest.mark.parametrize(
    "params, message",
    [
        (dict(method="mdl"), r"method must be one of 'equal frequency', .*None; got 'mdl'"),
        (dict(output="numbers"), "output must be one of 'codes', 'labels'; got 'numbers'"),
        (dict(target="y"), "target must be one of"),
        (dict(n_bins=1), "n_bins must be None or an integer of at least 2; got 1"),
        (dict(n_bins=None), 'method="equal frequency" needs a number of bins; got n_bins=None'),
        (dict(n_neighbors=0), "n_neighbors must be None or an integer of at least 1"),
        (dict(significance=1), "significance must be a number between 0 and 1; got 1"),
        (dict(method=None), "method=None cuts by hand only; give cut_points"),
        (dict(cut_points=[1, 2]), r"cut_points must be a dict with a list for each column; got \[1, 2\]"),
        (dict(cut_points={"age": [1]}), r"cut_points must name columns of X.* there is no column 'age'"),
        (dict(cut_points={5: [1]}), "there is no column 5"),
        (dict(cut_points={"x1": [1]}), "cut_points names column 'x1', which holds categories, not numbers"),
        (dict(cut_points={"x0": [2, 1]}), "the cut points of column 'x0' must be finite numbers in ascending order"),
        (dict(cut_points={"x0": [1, NAN]}), "must be finite numbers"),
        (dict(cut_points={"x0": ["a"]}), "must be finite numbers"),
        (dict(cut_points={"x0": 3}), "must be finite numbers"),
        (dict(labels={"x0": ["a", "b"]}), 'labels are what output="labels" returns; got output="codes"'),
        (dict(labels={"x0": ["a"]}, output="labels"), "column 'x0' has 4 bins and needs as many different names"),
        (dict(labels={"x0": ["a", "b", "b", "c"]}, output="labels"), "as many different names"),
        (dict(labels={"x0": "abcd"}, output="labels"), "as many different names"),
        (dict(method=None, cut_points={}, labels={}), "give cut_points"),
        (dict(method="chimerge", y=None), r'ValueReducer\(method="chimerge"\) requires y to be passed'),
        (dict(method="chimerge", y=[0.1, 0.2, 0.3, 0.4]), "Unknown label type: continuous"),
        (dict(method="relieff", y=[0, 1]), "X has 4 rows, y has 2"),
    ],
)
def test_what_is_refused(params, message):
    y = params.pop("y", Y4)
    with pytest.raises(ValueError, match=message):
        ValueReducer(**params).fit(X4, y)


@pytest.mark.parametrize("estimator", [ValueReducer, PrincipalComponents, EntropyRanking])
def test_a_failed_fit_leaves_nothing_fitted(estimator):
    fitted = estimator().fit([[1.0, 5.0], [2.0, 6.5], [4.0, 1.0]])
    with pytest.raises(ValueError, match="infinity"):
        fitted.fit([[1.0], [np.inf]])
    assert [name for name in vars(fitted) if name.endswith("_")] == []
    with pytest.raises(NotFittedError):
        fitted.transform([[1.0]])


def test_other_refusals():
    with pytest.raises(ValueError, match="Input X contains infinity: column 'x0'"):
        ValueReducer().fit([[1.0], [np.inf]])
    two = [[1.0, 5.0], [2.0, 6.0]]
    with pytest.raises(ValueError, match="labels names columns that are not cut: 'x1'"):
        ValueReducer(None, cut_points={0: [1.5]}, labels={1: ["a", "b"]}, output="labels").fit(two)
    reducer = ValueReducer().fit(two)
    with pytest.raises(ValueError, match="column 'x1' held numbers in fit and holds categories now"):
        reducer.transform([[1.0, "a"], [2.0, "b"]])


def test_whole_numbers_that_are_labels_are_names():
    frame = pd.DataFrame({1: [1.0, 2.0, 3.0], 0: [10.0, 20.0, 30.0]})
    reducer = ValueReducer(None, cut_points={1: [1.5]}).fit(frame)
    assert {name: list(cuts) for name, cuts in reducer.cut_points_.items()} == {"1": [1.5]}
    by_place = ValueReducer(None, cut_points={1: [15.0]})
    for other in (frame.to_numpy(), frame.set_axis(["1", "0"], axis=1), frame.set_axis([7, 8], axis=1)):
        assert [list(cuts) for cuts in by_place.fit(other).cut_points_.values()] == [[15.0]]
    assert by_place.fit(frame.set_axis([7, 8], axis=1)).cut_points_.keys() == {"8"}
