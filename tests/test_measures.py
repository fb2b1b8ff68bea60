"""The myopic measures: worked facts, a plain count of every table, another program, and what changes nothing."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearhit.measures import gini_gain, information_gain, score_features

NAN = float("nan")
MEASURES = ["information gain", "gini gain"]


# --- worked facts ---------------------------------------------------------------------------------------------


def test_a97_table_1_two_columns_of_an_xor_tell_nothing_alone():
    rows = ["001;0", "000;0", "110;0", "110;0", "011;1", "010;1", "101;1", "100;1"]
    X = np.array([[int(cell) for cell in row[:3]] for row in rows])
    y = [row[-1] for row in rows]
    # A3: of the 3 rows with 1, one is of class 0; of the 5 with 0, three are.
    third = 1 - 3 / 8 * bits(1, 2) - 5 / 8 * bits(3, 2)
    assert round(third, 3) == 0.049
    for categorical in ([], [0, 1, 2]):
        assert score_features(X, y, categorical_features=categorical) == pytest.approx([0, 0, third], abs=1e-15)


def test_a_copy_of_the_class_scores_all_there_is():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    X = np.column_stack([y, -y]).astype(float)
    assert score_features(X, y, categorical_features=[0, 1]) == pytest.approx([bits(50, 30, 20)] * 2)
    assert score_features(X, y, "gini gain", [0, 1]) == pytest.approx([1 - 0.25 - 0.09 - 0.04] * 2)
    # A number is split in two, so one of the three classes stays with another: {0} | {1, 2} is the best there is.
    assert score_features(X, y) == pytest.approx([bits(50, 30, 20) - 0.5 * bits(30, 20)] * 2)


def test_tables_of_counts_can_be_stacked_and_may_hold_values_that_do_not_occur():
    tables = np.array([[[3, 1], [0, 4], [0, 0]], [[2, 2], [1, 3], [0, 0]], [[0, 0], [0, 0], [0, 0]]])
    for measure in (information_gain, gini_gain):
        together = measure(tables)
        assert together.shape == (3,)
        assert together.tolist() == [float(measure(table)) for table in tables]
        assert float(measure(tables[0])) == float(measure(tables[0][:2]))
        assert together[2] == 0


# --- a plain count --------------------------------------------------------------------------------------------


def bits(*counts: float) -> float:
    return -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts if n)


def gini(*counts: float) -> float:
    return 1 - sum((n / sum(counts)) ** 2 for n in counts)


def plain_gain(impurity, parts: list[list[int]]) -> float:
    """The impurity of all rows less that of the parts; rows are given by their classes."""
    everything = [c for part in parts for c in part]
    left = sum(len(part) / len(everything) * impurity(*Counter(part).values()) for part in parts)
    return impurity(*Counter(everything).values()) - left


def plain_score(impurity, values: list[float | None], y: list[int], is_nominal: bool) -> float:
    known = [(v, c) for v, c in zip(values, y, strict=True) if v is not None]
    different = sorted({v for v, _ in known})
    if is_nominal:
        return plain_gain(impurity, [[c for v, c in known if v == value] for value in different]) if known else 0.0
    cuts = [([c for v, c in known if v < cut], [c for v, c in known if v >= cut]) for cut in different[1:]]
    return max((plain_gain(impurity, list(cut)) for cut in cuts), default=0.0)


cells = st.sampled_from([None, -2.5, 0.0, -0.0, 1.0, 1.0 + 2**-52, 1e300])
columns = st.lists(st.tuples(cells, st.integers(0, 2)), min_size=1, max_size=14)


@given(columns, st.booleans())
def test_every_score_is_that_of_a_plain_count(rows, is_nominal):
    values, y = [v for v, _ in rows], [c for _, c in rows]
    X = np.array([[NAN if v is None else v] for v in values])
    for measure, impurity in (("information gain", bits), ("gini gain", gini)):
        score = score_of_one(X, y, measure, is_nominal)
        assert score == pytest.approx(plain_score(impurity, values, y, is_nominal), abs=1e-12)
        assert score >= 0


def score_of_one(X, y, measure, is_nominal, **more) -> float:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="column 'x0' has no known value")
        return score_features(X, y, measure, [0] if is_nominal else [], **more)[0]


# --- what changes nothing, to the last bit --------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(7)
    n = 211
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n).round(1),
            "whole": rng.integers(-5, 5, n),
            "colour": rng.choice(["red", "green", "blue", None], n),
            "flag": rng.random(n) < 0.3,
        }
    )
    frame.loc[rng.random(n) < 0.2, "number"] = NAN
    y = rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
    return frame, y, rng


@pytest.mark.parametrize("measure", MEASURES)
def test_rows_columns_classes_and_categories_have_no_order(mixed, measure):
    frame, y, rng = mixed
    scores = dict(zip(frame.columns, score_features(frame, y, measure), strict=True))
    rows = rng.permutation(len(frame))
    shuffled = frame.iloc[rows, ::-1]
    assert dict(zip(shuffled.columns, score_features(shuffled, y[rows], measure), strict=True)) == scores
    renamed = frame.assign(colour=frame["colour"].map({"red": "z", "green": "a", "blue": "m"}), number=-frame["number"])
    classes = pd.Series(y).map({"a": 9, "b": 2, "c": 7, "d": 0})
    assert score_features(renamed, classes, measure).tolist() == list(scores.values())


@pytest.mark.parametrize("measure", MEASURES)
def test_a_number_counts_by_its_order_only(mixed, measure):
    frame, y, _ = mixed
    bent = frame.assign(number=np.exp(3 * frame["number"]), whole=frame["whole"].replace({4: 10**15}))
    assert score_features(bent, y, measure).tolist() == score_features(frame, y, measure).tolist()
    infinite = frame.assign(number=frame["number"].replace({frame["number"].max(): np.inf}))
    assert score_features(infinite, y, measure).tolist() == score_features(frame, y, measure).tolist()


@pytest.mark.parametrize("measure", MEASURES)
def test_a_weight_is_a_number_of_copies(mixed, measure):
    frame, y, rng = mixed
    copies = rng.integers(0, 4, len(frame))
    weighted = score_features(frame, y, measure, sample_weight=copies)
    copied = score_features(frame.loc[frame.index.repeat(copies)], np.repeat(y, copies), measure)
    assert weighted.tolist() == copied.tolist()
    halves = score_features(frame, y, measure, sample_weight=copies / 2)
    assert halves == pytest.approx(weighted, abs=1e-12)


# --- what is unknown, and what is refused ---------------------------------------------------------------------


def test_unknown_rows_are_left_out_of_that_column_only():
    X = pd.DataFrame({"a": ["u", "u", "v", "v", None], "b": [1.0, 2.0, NAN, 3.0, 4.0]})
    y = [0, 0, 1, 1, 1]
    # a: four known rows, told apart for certain. b: {1, 2} | {3, 4}, likewise.
    assert score_features(X, y) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("weights", [None, [1, 1, 0]])
def test_a_column_without_a_known_value_scores_0_and_says_so(weights):
    X = [[None, 1.0], [None, 2.0], [None if weights is None else 5.0, 3.0]]
    with pytest.warns(UserWarning, match="column 'x0' has no known value; its score is 0"):
        scores = score_features(X, [0, 1, 1], sample_weight=weights)
    assert scores[0] == 0
    assert scores[1] > 0


def test_messages():
    X = [[1.0], [2.0]]
    with pytest.raises(ValueError, match="measure must be one of 'information gain', .*'accuracy', 'mse'; got 'gain'"):
        score_features(X, [0, 1], "gain")
    with pytest.raises(ValueError, match="X has 2 rows, y has 3"):
        score_features(X, [0, 1, 1])
    with pytest.raises(ValueError, match=r"y contains NaN\. score_features needs a known class in every row"):
        score_features(X, [0, None])
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        score_features(X, [0, 1], sample_weight=[1, -1])


# --- another program ------------------------------------------------------------------------------------------

CORELEARN_NAMES = {"InfGain": "information gain", "Gini": "gini gain"}
CLASS_FILES = ["iris", "xor_numeric", "parity_nominal", "multiclass_nominal", "multiclass_numeric"]
CLASS_FILES += ["mixed_complete", "mixed_missing"]


@pytest.mark.parametrize("estimator", CORELEARN_NAMES)
@pytest.mark.parametrize("name", CLASS_FILES)
def test_the_scores_are_those_of_corelearn(shared, name, estimator):
    """No difference to explain: CORElearn too takes all values of a nominal column, the best cut of a number, and
    leaves rows unknown in a column out of its table, priors included."""
    oracles = shared / "oracles"
    results = json.loads((oracles / "corelearn.json").read_text())["results"]
    (found,) = (r for r in results if r["data"] == f"{name}.csv" and r["estimator"] == estimator)
    frame = pd.read_csv(oracles / f"{name}.csv")
    y = frame.pop("class")
    scores = score_features(frame, y, CORELEARN_NAMES[estimator])
    assert dict(zip(frame.columns, scores, strict=True)) == pytest.approx(found["weights"], abs=1e-9)
