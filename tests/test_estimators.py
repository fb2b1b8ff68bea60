"""The scikit-learn face: its own checks, messages at the door, clone, pickle, pipelines, routing."""

import copy
import pickle
import subprocess
import sys
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearhit
from nearhit import MultiSURF, MultiSWRFStar, Relief, ReliefF, RReliefF, SURFStar
from nearhit.kernels.native import bytes_for_one_row

FAMILY = [ReliefF, RReliefF, Relief]


@parametrize_with_checks([ReliefF(), RReliefF(), Relief(), MultiSURF(), SURFStar(), MultiSWRFStar()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def xor():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 10))
    return X, X[:, 3] ^ X[:, 7]


# -------------------------------------------------------------------------------------- what fit leaves behind


def test_fitted_attributes(xor):
    relief = ReliefF(select=2).fit(*xor)
    assert set(np.flatnonzero(relief.support_)) == {3, 7}
    assert sorted(relief.ranking_[:3].tolist() + relief.ranking_[3:].tolist())[:2] == [1, 2]
    assert relief.n_neighbors_used_ == 10
    assert relief.target_kind_ == "classes"
    assert RReliefF().fit(*xor).target_kind_ == "numeric"
    assert relief.kernel_.startswith("native-")
    assert relief.classes_.tolist() == [0, 1]
    assert relief.feature_importances_ is relief.weights_
    assert relief.get_feature_names_out().tolist() == ["x3", "x7"]
    assert relief.inverse_transform(relief.transform(xor[0]))[:, [3, 7]].tolist() == xor[0][:, [3, 7]].tolist()


def test_the_neighbours_used_are_those_that_count():
    X, y = np.arange(10.0)[:, None] ** 2, np.arange(10) == 4  # one class has a single row, and that row has no hit
    assert ReliefF(3).fit(X, y).n_neighbors_used_ == 0
    assert ReliefF(3, misses="only").fit(X, y).n_neighbors_used_ == 1
    assert ReliefF(3, misses="only").fit(X, np.arange(10) < 5).n_neighbors_used_ == 3


def test_the_ranking_and_the_top(xor):
    relief = ReliefF().fit(pd.DataFrame(xor[0], columns=list("abcdefghij")), xor[1])
    assert sorted(relief.top(2)) == ["d", "h"]
    ranking = relief.ranking()
    assert [row.weight for row in ranking] == sorted(relief.weights_, reverse=True)
    assert ranking.to_pandas()["rank"].tolist() == sorted(relief.ranking_)
    assert ranking.to_polars()["feature"].to_list() == [row.feature for row in ranking]
    assert len(ranking) == 10 and ranking[0].rank == 1
    assert "█" in repr(ranking) and "<table>" in ranking._repr_html_()
    with pytest.raises(ValueError, match="n must be an integer of at least 1; got 0"):
        relief.top(0)


def test_nothing_of_the_data_is_kept_or_written(xor):
    X, y = xor
    X, y, w = X.astype(float), y.copy(), np.ones(len(y))
    for array in (X, y, w):
        array.flags.writeable = False
    relief = ReliefF().fit(X, y, sample_weight=w)
    assert len(pickle.dumps(relief)) < 4000 < X.nbytes
    assert not any(np.shares_memory(v, X) for v in vars(relief).values() if isinstance(v, np.ndarray))


@pytest.mark.parametrize("estimator", FAMILY)
def test_a_failed_fit_leaves_nothing_fitted(estimator, xor):
    fitted = estimator().fit(*xor)
    with pytest.raises(ValueError, match="inconsistent"):
        fitted.fit(xor[0], xor[1][:-1])
    assert [name for name in vars(fitted) if name.endswith("_")] == []
    with pytest.raises(sklearn.exceptions.NotFittedError):
        fitted.ranking()


# ------------------------------------------------------------------------------------------------- containers


