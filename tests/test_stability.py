"""Resamples, what is counted over them, `select="stability>…"`, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from generated import Data

from nearhit import IRelief, Relief, ReliefF, RReliefF, recipes, stability
from nearhit.fitting import Fit, Options, fit_recipe
from nearhit.ranking import ranks_of
from nearhit.resampling import Resampling, places_of_a_resample, share_of_places
from nearhit.selection import select_features, stability_rule
from nearhit.table import Classes


def example(n=80, seed=0, classes=True):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6)).round(2)
    y = ((X[:, 1] > 0.5) ^ (X[:, 4] > 0.5)).astype(int)
    return X, (y if classes else y + 0.25 * rng.random(n))


def a_table(sizes, weights=None):
    y = np.repeat(np.arange(len(sizes)), sizes)
    y = np.random.default_rng(1).permutation(y)
    X = np.random.default_rng(2).random((len(y), 3))
    return Data(X, np.zeros((len(y), 0), int), None, y, weights).table()


# ------------------------------------------------------------------------------------------------ which rows are drawn


def row_numbers(table, resampled):
    """Rows are told by their first code, which differs in each."""
    return np.searchsorted(np.sort(table.numeric[:, 0]), resampled.numeric[:, 0])


@pytest.mark.parametrize("sizes", [(8, 6), (7, 5), (9, 4, 3, 1), (5, 5, 5)])
def test_halves_are_complementary_and_keep_the_classes(sizes):
    table = a_table(sizes)
    halves = Resampling(recipes.RELIEFF, table, "subsample", 10, seed=3)
    for b in range(0, 10, 2):
        first, second = halves.resample(b)[0], halves.resample(b + 1)[0]
        together = np.concatenate([row_numbers(table, first), row_numbers(table, second)])
        assert sorted(together) == list(range(sum(sizes)))
        assert abs(first.n_rows - second.n_rows) <= 1
        for half in (first, second):
            assert isinstance(half.targets[0], Classes)
            assert (np.abs(2 * half.targets[0].weight - sizes) <= 1).all()
            assert (half.top == table.top).all() and half.grid == table.grid  # ranges of all rows
    assert len({tuple(row_numbers(table, halves.resample(b)[0])) for b in range(0, 10, 2)}) == 5


def test_bootstrap_samples_have_as_many_copies_as_rows_of_each_class():
    table = a_table((8, 5, 1))
    samples = Resampling(recipes.RELIEFF, table, "bootstrap", 200, seed=3)
    drawn = np.zeros(14)
    for b in range(200):
        sample = samples.resample(b)[0]
        assert sample.targets[0].weight.tolist() == [8, 5, 1] and sample.units().min() >= 1
        drawn += np.bincount(row_numbers(table, sample), weights=sample.units(), minlength=14)
    assert pytest.approx(drawn.mean() / 200) == 1.0 and np.abs(drawn / 200 - 1).max() < 0.35


def test_a_resample_depends_on_the_seed_and_its_number_only():
    table = a_table((20, 20))
    few, many = (Resampling(recipes.RELIEFF, table, "subsample", n, seed=7) for n in (4, 9))
    other = Resampling(recipes.RELIEFF, table, "subsample", 4, seed=8)
    assert (few.resample(3)[0].numeric == many.resample(3)[0].numeric).all()
    assert (few.resample(2)[0].numeric != other.resample(2)[0].numeric).any()


def test_as_many_targets_look_for_neighbours_as_on_all_rows_if_there_are_as_many():
    class Spy:
        def __init__(self):
            self.targets = []

        def _run(self, recipe, table, targets):
            self.targets.append((table.n_rows, targets))
            return Fit(np.zeros(3), 1, 1, "")

    table = a_table((30, 30))
    for wanted, expected in ((10, 10), (29, 29), (40, 30)):
        spy = Spy()
        Resampling(recipes.RELIEFF, table, "subsample", 3, seed=0)._fit(spy, 0, np.arange(wanted))
        Resampling(recipes.RELIEFF, table, "subsample", 3, seed=0)._fit(spy, 1, np.arange(wanted))
        assert [len(set(rows.tolist())) for _, rows in spy.targets] == [expected] * 2
        assert all(rows.max() < n for n, rows in spy.targets)
        assert wanted == 40 or spy.targets[0][1].tolist() != spy.targets[1][1].tolist()


def test_rows_that_are_drawn_bring_their_weights():
    weights = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    table = a_table((15, 15), weights)
    order = np.argsort(table.numeric[:, 0])
    for method, copies in (("subsample", 1), ("bootstrap", None)):
        sample = Resampling(recipes.RELIEFF, table, method, 2, seed=0).resample(0)[0]
        own = table.units()[order][row_numbers(table, sample)]
        times = sample.units() / own
        assert (times == (copies or np.rint(times))).all() and (times >= 1).all()
        target = sample.targets[0]
        assert target.weight.tolist() == [sample.units()[target.codes == c].sum() for c in (0, 1)]


# --------------------------------------------------------------------------------------------- what is counted over them


@pytest.mark.parametrize("method", ["subsample", "bootstrap"])
def test_each_column_of_the_result_equals_a_plain_loop(method):
    X, y = example()
    found = stability(ReliefF(5), X, y, select=2, n_resamples=20, method=method, random_state=4)
    table = Data(X, np.zeros((80, 0), int), None, y, None).table()
    resampling = Resampling(replace(recipes.RELIEFF, k=5), table, method, 20, seed=4)
    fits = []
    for b in range(20):
        fits.append(fit_recipe(resampling.recipe, resampling.resample(b)[0], None, Options()).weights)
    fits = np.array(fits)
    assert (found.weights == fits).all() and found.n_resamples == 20
    all_rows = ReliefF(5).fit(X, y)
    for row in found:
        j = int(row.feature[1:])
        ranks = sorted(int(ranks_of(fit)[j]) for fit in fits)
        assert row.weight == all_rows.weights_[j] and row.rank == all_rows.ranking_[j]
        assert row.share == found.shares[j] == sum(rank <= 2 for rank in ranks) / 20  # no two weights are equal here
        assert row.standard_error == pytest.approx(np.std(fits[:, j], ddof=1))
        assert (row.rank_low, row.rank_high) == (ranks[1], ranks[18])  # 5 % of 20 ranks on either side
    assert [row.share for row in found] == sorted(found.shares, reverse=True)


def test_equal_weights_share_the_places_they_compete_for():
    weights = np.array([0.5, 0.2, 0.2, 0.2, -0.1])
    assert share_of_places(weights, 1).tolist() == [1, 0, 0, 0, 0]
    assert share_of_places(weights, 3).tolist() == [1, 2 / 3, 2 / 3, 2 / 3, 0]
    assert share_of_places(weights, 4).tolist() == [1, 1, 1, 1, 0]
    assert share_of_places(weights, 5).tolist() == [1, 1, 1, 1, 1]


def test_the_places_of_a_resample_are_those_of_meinshausens_bound():
    # at most q^2 / ((2 share - 1) a) = 1 feature that is no better than chance
    assert places_of_a_resample(200, 0.8) == 10  # 10^2 <= 0.6 * 200 = 120 < 11^2
    assert places_of_a_resample(15, 0.8) == 3  # 3^2 = 0.6 * 15
    assert places_of_a_resample(1, 0.9) == 1
    assert places_of_a_resample(4, 1.0) == places_of_a_resample(2, 0.6) == 2


def test_standard_errors_are_near_those_of_new_tables():
    """Ten tables' worth of estimates beside the spread over sixty tables: within a factor of 1.5."""
    fits, errors = [], []
    for seed in range(60):
        X, y = example(100, seed)
        fits.append(ReliefF(n_jobs=1).fit(X, y).weights_)
        if seed < 10:
            errors.append(stability(ReliefF(n_jobs=1), X, y, n_resamples=40, random_state=0).standard_errors)
    ratio = np.mean(errors, axis=0) / np.std(fits, axis=0, ddof=1)
    assert (ratio > 0.85).all() and (ratio < 1.75).all() and 1 / 1.5 < np.median(ratio) < 1.5, ratio


