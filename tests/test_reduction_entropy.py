"""Entropy ranking: the example of the textbook, a ranking with plain loops, and what changes no bit of it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearhit import EntropyRanking
from nearhit.reduction import removal, similarity
from nearhit.reduction.similarity import all_pairs

NAN = float("nan")


@parametrize_with_checks([EntropyRanking(), EntropyRanking(threshold=0.1, n_jobs=1)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# --- worked examples ------------------------------------------------------------------------------------------


def test_the_five_rows_of_the_textbook():
    X = np.array([list(row) for row in ("AX1", "BY2", "CY2", "BX3", "CZ3")], object)
    # Of ten pairs, one has two equal values (BY2, CY2) and four have one: S = 2/3 and 1/3, h = 0.918 bits each.
    third = -(1 / 3) * math.log2(1 / 3) - (2 / 3) * math.log2(2 / 3)
    ranking = EntropyRanking().fit(X)
    assert ranking.entropy_ == pytest.approx(5 * third)
    assert round(ranking.entropy_, 3) == 4.591
    # Without F1, F2, F3: 2, 4, 4 pairs with one of two values equal (h = 1). The change of F2 and F3 is the same, so
    # the later one goes; then F1 and F2 would change 4 to 0 both.
    assert [entropy_without(X, f) for f in range(3)] == [2, 4, 4]
    assert ranking.entropy_changes_ == pytest.approx([0, 4, 5 * third - 4])
    assert ranking.ranking_.tolist() == [1, 2, 3]
    assert ranking.weights_.tolist() == [1, 2 / 3, 1 / 3]
    assert ranking.top(1) == ["x0"]
    assert ranking.similarity_ == "equal values" and ranking.alpha_ is None


def entropy_without(X, feature):
    return EntropyRanking().fit(np.delete(X, feature, axis=1)).entropy_


def test_two_numbers():
    # Three points on a line at 0, 0.5 and 1: D = 0.5, 0.5, 1, mean 2/3, so S = 2^-(D / mean).
    ranking = EntropyRanking().fit([[10.0], [15.0], [20.0]])
    assert ranking.alpha_ == pytest.approx(math.log(2) / (2 / 3))
    assert ranking.entropy_ == pytest.approx(2 * h(2**-0.75) + h(2**-1.5))
    constant = EntropyRanking(alpha=0.5).fit([[10.0], [15.0], [20.0]])
    assert constant.alpha_ == 0.5
    assert constant.entropy_ == pytest.approx(2 * h(math.exp(-0.25)) + h(math.exp(-0.5)))


# --- plain loops ----------------------------------------------------------------------------------------------


def h(s: float) -> float:
    return -sum(p * math.log2(p) for p in (s, 1 - s) if p > 0)


def plain_ranking(n: int, a: int, entropy):
    """The order of removal, with the changes: everything anew in each step."""
    left, order, changes = list(range(a)), [], []
    current = entropy(left)
    while left:
        tried = [(abs(current - entropy([g for g in left if g != f])), -f) for f in left]
        change, f = min((round(change, 9), f) for change, f in tried)
        left.remove(-f)
        current = entropy(left)
        order.append(-f)
        changes.append(change)
    return order, changes


def entropy_of_numbers(X, alpha):
    n, a = X.shape
    Z = (X - np.nanmin(X, axis=0)) / np.maximum(np.nanmax(X, axis=0) - np.nanmin(X, axis=0), 1e-300)

    def squared(i, j, f):
        x, y, known = Z[i, f], Z[j, f], Z[~np.isnan(Z[:, f]), f]
        if np.isnan(x) and np.isnan(y):
            return np.mean([(v - w) ** 2 for v in known for w in known])
        if np.isnan(x) or np.isnan(y):
            return np.mean([(v - (y if np.isnan(x) else x)) ** 2 for v in known])
        return (x - y) ** 2

    parts = {(i, j): [squared(i, j, f) for f in range(a)] for i in range(n) for j in range(i)}
    if alpha is None:
        alpha = -math.log(0.5) / np.mean([math.sqrt(sum(part)) for part in parts.values()])
    return lambda left: sum(h(math.exp(-alpha * math.sqrt(sum(part[f] for f in left)))) for part in parts.values())


@pytest.mark.parametrize("n, a, alpha, missing", [(17, 5, None, 0), (12, 4, 0.5, 0), (15, 4, None, 0.2)])
def test_numbers_are_ranked_as_with_plain_loops(n, a, alpha, missing):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, a)) * [1, 1e6, 1e-6, 3, 1][:a]
    X[:, 1] += X[:, 0] * 2e6
    X[rng.random(X.shape) < missing] = NAN
    order, changes = plain_ranking(n, a, entropy := entropy_of_numbers(X, alpha))
    ranking = EntropyRanking(alpha=alpha or "mean distance").fit(X)
    assert ranking.entropy_ == pytest.approx(entropy(list(range(a))), abs=1e-7)
    assert np.argsort(ranking.weights_).tolist() == order
    assert ranking.entropy_changes_[order] == pytest.approx(changes, abs=1e-7)


def entropy_of_categories(X):
    n, a = X.shape

    def equal(i, j, f):
        known = [v for v in X[:, f] if v is not None]
        if X[i, f] is None and X[j, f] is None:
            return np.mean([v == w for v in known for w in known])
        if X[i, f] is None or X[j, f] is None:
            return np.mean([v == (X[j, f] if X[i, f] is None else X[i, f]) for v in known])
        return float(X[i, f] == X[j, f])

    parts = {(i, j): [equal(i, j, f) for f in range(a)] for i in range(n) for j in range(i)}
    return lambda left: sum(h(sum(p[f] for f in left) / len(left)) if left else 0 for p in parts.values())


@pytest.mark.parametrize("missing", [0, 0.2])
def test_categories_are_ranked_as_with_plain_loops(missing):
    rng = np.random.default_rng(4)
    X = rng.choice(list("abc"), (16, 5)).astype(object)
    X[rng.random(X.shape) < missing] = None
    order, changes = plain_ranking(16, 5, entropy_of_categories(X))
    ranking = EntropyRanking().fit(X)
    assert np.argsort(ranking.weights_).tolist() == order
    assert ranking.entropy_changes_[order] == pytest.approx(changes, abs=1e-7)


def test_numbers_beside_categories_become_bins():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.choice(list("uvw"), 40), "c": rng.integers(0, 9, 40)})
    frame.loc[[3, 5], "a"] = NAN
    for binning, cut in (("equal width", pd.cut), ("equal frequency", pd.qcut)):
        mixed = EntropyRanking(n_bins=2, binning=binning).fit(frame)
        assert mixed.similarity_ == "equal values and bins" and mixed.alpha_ is None
        bins = frame.assign(a=cut(frame["a"], 2).astype(str).replace("nan", None))
        if binning == "equal width":
            bins["c"] = cut(frame["c"], 2).astype(str)
        else:  # five of the nine values hold nearest to half of the rows
            below = [abs((frame["c"] <= v).sum() - 20) for v in range(9)]
            bins["c"] = np.where(frame["c"] <= np.argmin(below), "low", "high")
        assert mixed.entropy_ == EntropyRanking().fit(bins).entropy_
        assert mixed.weights_.tolist() == EntropyRanking().fit(bins).weights_.tolist()


# --- pairs and stretches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12, 13])
@pytest.mark.parametrize("most", [1, 3, 5, 13, 40, 1000])
def test_each_pair_is_in_one_stretch(n, most):
    met = []
    for stretch in all_pairs(n, most):
        assert 0 < stretch.n_pairs <= most
        rows = np.arange(n)
        here, there = similarity._of_pairs(similarity._twice(rows), stretch)
        met += [tuple(sorted(pair)) for line in there for pair in zip(here.tolist(), line.tolist(), strict=True)]
    assert sorted(met) == [(i, j) for i in range(n) for j in range(i + 1, n)]


def tables():
    rng = np.random.default_rng(8)
    numbers = rng.normal(size=(61, 6)).round(1)
    holes = np.where(rng.random(numbers.shape) < 0.1, NAN, numbers)
    categories = rng.choice(list("abcd"), (61, 6)).astype(object)
    some = np.where(rng.random(numbers.shape) < 0.1, None, categories)
    mixed = np.concatenate([numbers.astype(object)[:, :3], categories[:, :3]], axis=1)
    return [numbers, holes, categories, some, mixed]


@pytest.mark.parametrize("X", tables(), ids=["numbers", "holes", "categories", "unknown categories", "mixed"])
def test_neither_rows_nor_columns_nor_blocks_nor_threads_change_a_bit(X, monkeypatch):
    rng = np.random.default_rng(9)
    expected = EntropyRanking(n_jobs=1).fit(X)
    assert len(set(expected.weights_)) == 6

    def same(ranking, columns=slice(None)):
        assert ranking.entropy_ == expected.entropy_
        assert ranking.alpha_ == expected.alpha_
        assert ranking.weights_.tolist() == expected.weights_[columns].tolist()
        assert ranking.entropy_changes_.tolist() == expected.entropy_changes_[columns].tolist()

    columns = rng.permutation(6)
    same(EntropyRanking(n_jobs=1).fit(X[rng.permutation(61)][:, columns]), columns)
    for pairs_at_a_time in (7, 200):
        monkeypatch.setattr(removal, "PAIRS_AT_A_TIME", pairs_at_a_time)
        monkeypatch.setattr(removal, "WORTH_THREADS", 0)
        same(EntropyRanking(n_jobs=2).fit(X))


def test_numbers_may_be_shifted_scaled_and_turned_round():
    X = tables()[0]
    expected = EntropyRanking().fit(X)
    for same in (X * [1, 2, 4, 8, 0.5, 0.25], -X):  # powers of two: nothing is rounded
        assert EntropyRanking().fit(same).weights_.tolist() == expected.weights_.tolist()
    moved = EntropyRanking().fit(X * 3.3 + 7)
    assert moved.entropy_ == pytest.approx(expected.entropy_, rel=1e-9)
    renamed = pd.DataFrame(tables()[2]).replace({"a": "z", "b": "y", "c": "x"})
    assert EntropyRanking().fit(renamed).weights_.tolist() == EntropyRanking().fit(tables()[2]).weights_.tolist()


def test_twins_tie_and_the_later_goes_first():
    rng = np.random.default_rng(1)
    X = rng.random((50, 3))
    ranking = EntropyRanking().fit(X[:, [0, 1, 2, 1, 1]])
    assert ranking.weights_[1] > ranking.weights_[3] > ranking.weights_[4]
    assert [row.rank for row in ranking.ranking()] == [1, 2, 3, 4, 5]


def test_the_later_of_a_number_and_a_category_goes_first():
    rng = np.random.default_rng(1)
    coin = rng.integers(0, 2, 30)
    columns = {"number": coin, "other": rng.choice(list("uvw"), 30), "category": np.where(coin, "a", "b")}
    for names in (["number", "other", "category"], ["category", "other", "number"]):
        weights = EntropyRanking(binning="equal width", n_bins=2).fit(pd.DataFrame(columns)[names]).weights_
        assert weights[0] > weights[2]


def test_many_columns_leave_room_for_their_squares():
    """The grid gets coarser with the number of columns; the sum of all squares must not overflow."""
    X = np.tile([[0.0], [1.0], [0.5]], 3000)
    ranking = EntropyRanking(threshold=0.0).fit(X)
    assert ranking.alpha_ == pytest.approx(math.log(2) / (math.sqrt(3000) * 2 / 3))
    assert ranking.entropy_ == pytest.approx(2 * h(2**-0.75) + h(2**-1.5), rel=1e-3)


# --- what it finds --------------------------------------------------------------------------------------------


def test_a_redundant_column_is_the_first_to_go():
    """Two columns tell the same two groups apart, beside noise: one of them can be spared before all others."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, 120)[:, None]
        X = np.hstack([rng.random((120, 4)), group + rng.normal(0, 0.05, (120, 2))])
        weights = EntropyRanking().fit(X).weights_
        assert np.argmin(weights) in (4, 5)
        assert max(weights[4:]) > 0.8