def test_every_container_gives_the_same_weights():
    rng = np.random.default_rng(1)
    n = 120
    frame = pd.DataFrame(
        {
            "size": rng.random(n),
            "count": rng.integers(0, 5, n),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "shape": rng.choice(["round", "square"], n),
            "flag": rng.random(n) < 0.5,
        }
    )
    y = np.where(frame["flag"] ^ (frame["shape"] == "round"), "yes", "no")
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "shape"] = None
    expected = ReliefF().fit(frame, y).weights_
    same = {
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame),
        "objects": frame.astype(object).to_numpy(),
        "list": frame.astype(object).to_numpy().tolist(),
    }
    for name, X in same.items():
        np.testing.assert_array_equal(ReliefF().fit(X, y).weights_, expected, err_msg=name)


def test_memory_layout_and_number_types_do_not_matter(xor):
    X, y = xor
    expected = ReliefF().fit(X.astype(float), y).weights_
    sliced = np.zeros((400, 20))[::2, ::2]
    sliced[:] = X
    for same in (
        X.astype(np.float32),
        X.astype(np.int8),
        np.asfortranarray(X),
        sliced,
        sp.csr_array(X),
        sp.csc_matrix(X),
    ):
        np.testing.assert_array_equal(ReliefF().fit(same, y).weights_, expected)


def test_declared_categories(xor):
    y = xor[1]
    frame = pd.DataFrame(np.random.default_rng(2).integers(0, 9, (200, 3)), columns=["a", "b", "c"])
    as_text = frame.astype({"b": str})
    expected = ReliefF().fit(as_text, y).weights_
    for how in (["b"], [1], [-2], [False, True, False]):
        np.testing.assert_array_equal(ReliefF(categorical_features=how).fit(frame, y).weights_, expected)
    assert (ReliefF().fit(frame, y).weights_ != expected).any()


@pytest.mark.parametrize(
    "frame, names",
    [
        (lambda X: nw.from_native(pd.DataFrame(X, columns=["a", "b", "c"])), ["a", "b", "c"]),
        (lambda X: pa.RecordBatch.from_arrays(list(X.T), names=["a", "b", "c"]), ["a", "b", "c"]),
        (lambda X: pd.DataFrame(X, columns=[2010, 2011, 2012]), ["2010", "2011", "2012"]),
        (
            lambda X: pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
            ["('a', 1)", "('a', 2)", "('b', 1)"],
        ),
    ],
    ids=["narwhals", "RecordBatch", "numbers", "MultiIndex"],
)
def test_all_that_names_columns_names_them_alike(frame, names, xor):
    frame = frame(xor[0][:, [3, 7, 1]].astype(float))
    relief = ReliefF(categorical_features=names[:1]).fit(frame, xor[1])
    assert sorted(relief.top(3)) == sorted(row.feature for row in relief.ranking()) == sorted(names)
    assert sorted(pickle.loads(pickle.dumps(relief)).top(3)) == sorted(names)
    out = relief.get_feature_names_out().tolist()  # scikit-learn keeps names only if they are strings
    assert out == (names if hasattr(relief, "feature_names_in_") else ["x0", "x1", "x2"])
    relief.set_params(categorical_features=None).fit(xor[0][:, :3], xor[1])  # no name of the fit before is left
    assert sorted(relief.top(3)) == ["x0", "x1", "x2"]


def test_set_output_and_names(xor):
    frame = pd.DataFrame(xor[0], columns=list("abcdefghij"))
    selector = ReliefF(select=2).fit(frame, xor[1])
    assert sorted(selector.set_output(transform="pandas").transform(frame).columns) == ["d", "h"]
    assert sorted(selector.set_output(transform="polars").transform(frame).columns) == ["d", "h"]


# --------------------------------------------------------------------------------------- scikit-learn citizens


@pytest.mark.parametrize("estimator", FAMILY)
def test_clone_and_copies(estimator, xor):
    fitted = estimator(n_neighbors=5, select=">0").fit(*xor)
    assert clone(fitted).get_params() == fitted.get_params()
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(twin.weights_, fitted.weights_)
        assert twin.top(3) == fitted.top(3)


