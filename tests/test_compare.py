"""MyopicMeasure, the estimator, and compare, all measures side by side."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearhit
from nearhit import Comparison, EntropyRanking, MyopicMeasure, ReliefF, RReliefF, compare
from nearhit.measures import accuracy, score_features
from nearhit.measures.score_features import MEASURES

EVERY = [*MEASURES, "mse"]


@pytest.fixture(scope="module")
def people():
    """A table of every kind of column; the class hangs on two of them together, and a third one tells a little."""
    rng = np.random.default_rng(4)
    n = 160
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, n).astype(float),
            "smoker": rng.choice(["yes", "no"], n),
            "gene": pd.Categorical(rng.choice(["AA", "AB", "BB"], n)),
            "flag": rng.random(n) < 0.4,
            "ward": rng.integers(0, 4, n),
        }
    )
    ill = (frame["smoker"] == "yes") ^ (frame["gene"] == "AB") ^ (rng.random(n) < 0.02)
    frame.loc[ill & (rng.random(n) < 0.4), "age"] += 9
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "smoker"] = None
    return frame, np.where(ill, "ill", "well"), rng.random(n) + frame["flag"]


# --- the estimator --------------------------------------------------------------------------------------------


@parametrize_with_checks([*(MyopicMeasure(m) for m in EVERY), MyopicMeasure("mdl", nominal="best grouping")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("measure", EVERY)
def test_its_weights_are_the_scores_of_the_measure(people, measure):
    frame, y, numbers = people
    y = numbers if measure == "mse" else y
    copies = np.arange(len(frame)) % 4
    for ways in ({}, {"nominal": "all values"}, {"nominal": "best grouping", "categorical_features": ["ward"]}):
        fitted = MyopicMeasure(measure, **ways).fit(frame, y, sample_weight=copies)
        assert fitted.weights_.tolist() == score_features(frame, y, measure, sample_weight=copies, **ways).tolist()
    assert fitted.target_kind_ == ("numeric" if measure == "mse" else "classes")
    assert fitted.feature_importances_ is fitted.weights_
    assert hasattr(fitted, "classes_") == (measure != "mse")


def test_it_ranks_selects_and_names(people):
    frame, y, _ = people
    alone = MyopicMeasure("chi-squared", select=2).fit(frame, y)
    best = alone.top(2)
    assert [row.feature for row in alone.ranking()][:2] == best
    kept = alone.transform(frame)
    assert kept.shape == (len(frame), 2)
    assert set(alone.get_feature_names_out()) == set(best)
    assert alone.set_output(transform="pandas").transform(frame).columns.tolist() == [c for c in frame if c in best]
    assert MyopicMeasure(select=">0.5").fit(frame, (frame["flag"])).top(1) == ["flag"]
    assert alone.classes_.tolist() == ["ill", "well"]


def test_it_is_a_citizen_of_scikit_learn(people):
    frame, y, _ = people
    fitted = MyopicMeasure("gain ratio").fit(frame, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.weights_.tolist() == fitted.weights_.tolist()
    assert len(pickle.dumps(fitted)) < 4000
    assert clone(fitted).get_params() == fitted.get_params()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    z = (X[:, 2] + 0.3 * rng.normal(size=90) > 0).astype(int)
    model = make_pipeline(MyopicMeasure(select=1), LogisticRegression())
    search = GridSearchCV(
        model, {"myopicmeasure__measure": ["mdl", "gini gain"], "myopicmeasure__select": [1, 2]}, cv=3
    )
    assert search.fit(X, z).best_score_ > 0.8
    model.fit(X, z)
    assert model[0].get_support(indices=True).tolist() == [2]


def test_a_class_of_no_weight_is_none(people):
    frame, y, _ = people
    three = np.where(np.arange(len(y)) < 5, "other", y)
    weights = (three != "other").astype(float)
    fitted = MyopicMeasure("mdl").fit(frame, three, sample_weight=weights)
    assert fitted.classes_.tolist() == ["ill", "well"]
    assert fitted.weights_.tolist() == MyopicMeasure("mdl").fit(frame[5:], y[5:]).weights_.tolist()


def test_the_estimator_refuses_what_makes_no_sense(people):
    frame, y, numbers = people
    for wrong, text in (
        ({"measure": "gain"}, "measure must be one of 'information gain'"),
        ({"measure": None}, "got None"),
        ({"numeric": "halves"}, "numeric must be one of"),
        ({"nominal": "all"}, "nominal must be one of"),
        ({"select": 9}, "got 9 features where X has 5"),
        (
            {"select": "chebyshev(0.05)"},
            "the Chebyshev threshold holds for weights of Relief only, not for 'information",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            MyopicMeasure(**wrong).fit(frame, y)
    with pytest.raises(ValueError, match="at least two classes in y; all 160 rows are 'x'"):
        MyopicMeasure().fit(frame, ["x"] * len(y))
    with pytest.raises(ValueError, match="needs a target that varies; y is the same in all 160 rows"):
        MyopicMeasure("mse").fit(frame, np.full(len(y), 0.1))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        MyopicMeasure().fit(frame, numbers)
    fitted = MyopicMeasure().fit(frame, y)
    with pytest.raises(ValueError, match="X has 160 rows, y has 3"):
        fitted.fit(frame, y[:3])
    with pytest.raises(NotFittedError):
        fitted.ranking()


# --- the comparison -------------------------------------------------------------------------------------------


def test_compare_puts_all_measures_side_by_side(people):
    frame, y, _ = people
    weights = np.arange(len(y)) % 3
    table = compare(frame, y, categorical_features=["ward"], sample_weight=weights)
    assert isinstance(table, Comparison)
    assert table.measures == ("ReliefF", *MEASURES)
    assert table.names == tuple(frame.columns)
    assert table.target_kind == "classes"
    for measure in MEASURES:
        expected = score_features(frame, y, measure, ["ward"], weights)
        assert table[measure].tolist() == expected.tolist()
    relief = ReliefF(categorical_features=["ward"]).fit(frame, y, sample_weight=weights)
    assert table["ReliefF"].tolist() == relief.weights_.tolist()
    assert set(relief.top(2)) == {"smoker", "gene"}
    assert table.ranking("ReliefF").rows == relief.ranking().rows
    assert (
        table.ranks["mdl"].tolist()
        == MyopicMeasure("mdl", categorical_features=["ward"]).fit(frame, y, sample_weight=weights).ranking_.tolist()
    )


def test_compare_for_a_numeric_target(people):
    frame, _, numbers = people
    table = compare(frame, numbers)
    assert table.measures == ("RReliefF", "mse")
    assert table.target_kind == "numeric"
    assert table["RReliefF"].tolist() == RReliefF().fit(frame, numbers).weights_.tolist()
    assert table["mse"].tolist() == score_features(frame, numbers, "mse").tolist()
    whole = compare(frame, frame["ward"], relief=False, target="numeric")
    assert whole.measures == ("mse",)
    assert whole.ranking("mse")[0].feature == "ward"
    assert compare(frame, frame["ward"], relief=False).target_kind == "classes"
    assert compare(frame, frame["ward"].astype(float), relief=False).target_kind == "classes"
    assert compare(frame, list(numbers), relief=False).target_kind == "numeric"


def test_what_is_compared_can_be_chosen(people):
    frame, y, _ = people
    chosen = compare(frame, y, measures=["mdl", "accuracy", "mdl"], relief=False)
    assert chosen.measures == ("mdl", "accuracy")
    assert compare(frame, y, measures="mdl", relief=False).measures == ("mdl",)
    few = compare(frame, y, measures=[], n_targets=40, random_state=7)
    assert few["ReliefF"].tolist() == ReliefF(n_targets=40, random_state=7).fit(frame, y).weights_.tolist()
    near = compare(frame, y, measures=[], relief=ReliefF(3), categorical_features=["ward"])
    assert near["ReliefF"].tolist() == ReliefF(3, categorical_features=["ward"]).fit(frame, y).weights_.tolist()
    grouped = compare(frame, y, measures="gini gain", relief=False, nominal="best grouping")
    assert grouped["gini gain"].tolist() == score_features(frame, y, "gini gain", nominal="best grouping").tolist()


def test_a_list_of_rows_is_compared_like_a_frame(people):
    frame, y, _ = people
    plain = compare(frame.astype(object).to_numpy().tolist(), y.tolist())
    assert plain.names == ("x0", "x1", "x2", "x3", "x4")
    expected = compare(frame, y)
    assert {m: s.tolist() for m, s in plain.scores.items()} == {m: s.tolist() for m, s in expected.scores.items()}
    polars = compare(pl.from_pandas(frame), y)
    assert {m: s.tolist() for m, s in polars.scores.items()} == {m: s.tolist() for m, s in expected.scores.items()}


TABLE = Comparison(
    ("a", "b & co", "c"),
    {
        "ReliefF": np.array([-0.1, 0.25, 0.25]),
        "gain ratio": np.array([0.5, 0.0, 0.125]),
        "mse": np.array([-2e7, -1.5, -3]),
    },
    "classes",
)


def test_a_comparison_as_text():
    assert repr(TABLE).splitlines() == [
        "                    gain",
        "feature  ReliefF   ratio     mse",
        "b & co    0.2500  0.0000    -1.5",
        "c         0.2500  0.1250      -3",
        "a        -0.1000  0.5000  -2e+07",
    ]
    page = TABLE._repr_html_()
    assert page.startswith("<table><thead><tr><th>feature</th><th>ReliefF</th><th>gain ratio</th><th>mse</th></tr>")
    assert "<td>b &amp; co</td><td>0.2500</td><td>0.0000</td><td>-1.5</td></tr><tr><td>c</td>" in page
    many = Comparison(tuple(f"x{i}" for i in range(30)), {"mdl": np.arange(30.0)}, "classes")
    assert repr(many).splitlines()[-1] == "… 10 more"
    assert repr(many).splitlines()[1] == "x29      29.0000"
    assert many._repr_html_().endswith("<p>… 10 more</p>")
    assert len(many) == 30


def test_a_comparison_as_data():
    assert TABLE.to_dict() == {
        "feature": ["b & co", "c", "a"],
        "ReliefF": [0.25, 0.25, -0.1],
        "gain ratio": [0.0, 0.125, 0.5],
        "mse": [-1.5, -3.0, -2e7],
    }
    ranks = {"feature": ["b & co", "c", "a"], "ReliefF": [1, 1, 3], "gain ratio": [3, 2, 1], "mse": [1, 2, 3]}
    assert TABLE.to_dict(ranks=True) == ranks
    assert TABLE.to_pandas(ranks=True).to_dict("list") == ranks
    assert TABLE.to_polars(ranks=True).to_dict(as_series=False) == ranks
    assert TABLE.to_pandas().columns.tolist() == ["feature", "ReliefF", "gain ratio", "mse"]
    assert TABLE.to_polars()["mse"].to_list() == [-1.5, -3.0, -2e7]
    assert [row.feature for row in TABLE.ranking("gain ratio")] == ["a", "c", "b & co"]


def test_a_comparison_as_a_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    ax = TABLE.plot("gain ratio", names=1)
    assert ax.collections[0].get_offsets().tolist() == [[0.5, -0.1], [0.0, 0.25], [0.125, 0.25]]
    assert sorted(text.get_text() for text in ax.texts) == ["a", "b & co", "c"]  # two are first together
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alone: gain ratio", "together: ReliefF")
    assert TABLE.plot(together="gain ratio", ax=ax) is ax
    assert ax.get_xlabel() == "alone: mse"
    plt.close(ax.figure)
    with pytest.raises(ValueError, match="no measure 'mdl' was compared; there are 'ReliefF', 'gain ratio', 'mse'"):
        TABLE.plot("mdl")
    with pytest.raises(ValueError, match="no measure 'mdl' was compared"):
        TABLE.ranking("mdl")


def test_compare_refuses_what_makes_no_sense(people):
    frame, y, numbers = people
    for wrong, text in (
        ({"target": "class"}, "target must be one of 'auto', 'classes', 'numeric'; got 'class'"),
        ({"measures": ["mse"]}, "for a target of classes measures must be among 'information gain'"),
        ({"numeric": 0}, "or a number of bins; got 0"),
        ({"nominal": "some"}, "nominal must be one of"),
        (
            {"relief": ReliefF(), "n_jobs": 1, "n_targets": 3},
            "n_targets and n_jobs cannot be given beside an estimator",
        ),
        ({"relief": False, "measures": []}, "nothing to compare"),
        ({"sample_weight": np.zeros(len(y))}, "every sample weight is zero"),
    ):
        with pytest.raises(ValueError, match=text):
            compare(frame, y, **wrong)
    for stranger in ("ReliefF", ReliefF, EntropyRanking(), MyopicMeasure()):
        with pytest.raises(TypeError, match="relief must be True, False or a member of the Relief family, such as"):
            compare(frame, y, relief=stranger)
    for asked in ({"p_values": "permutation"}, {"redundancy": True}):
        with pytest.raises(ValueError, match=f"{next(iter(asked))}=.* was given to the estimator inside compare"):
            compare(frame, y, relief=ReliefF(**asked))
    with pytest.raises(ValueError, match="for a target of numbers measures must be among 'mse'; got 'mdl'"):
        compare(frame, numbers, measures=["mdl"])
    with pytest.raises(ValueError, match="cuts by classes, and the target is numeric"):
        compare(frame, numbers, numeric="chimerge")
    with pytest.raises(ValueError, match="compare needs at least two classes in y"):
        compare(frame, np.zeros(len(y)))
    with pytest.raises(ValueError, match="y contains NaN"):
        compare(frame, np.where(np.arange(len(y)) == 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="X has 160 rows, y has 159"):
        compare(frame, y[:-1])


def test_an_exclusive_or_shows_what_the_comparison_is_for():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 10))
    table = compare(X, X[:, 3] ^ X[:, 7])
    assert set(np.flatnonzero(table.ranks["ReliefF"] <= 2)) == {3, 7}
    for measure in MEASURES:
        assert not {3, 7} <= set(np.flatnonzero(table.ranks[measure] <= 4)), measure
    assert table["accuracy"].tolist() == [accuracy(np.array(pd.crosstab(x, X[:, 3] ^ X[:, 7]))) for x in X.T]


def test_all_of_it_is_public():
    assert {"Comparison", "MyopicMeasure", "compare"} <= set(nearhit.__all__)
    assert nearhit.compare is compare