def test_constant_columns_go_first_and_empty_ones_are_out_of_it():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.full(30, 7.0), rng.random(30), np.full(30, NAN), rng.random(30)])
    with pytest.warns(UserWarning, match="column 'x2' has no known value; its score is 0"):
        ranking = EntropyRanking().fit(X)
    assert ranking.weights_[2] == 0 and ranking.weights_[0] == 1 / 3
    assert ranking.entropy_changes_[0] == 0 and np.isnan(ranking.entropy_changes_[2])
    assert ranking.entropy_ == pytest.approx(EntropyRanking().fit(X[:, [1, 3]]).entropy_, rel=1e-9)


def test_rows_that_are_all_alike():
    ranking = EntropyRanking().fit(np.ones((5, 2)))
    assert ranking.entropy_ == 0 and ranking.weights_.tolist() == [1.0, 0.5]


# --- the threshold --------------------------------------------------------------------------------------------


def test_the_threshold_stops_the_removal():
    X = tables()[0]
    full = EntropyRanking().fit(X)
    order = np.argsort(full.weights_)
    shares = full.entropy_changes_[order] / full.entropy_
    threshold = (shares[0] + shares[:3].max()) / 2 if shares[0] < shares[:3].max() else shares[0]
    n_removed = int(np.argmax(shares > threshold))
    stopped = EntropyRanking(threshold=threshold).fit(X)
    assert 0 < n_removed < 6
    assert set(np.flatnonzero(stopped.support_)) == set(order[n_removed:])
    assert stopped.weights_[order[:n_removed]].tolist() == full.weights_[order[:n_removed]].tolist()
    assert set(stopped.weights_[stopped.support_]) == {1.0} and set(stopped.ranking_[stopped.support_]) == {1}
    assert np.isnan(stopped.entropy_changes_[stopped.support_]).all()
    assert stopped.transform(X).shape == (61, 6 - n_removed)