@pytest.mark.parametrize("saved", [None, 0])
def test_an_old_pickle_is_refused(saved, xor):
    state = ReliefF().fit(*xor).__getstate__()
    state["_nearhit_state"] = saved
    if saved is None:
        del state["_nearhit_state"]
    with pytest.raises(ValueError, match=r"saved in state .* by another version of nearhit"):
        ReliefF().__setstate__(state)


def test_pipeline_and_grid_search(xor):
    pipeline = make_pipeline(ReliefF(select=2), LogisticRegression())
    grid = {"relieff__n_neighbors": [1, 5], "relieff__select": [2, 10]}
    pipeline.set_params(logisticregression=DecisionTreeClassifier(max_depth=2, random_state=0))
    search = GridSearchCV(pipeline, grid, cv=3).fit(*xor)
    assert search.best_score_ == 1  # two columns solve it; the tree alone finds no first split
    assert search.best_params_["relieff__select"] == 2
    in_parallel = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(*xor)
    assert in_parallel.cv_results_["mean_test_score"].tolist() == search.cv_results_["mean_test_score"].tolist()


def test_as_the_model_of_another_selector(xor):
    assert set(SelectFromModel(ReliefF(), max_features=2).fit(*xor).get_support(indices=True)) == {3, 7}


def test_sample_weight_is_routed(xor):
    X, y = xor
    w = np.random.default_rng(0).integers(0, 3, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        relief = ReliefF(select=2).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(relief, LogisticRegression().set_fit_request(sample_weight=False))
        pipeline.fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(
        pipeline[0].weights_, ReliefF().fit(np.repeat(X, w, axis=0), np.repeat(y, w)).weights_
    )


def test_importing_is_light():
    """nearhit imports nothing of weight that scikit-learn has not imported already."""
    code = (
        "import sys, sklearn.feature_selection; before = set(sys.modules); import nearhit;"
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - {'nearhit', 'email', 'importlib'}))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


# ----------------------------------------------------------------------------------------- errors at the door

NAN = np.nan
CASES = [
    (dict(n_neighbors=0), r'n_neighbors must be an integer of at least 1 or "all"; got 0'),
    (dict(n_neighbors=2.5), "n_neighbors must be"),
    (dict(n_neighbors=True), "n_neighbors must be"),
    (dict(metric="cosine"), "metric must be one of 'manhattan', 'euclidean'; got 'cosine'"),
    (dict(diff="cubic"), "diff must be one of"),
    (dict(scale="std"), "scale must be one of 'range', None"),
    (dict(missing="drop"), "missing must be one of"),
    (dict(weights="linear"), "weights must be one of"),
    (dict(ties="random"), "ties must be one of"),
    (dict(sigma=0), "sigma must be a finite number greater than 0; got 0"),
    (dict(sigma=np.inf), "sigma must be a finite number"),
    (dict(n_targets=0), "n_targets must be None"),
    (dict(n_targets=1.5), "n_targets must be None"),
    (dict(n_targets=201), "n_targets=201 asks for more rows than the 200 there are"),
    (dict(diff="ramp", ramp=(0.5, 0.1)), "0 <= equal < different <= 1"),
    (dict(ramp=0.1), "ramp must be two shares"),
    *[(dict(ramp=ramp), r"ramp must be .* with 0 <= equal < different <= 1; got \(")
      for ramp in [(0, 2), (-1, 1), (NAN, 1), (0, NAN), (0, np.inf), (0.1, 0.05), (0.1, 0.1), (False, True)]],
    (dict(select=11), "got 11 features where X has 10"),
    (dict(select="best"), "select must be None"),
    (dict(select=1.5), "select must be None"),
    (dict(select=">1.2.3"), "select must be None"),
    (dict(ramp=("a", "b")), "ramp must be two shares"),
    (dict(metric=np.zeros(2)), "metric must be one of"),
    (dict(n_neighbors=np.array([1, 2])), "n_neighbors must be"),
    (dict(select="chebyshev(2)"), "share alpha between 0 and 1"),
    (dict(select="chebyshev(0.1)", scale=None), r"weights in \[-1, 1\] only"),
    (dict(n_jobs=0), "n_jobs must be None, a number of threads, or -1 for all; got 0"),
    (dict(n_jobs=1.5), "n_jobs must be"),
    (dict(verbose="x"), "verbose must be an integer of at least 0; got 'x'"),
    (dict(verbose=-1), "verbose must be"),
    (dict(random_state="x"), "random_state must be None, an integer from 0 to 4294967295 or .*; got 'x'"),
    (dict(random_state=-1), "random_state must be"),
    (dict(categorical_features=["nope"]), "categorical_features"),
]


