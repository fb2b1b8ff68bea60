"""p-values: from permuted targets, worked by hand and against fits on permuted targets; adjustments; STIR's t-test."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from generated import Data
from scipy import stats
from sklearn import clone
from sklearn.pipeline import make_pipeline

from nearhit import Relief, ReliefF, RReliefF, recipes
from nearhit.estimator import ReliefEstimator
from nearhit.fitting import Options
from nearhit.ranking import p_value_in_words
from nearhit.relief import OfClasses
from nearhit.selection import select_features
from nearhit.significance import Exchange, PermutationTest, Refits, Significance, find_exchange, null_of
from nearhit.significance.adjustment import Tally
from nearhit.significance.null import PermutedSums, SharedDistances, permute_target

RNG = np.random.default_rng(0)
X = RNG.random((60, 6))
X[:, 4:] = RNG.integers(0, 3, (60, 2))
CLASSES = (X[:, 1] + 0.3 * RNG.random(60) > 0.6).astype(int) + (X[:, 4] == 2)
NUMBERS = np.round(X[:, 2] + RNG.random(60), 2)
B = 39


def holes(X, share=0.1):
    X = X.copy()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return X


def shuffles(n_rows, n=B, seed=7):
    return Exchange(n_rows).draw(seed, range(n))


# ----------------------------------------------------------------------------------------------- null weights of fits

OF_CLASSES = {
    "ReliefF": ReliefF(5),
    "any class": ReliefF(5, misses="any class"),
    "as printed": ReliefF(5, misses="as printed"),
    "no hits": ReliefF(5, misses="only"),
    "rank weights": ReliefF(8, weights="rank", sigma=3),
    "distance weights": ReliefF(8, weights="squared distance", metric="euclidean"),
    "squared": ReliefF(3, diff="squared"),
    "ramp": ReliefF(3, diff="ramp"),
    "first of ties": ReliefF(3, ties="first"),
    "all": ReliefF("all"),
    "sampled": ReliefF(5, n_targets=20),
    "Relief, three classes": Relief(),
}


def p_values_by_fits(estimator, X, y, orders, sample_weight=None):
    """The definition: fit again with each shuffled target, and count."""
    observed = estimator.fit(X, y, sample_weight).weights_
    null = np.stack([clone(estimator).fit(X, y[order], sample_weight).weights_ for order in orders])
    return (1 + (null >= observed).sum(axis=0)) / (1 + len(orders))


def check(estimator, X, y, sample_weight=None, distances_once=True):
    estimator = clone(estimator).set_params(random_state=7)
    orders = shuffles(len(y) if sample_weight is None else int((sample_weight > 0).sum()))
    tested = clone(estimator).set_params(p_values="permutation", n_permutations=B).fit(X, y, sample_weight)
    if sample_weight is None or sample_weight.all():
        wanted = p_values_by_fits(estimator, X, y, orders, sample_weight)
        assert tested.p_values_.tolist() == wanted.tolist()
    assert tested.weights_.tolist() == estimator.fit(X, y, sample_weight).weights_.tolist()
    assert ("distances measured once" in tested.null_) == distances_once
    return tested


@pytest.mark.parametrize("estimator", OF_CLASSES.values(), ids=OF_CLASSES)
def test_p_values_are_those_of_fits_on_shuffled_classes(estimator):
    check(estimator, X, CLASSES)


@pytest.mark.parametrize("weights", ["rank", "equal", "distance"])
def test_p_values_are_those_of_fits_on_shuffled_numbers(weights):
    check(RReliefF(9, weights=weights), X, NUMBERS)


@pytest.mark.parametrize("missing, once", [("uniform", True), ("skip", True), ("expected", False)])
def test_p_values_with_missing_values(missing, once):
    """Expected diffs depend on the classes, so distances do as well: then every permutation is a fit."""
    check(ReliefF(4, missing=missing), holes(X), CLASSES, distances_once=once)
    check(RReliefF(9, missing=missing), holes(X), NUMBERS)


def test_p_values_with_row_weights():
    """Targets change places, weights stay with the rows; rows of weight 0 take no part."""
    weights = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    check(ReliefF(4), X, CLASSES, weights, distances_once=False)
    weights[::7] = 0
    left_out = check(ReliefF(4), X, CLASSES, weights, distances_once=False)
    there = weights > 0
    assert (
        left_out.p_values_.tolist()
        == check(ReliefF(4), X[there], CLASSES[there], weights[there], False).p_values_.tolist()
    )


class OfTwoFits(OfClasses):
    """A member that is not one sweep: the mean of two fits."""

    def _recipe(self):
        return recipes.RELIEFF

    def _run(self, recipe, table, targets):
        from nearhit.fitting import fit_recipe

        fits = [fit_recipe(replace(recipe, k=k), table, targets, self._options()) for k in (2, 9)]
        return replace(fits[0], weights=(fits[0].weights + fits[1].weights) / 2)


def test_members_of_another_kind_are_fitted_again():
    parameters = {name: value for name, value in ReliefF().get_params().items() if name != "misses"}

    def fit(y, **more):
        estimator = OfTwoFits(**{**parameters, "random_state": 7, **more})
        return estimator.fit(X, y)

    observed = fit(CLASSES)
    null = np.stack([fit(CLASSES[order]).weights_ for order in shuffles(60)])
    tested = fit(CLASSES, p_values="permutation", n_permutations=B, n_jobs=2)
    assert tested.p_values_.tolist() == ((1 + (null >= observed.weights_).sum(axis=0)) / (B + 1)).tolist()
    assert tested.null_ == f"{B} permutations among all rows; a fit for each"
    with pytest.raises(ValueError, match="one pass over neighbours, which OfTwoFits does not make"):
        fit(CLASSES, p_values="stir")


@pytest.mark.parametrize("recipe", [recipes.SURF, recipes.MULTISURF], ids=lambda recipe: recipe.name)
def test_members_with_a_radius(recipe):
    table = Data(X[:, :4], X[:, 4:].astype(int), None, CLASSES, None).table()
    source = null_of(recipe, table, None, Options(n_jobs=2))
    orders = shuffles(60, 8)
    from nearhit.fitting import fit_recipe

    wanted = [fit_recipe(recipe, permute_target(table, order), None, Options(n_jobs=1)).weights for order in orders]
    assert source.weights(orders).tolist() == np.stack(wanted).tolist()


def test_null_weights_with_sums_beyond_64_bits():
    """More target rows than narrow sums hold."""
    rng = np.random.default_rng(5)
    table = Data(rng.random((2300, 2)), np.zeros((2300, 0), int), None, rng.integers(0, 2, 2300), None).table()
    orders = shuffles(2300, 2)
    source = null_of(recipes.RELIEFF, table, None, Options(n_jobs=1))
    assert isinstance(source, SharedDistances)
    from nearhit.fitting import fit_recipe

    wanted = [fit_recipe(recipes.RELIEFF, permute_target(table, order), None, Options()).weights for order in orders]
    assert source.weights(orders).tolist() == np.stack(wanted).tolist()


def test_sums_of_many_blocks_grow_beyond_64_bits():
    """A block of 512 rows may hold nearly 2^61 (`fraction_bits`); five of them are more than 2^63."""
    sums, most = PermutedSums(), 2**61 - 1
    for _ in range(5):
        sums.add(512, np.full((2, 1, 1, 1, 3), most), None, np.full((2, 1, 1, 1), -most))
    found = sums.of(1)
    assert found.known is None
    diffs, weight = found.diffs.carried(), found.weight.carried()
    assert (diffs.high.astype(object) * 2**32 + diffs.low == 5 * most).all() and diffs.low.shape == (1, 1, 1, 3)
    assert (weight.high.astype(object) * 2**32 + weight.low == -5 * most).all()


# -------------------------------------------------------------------------------------------- laws of the permutations


def test_a_permutation_depends_on_seed_and_number_alone():
    exchange = Exchange(50)
    together = exchange.draw(3, range(10))
    assert together[7].tolist() == exchange.draw(3, [7])[0].tolist()
    assert (together != exchange.draw(4, range(10))).any()
    assert all(sorted(line) == list(range(50)) for line in together.tolist())
    assert len(np.unique(together, axis=0)) == 10


def test_threads_and_batches_change_nothing(monkeypatch):
    def fit(**how):
        return ReliefF(5, p_values="permutation", n_permutations=B, random_state=1, **how).fit(X, CLASSES)

    wanted = fit(n_jobs=1)
    assert fit(n_jobs=2).p_values_.tolist() == wanted.p_values_.tolist()
    monkeypatch.setattr("nearhit.significance.null.MOST_BYTES_OF_SUMS", 1)  # one permutation at a time
    assert fit(n_jobs=2).p_values_.tolist() == wanted.p_values_.tolist()
    assert fit(n_jobs=2).adjusted_p_values().tolist() == wanted.adjusted_p_values().tolist()
    state = np.random.RandomState(1)
    assert ReliefF(5, p_values="permutation", n_permutations=B, random_state=state).fit(X, CLASSES).p_values_.shape == (
        6,
    )


def test_columns_and_names_of_classes_do_not_matter():
    def fit(X, y):
        return ReliefF(5, p_values="permutation", n_permutations=B, random_state=1).fit(X, y)

    wanted, found = fit(X, CLASSES), fit(X[:, ::-1], np.array(["c", "a", "b"])[CLASSES])
    for name in ("", "max-T", "bh", "by"):
        by_name = [fitted._significance_.by_name(name) for fitted in (wanted, found)]
        assert by_name[1][::-1].tolist() == by_name[0].tolist()


def test_rows_change_places_within_their_group():
    groups = np.repeat(["a", "b", "c"], [10, 20, 30])
    exchange = find_exchange(CLASSES, groups)
    assert not exchange.whole
    lines = exchange.draw(0, range(200))
    for group in "abc":
        rows = np.flatnonzero(groups == group)
        assert (np.sort(lines[:, rows], axis=1) == rows).all()
    # every row of the smallest group comes to every place of it, about as often
    counts = np.array([[np.sum(lines[:, i] == j) for j in range(10)] for i in range(10)])
    assert stats.chisquare(counts.ravel()).pvalue > 1e-4


def test_whole_groups_change_places_where_the_target_is_theirs():
    """Two rows a patient, and one patient with three: the diagnosis is the patient's."""
    patients = np.array([5, 5, 1, 1, 2, 2, 9, 9, 7, 7, 7])
    sick = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1])
    exchange = find_exchange(sick, patients)
    assert exchange.whole and exchange.describe() == "of 5 whole groups among those of their size"
    seen = {tuple(sick[line]) for line in exchange.draw(0, range(300))}
    of_pairs = set(itertools.permutations([0, 1, 0, 1]))
    assert seen == {(*np.repeat(pairs, 2).tolist(), 1, 1, 1) for pairs in of_pairs}