@pytest.mark.parametrize("rule", [1, 0.5, "gap", ">0.01", "chebyshev(0.9)", lambda w: w > 0.02])
def test_every_rule_can_be_asked_of_a_resample(rule):
    X, y = example()
    found = stability(ReliefF(select=rule), X, y, n_resamples=6, random_state=1)
    n_targets = 40  # of 80 rows
    expected = np.mean([select_features(rule, weights, n_targets) for weights in found.weights], axis=0)
    assert found.shares == pytest.approx(expected)
    assert (stability(ReliefF(), X, y, select=rule, n_resamples=6, random_state=1).shares == found.shares).all()


# ------------------------------------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("member", [ReliefF(5), Relief(), RReliefF(8), ReliefF(5, n_targets=20)], ids=repr)
@pytest.mark.parametrize("method", ["subsample", "bootstrap"])
def test_columns_names_and_threads_change_no_bit(member, method):
    X, y = example(60, classes=not isinstance(member, RReliefF))
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    columns = np.random.default_rng(1).permutation(6)
    names = y if isinstance(member, RReliefF) else np.where(y, "a", "b")
    how = dict(n_resamples=8, method=method, random_state=2, select=2)
    one = stability(member, X, y, n_jobs=1, **how)
    two = stability(member, X[:, columns], names, n_jobs=2, **how)
    assert (one.weights[:, columns] == two.weights).all()
    assert (one.shares[columns] == two.shares).all()
    assert (one.standard_errors[columns] == two.standard_errors).all()