@pytest.mark.parametrize("params, message", CASES, ids=[str(c[0]) for c in CASES])
@pytest.mark.parametrize("estimator", [ReliefF, RReliefF])
def test_bad_parameters_are_refused_at_the_door(estimator, params, message, xor):
    with pytest.raises(ValueError, match=message):
        estimator(**params).fit(*xor)


def test_other_bad_parameters(xor):
    with pytest.raises(ValueError, match="misses must be one of"):
        ReliefF(misses="all").fit(*xor)
    with pytest.raises(RuntimeError, match='device="cuda" was asked for'):
        ReliefF(device="cuda").fit(*xor)


@pytest.mark.parametrize(
    "y, message",
    [
        (["a", None, "b", "b"], "Input y contains NaN"),
        ([0.5, 1.5, NAN, 2.0], "Input y contains NaN"),
        ([0.5, 1.5, 0.1, 2.0], "Unknown label type"),
        (["ill"] * 4, "needs at least two classes in y; all 4 rows are 'ill'"),
        ([1, 2, 1], "inconsistent numbers of samples: X has 4 rows, y has 3"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_classes(y, message):
    with pytest.raises(ValueError, match=message):
        ReliefF(1).fit([[1, 2], [3, 4], [5, 6], [7, 8]], y)


@pytest.mark.parametrize(
    "y, message",
    [
        (["a", "b", "a", "b"], "needs a numeric y; got values such as 'a'. Use ReliefF"),
        ([0.5, 1.5, NAN, 2.0], "Input y contains NaN"),
        ([0.5, 1.5, np.inf, 2.0], "Input y contains infinity"),
        ([3.0] * 4, "needs a target that varies; y is 3 in all 4 rows"),
    ],
)
def test_bad_numbers(y, message):
    with pytest.raises(ValueError, match=message):
        RReliefF(1).fit([[1, 2], [3, 4], [5, 6], [7, 8]], y)


@pytest.mark.filterwarnings("ignore:.* rows have a positive sample weight under a millionth")
@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 1, 1], "sample_weight.shape"),
        ([[1], [1], [1], [1]], "1D array"),
        ([1, -1, 1, 1], "must not be negative; row 1 has -1"),
        ([0, 0, 0, 0], "every sample weight is zero"),
        ([1, 0, 0, 0], "minimum of 2"),
        ([1, NAN, 1, 1], "NaN or infinity"),
        ([1, 1, 0, 0], "needs at least two classes"),
        ([3e6, 1.5, 1, 1], "must lie between .* Multiply all weights"),
        ([1e-9, 1e-9, 1e-9, 1e-9], "must lie between"),
        ([1.5, 1e-9, 1e-9, 1e-9], "minimum of 2"),
        (["a", 1, 1, 1], "sample_weight must be numbers"),
        (["1", "1", "1", "1"], "sample_weight must be numbers, one for each row; got values such as .*'1'"),
        (pd.Series(["1", "1", "1", "1"]), "sample_weight must be numbers"),
        (np.array([1, 1, 1, 1 + 1j]), "sample_weight must be numbers"),
        (np.ones(4, "m8[s]"), "sample_weight must be numbers"),
        (np.ma.array([1.0, 1, 1, 1], mask=[0, 0, 0, 1]), "NaN or infinity"),
        (pd.Series([1, 1, 1, None], dtype="Int64"), "NaN or infinity"),
        ([1, 1, 1, None], "NaN or infinity"),
        (-1, "must not be negative; row 0 has -1"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        ReliefF(1).fit([[1, 2], [3, 4], [5, 6], [7, 8]], list("aabb"), sample_weight=weights)


@pytest.mark.parametrize(
    "weights",
    [
        np.array([1, 2, 3, 1], object),
        pd.Series([1, 2, 3, 1], dtype="Int64"),
        pl.Series([1, 2, 3, 1]),
        np.ma.array([1.0, 2, 3, 1]),
        [Decimal(1), 2, 3.0, True],
    ],
)
def test_weights_of_any_kind_of_number(weights):
    X, y = [[1, 2], [3, 4], [5, 6], [7, 9]], list("aabb")
    expected = ReliefF(1).fit(X, y, sample_weight=[1, 2, 3, 1]).weights_
    np.testing.assert_array_equal(ReliefF(1).fit(X, y, sample_weight=weights).weights_, expected)


def test_positive_weights_that_round_to_nothing_are_told():
    X, y = np.arange(12.0).reshape(6, 2) ** 2, list("aabbcc")
    relief = ReliefF(1)
    with pytest.warns(UserWarning, match="2 of 6 rows have a positive sample weight under a millionth of the largest"):
        relief.fit(X, y, sample_weight=[1.5, 1, 1, 1, 1e-7, 1e-7])
    assert relief.classes_.tolist() == ["a", "b"]
    relief.fit(X, y, sample_weight=[1.5, 1, 1, 1, 0, 0])  # asked for: no warning


def test_weighted_rows_cannot_win_ties_by_order(xor):
    with pytest.raises(ValueError, match='ties="first" has no meaning'):
        ReliefF(ties="first").fit(*xor, sample_weight=np.full(200, 2))
    kept = np.arange(200) % 3 > 0
    zero_or_one = ReliefF(ties="first").fit(*xor, sample_weight=kept.astype(float))
    np.testing.assert_array_equal(zero_or_one.weights_, ReliefF(ties="first").fit(xor[0][kept], xor[1][kept]).weights_)


def test_a_number_as_weight_is_the_weight_of_every_row(xor):
    three = ReliefF().fit(*xor, sample_weight=3).weights_
    np.testing.assert_array_equal(three, ReliefF().fit(*xor, sample_weight=np.full(200, 3)).weights_)
    assert (three != ReliefF().fit(*xor).weights_).any()


def test_weights_that_are_shares_are_warned_of(xor):
    with pytest.warns(UserWarning, match="the sample weights add up to 1, and a weight counts as that many rows"):
        ReliefF().fit(*xor, sample_weight=np.full(200, 1 / 200))


def test_a_class_of_no_weight_is_no_class():
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 4)), np.arange(90) % 3
    for gone in range(3):
        for estimator in (ReliefF(5), Relief()):
            weighted = estimator.fit(X, y, sample_weight=(y != gone).astype(float))
            result = weighted.weights_, weighted.n_neighbors_used_, weighted.classes_.tolist()
            without = estimator.fit(X[y != gone], y[y != gone])
            np.testing.assert_array_equal(result[0], without.weights_)
            assert result[1:] == (without.n_neighbors_used_, without.classes_.tolist())