def test_groups_of_a_fit():
    groups = np.arange(60) // 6
    tested = ReliefF(5, p_values="permutation", n_permutations=B, random_state=7).fit(X, CLASSES, groups=groups)
    assert tested.null_ == "39 permutations of rows within 10 groups; distances measured once"
    orders = find_exchange(CLASSES, groups).draw(7, range(B))
    assert tested.p_values_.tolist() == p_values_by_fits(ReliefF(5), X, CLASSES, orders).tolist()
    weights = np.where(groups == 3, 0.0, 1.0)  # a group of no weight is gone
    tested = ReliefF(5, p_values="permutation", n_permutations=B, random_state=0).fit(X, CLASSES, weights, groups)
    assert "of rows within 9 groups" in tested.null_
    named = make_pipeline(clone(tested)).fit(X, CLASSES, relieff__groups=pd.Series(groups).map(lambda g: f"g{-g}"))
    again = clone(tested).fit(X, CLASSES, groups=groups)
    assert named[0].p_values_.tolist() == again.p_values_.tolist() and "within 10 groups" in again.null_


# ------------------------------------------------------------------------------------------------ from counts to p-values


def test_p_values_and_step_down_maxima_by_hand():
    """Weights 3, 2, 2, 1 against four permutations; the features stand in the order 2, 3, 1, 2."""
    tally = Tally(np.array([2.0, 3.0, 1.0, 2.0]))
    tally.add(np.array([[2.0, 0, 0, 0], [0, 0, 5, 0]]))
    tally.add(np.array([[1.0, 3, 0, 2], [0, 0, 0.5, 0]]))
    # reached: feature 0 by the first; 1 by the third; 2 by the second; 3 by the third
    assert tally.p_values().tolist() == [2 / 5, 2 / 5, 2 / 5, 2 / 5]
    # maxima of all features: 2, 5, 3, .5, reaching 3 twice; of features 0, 2, 3: 2, 5, 2, .5, reaching 2 three times;
    # of features 2, 3: 0, 5, 2, .5, reaching 2 twice, but not below what stands before; of feature 2: 5 reaches 1
    assert tally.max_t().tolist() == [4 / 5, 3 / 5, 4 / 5, 4 / 5]