@pytest.mark.parametrize("unknown", [False, True])
def test_columns_of_one_value_come_last_and_change_nothing(unknown):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 20), "b": rng.choice(list("xy"), 20), "n": rng.random(20)})
    plain = EntropyRanking().fit(frame)
    frame.insert(1, "same", "z")
    frame.insert(4, "one", 7.0)
    if unknown:
        frame.loc[:4, "same"] = None
    found = EntropyRanking().fit(frame)
    assert found.entropy_ == plain.entropy_
    assert found.weights_[[1, 4]].tolist() == [0.4, 0.2]  # the later one goes first
    assert [row.feature for row in found.ranking()] == [*(row.feature for row in plain.ranking()), "same", "one"]
    np.testing.assert_array_equal(found.entropy_changes_[[0, 2, 3]], plain.entropy_changes_)
    assert found.entropy_changes_[[1, 4]].tolist() == [0, 0]
    kept = EntropyRanking(threshold=0).fit(frame).get_support(indices=True).tolist()
    assert not {1, 4} & set(kept)


def test_a_threshold_of_0_removes_what_changes_nothing():
    rng = np.random.default_rng(3)
    X = np.column_stack([np.full(20, 7.0), rng.random(20), np.zeros(20), rng.random(20)])
    assert EntropyRanking(threshold=0).fit(X).get_support(indices=True).tolist() == [1, 3]