@pytest.mark.parametrize(
    "y",
    [
        np.ma.masked_array([0, 1, 0, 1], [True, False, False, False]),
        np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-02"], "M8[D]"),
        pd.Series(["a", pd.NA, "b", "a"], dtype="string"),
        pd.Series([1, None, 2, 1], dtype="Int64"),
    ],
    ids=["mask", "date", "string", "Int64"],
)
@pytest.mark.parametrize("estimator", [ReliefF(1), RReliefF(1)])
def test_every_kind_of_missing_target_is_found(estimator, y):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        estimator.fit([[1, 2], [3, 4], [5, 6], [7, 8]], y)


def test_classes_as_objects(xor):
    expected = ReliefF().fit(*xor).weights_
    for y in (xor[1].astype(object), xor[1].astype(bool).astype(object), pd.Series(xor[1]).astype("Int64")):
        np.testing.assert_array_equal(ReliefF().fit(xor[0], y).weights_, expected)


def test_classes_keep_their_kind_and_their_differences(xor):
    X, y = xor
    large = pd.Series(2**60 + y, dtype="Int64")  # as floats, both classes are 2**60
    assert ReliefF().fit(X, large).classes_.tolist() == [2**60, 2**60 + 1]
    assert ReliefF().fit(X, pd.Series(y == 1, dtype="boolean")).classes_.tolist() == [False, True]
    assert ReliefF().fit(X, pd.Series(y, dtype="int64[pyarrow]")).classes_.dtype.kind == "i"
    assert ReliefF().fit(X, y.astype(object)).classes_.dtype.kind == "i"


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has strings of any length")
def test_classes_in_numpys_own_strings(xor):
    y = np.where(xor[1], "yes", "no")
    relief = ReliefF().fit(xor[0], y.astype(np.dtypes.StringDType()))
    assert relief.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(relief.weights_, ReliefF().fit(xor[0], y).weights_)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        ReliefF().fit(xor[0], np.array([None, *y[1:]], np.dtypes.StringDType(na_object=None)))