def test_adjustments_are_those_of_scipy_and_of_the_largest_weight():
    tested = ReliefF(5, p_values="permutation", n_permutations=199, random_state=0).fit(X, CLASSES)
    raw = tested.p_values_
    for method in ("bh", "by"):
        assert tested.adjusted_p_values(method).tolist() == stats.false_discovery_control(raw, method=method).tolist()
    orders = Exchange(60).draw(0, range(199))
    largest = np.array([ReliefF(5).fit(X, CLASSES[order]).weights_.max() for order in orders])
    best = int(np.argmax(tested.weights_))
    max_t = tested.adjusted_p_values()
    assert max_t[best] == (1 + (largest >= tested.weights_[best]).sum()) / 200
    assert (max_t >= raw).all() and (np.diff(max_t[np.argsort(-tested.weights_)]) >= 0).all()
    with pytest.raises(ValueError, match="method must be one of 'max-T', 'bh', 'by'; got 'holm'"):
        tested.adjusted_p_values("holm")


def test_a_feature_that_can_be_nothing_has_p_1():
    constant = np.hstack([X, np.ones((60, 1))])
    assert ReliefF(5, p_values="permutation", n_permutations=B).fit(constant, CLASSES).p_values_[6] == 1
    assert ReliefF(5, p_values="stir").fit(constant, CLASSES).p_values_[6] == 1