def test_data_frames_and_the_estimator_are_left_as_they_are():
    X, y = example()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(X[:, 0] > 0.3, "u", None))
    relief = ReliefF(verbose=0)
    found = stability(relief, frame, y, n_resamples=4, random_state=0)
    assert {row.feature for row in found} == set("abcdefg") and not hasattr(relief, "weights_") and relief.verbose == 0


def test_a_random_state_is_drawn_from_once():
    X, y = example()
    one, two = (stability(ReliefF(), X, y, n_resamples=4, random_state=np.random.RandomState(5)) for _ in range(2))
    assert (one.weights == two.weights).all()
    assert (
        stability(ReliefF(), X, y, n_resamples=4).weights != stability(ReliefF(), X, y, n_resamples=4).weights
    ).any()


def test_the_table_of_a_result():
    X, y = example()
    found = stability(ReliefF(), X, y, n_resamples=10, random_state=0, select=2)
    frame = found.to_pandas()
    assert list(frame) == ["feature", "weight", "standard_error", "rank", "rank_low", "rank_high", "share"]
    assert list(frame["feature"]) == [row.feature for row in found] == list(found.to_polars()["feature"])
    assert sorted(found.stable(0.8)) == ["x1", "x4"] and len(found) == 6 and found[0].share == 1
    text = repr(found)
    assert "among the best 2, in 10 halves of the rows; ranks: 90% intervals" in text and "100%" in text
    assert "<td>100%</td>" in found._repr_html_()
    wide = stability(ReliefF(), np.random.default_rng(0).random((20, 30)), y[:20], n_resamples=2, method="bootstrap")
    assert "… 10 more" in repr(wide) and "10 more" in wide._repr_html_() and "bootstrap samples" in repr(wide)


def test_progress_is_reported_once_per_resample(capsys):
    X, y = example()
    stability(ReliefF(verbose=1), X, y, n_resamples=3)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["ReliefF: subsamples: 100%", "ReliefF: 100%"]  # the resamples, then all rows


# ----------------------------------------------------------------------------------------------------- select="stability"


@pytest.mark.parametrize(
    "rule, parts",
    [
        ("stability>0.8", (None, 0.8, False)),
        ("Stability >= .9", (None, 0.9, True)),
        ("stability(10)>0.3", (10, 0.3, False)),
        ("stability (2) >=1", (2, 1.0, True)),
        (">0.8", None),
        ("gap", None),
        (3, None),
    ],
)
def test_how_a_rule_of_stability_is_read(rule, parts):
    assert stability_rule(rule) == parts