@pytest.mark.parametrize(
    "y, kinds",
    [
        ([True, 1, 0, 0], "booleans and numbers"),
        ([True, 1.0, 2.0, 2.0], "booleans and numbers"),
        (["a", 1, "a", 1], "numbers and strings"),
        (["a", True, "a", True], "booleans and strings"),
    ],
)
@pytest.mark.parametrize("convert", [lambda y: np.array(y, object), list, tuple, pd.Series])
def test_classes_of_two_kinds_are_refused(y, kinds, convert):
    with pytest.raises(TypeError, match=f"y mixes {kinds}; ReliefF needs classes of one kind"):
        ReliefF(1).fit([[1, 2], [3, 4], [5, 6], [7, 8]], convert(y))


@pytest.mark.parametrize("y", [[NAN, "b", "a", "b"], [1, NAN, 2, "b"], (None, "b", "a", "b"), [True, NAN, True, False]])
def test_a_missing_class_in_a_list_is_no_class(y):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        ReliefF(1).fit([[1, 2], [3, 4], [5, 6], [7, 8]], y)


def test_classes_in_lists_keep_their_kind(xor):
    expected = ReliefF().fit(*xor).weights_
    for y, kind in [
        (xor[1].tolist(), "i"),
        ((xor[1] + 0.0).tolist(), "f"),
        ((xor[1] == 1).tolist(), "b"),
        ([("no", "yes")[code] for code in xor[1]], "U"),
        ([(0, 1.0)[code] for code in xor[1]], "f"),
        ([("no", np.str_("yes"))[code] for code in xor[1]], "U"),
        ([(0, np.int8(1))[code] for code in xor[1]], "i"),
    ]:
        relief = ReliefF().fit(xor[0], y)
        assert relief.classes_.dtype.kind == kind
        np.testing.assert_array_equal(relief.weights_, expected)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        ReliefF().fit(xor[0], [[code] for code in xor[1].tolist()])
    with pytest.raises(TypeError, match="y mixes numbers and strings"), pytest.warns(DataConversionWarning):
        ReliefF().fit(xor[0], [[("no", 1)[code]] for code in xor[1]])
    for y in ([[0, 1]] * 200, [[0, "a"]] * 200, [*xor[1][1:].tolist(), [1]], [[1], [1, 2]] * 100):
        with pytest.raises(ValueError):
            ReliefF().fit(xor[0], y)


@pytest.mark.parametrize(
    "convert",
    [
        np.asarray,
        lambda y: y.astype(object),
        lambda y: y.astype(np.uint64),
        lambda y: -y,
        lambda y: pd.Series(y, dtype="Int64"),
        lambda y: pd.DataFrame({"y": pd.Series(y, dtype="Int64")})["y"],
        lambda y: pl.Series(y),
        lambda y: y.astype("M8[ns]"),
        lambda y: np.array([v * 2**40 for v in y.tolist()], object),
    ],
    ids=["int64", "object", "uint64", "negative", "Int64", "frame", "polars", "dates", "beyond 64 bits"],
)
def test_whole_numbers_as_target_keep_their_differences(convert, xor):
    steps = np.arange(200) * 3 % 101
    expected = RReliefF().fit(xor[0], steps).weights_
    np.testing.assert_array_equal(RReliefF().fit(xor[0], convert(2**60 + steps)).weights_, expected)


