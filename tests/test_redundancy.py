"""Twins: the sums over pairs against plain loops, exact correlations, groups, and what find_redundancy refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from generated import Data, class_recipes, data, numeric_recipes, radius_recipes, usable
from hypothesis import assume, given, settings

from nearhit import Redundancy, Relief, ReliefF, RReliefF, find_redundancy, recipes
from nearhit.neighbourhoods import Pairs
from nearhit.pair_moments import PRODUCTS_OF_A_SUM, ExactSums, correlations, covariances, sum_pairs
from nearhit.redundancy import group_twins
from nearhit.sweep import hit_group
from nearhit.table import Classes

pytestmark = pytest.mark.filterwarnings("ignore:column .* has no known value")
ONE = 2.0**84


def plain_sums(table, recipe, features):
    """Pair by pair, in floats: G = sum of w * d d' over hits and over misses, d with a 1 in front."""
    pairs, units = Pairs(table, recipe), table.units()
    target = table.targets[0]
    unit = 1 if recipe.diff.kind == "ramp" else table.unit ** (2 if recipe.diff.kind == "squared" else 1)
    hits, misses = np.zeros((2, len(features) + 1, len(features) + 1))
    for found in pairs.neighbours():
        for i, group, j, w in zip(found.target, found.group, found.row, found.weight, strict=True):
            d = np.append(1, pairs.diffs([i], [j])[0, features] / unit)
            outer = w * units[i] / units.max() * np.outer(d, d)
            if not isinstance(target, Classes):
                apart = abs(int(target.codes[i]) - int(target.codes[j])) / 2**31
                kind, equal, different = recipe.diff.kind, recipe.diff.equal, recipe.diff.different
                dt = apart**2 if kind == "squared" else apart
                dt = np.clip((apart - equal) / (different - equal), 0, 1) if kind == "ramp" else dt
                hits += outer * (1 - dt)
                misses += outer * dt
            elif group == hit_group(recipe, target.codes[i]):
                hits += outer * recipe.hits
            else:
                own, others = target.codes[i], set(found.group[(found.target == i)])
                share = target.weight / target.weight.sum()
                factor = {
                    "prior over others": share[group % len(share)] / (1 - share[own]),
                    "prior as printed": share[group % len(share)],
                    "equal": 1,
                }[recipe.miss]
                if recipe.radius:
                    factor = share[group] / sum(share[g] for g in others if g != own)
                misses += outer * factor
    return hits, misses


@settings(max_examples=40)
@given(data(rows=[2, 5, 9, 17]), class_recipes())
def test_sums_over_pairs_of_classes_equal_the_plain_loop(made, recipe):
    compare_with_plain(made, recipe)


@settings(max_examples=25)
@given(data(rows=[2, 5, 9, 17], weights=[None]), radius_recipes())
def test_sums_over_pairs_in_a_radius_equal_the_plain_loop(made, recipe):
    compare_with_plain(made, recipe)


@settings(max_examples=25)
@given(data(classes=False, rows=[2, 5, 9, 17]), numeric_recipes())
def test_sums_over_pairs_of_numbers_equal_the_plain_loop(made, recipe):
    compare_with_plain(made, recipe)


def compare_with_plain(made, recipe):
    table, recipe = made.table(), recipe.of_near_rows()
    assume(usable(recipe, table))
    features = np.arange(table.n_features)[::-1][:4]
    found = sum_pairs(table, recipe, features)
    for exact, plain in zip(found, plain_sums(table, recipe, features), strict=True):
        np.testing.assert_allclose(exact.astype(float) / ONE, plain, rtol=0, atol=1e-8)


def test_sums_do_not_depend_on_order_or_on_how_they_are_cut():
    rng = np.random.default_rng(0)
    weight, diffs = rng.random(3000), rng.random((3000, 3))

    def added(order, size):
        sums = ExactSums(4)
        for i in range(0, 3000, size):
            sums.add(weight[order[i : i + size]], diffs[order[i : i + size]])
        return sums.result()

    expected = added(np.arange(3000), 2048)
    assert (added(rng.permutation(3000), 7) == expected).all()  # more products than a sum holds, too
    assert PRODUCTS_OF_A_SUM < 3000 / 7
    lines = np.column_stack([np.ones(3000), diffs])
    np.testing.assert_allclose(expected.astype(float) / ONE, (lines * weight[:, None]).T @ lines, rtol=1e-10)


def test_two_million_lines_fit():
    """1,100 products of 2**53 in each of the halves: beyond 64 bits if they were not carried over in between."""
    sums, lines = ExactSums(2), np.ones((2048, 1))
    for _ in range(1100):
        sums.add(lines[:, 0], lines)
    assert (sums.result() == 1100 * 2048 * 2**84).all()