@pytest.mark.parametrize("rule", ["stability>0.5", "stability>1.1", "stability(2)>0", "stability>0"])
def test_a_share_must_be_one_that_means_something(rule):
    with pytest.raises(ValueError, match="stability is compared with a share of the resamples"):
        ReliefF(select=rule).fit(*example())


@pytest.mark.parametrize("rule", ["stability", "stability>", "stability<0.8", "stability(x)>0.8", "stability>0.8.1"])
def test_other_words_are_no_rule(rule):
    with pytest.raises(ValueError, match="select must be None, a number of features"):
        ReliefF(select=rule).fit(*example())


def test_more_places_than_features_are_refused():
    with pytest.raises(ValueError, match="between 1 and the 6 of X"):
        ReliefF(select="stability(7)>0.8").fit(*example())


def test_an_estimator_selects_what_stability_says():
    X, y = example()
    relief = ReliefF(select="stability>0.8", random_state=3).fit(X, y)
    found = stability(ReliefF(), X, y, select=places_of_a_resample(6, 0.8), random_state=3)
    assert (relief.stability_ == found.shares).all()
    assert relief.support_.tolist() == (found.shares > 0.8).tolist() == [False, True, False, False, True, False]
    assert (relief.weights_ == ReliefF().fit(X, y).weights_).all()
    assert relief.transform(X).shape == (80, 2)
    assert not hasattr(ReliefF().fit(X, y), "stability_")


def test_exactly_a_share_is_selected_by_or_equal_only():
    shares = np.array([0.55, 0.5])
    keeps = lambda rule: select_features(rule, shares, 10, shares=shares).tolist()  # noqa: E731
    assert keeps("stability(1)>=0.55") == [True, False] and keeps("stability(1)>0.55") == [False, False]
    with pytest.raises(ValueError, match="needs an estimator that can be fitted on resamples"):
        select_features("stability>0.8", shares, 10)


# ----------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"n_resamples": 1}, "n_resamples must be an integer of at least 2"),
        ({"n_resamples": 2.5}, "n_resamples must be an integer of at least 2"),
        ({"method": "jackknife"}, "method must be one of 'subsample', 'bootstrap'"),
        ({"level": 1}, "level must be a number between 0 and 1"),
        ({"select": "stability>0.8"}, "cannot be asked of each resample"),
        ({"select": "p<0.05"}, "cannot be asked of each resample"),
        ({"select": 7}, "got 7 features where X has 6"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        stability(ReliefF(), *example(), **arguments)


def test_what_cannot_be_resampled():
    X, y = example()
    with pytest.raises(TypeError, match="must be a member of the Relief family"):
        stability(ReliefF, X, y)
    with pytest.raises(ValueError, match="drawn twice"):
        stability(ReliefF(ties="first"), X, y, method="bootstrap")
    with pytest.raises(ValueError, match=r"at least 2 rows in at least two classes.* the largest have \[79, 1\]"):
        stability(ReliefF(), X, np.arange(80) == 0)
    with pytest.raises(ValueError, match="at least 4 rows"):
        stability(RReliefF(), X[:3], np.arange(3.0))
    stability(ReliefF(ties="first"), X, y, n_resamples=2)


def test_a_class_of_one_row_may_be_missing_in_a_half():
    rng = np.random.default_rng(0)
    X, y = rng.random((24, 3)), np.array([0] * 12 + [1] * 11 + [2])
    X[:, 1] = y + rng.random(24) / 4
    found = stability(IRelief(misses="each class"), X, y, select=1, n_resamples=6, random_state=0)
    assert found.shares.tolist() == [0, 1, 0]


@pytest.mark.parametrize("asked", [{"p_values": "permutation"}, {"redundancy": True}])
def test_what_would_be_dropped_is_refused(asked):
    with pytest.raises(ValueError, match=f"{next(iter(asked))}=.* was given to the estimator inside stability, which"):
        stability(ReliefF(**asked), *example())