def test_a_large_target_that_never_changes_is_refused(xor):
    with pytest.raises(ValueError, match=r"needs a target that varies; y is 1.15292e\+18 in all 200 rows"):
        RReliefF().fit(xor[0], np.full(200, 2**60))
    with pytest.raises(ValueError, match="Input y contains infinity"):
        RReliefF().fit(xor[0], np.array([10**400, *xor[1][1:]], object))


@pytest.mark.parametrize("share, rows", [(0.29, 29), (0.285, 28), (0.295, 30), (0.004, 1), (0.016, 2), (1.0, 100)])
def test_a_share_of_targets_is_rounded(share, rows):
    """0.29 of 100 rows is 28.999999999999996 in floats; one row at least."""
    X, y = np.random.default_rng(0).random((100, 3)), np.arange(100) % 2
    by_share, by_number = (ReliefF(3, n_targets=m, random_state=0).fit(X, y).weights_ for m in (share, rows))
    np.testing.assert_array_equal(by_share, by_number)


def test_inverse_transform_keeps_missing_values():
    X = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, 6.0], [3.0, 1.0, 9.0], [4.0, 2.0, 0.0]])
    relief = ReliefF(1, select=lambda w: [True, True, False]).fit(X, list("aabb"))
    np.testing.assert_array_equal(relief.inverse_transform(relief.transform(X)), X * [1, 1, 0])


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_too_many_classes_are_refused():
    X = np.zeros((1100, 300))
    with pytest.raises(ValueError, match=r"y has 1100 classes: the sums of every pair .* would take 5.4 GiB"):
        ReliefF().fit(X, np.arange(1100))


def test_a_narrow_column_on_a_common_scale_is_warned_of():
    frame = pd.DataFrame({"income": [0.0, 1e5, 3e4, 5e4], "sex": list("mfmf")})
    with pytest.warns(UserWarning, match="column 'sex' is so much narrower than the widest one"):
        Relief(scale=None).fit(frame, list("abab"))


def test_infinity_is_refused_and_the_column_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, np.inf, 2.0, 3.0]})
    with pytest.raises(ValueError, match="column 'b' has at least one infinite value"):
        ReliefF(1).fit(frame, list("aabb"))


def test_values_of_any_size_are_fine():
    """max - min beyond the largest float, differences of integers beyond 2**53, subnormal steps."""
    y = list("aabb")
    expected = ReliefF(1).fit([[0.0], [0.25], [0.75], [1.0]], y).weights_
    huge = np.array([[-1.7e308], [-0.85e308], [0.85e308], [1.7e308]])
    above = np.array([[1.0], [1.175], [1.525], [1.7]]) * 1e308  # no range beyond a float, but the sum of a column
    assert ReliefF(1).fit(above, y).weights_ == pytest.approx(expected, abs=1e-9)
    assert ReliefF(1).fit(huge, y).weights_ == pytest.approx(expected, abs=1e-9)
    wide = np.array([[2**62], [2**62 + 1], [2**62 + 3], [2**62 + 4]])
    np.testing.assert_array_equal(ReliefF(1).fit(wide, y).weights_, expected)
    tiny = np.array([[0.0], [1.0], [3.0], [4.0]]) * 5e-324
    np.testing.assert_array_equal(ReliefF(1).fit(tiny, y).weights_, expected)
    extremes = np.array([[-(2**63)], [-(2**62)], [2**62], [2**63 - 1]], np.int64)
    assert ReliefF(1).fit(extremes, y).weights_ == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("factor", [2.0**1020, 2.0**-1000])