# ------------------------------------------------------------------------------------------------------ what users see


def test_the_ranking_has_a_column_and_says_when_a_p_value_is_a_bound():
    tested = ReliefF(5, p_values="permutation", n_permutations=B, random_state=0).fit(X, CLASSES)
    ranking = tested.ranking()
    assert ranking[0]._fields == ("feature", "weight", "rank", "p_value")
    assert ranking.to_dict()["p_value"] == tested.p_values_[np.argsort(-tested.weights_, kind="stable")].tolist()
    assert ranking[0].p_value == 1 / 40 and "≤0.025" in repr(ranking) and "<td>≤0.025</td>" in ranking._repr_html_()
    assert ReliefF(5).fit(X, CLASSES).ranking()[0]._fields == ("feature", "weight", "rank")
    assert [p_value_in_words(p, 0.001) for p in (0.001, 0.002, 0.0996, 0.5)] == ["≤0.001", "0.002", "0.100", "0.500"]
    assert p_value_in_words(0.0, 0.0) == "<1e-300" and p_value_in_words(1e-9, 0.0) == "1e-09"


def test_select_by_p_value():
    tested = ReliefF(5, p_values="permutation", n_permutations=B, random_state=0, select="p<0.05").fit(X, CLASSES)
    assert tested.support_.tolist() == (tested.p_values_ < 0.05).tolist() and 0 < tested.support_.sum() < 6
    for rule, method in (("p(bh)<0.1", "bh"), ("p (BY) < .2", "by"), ("p(max-t)<0.2", "max-T")):
        chosen = clone(tested).set_params(select=rule).fit(X, CLASSES)
        level = float(rule.split("<")[1])
        assert chosen.support_.tolist() == (tested.adjusted_p_values(method) < level).tolist()
    assert select_features("p(by)<0.5", np.zeros(2), 9, {"by": np.array([0.4, 0.6])}.get).tolist() == [True, False]


WRONG = [
    ({"p_values": "bootstrap"}, "p_values must be one of None, 'permutation', 'stir'"),
    ({"n_permutations": 0}, "n_permutations must be an integer of at least 1; got 0"),
    ({"n_permutations": True}, "n_permutations must be an integer of at least 1; got True"),
    ({"select": "p<0.05"}, 'select="p<0.05" needs p-values'),
    ({"select": "p(holm)<0.05", "p_values": "permutation"}, "p-values are adjusted by max-T, bh, by"),
    ({"select": "p<5", "p_values": "permutation"}, 'a level between 0 and 1; got select="p<5"'),
    ({"select": "p<0.0.5", "p_values": "permutation"}, "a level between 0 and 1"),
    ({"select": "p<.", "p_values": "permutation"}, "a level between 0 and 1"),
    ({"select": "p<0.05", "p_values": "permutation", "n_permutations": 19}, "can keep nothing: of 19 permutations"),
    ({"select": "p(max-T)<0.05", "p_values": "stir"}, "max-T compares with the largest of the permuted weights"),
    ({"p_values": "stir", "misses": "only"}, 'p_values="stir" compares the nearest misses'),
    ({"p_values": "stir", "weights": "rank"}, 'p_values="stir" counts pairs of rows alike'),
]


