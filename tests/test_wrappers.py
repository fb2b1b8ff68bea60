"""TuRF and VLSRelief: the rounds and subsets by hand, ties, laws, scikit-learn's checks, messages at the door."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearhit import (
    IRelief,
    Relief,
    ReliefF,
    RReliefF,
    Simba,
    TuRF,
    VLSRelief,
    find_redundancy,
    interactions,
    stability,
)
from nearhit.turf import Round, weights_of_rounds, worst_features
from nearhit.vls import draw_subsets, expected_share_of_pairs


@parametrize_with_checks(
    [TuRF(), VLSRelief(), TuRF(RReliefF()), VLSRelief(TuRF(Relief()), n_subsets=4, subset_size=0.5)]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def xor():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (300, 1000))
    return X, X[:, 20] ^ X[:, 70]


@pytest.fixture
def genotypes():
    """Categories throughout: their codes are the same whatever columns are beside them."""
    rng = np.random.default_rng(1)
    X = rng.choice(list("abc"), (90, 37))
    return X, rng.integers(0, 3, 90)


# ------------------------------------------------------------------------------------------------------- TuRF


def test_rounds_by_hand(genotypes):
    """37 features, a fifth falls: 37 - 7 = 30, - 6 = 24, - 5 = 19, - 4 = 15, - 3 = 12, - 2 = 10: seven fits."""
    X, y = genotypes
    turf = TuRF(ReliefF(3), drop=0.2, keep=10).fit(X, y)
    left = np.arange(37)
    last, fell = np.zeros(37), np.zeros(37)
    for i, n_dropped in enumerate([7, 6, 5, 4, 3, 2, 0]):
        weights = ReliefF(3).fit(X[:, left], y).weights_
        assert len(np.unique(weights)) == len(weights)
        np.testing.assert_array_equal(turf.history_[i].features, left)
        np.testing.assert_array_equal(turf.history_[i].weights, weights)
        last[left], fell[left] = weights, i
        left = np.sort(left[np.argsort(weights)[n_dropped:]])
    assert turf.n_rounds_ == len(turf.history_) == 7 and len(left) == 10
    order = sorted(range(37), key=lambda j: (-fell[j], -last[j]))
    assert turf.ranking_[order].tolist() == list(range(1, 38))
    np.testing.assert_array_equal(turf.weights_[order[:10]], last[order[:10]])
    # the rest: what they had, but no more than any that stayed longer
    np.testing.assert_allclose(turf.weights_[order], np.minimum.accumulate(last[order]), rtol=0, atol=1e-12)
    assert (np.diff(turf.weights_[order]) < 0).all()


def test_numbers_keep_their_ranges_and_missing_values_theirs():
    rng = np.random.default_rng(2)
    X = rng.random((80, 12))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 3:6] = rng.random((80, 3))  # some columns know everything
    y = rng.integers(0, 2, 80)
    turf = TuRF(ReliefF(4), drop=3, keep=3).fit(X, y)
    assert [len(some.features) for some in turf.history_] == [12, 9, 6, 3]
    for features, weights in turf.history_:
        assert weights == pytest.approx(ReliefF(4).fit(X[:, features], y).weights_, rel=0, abs=1e-9)


def test_any_member_does(genotypes):
    X, y = genotypes
    for member in (Relief(), RReliefF(5), IRelief(), Simba(1, random_state=0), VLSRelief(ReliefF(3), random_state=0)):
        turf = TuRF(member, drop=12, keep=13).fit(X, y)
        first, last = turf.history_[0], turf.history_[-1]
        if not isinstance(member, IRelief):  # which gives 0 to many features: they fall together
            assert [len(some.features) for some in turf.history_] == [37, 25, 13]
        np.testing.assert_array_equal(first.weights, clone(member).fit(X, y).weights_)
        np.testing.assert_array_equal(last.weights, clone(member).fit(X[:, last.features], y).weights_)
        assert turf.target_kind_ == ("numeric" if isinstance(member, RReliefF) else "classes")


def test_a_pair_that_a_single_fit_leaves_behind(xor):
    X, y = xor
    assert sorted(ReliefF().fit(X, y).ranking_[[20, 70]]) == [1, 14]
    turf = TuRF(select=2).fit(X, y)
    assert turf.get_feature_names_out().tolist() == ["x20", "x70"]
    assert turf.weights_[20] > 2 * ReliefF().fit(X, y).weights_[20]


@pytest.mark.parametrize(
    "weights, n, most, falls",
    [
        ([3, 1, 2, 4], 1, 3, [1]),
        ([3, 1, 2, 4], 2, 3, [1, 2]),
        ([3, 1, 1, 4], 1, 3, [1, 2]),  # twins fall together
        ([3, 1, 2, 2], 2, 3, [1]),  # or stay together, if there is a worse one
        ([3, 1, 1, 1], 1, 2, []),  # too many to fall
        ([3, 3, 3, 3], 2, 3, []),
        ([3, 3, 3, 3], 2, 4, [0, 1, 2, 3]),
        ([3, 1], 0, 1, []),
    ],
)
def test_equal_features_fall_together_or_not_at_all(weights, n, most, falls):
    assert np.flatnonzero(worst_features(np.array(weights, float), n, most)).tolist() == falls


def test_weights_say_what_the_rounds_say():
    """Feature 2 fell first with a weight above those that stayed; 1 and 4 fell together, as twins."""
    rounds = [
        Round(np.arange(6), np.array([0.3, 0.2, 0.25, 0.1, 0.2, -0.5])),
        Round(np.array([0, 1, 3, 4]), np.array([0.4, 0.15, 0.2, 0.15])),
        Round(np.array([0, 3]), np.array([0.5, 0.1])),
    ]
    weights = weights_of_rounds(rounds, 6)
    lower = np.nextafter(0.1, -1)
    assert weights.tolist() == [0.5, lower, np.nextafter(lower, -1), 0.1, lower, -0.5]


@pytest.mark.parametrize(
    "how, rounds",
    [
        (dict(drop=0.5, keep=1), [37, 19, 9, 5, 3, 1]),  # rounds 18.5 to even: 18 fall, then 10 (9.5), 4, 2, 2 (1.5)
        (dict(drop=10, keep=1), [37, 27, 17, 7, 1]),
        (dict(drop=10, keep=0.5), [37, 27, 18]),
        (dict(drop=10, n_rounds=2), [37, 27]),
        (dict(n_rounds=1), [37]),
        (dict(keep=1.0), [37]),
        (dict(keep=100), [37]),
        (dict(drop=0.001, keep=35), [37, 36, 35]),
    ],
)
def test_how_many_fall_and_when_it_ends(how, rounds, genotypes):
    found = TuRF(ReliefF(3), **how).fit(*genotypes).history_
    assert [len(some.features) for some in found] == rounds


def test_a_single_round_is_the_member(genotypes):
    np.testing.assert_array_equal(
        TuRF(ReliefF(3), n_rounds=1).fit(*genotypes).weights_, ReliefF(3).fit(*genotypes).weights_
    )


def test_order_names_and_threads_change_nothing(genotypes):
    X, y = genotypes
    rng = np.random.default_rng(0)
    X = np.hstack([X, X[:, :5]])  # twins, which no order may part
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    expected = TuRF(ReliefF(3, n_jobs=1), drop=3, keep=4).fit(X, y).weights_
    turned = TuRF(ReliefF(3, n_jobs=2), drop=3, keep=4).fit(X[rows][:, columns], np.array(list("zyx"))[y[rows]])
    np.testing.assert_array_equal(turned.weights_, expected[columns])
    np.testing.assert_array_equal(expected[37:], expected[:5])


def test_row_weights_are_copies(genotypes):
    X, y = genotypes
    copies = np.random.default_rng(3).integers(0, 3, len(y))
    for wrap in (partial(TuRF, drop=5), partial(VLSRelief, random_state=0, n_subsets=10)):
        weighted = wrap(ReliefF(3)).fit(X, y, sample_weight=copies)
        copied = wrap(ReliefF(3)).fit(X.repeat(copies, axis=0), y.repeat(copies))
        np.testing.assert_array_equal(weighted.weights_, copied.weights_)


def test_the_same_sampled_targets_in_all_rounds(genotypes):
    X, y = genotypes
    turf = TuRF(ReliefF(3, n_targets=20, random_state=4), drop=10, keep=17).fit(X, y)
    for features, weights in turf.history_:
        np.testing.assert_array_equal(weights, ReliefF(3, n_targets=20, random_state=4).fit(X[:, features], y).weights_)


# -------------------------------------------------------------------------------------------------- VLSRelief


def test_subsets_hold_each_feature_equally_often():
    subsets = draw_subsets(10, 4, 9, np.random.RandomState(0))
    assert [len(np.unique(some)) for some in subsets] == [4] * 9
    for i in range(0, 9, 3):  # a pass: ten features in three subsets, two of them twice
        counts = np.bincount(np.concatenate(subsets[i : i + 3]), minlength=10)
        assert sorted(counts) == [1] * 8 + [2] * 2
    assert len({tuple(some) for some in subsets}) == 9
    whole = draw_subsets(3, 3, 2, np.random.RandomState(0))
    assert [some.tolist() for some in whole] == [[0, 1, 2]] * 2


@pytest.mark.parametrize("aggregate", ["max", "mean"])
def test_subsets_by_hand(aggregate, genotypes):
    X, y = genotypes
    vls = VLSRelief(ReliefF(3), n_subsets=7, subset_size=12, aggregate=aggregate, random_state=8).fit(X, y)
    found = [[] for _ in range(37)]
    for subset in draw_subsets(37, 12, 7, np.random.RandomState(8)):
        for j, weight in zip(subset, ReliefF(3).fit(X[:, subset], y).weights_, strict=True):
            found[j].append(weight)
    expected = [max(some) if aggregate == "max" else np.mean(some) for some in found]
    assert vls.times_drawn_.tolist() == [len(some) for some in found]
    assert vls.times_drawn_.min() >= 1 and vls.times_drawn_.sum() == 7 * 12
    assert vls.weights_ == pytest.approx(expected, rel=0, abs=1e-15)
    assert vls.n_neighbors_used_ == 3


@pytest.mark.parametrize("features, size, n_subsets", [(37, 12, 9), (40, 10, 30), (20, 2, 200), (5, 5, 1), (9, 4, 4)])
def test_the_share_of_pairs_that_meet(features, size, n_subsets):
    shares = []
    for seed in range(40):
        together = np.zeros((features, features), bool)
        for subset in draw_subsets(features, size, n_subsets, np.random.RandomState(seed)):
            together[np.ix_(subset, subset)] = True
        shares.append(together[np.triu_indices(features, 1)].mean())
    assert np.mean(shares) == pytest.approx(expected_share_of_pairs(features, size, n_subsets), abs=0.02)


def test_a_share_of_the_features(genotypes):
    X, y = genotypes
    for size, expected in ((0.2, 7), (0.001, 2), (1.0, 37), (5, 5)):
        vls = VLSRelief(ReliefF(3), n_subsets=20, subset_size=size, random_state=0).fit(X, y)
        assert vls.times_drawn_.sum() == 20 * expected
    assert VLSRelief(ReliefF(3)).fit(X[:, :1], y).times_drawn_.tolist() == [100]


def test_seeds_and_threads(genotypes):
    X, y = genotypes
    fits = [VLSRelief(ReliefF(3, n_jobs=j), random_state=s).fit(X, y).weights_ for s, j in ((1, 1), (1, 2), (2, 1))]
    np.testing.assert_array_equal(fits[1], fits[0])
    assert (fits[2] != fits[0]).any()
    order = np.random.default_rng(0).permutation(len(X))  # subsets are drawn from the features: rows do not matter
    np.testing.assert_array_equal(VLSRelief(ReliefF(3), random_state=1).fit(X[order], y[order]).weights_, fits[0])


def test_a_pair_far_apart_meets(xor):
    X, y = xor
    assert VLSRelief(random_state=0, select=2).fit(X, y).get_feature_names_out().tolist() == ["x20", "x70"]


# ------------------------------------------------------------------------------------------------------- both

WRAPPERS = [partial(TuRF, drop=0.3), partial(VLSRelief, n_subsets=20, subset_size=0.5, random_state=0)]
each_wrapper = pytest.mark.parametrize("wrap", WRAPPERS, ids=lambda wrap: wrap.func.__name__)


@each_wrapper
def test_the_member_stays_as_it_is(wrap, genotypes):
    member = ReliefF(3)
    wrapped = wrap(member).fit(*genotypes)
    assert vars(member) == vars(ReliefF(3))
    assert wrapped.classes_.tolist() == [0, 1, 2] and wrapped.n_features_in_ == 37
    assert wrapped.kernel_.startswith("native") and wrapped.n_neighbors_used_ == 3
    twin = pickle.loads(pickle.dumps(wrapped))
    np.testing.assert_array_equal(twin.weights_, wrapped.weights_)
    assert clone(wrapped).get_params().keys() == wrapped.get_params().keys()
    assert wrapped.get_params()["estimator__n_neighbors"] == 3
    assert wrapped.feature_importances_ is wrapped.weights_


@each_wrapper
def test_data_frames_and_names(wrap):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"gene {j}": rng.integers(0, 2, 100) for j in range(30)}).astype("category")
    frame["age"] = rng.random(100)
    frame.loc[::9, "gene 4"] = None
    y = frame["gene 7"].astype(int) ^ frame["gene 9"].astype(int)
    wrapped = wrap(ReliefF(), select=2).set_output(transform="pandas").fit(frame, y)
    assert sorted(wrapped.top(2)) == wrapped.transform(frame).columns.tolist() == ["gene 7", "gene 9"]
    ranking = wrapped.ranking()
    assert [row.rank for row in ranking] == sorted(wrapped.ranking_)
    numbered = wrap(ReliefF(categorical_features=[3])).fit(frame.set_axis(range(31), axis=1), y)
    assert sorted(numbered.top(2)) == ["7", "9"]


@each_wrapper
def test_grid_search_over_the_member(wrap):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 25))
    y = X[:, 3] ^ X[:, 7]
    pipeline = make_pipeline(wrap(ReliefF()), DecisionTreeClassifier(random_state=0))
    name = pipeline.steps[0][0]
    grid = {f"{name}__estimator__n_neighbors": [1, 10], f"{name}__select": [2, 25]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ == 1 and search.best_params_[f"{name}__select"] == 2


@each_wrapper
def test_the_input_is_read_once(wrap, genotypes, monkeypatch):
    from nearhit import estimator

    calls, make, prepare = [], estimator.make_table, ReliefF._prepare
    monkeypatch.setattr(ReliefF, "_prepare", lambda *a: calls.append("read") or prepare(*a))
    monkeypatch.setattr(estimator, "make_table", lambda *a, **k: calls.append("make") or make(*a, **k))
    wrap(ReliefF(3)).fit(*genotypes)
    assert calls == ["read", "make"]


@each_wrapper
def test_warnings_point_to_the_caller(wrap, genotypes):
    X, y = genotypes
    with pytest.warns(UserWarning, match="the sample weights add up to") as caught:
        wrap(ReliefF(3)).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert [warning.filename for warning in caught] == [__file__]


@each_wrapper
def test_twins_and_partners_are_found_for_a_wrapper(wrap):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 12))
    y = X[:, 3] ^ X[:, 7]
    X[:, 5] = 1 - X[:, 3]
    (found,) = find_redundancy(wrap(ReliefF()), X, y)
    assert {found.representative, *found.twins} == {"x3", "x5"}
    best = interactions(X, y, estimator=wrap(ReliefF()), n_permutations=99, random_state=0)[0]
    assert best.features in (("x3", "x7"), ("x5", "x7"))


@each_wrapper
def test_the_rule_of_stability_is_that_of_the_function(wrap):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 12))
    y = X[:, 3] ^ X[:, 7]
    wrapped = wrap(ReliefF(random_state=0), select="stability(2)>0.8").fit(X, y)
    found = stability(wrap(ReliefF()), X, y, select=2, random_state=0)
    np.testing.assert_array_equal(wrapped.stability_, found.shares)
    np.testing.assert_array_equal(wrapped.support_, found.shares > 0.8)
    assert wrapped.support_.any() and not wrapped.support_.all()


def test_without_a_seed_of_its_own_halves_are_drawn_by_that_of_the_member(genotypes):
    X, y = genotypes
    shares = [
        TuRF(ReliefF(3, random_state=seed), n_rounds=1, select="stability(9)>0.5").fit(X, y).stability_
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(shares[1], shares[0])
    assert (shares[2] != shares[0]).any()


@each_wrapper
def test_parameters_of_no_estimator_cannot_be_set(wrap):
    name = wrap.func.__name__
    with pytest.raises(ValueError, match=rf"estimator__n_neighbors sets .* inside {name}, .* as in {name}\(ReliefF"):
        wrap().set_params(estimator__n_neighbors=3)
    wrapped = wrap().set_params(estimator=ReliefF(), estimator__n_neighbors=3)
    assert wrapped.estimator.n_neighbors == 3 and wrap().set_params(select=2).select == 2


@each_wrapper
def test_there_are_no_p_values(wrap, genotypes):
    X, y = genotypes
    with pytest.raises(AttributeError, match=r"has no p-values; how steady its ranking is says nearhit.stability"):
        wrap(ReliefF(3)).fit(X, y).adjusted_p_values()
    with pytest.raises(ValueError, match=r"leave groups out. .* has no p-values"):
        wrap(ReliefF(3)).fit(X, y, groups=y)


CASES = [
    (TuRF("ReliefF"), TypeError, "estimator must be a member of the Relief family, such as ReliefF.* got 'ReliefF'"),
    (TuRF(ReliefF), TypeError, "estimator must be a member"),
    (VLSRelief(DecisionTreeClassifier()), TypeError, "estimator must be a member"),
    (TuRF(ReliefF(select=3)), ValueError, "select=3 was given to the estimator inside TuRF, which selects nothing"),
    (
        TuRF(ReliefF(p_values="permutation")),
        ValueError,
        "p_values='permutation' was given to the estimator inside TuRF, .* fit ReliefF.p_values='permutation'. by itself",
    ),
    (VLSRelief(ReliefF(redundancy=0.9)), ValueError, "redundancy=0.9 was given .* inside VLSRelief,.*find_redundancy"),
    (VLSRelief(select="p<0.05"), ValueError, 'select="p<0.05" needs p-values. VLSRelief has no p-values; how steady'),
    (TuRF(select=" Chebyshev(0.1)"), ValueError, "the Chebyshev threshold holds for the weights of one fit only: not"),
    (TuRF(select="chebyshev(0.1)"), ValueError, "the Chebyshev threshold holds for the weights of one fit only: not"),
    (TuRF(select=1000), ValueError, "got 1000 features where X has 37"),
    (TuRF(ReliefF(0)), ValueError, "n_neighbors must be"),
    (TuRF(drop=0), ValueError, "drop must be a share of the features that are left, between 0 and 1, or .* got 0"),
    (TuRF(drop=1.0), ValueError, "drop must be"),
    (TuRF(drop=-0.1), ValueError, "drop must be"),
    (TuRF(drop=True), ValueError, "drop must be"),
    (TuRF(drop=np.nan), ValueError, "drop must be"),
    (TuRF(keep=0), ValueError, r"keep must be a number of features or a share of all, in \(0, 1\]; got 0"),
    (TuRF(keep=1.5), ValueError, "keep must be"),
    (TuRF(keep=None), ValueError, "keep must be"),
    (TuRF(n_rounds=0), ValueError, "n_rounds must be None or an integer of at least 1; got 0"),
    (TuRF(n_rounds=2.0), ValueError, "n_rounds must be"),
    (VLSRelief(n_subsets=0), ValueError, "n_subsets must be an integer of at least 1; got 0"),
    (VLSRelief(subset_size=0), ValueError, r"subset_size must be a share of the features in \(0, 1\], or .* got 0"),
    (VLSRelief(subset_size=1.5), ValueError, "subset_size must be"),
    (VLSRelief(subset_size="10"), ValueError, "subset_size must be"),
    (VLSRelief(subset_size=38), ValueError, "subset_size=38 asks for more features than the 37 there are"),
    (VLSRelief(n_subsets=9, subset_size=4), ValueError, "n_subsets=9 subsets of 4 features .* of the 37 .* at least 10"),
    (VLSRelief(aggregate="median"), ValueError, "aggregate must be one of 'max', 'mean'; got 'median'"),
    (VLSRelief(random_state="x"), ValueError, "random_state must be"),
    (VLSRelief(random_state=-1), ValueError, "random_state must be"),
]  # fmt: skip


@pytest.mark.parametrize("estimator, error, message", CASES, ids=lambda case: str(case)[:40])
def test_errors_at_the_door(estimator, error, message, genotypes):
    with pytest.raises(error, match=message):
        estimator.fit(*genotypes)
    assert not [name for name in vars(estimator) if name.endswith("_")]