def test_linear_weights_on_a_common_scale_grow_with_the_numbers(factor):
    X = np.random.default_rng(0).random((40, 3))
    y = X[:, 0] > X[:, 1]
    expected = ReliefF(3, scale=None).fit(X, y).weights_
    np.testing.assert_array_equal(ReliefF(3, scale=None).fit(X * factor, y).weights_, expected * factor)
    np.testing.assert_array_equal(ReliefF(3, scale=None, diff="ramp").fit(X * factor, y).weights_,
                                  ReliefF(3, scale=None, diff="ramp").fit(X, y).weights_)  # fmt: skip


@pytest.mark.parametrize(
    "diff, factor, there_is_a_weight",
    [
        ("squared", 1e150, True),
        ("squared", 1e155, False),
        ("squared", 1e-150, True),
        ("squared", 1e-160, False),
        ("linear", 4e307, True),
        ("linear", 1.7e308, False),
        ("linear", 1e-310, False),
    ],
)
def test_weights_beyond_floats_are_refused_at_the_door(monkeypatch, diff, factor, there_is_a_weight):
    X = np.array([[-1.0], [-0.5], [0.5], [1.0]]) * (factor if factor > 1e308 else factor / 2)
    relief = ReliefF(1, scale=None, diff=diff)
    if there_is_a_weight:
        assert (relief.fit(X, list("aabb")).weights_ > 0).all()
        return
    monkeypatch.setattr(relief, "_run", None)  # would fail if it came to that
    with pytest.raises(ValueError, match=f'scale=None and diff="{diff}" the widest range of a column must lie between'):
        relief.fit(X, list("aabb"))


# -------------------------------------------------------------------------------------------------- settings


def test_the_bound_on_pair_storage(xor, own_settings):
    assert nearhit.get_config() == {"pair_memory": 256 * 2**20}
    nearhit.set_config(pair_memory=2**20)
    n = 2**20 // bytes_for_one_row(1) + 1
    with pytest.raises(ValueError, match=r"more than the bound on pair storage of 1 MiB. Raise it with .*set_config"):
        ReliefF().fit(np.arange(n)[:, None], np.arange(n) % 2)
    small_batches = ReliefF().fit(*xor).weights_
    nearhit.set_config(pair_memory=2**28)
    np.testing.assert_array_equal(ReliefF().fit(*xor).weights_, small_batches)
    with pytest.raises(ValueError, match="pair_memory must be a whole number of bytes, at least 1 MiB"):
        nearhit.set_config(pair_memory=5)


def test_the_bound_from_the_environment(own_settings, monkeypatch):
    monkeypatch.setenv("NEARHIT_PAIR_MEMORY", "3000000")
    assert nearhit.get_config() == {"pair_memory": 3_000_000}
    monkeypatch.setenv("NEARHIT_PAIR_MEMORY", "1 GB")
    with pytest.raises(ValueError, match="NEARHIT_PAIR_MEMORY must be a whole number of bytes"):
        nearhit.get_config()


def test_a_kernel_can_be_forced(monkeypatch, xor, capsys):
    small = xor[0][:40], xor[1][:40]
    expected = ReliefF().fit(*small).weights_
    for name in nearhit.settings.available_kernels():
        monkeypatch.setenv("NEARHIT_KERNEL", name)
        relief = ReliefF().fit(*small)
        assert relief.kernel_.split(",")[0].removeprefix("native-") == name
        np.testing.assert_array_equal(relief.weights_, expected)
        nearhit.show_config()
        assert f"in use: {relief.kernel_.split(',')[0]}" in capsys.readouterr().out
        monkeypatch.setenv("NEARHIT_KERNEL", relief.kernel_.split(",")[0])  # as the estimator shows it
        assert ReliefF().fit(*small).kernel_ == relief.kernel_
    monkeypatch.setenv("NEARHIT_KERNEL", "mmx")
    with pytest.raises(RuntimeError, match="NEARHIT_KERNEL='mmx' names no kernel of this machine; available: "):
        ReliefF().fit(*small)


def test_progress_is_silent_unless_asked(xor, capsys):
    ReliefF().fit(*xor)
    assert capsys.readouterr().err == ""
    ReliefF(verbose=1).fit(*xor)
    assert "ReliefF: 100%" in capsys.readouterr().err