@pytest.mark.parametrize("parameters, message", WRONG, ids=range(len(WRONG)))
def test_what_is_refused(parameters, message, monkeypatch):
    monkeypatch.setattr("nearhit.estimator.fit_recipe", None)  # before any work
    with pytest.raises(ValueError) as refused:
        ReliefF(**parameters).fit(X, CLASSES)
    assert message in str(refused.value)


def test_what_is_refused_of_groups_and_weights():
    groups = np.arange(60) // 6
    tested = ReliefF(p_values="permutation")
    for estimator, more, message in (
        (ReliefF(), {"groups": groups}, "do nothing with p_values=None"),
        (tested, {"groups": groups[:5]}, r"one label for each of the 60 rows; got shape \(5,\)"),
        (tested, {"groups": [None, *groups[1:]]}, "a row without a label"),
        (tested, {"groups": np.where(groups == 1, np.nan, groups)}, "a row without a label"),
        (tested, {"groups": pd.array([pd.NA, *groups[1:]])}, "a row without a label"),
        (tested, {"groups": np.ma.masked_equal(groups, 3)}, "a row without a label"),
        (tested, {"groups": np.arange(60)}, None),  # groups of one row each, all of one size
        (ReliefF(p_values="stir"), {"sample_weight": np.full(60, 2.0)}, "no meaning for sample weights"),
        (RReliefF(p_values="stir"), {}, "RReliefF does not look for"),
        (Relief(p_values="stir"), {}, "no form for each class against the rest; y has 3 classes"),
    ):
        if message is None:
            clone(estimator).set_params(n_permutations=2).fit(X, CLASSES, **more)
            continue
        with pytest.raises(ValueError, match=message):
            clone(estimator).fit(X, CLASSES, **more)
    with pytest.raises(ValueError, match="has nothing to permute"):
        tested.fit(X[:30], np.repeat([0, 1], [10, 20]), groups=np.repeat([0, 1], [10, 20]))
    with pytest.raises(AttributeError, match="there are no p-values"):
        ReliefF().fit(X, CLASSES).adjusted_p_values()


def test_progress_and_silence(capsys):
    ReliefF(p_values="permutation", n_permutations=B, verbose=1).fit(X, CLASSES)
    assert "ReliefF, permutations: 100%" in capsys.readouterr().err
    ReliefF(p_values="permutation", n_permutations=B, missing="expected", verbose=1).fit(holes(X), CLASSES)
    assert capsys.readouterr().err.count("ReliefF: 100%") == 1  # the fit itself; not those of the permutations
    ReliefF(p_values="permutation", n_permutations=B).fit(X, CLASSES)
    assert capsys.readouterr().err == ""


def test_fits_beside_each_other_share_the_bound_on_pairs():
    seen = []
    table = Data(X, np.zeros((60, 0), int), None, CLASSES, None).table()
    source = Refits(lambda table, beside: seen.append(beside) or np.zeros(6), table, Options(n_jobs=2))
    source.weights(shuffles(60, 5))
    assert set(seen) == {2} and len(seen) == 5


def test_a_test_runs_through_any_source():
    class Fixed:
        how, at_a_time = "fixed", 3

        def weights(self, orders, report=None):
            return np.tile([0.0, 2.0], (len(orders), 1))

    tested = PermutationTest(10, 0, Exchange(4)).run(np.array([1.0, 1.0]), Fixed(), "x", 0)
    assert isinstance(tested, Significance)
    assert tested.p_values.tolist() == [1 / 11, 1.0] and tested.least == 1 / 11
    assert tested.how == "10 permutations among all rows; fixed"


def test_every_public_member_has_the_parameters():
    for member in (Relief, ReliefF, RReliefF):
        assert issubclass(member, ReliefEstimator)
        assert {"p_values", "n_permutations"} <= set(member().get_params())


# ------------------------------------------------------------------------------------------------------------- STIR


def stir_by_hand(X, y, k):
    """t-tests over all pairs of rows with their k nearest hits and misses; two classes, no ties."""
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    d = np.abs(scaled[:, None] - scaled[None])
    D = d.sum(axis=2)
    np.fill_diagonal(D, np.inf)
    pairs = {True: [], False: []}
    for i, same in itertools.product(range(len(X)), (True, False)):
        rows = np.flatnonzero((y == y[i]) == same)
        pairs[same] += [d[i, j] for j in rows[np.argsort(D[i, rows])[:k]]]
    hits, misses = np.array(pairs[True]), np.array(pairs[False])
    return stats.ttest_ind(misses, hits, alternative="greater").pvalue