def test_correlations_and_covariances_are_those_of_numpy():
    rng = np.random.default_rng(1)
    weight, diffs = rng.random(500), rng.random((500, 4))
    diffs[:, 2] = 0.25  # never differs more or less
    diffs[:, 3] = diffs[:, 0]
    sums = ExactSums(5)
    sums.add(weight, diffs)
    expected = np.cov(diffs.T, aweights=weight, ddof=0)
    np.testing.assert_allclose(covariances(sums.result()), expected, atol=1e-10)
    found = correlations(sums.result())
    assert found[0, 1] == pytest.approx(expected[0, 1] / np.sqrt(expected[0, 0] * expected[1, 1]))
    assert found[0, 3] == 1 and (found[2] == 0).all() and (found == found.T).all()
    assert (covariances(ExactSums(3).result()) == 0).all() and (correlations(ExactSums(3).result()) == 0).all()


def test_groups_are_of_twins_of_the_best_and_not_chains():
    #            0-1 and 1-2 are alike, 0-2 are not; 3-4 are alike
    alike = np.eye(5)
    alike[0, 1] = alike[1, 0] = alike[1, 2] = alike[2, 1] = 0.96
    alike[3, 4] = alike[4, 3] = 0.95
    assert list(group_twins(alike, 0.95)) == [(0, [1]), (3, [4])]
    assert list(group_twins(alike, 0.96)) == [(0, [1])]
    assert list(group_twins(alike, 0.97)) == []


def test_hits_and_misses_count_together_and_the_least_similar_twin_is_told():
    rng = np.random.default_rng(7)
    X = rng.random((80, 5))
    X[:, 1], X[:, 2] = X[:, 0] + rng.normal(0, 0.01, 80), X[:, 0] + rng.normal(0, 0.05, 80)
    y = (X[:, 3] > 0.5).astype(int)
    found = find_redundancy(ReliefF(5), X, y, threshold=0.6)
    table = Data(X, np.zeros((80, 0), int), None, y, None).table()
    place = [found.features.index(f"x{j}") for j in range(5)]
    (hits, misses) = plain_sums(table, replace(recipes.RELIEFF, k=5), np.arange(5))
    moments = hits + misses
    mean = moments[0, 1:] / moments[0, 0]
    covariance = moments[1:, 1:] / moments[0, 0] - np.outer(mean, mean)
    expected = covariance / np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    np.testing.assert_allclose(found.correlations[np.ix_(place, place)], expected, atol=1e-9)
    (group,) = found
    head, rest = int(group.representative[1:]), [int(twin[1:]) for twin in group.twins]
    assert {head, *rest} == {0, 1, 2} and group.correlation == pytest.approx(expected[head, rest].min())