# --- the face -------------------------------------------------------------------------------------------------


def test_names_containers_and_pipelines():
    frame = pd.DataFrame(tables()[4], columns=list("abcdef")).infer_objects()
    ranking = EntropyRanking(select=2).fit(frame)
    expected = ranking.weights_.tolist()
    for same in (pl.from_pandas(frame), tables()[4], tables()[4].tolist()):
        assert EntropyRanking().fit(same).weights_.tolist() == expected
    assert set(ranking.set_output(transform="pandas").transform(frame).columns) == set(ranking.top(2))
    assert clone(ranking).get_params() == ranking.get_params()
    assert pickle.loads(pickle.dumps(ranking)).top(3) == ranking.top(3)
    assert ranking.get_feature_names_out().tolist() == sorted(ranking.top(2))
    X = tables()[0]
    assert make_pipeline(EntropyRanking(select=0.5), LogisticRegression()).fit(X, X[:, 0] > 0).n_features_in_ == 6


def test_progress_is_told(capfd):
    EntropyRanking(verbose=1).fit(tables()[0])
    assert "EntropyRanking: 100%" in capfd.readouterr().err


@pytest.mark.parametrize(
    "params, message",
    [
        (dict(alpha=0), 'alpha must be "mean distance" or a finite number greater than 0; got 0'),
        (dict(alpha="mean"), "alpha must be"),
        (dict(alpha=NAN), "alpha must be"),
        (dict(n_bins=1), "n_bins must be an integer of at least 2; got 1"),
        (dict(binning="chimerge"), "binning must be one of 'equal frequency', 'equal width'; got 'chimerge'"),
        (dict(threshold=-1), "threshold must be None or a share"),
        (dict(threshold=0.1, select=2), r"threshold=0\.1 and select=2 both say what to keep"),
        (dict(select="chebyshev(0.05)"), "holds for Relief weights only"),
        (dict(select=9), "got 9 features where X has 6"),
        (dict(n_jobs=0), "n_jobs must be None"),
        (dict(verbose=-1), "verbose must be"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        EntropyRanking(**params).fit(tables()[0])


@pytest.mark.parametrize(
    "X, message",
    [
        ([[1.0, 2.0]], "minimum of 2 is required by EntropyRanking"),
        ([[1.0, np.inf], [2.0, 3.0]], "Input X contains infinity: column 'x1'"),
    ],
)
def test_bad_tables(X, message):
    with pytest.raises(ValueError, match=message):
        EntropyRanking().fit(X)