@pytest.mark.parametrize("k", [1, 5])
def test_stir_is_a_t_test_of_pairs(k):
    y = (X[:, 1] + 0.3 * X[:, 2] > 0.6).astype(int)
    numbers = X[:, :4]
    tested = ReliefF(k, p_values="stir").fit(numbers, y)
    assert tested.p_values_ == pytest.approx(stir_by_hand(numbers, y, k), rel=1e-6)
    assert tested.null_ == "STIR's t-test of miss diffs against hit diffs"
    assert tested.adjusted_p_values("bh").tolist() == stats.false_discovery_control(tested.p_values_).tolist()
    shuffled = RNG.permutation(60)
    again = ReliefF(k, p_values="stir", n_jobs=2).fit(numbers[shuffled][:, ::-1], 1 - y[shuffled])
    assert again.p_values_[::-1].tolist() == tested.p_values_.tolist()


def test_stir_of_many_classes_weighs_misses_as_the_score_does():
    """Each miss by P(C) / (1 - P(class of the row)); so many as alike would tell the same."""
    numbers, y, k = X[:, :4], CLASSES, 3
    prior = np.bincount(y) / len(y)
    d = np.abs(numbers[:, None] - numbers[None]) / np.ptp(numbers, axis=0)
    D = d.sum(axis=2)
    np.fill_diagonal(D, np.inf)
    hits, misses, importance = [], [], []
    for i, c in itertools.product(range(60), range(3)):
        rows = np.flatnonzero(y == c)
        near = d[i, rows[np.argsort(D[i, rows])[:k]]]
        (hits if c == y[i] else misses).append(near)
        if c != y[i]:
            importance += [prior[c] / (1 - prior[y[i]])] * k
    hits, misses, w = np.concatenate(hits), np.concatenate(misses), np.array(importance)
    mean = np.average(misses, axis=0, weights=w)
    variance = np.average((misses - mean) ** 2, axis=0, weights=w)
    n_misses, n_hits = w.sum() ** 2 / (w**2).sum(), len(hits)
    pooled = (n_misses * variance + n_hits * hits.var(axis=0)) / (n_misses + n_hits - 2)
    t = (mean - hits.mean(axis=0)) / np.sqrt(pooled * (1 / n_misses + 1 / n_hits))
    found = ReliefF(k, p_values="stir").fit(numbers, y).p_values_
    assert found == pytest.approx(stats.t.sf(t, n_misses + n_hits - 2), rel=1e-6)


@pytest.mark.parametrize("missing", ["uniform", "skip", "expected"])
@pytest.mark.parametrize("diff", ["linear", "squared", "ramp"])
def test_stir_on_every_kernel(monkeypatch, missing, diff):
    """Mixed columns with holes and ties, three classes: the reference and the native kernels agree to the last bit."""
    tables = [data.round(1)[:40] for data in (X, holes(X, 0.2))]
    found = {}
    for kernel in ("reference", "baseline", ""):
        monkeypatch.setenv("NEARHIT_KERNEL", kernel)
        stir = ReliefF(4, missing=missing, diff=diff, p_values="stir")
        found[kernel] = [clone(stir).fit(data, CLASSES[:40]).p_values_.tolist() for data in tables]
    assert found["baseline"] == found[""] == found["reference"]
    assert found[""][0] != found[""][1]


def test_weights_of_classes_go_with_the_targets():
    """Twelve cases among sixty rows, the others weighing four times as much. Left where they are, such weights made two
    thirds of null p-values smaller than 0.05, because a permuted case then weighs 4 more often than not."""
    rng = np.random.default_rng(0)
    small = 0
    for _ in range(12):
        X, y = rng.normal(size=(60, 4)), rng.permutation(60) < 12
        found = ReliefF(5, p_values="permutation", n_permutations=39, random_state=0).fit(X, y, np.where(y, 1, 4))
        small += (found.p_values_ <= 0.05).sum()
    assert small <= 7  # of 48, each with a chance of 1 in 20: P(more) = 0.3 %


def test_weights_that_go_with_classes_in_part_get_a_warning():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    uneven = np.where(y, 1, 4) + (rng.random(40) < 0.5)
    with pytest.warns(UserWarning, match="sample weights differ between the classes and within them"):
        ReliefF(5, p_values="permutation", n_permutations=9, random_state=0).fit(X, y, uneven)