def with_copies(seed=0, n=200):
    """y = x0 xor x1; c0: copy, r0: reversed and stretched, n1: other names; s2: nearly x2; z: nothing in common."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, 6))
    frame = pd.DataFrame({f"x{j}": bits[:, j] for j in range(6)})
    frame["c0"], frame["r0"] = bits[:, 0], 5 - 3.0 * bits[:, 0]
    frame["n1"] = np.where(bits[:, 1], "yes", "no")
    frame["s2"] = np.where(rng.random(n) < 0.1, 1 - bits[:, 2], bits[:, 2])
    return frame, bits[:, 0] ^ bits[:, 1]


def test_copies_reversed_rescaled_and_renamed_columns_are_twins():
    X, y = with_copies()
    found = find_redundancy(ReliefF(), X, y, threshold=1.0)
    assert {frozenset((group.representative, *group.twins)) for group in found} == {
        frozenset(("x0", "c0", "r0")),
        frozenset(("x1", "n1")),
    }
    assert all(group.correlation == 1 for group in found)
    assert not {"x2", "s2"} & set(find_redundancy(ReliefF(), X, y).redundant)


def test_the_representative_has_the_largest_weight():
    rng = np.random.default_rng(3)
    X = rng.random((300, 5))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    X[:, 2] = X[:, 0] + rng.normal(0, 0.02, 300)
    relief = ReliefF(redundancy=0.9).fit(X, y)
    (group,) = relief.redundancy_
    assert (group.representative, group.twins) == ("x0", ("x2",))
    assert relief.weights_[0] > relief.weights_[2]
    assert 0.9 <= group.correlation < 1


@pytest.mark.parametrize("member", [ReliefF(5), Relief(), RReliefF(10)], ids=["ReliefF", "Relief", "RReliefF"])
def test_rows_and_columns_in_any_order_and_any_threads_give_the_same_bits(member):
    rng = np.random.default_rng(4)
    X = rng.random((90, 6)).round(1)
    X[:, 4] = X[:, 1]
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 2, 90) if not isinstance(member, RReliefF) else rng.random(90)
    rows, columns = rng.permutation(90), rng.permutation(6)
    names = np.array(list("abcdef"))
    one = find_redundancy(member.set_params(n_jobs=1), pd.DataFrame(X, columns=names), y)
    moved = pd.DataFrame(X, columns=names).iloc[rows, columns]
    two = find_redundancy(member.set_params(n_jobs=2), moved, y[rows])
    place = [two.features.index(name) for name in one.features]
    assert (two.correlations[np.ix_(place, place)] == one.correlations).all()
    assert one.features == two.features  # weights differ here, so the order by weight is one


def test_copies_of_rows_are_row_weights():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 3, (60, 5)).astype(float), rng.integers(0, 2, 60)
    X[:, 3] = X[:, 0]
    copies = rng.integers(0, 4, 60)
    table = Data(X, np.zeros((60, 0), int), None, y, copies.astype(float)).table()
    repeated = Data(X.repeat(copies, 0), np.zeros((copies.sum(), 0), int), None, y.repeat(copies), None).table()
    recipe = replace(recipes.RELIEFF, k=4)
    weighted, copied = (sum_pairs(t, recipe, np.arange(5)) for t in (table, repeated))
    for a, b in zip(weighted, copied, strict=True):  # on the scale of the heaviest row; the roots are rounded
        np.testing.assert_allclose(a.astype(float) * copies.max(), b.astype(float), rtol=1e-10)


def test_an_estimator_keeps_redundancy_only_if_asked_and_the_function_finds_the_same():
    X, y = with_copies()
    plain = ReliefF().fit(X, y)
    assert not hasattr(plain, "redundancy_")
    asked = ReliefF(redundancy=True).fit(X, y)
    assert (asked.weights_ == plain.weights_).all()
    for estimator in (ReliefF(), plain):
        found = find_redundancy(estimator, X, y)
        assert found.groups == asked.redundancy_.groups
        assert (found.correlations == asked.redundancy_.correlations).all()
    assert not hasattr(asked.set_params(redundancy=False).fit(X, y), "redundancy_")


def test_only_the_best_are_compared():
    X, y = with_copies()
    found = find_redundancy(ReliefF(), X, y, n_features=2)
    assert len(found.features) == 2 and found.correlations.shape == (2, 2)
    assert found.features == tuple(ReliefF().fit(X, y).top(2))


def test_columns_that_never_differ_are_nobodys_twins():
    rng = np.random.default_rng(6)
    X = np.column_stack([rng.random((50, 2)), np.ones((50, 2))])
    assert not len(find_redundancy(ReliefF(), X, X[:, 0] > 0.5))


def test_tables_of_twins():
    X, y = with_copies()
    found = find_redundancy(ReliefF(), X, y)
    frame = found.to_pandas()
    assert list(frame.columns) == ["representative", "twin", "correlation"]
    assert tuple(frame["twin"]) == found.redundant == tuple(found.to_polars()["twin"])
    assert (frame["correlation"] == 1).all()
    assert "c0" in repr(found) and "<td>" in found._repr_html_()
    none = Redundancy((), 0.95, ("a", "b"), np.eye(2))
    assert "no twins among 2 features" in repr(none) and "no twins" in none._repr_html_()
    many = Redundancy(found.groups * 30, 0.95, found.features, found.correlations)
    assert f"… {30 * len(found) - 20} more" in repr(many) and "more" in many._repr_html_()
    assert found[0] == next(iter(found))


@pytest.mark.parametrize("threshold", [0, 1.5, -1, "high", float("nan"), None])
def test_a_threshold_must_be_a_correlation(threshold):
    X, y = with_copies()
    with pytest.raises(ValueError, match="threshold must be a correlation in"):
        find_redundancy(ReliefF(), X, y, threshold=threshold)
    with pytest.raises(ValueError, match="redundancy must be True, False or a correlation in"):
        ReliefF(redundancy=threshold).fit(X, y)


def test_other_bad_input():
    X, y = with_copies()
    with pytest.raises(TypeError, match="must be a member of the Relief family"):
        find_redundancy("ReliefF", X, y)
    with pytest.raises(ValueError, match="n_features must be an integer of at least 2"):
        find_redundancy(ReliefF(), X, y, n_features=1)
    with pytest.raises(ValueError, match="X has 10 features, but ReliefF was fitted on 3"):
        find_redundancy(ReliefF().fit(X.iloc[:, :3], y), X, y)
