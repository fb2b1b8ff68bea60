"""Joint relevance against plain loops and worked examples, alternation, the domains, laws, pictures, bad input."""

import io
import math
from itertools import combinations, permutations
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearhit import ReliefF, RReliefF, interactions
from nearhit.demo import FILE
from nearhit.joint_relevance import JointRelevance, bins_of, choose_bins, measure_groups
from nearhit.neighbourhoods import find_neighbours
from nearhit.partner_graph import Graph, shortened, to_svg
from nearhit.partners import _rows, has_fractions
from nearhit.table import make_target

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]]


def target_of(y):
    return make_target(np.asarray(y), np.ones(len(y), np.int64))


def value_of(cells, y, group=(0, 1)):
    return float(measure_groups(np.asarray(cells), target_of(y), [group], 1, 0).values[0])


# -------------------------------------------------------------------------------------------------------- worked examples


def test_an_exclusive_or_is_one_bit_beyond_nothing():
    # I(A;Y) = I(B;Y) = 0, I(AB;Y) = H(Y) = 1
    assert value_of(XOR, [0, 1, 1, 0]) == 1.0


def test_an_or_is_a_fifth_of_a_bit():
    # H(Y) = H(3/4) = 0.811; I(AB;Y) = H(Y); I(A;Y) = H(Y) - 1/2 * H(1/2) = 0.311; 0.811 - 2 * 0.311 = 0.189
    h = -0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)
    assert value_of(XOR, [0, 1, 1, 1]) == pytest.approx(h - 2 * (h - 0.5), abs=1e-12)


def test_copies_say_less_together_than_the_sum():
    # I(AA;Y) - 2 I(A;Y) = -I(A;Y) = -1
    assert value_of([[0, 0], [1, 1], [0, 0], [1, 1]], [0, 1, 0, 1]) == -1.0


def test_a_parity_of_three_is_one_bit_of_all_three_and_none_of_two():
    cells = np.array(list(np.ndindex(2, 2, 2)))
    y = cells.sum(axis=1) % 2
    assert value_of(cells, y, (0, 1, 2)) == 1.0
    assert [value_of(cells, y, pair) for pair in combinations(range(3), 2)] == [0, 0, 0]


def test_numbers_that_are_a_product_are_all_variance_of_the_pair():
    # y = +1, -1, -1, +1: means of A and of B are 0, means of the cells are all of y
    assert value_of(XOR, [1.0, -1.0, -1.0, 1.0]) == pytest.approx(1, abs=1e-9)
    # y = A + B: A and B explain one half each, together no more than the sum
    assert value_of(XOR, [0.0, 1.0, 1.0, 2.0]) == pytest.approx(0, abs=1e-9)


# ------------------------------------------------------------------------------------------------------- the plain formula


def plain_information(columns, y):
    """I(columns; y) in bits, cell by cell."""
    n, total = len(y), 0.0
    keys = [tuple(row) for row in columns]
    for key in set(keys):
        for c in set(y):
            both = sum(k == key and v == c for k, v in zip(keys, y, strict=True)) / n
            if both:
                total += both * math.log2(both / (keys.count(key) / n) / (list(y).count(c) / n))
    return total


def plain_explained(columns, y):
    """The share of the variance of y between the cells."""
    keys, mean = [tuple(row) for row in columns], np.mean(y)
    between = sum(
        keys.count(key) * (np.mean([v for k, v in zip(keys, y, strict=True) if k == key]) - mean) ** 2
        for key in set(keys)
    )
    return between / ((y - mean) ** 2).sum()


def plain_value(cells, y, group, tells):
    cells = np.asarray(cells)
    known = (cells[:, list(group)] >= 0).all(axis=1)
    cells, y = cells[known], np.asarray(y)[known]
    if not len(y):
        return 0.0
    return sum(
        (-1) ** (len(group) - size) * tells(cells[:, list(part)], y)
        for size in range(1, len(group) + 1)
        for part in combinations(group, size)
    )


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 6), st.integers(2, 4), st.sampled_from([2, 3]))
def test_bits_equal_the_plain_formula(seed, n, n_values, n_classes, order):
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, n_values, (n, 4))
    cells[rng.random(cells.shape) < 0.15] = -1
    y = np.unique(np.append([0, 1], rng.integers(0, n_classes, n - 2)), return_inverse=True)[1]
    groups = list(combinations(range(4), order))
    found = measure_groups(cells, target_of(y), groups, 1, 0).values
    assert found == pytest.approx([plain_value(cells, y, group, plain_information) for group in groups], abs=1e-10)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(3, 40), st.integers(1, 6), st.sampled_from([2, 3]))
def test_shares_of_variance_equal_the_plain_formula(seed, n, n_values, order):
    rng = np.random.default_rng(seed)
    cells, y = rng.integers(0, n_values, (n, 4)), rng.normal(5, 2, n)
    groups = list(combinations(range(4), order))
    found = measure_groups(cells, target_of(y), groups, 1, 0).values
    assert found == pytest.approx([plain_value(cells, y, group, plain_explained) for group in groups], abs=1e-8)


def test_the_variance_of_known_rows_is_a_share_of_all_of_it():
    """Where rows are left out the denominator stays the variance of all rows, so that permutations share it."""
    rng = np.random.default_rng(1)
    cells, y = rng.integers(0, 2, (50, 2)), rng.normal(0, 1, 50)
    cells[:10, 0] = -1
    expected = plain_value(cells, y, (0, 1), plain_explained) * y[10:].var() / y.var()
    # the plain formula centres on the known rows; the sums of subsets here are around the mean of all, which cancels
    assert value_of(cells, y) == pytest.approx(expected, abs=1e-8)


def test_p_values_count_the_permutations_in_which_any_group_does_as_well():
    rng = np.random.default_rng(2)
    cells = rng.integers(0, 3, (60, 4))
    y = ((cells[:, 0] + cells[:, 1]) % 2 ^ (rng.random(60) < 0.3)).astype(np.int32)
    groups = list(combinations(range(4), 2))
    found = measure_groups(cells, target_of(y), groups, 30, seed=9)
    orders = [np.arange(60)] + [np.random.default_rng([9, b]).permutation(60) for b in range(1, 31)]
    values = np.array([[plain_value(cells, y[o], group, plain_information) for o in orders] for group in groups])
    z = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    best = z.max(axis=0)
    expected = [np.mean(best >= z[i, 0] - 1e-9) for i in range(6)]
    assert found.p_values == pytest.approx(expected)
    assert found.by_chance == pytest.approx(values.mean(axis=1))
    assert found.deviations == pytest.approx(z[:, 0], abs=1e-7)
    assert found.p_values.min() >= 1 / 31 and len(set(found.p_values)) > 2


def test_p_values_hold_their_level_under_the_null():
    """300 tables without any signal: the least p-value of six pairs is at or below 0.1 in a tenth of them."""
    below = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        cells = np.column_stack([rng.integers(0, 2 + j, 40) for j in range(4)])
        y = rng.permutation(np.arange(40) % 2)
        below += measure_groups(cells, target_of(y), list(combinations(range(4), 2)), 19, seed).p_values.min() <= 0.1
    assert 30 - 3 * 5.2 <= below <= 30 + 3 * 5.2  # the standard deviation of the number is 5.2


# -------------------------------------------------------------------------------------------------------------- alternation


def plain_alternation(X, y, recipe_of, a, b):
    """4 cov_hits - 4 cov_misses, pair by pair, for two classes and binary columns."""
    reader = recipe_of
    recipe, table, _ = reader._prepare(X, y, None)
    hits, misses = [], []
    for found in find_neighbours(table, recipe):
        for i, group, j, w in zip(found.target, found.group, found.row, found.weight, strict=True):
            line = (w, abs(X[i, a] - X[j, a]), abs(X[i, b] - X[j, b]))
            (hits if group == table.targets[0].codes[i] else misses).append(line)

    def covariance(lines):
        w, d, e = np.array(lines).T
        w = w / w.sum()
        return w @ (d * e) - (w @ d) * (w @ e)

    return 4 * covariance(hits) - 4 * covariance(misses)


def test_alternation_equals_the_plain_loop():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (50, 5))
    y = X[:, 0] ^ X[:, 1]
    found = interactions(X, y, estimator=ReliefF(4), n_permutations=1)
    for row in found:
        a, b = (int(name[1:]) for name in row.features)
        assert row.alternation == pytest.approx(plain_alternation(X, y, ReliefF(4), a, b), abs=1e-9)


def test_the_alternation_of_a_triple_is_the_least_of_its_pairs():
    X, y = parity(100, 3, 0, extra=2)
    pairs = as_dict(interactions(X, y, n_permutations=1))
    for row in interactions(X, y, order=3, n_permutations=1):
        assert row.alternation == min(pairs[frozenset(pair)][-1] for pair in combinations(row.features, 2))


def test_rows_come_by_p_value_then_by_what_is_beyond_chance():
    joint = JointRelevance(
        values=np.array([0.5, 0.3, 0.4]),
        by_chance=np.array([0.1, 0.1, 0.3]),
        deviations=np.zeros(3),
        p_values=np.array([0.2, 0.1, 0.1]),
    )
    rows = _rows([(0, 1), (0, 2), (1, 2)], ["a", "b", "c"], joint, np.zeros((3, 3)))
    assert [row.features for row in rows] == [("a", "c"), ("b", "c"), ("a", "b")]


def test_alternation_of_an_exclusive_or_without_noise():
    """All 16 rows of four bits twice, y = A xor B, one neighbour: near misses differ in A or in B alone, hits in nothing."""
    X = np.array(list(np.ndindex(2, 2, 2, 2))).repeat(2, axis=0)
    found = interactions(X, X[:, 0] ^ X[:, 1], estimator=ReliefF(1), n_permutations=9, random_state=0)
    assert found[0].features == ("x0", "x1") and found[0].interaction == 1.0
    assert found[0].alternation == pytest.approx(1.0)  # 4 * 0 - 4 * (0 - 1/2 * 1/2)
    assert all(abs(row.alternation) < 1e-9 for row in found.rows[1:])


# ------------------------------------------------------------------------------------------------------------- the domains


def parity(n, size, seed, extra=10, noise=0.05):
    """PAR2, PAR3, PAR4 of SPEC.md section 9."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, size + extra))
    y = X[:, :size].sum(axis=1) % 2
    wrong = rng.choice(n, round(noise * n), replace=False)
    y[wrong] = 1 - y[wrong]
    return X, y


def epistasis(n, a, partners, maf, heritability, seed):
    """Genotypes of which some decide the risk together; no smaller set of them tells anything, at any allele frequency.

    risk = 1/2 + e * product of u, with u = 1 for the heterozygous and a negative number for the others such that E u = 0.
    """
    rng = np.random.default_rng(seed)
    frequency = rng.uniform(0.1, 0.5, a)
    frequency[list(partners)] = maf
    X = rng.binomial(2, frequency, (n, a))
    share = 2 * maf * (1 - maf)
    u = np.where(X[:, list(partners)] == 1, 1, -share / (1 - share)).prod(axis=1)
    e = math.sqrt(heritability / 4) / (share / (1 - share)) ** (len(partners) / 2)
    return X, (rng.random(n) < 0.5 + e * u).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size, n", [(2, 200), (3, 200), (4, 400)])
def test_the_partners_of_a_parity_are_named(size, n, seed):
    X, y = parity(n, size, seed)
    found = interactions(X, y, n_permutations=39, random_state=seed)
    true = set(combinations([f"x{j}" for j in range(size)], 2))
    assert {row.features for row in found.by_alternation().rows[: len(true)]} == true
    if size == 2:
        assert found[0].features == ("x0", "x1") and found[0].p_value == 1 / 40
    if size == 3:
        assert min(row.p_value for row in found) > 1 / 40  # no pair tells anything
        triple = interactions(X, y, order=3, n_permutations=39, n_features=8, random_state=seed)[0]
        assert triple.features == ("x0", "x1", "x2") and triple.p_value == 1 / 40


@pytest.mark.parametrize("seed", range(2))
def test_the_partners_of_two_way_epistasis_are_named(seed):
    X, y = epistasis(500, 60, (3, 41), 0.3, 0.2, seed)
    found = interactions(X, y, categorical_features=list(range(60)), n_permutations=39, random_state=0)
    assert found[0].features == ("x3", "x41") and found[0].p_value == 1 / 40
    assert found.by_alternation()[0].features == ("x3", "x41")


@pytest.mark.parametrize("seed", range(2))
def test_the_partners_of_three_way_epistasis_are_named(seed):
    X, y = epistasis(800, 20, (3, 7, 11), 0.4, 0.4, seed)
    how = dict(categorical_features=list(range(20)), random_state=0, n_features=10)
    found = interactions(X, y, order=3, n_permutations=39, **how)
    assert found[0].features == ("x3", "x7", "x11") and found[0].p_value == 1 / 40
    pairs = interactions(X, y, n_permutations=1, **how).by_alternation()
    assert {row.features for row in pairs.rows[:3]} == set(combinations(("x3", "x7", "x11"), 2))


def test_the_demo_data_set_and_strings():
    frame = pd.read_csv(FILE, dtype=str)
    found = interactions(frame.drop(columns="status"), frame["status"], n_permutations=39, random_state=0)
    assert found[0].features == ("snp17", "snp41") and found[0].p_value == 1 / 40 and found.unit == "bits"


@pytest.mark.parametrize("seed", range(2))
def test_a_numeric_parity_and_numbers_in_bins(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((300, 8))
    odd = (X[:, 2] > 0.5) ^ (X[:, 5] > 0.5)
    y = np.where(odd, 0.5, 0.0) + rng.random(300) / 2
    found = interactions(X, y, n_permutations=39, random_state=0)
    assert found[0].features == ("x2", "x5") and found[0].p_value == 1 / 40
    assert (found.unit, found.target_kind) == ("share of variance", "numeric")
    assert 0.5 < found[0].interaction < 0.9  # the parity is 3/4 of the variance
    assert found.by_alternation()[0].features == ("x2", "x5")


# ---------------------------------------------------------------------------------------------------------------------- laws


def mixed(seed=0, n=120):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.random(n).round(2),
            "word": rng.choice(["red", "green", "blue"], n),
            "flag": rng.random(n) < 0.5,
            "count": rng.integers(0, 3, n),
            "noise": rng.normal(0, 1, n),
        }
    )
    y = (frame["number"] > 0.5).to_numpy() ^ (frame["word"] == "red").to_numpy()
    frame.loc[rng.random(n) < 0.1, "number"] = np.nan
    frame.loc[rng.random(n) < 0.1, "word"] = None
    return frame, np.where(y, "yes", "no")


def as_dict(found):
    return {frozenset(row.features): row[1:] for row in found}


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("numeric", [False, True])
def test_names_columns_and_threads_change_no_bit(order, numeric):
    X, y = mixed()
    if numeric:
        y = (y == "yes") + 0.25 * X["noise"]
    how = dict(order=order, n_permutations=20, random_state=4)
    one = interactions(X, y, n_jobs=1, **how)
    renamed = X.assign(word=X["word"].map({"red": "c", "green": "a", "blue": "b"}), flag=~X["flag"])
    moved = interactions(
        renamed.iloc[:, [4, 2, 0, 1, 3]], y if numeric else np.where(y == "yes", 0, 1), n_jobs=2, **how
    )
    assert as_dict(one) == as_dict(moved)


@pytest.mark.parametrize("numeric", [False, True])
def test_the_order_of_rows_changes_no_bit_of_what_is_not_drawn(numeric):
    X, y = mixed()
    if numeric:
        y = (y == "yes") + 0.25 * X["noise"].to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    how = dict(n_permutations=5, random_state=0)
    one, two = interactions(X, y, **how), interactions(X.iloc[order], y[order], **how)
    assert {k: (v[0], v[3]) for k, v in as_dict(one).items()} == {k: (v[0], v[3]) for k, v in as_dict(two).items()}
    assert one.weights == two.weights


def test_little_memory_changes_nothing(monkeypatch):
    X, y = mixed()
    how = dict(n_permutations=20, random_state=4)
    expected = interactions(X, y, **how)
    monkeypatch.setattr("nearhit.joint_relevance.BYTES_OF_TARGETS", 4 * 8 * 120)  # four permutations at a time
    monkeypatch.setattr("nearhit.joint_relevance.BYTES_AT_A_TIME", 3 * 8 * 120)
    monkeypatch.setattr("nearhit.joint_relevance.GROUPS_OF_A_TASK", 3)
    assert interactions(X, y, **how).rows == expected.rows


def test_features_can_be_named_in_any_order():
    X, y = mixed()
    how = dict(n_permutations=5, random_state=0)
    found = interactions(X, y, features=["word", "number", 3, -1], **how)
    assert {name for row in found for name in row.features} == {"word", "number", "count", "noise"}
    for features in permutations(["word", "number", "noise"]):
        (first, *_) = interactions(X, y, features=features, **how)
        assert first.features == ("number", "word")
    assert list(found.weights) == sorted(found.weights, key=lambda name: -found.weights[name])


def test_the_estimator_says_who_the_neighbours_are_and_stays_as_it_is():
    X, y = mixed()
    member = ReliefF(3, n_jobs=1)
    one = interactions(X, y, estimator=member, n_permutations=1, random_state=0)
    assert not hasattr(member, "weights_")
    assert one.weights == dict(sorted(zip(X, ReliefF(3).fit(X, y).weights_.tolist(), strict=True), key=lambda p: -p[1]))
    assert one.rows != interactions(X, y, n_permutations=1, random_state=0).rows
    assert one.rows == interactions(X, y, estimator=member, n_permutations=1, n_jobs=2, random_state=0).rows
    whole = interactions(X, np.arange(120) % 7, estimator=RReliefF(), n_permutations=1)
    assert (
        whole.target_kind == "numeric"
        and interactions(X, np.arange(120) % 7, n_permutations=1).target_kind == "classes"
    )


def test_columns_that_cannot_tell_anything():
    X, y = mixed()
    X = X.assign(constant=1.0)
    row = next(row for row in interactions(X, y, n_permutations=9) if set(row.features) == {"constant", "word"})
    assert row[1:] == (0, 0, 1, 0)
    X = X.assign(constant=np.nan)
    with pytest.warns(UserWarning, match="has no known value"):
        rows = interactions(X, y, n_permutations=9).rows
    assert all(row[1:4] == (0, 0, 1) for row in rows if "constant" in row.features)


# ---------------------------------------------------------------------------------------------------------------------- bins


def test_bins_hold_equally_many_and_equal_values_share_one():
    assert bins_of(np.arange(8.0), 4).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert np.bincount(bins_of(np.random.default_rng(0).random(1001), 2)).tolist() == [501, 500]
    assert bins_of(np.array([5.0] * 6 + [6, 7, 8, 9]), 2).tolist() == [0] * 6 + [1] * 4
    assert bins_of(np.array([3.0, 1, 2, 2]), 2).tolist() == [2, 0, 1, 1]  # few values are kept
    assert len(set(bins_of(np.r_[np.zeros(90), 1:11], 4).tolist())) == 2


def test_the_number_of_bins_grows_with_the_rows():
    assert choose_bins(319, target_of([0, 1])) == 2 and choose_bins(320, target_of([0, 1])) == 4
    assert choose_bins(159, target_of([0.5, 1])) == 2 and choose_bins(160, target_of([0.5, 1])) == 4


def test_n_bins_is_taken():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = (X * 3).astype(int).sum(axis=1) % 3
    three, two = (interactions(X, y, n_bins=n, n_permutations=1)[0].interaction for n in (3, 2))
    assert three > 0.8 and two < three / 2


@pytest.mark.parametrize(
    "y, fractions",
    [
        ([0.5, 1], True),
        ([1.0, 2.0], False),
        ([1, 2], False),
        (["a", "b"], False),
        ([True, False], False),
        (np.array([0.5, 1], object), True),
        (np.array(["a", 1.5], object), False),
        (pd.Series([1.25, 2]), True),
    ],
)
def test_what_is_taken_for_numbers(y, fractions):
    assert has_fractions(y) is fractions


# --------------------------------------------------------------------------------------------------------- tables, pictures


@pytest.fixture(scope="module")
def found():
    X, y = parity(200, 2, 0, extra=4)
    names = ["first & <best>", "second", *"cdef"]
    return interactions(pd.DataFrame(X, columns=names), y, n_permutations=39, random_state=0)


def test_tables_of_partners(found):
    frame = found.to_pandas()
    assert list(frame) == ["feature_1", "feature_2", "interaction", "by_chance", "p_value", "alternation"]
    assert tuple(frame.loc[0, ["feature_1", "feature_2"]]) == found[0].features and len(frame) == len(found) == 15
    assert found.to_polars()["p_value"].to_list() == [row.p_value for row in found]
    text = repr(found)
    assert "in bits; p: as good for any of 15 in 39 permutations" in text
    assert "first & <best> × second" in text and "≤0.025" in text and "… 5 more" in text
    html = found._repr_html_()
    assert "first &amp; &lt;best&gt; × second" in html and "<svg" in html and "5 more" in html


def test_the_graph_joins_partners(found):
    graph = found.graph()
    (edge,) = graph.edges
    assert {graph.nodes[edge.first].name, graph.nodes[edge.second].name} == {"first & <best>", "second"}
    assert edge.width == 1 and max(node.size for node in graph.nodes) == graph.nodes[0].size == 1
    assert all(node.x**2 + node.y**2 == pytest.approx(1) for node in graph.nodes)
    assert len(found.graph(3).edges) == 3 and not found.graph(0).edges


def test_the_graph_of_triples_and_of_nothing():
    graph = Graph.of({"a": 0.4, "b": 0.1, "c": -0.1}, [(("c", "a", "b"), 0.5), (("a", "b", "c"), 0.2)])
    assert [(edge.first, edge.second, edge.width) for edge in graph.edges] == [(0, 1, 1), (0, 2, 1), (1, 2, 1)]
    assert [node.size for node in graph.nodes] == [1, 0.5, 0]  # areas as 0.4 to 0.1
    assert [edge.width for edge in Graph.of({"a": 0.0, "b": 0.0}, [(("a", "b"), -0.1)]).edges] == [0]
    assert to_svg(Graph((), ())).endswith("</svg>")


def test_svg_is_well_formed_and_the_same_each_time(found):
    text = found.to_svg()
    root = ElementTree.fromstring(text)
    tags = [child.tag.rpartition("}")[2] for child in root]
    assert tags.count("circle") == tags.count("text") == 6 and tags.count("line") == 1
    assert text == found.to_svg() and "first &amp; &lt;best&gt;" in text
    assert shortened("x" * 30) == "x" * 11 + "…" + "x" * 12


def test_the_plot_draws_the_same_graph(found):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert found.plot(ax=ax) is ax
    assert len(ax.lines) == 1 and len(ax.collections) == 6 and len(ax.texts) == 6
    ax.figure.savefig(io.BytesIO(), format="png")
    from matplotlib import pyplot

    assert found.plot(2).lines
    pyplot.close("all")


# ------------------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"order": 4}, "order must be 2 for pairs or 3 for triples"),
        ({"order": True}, "order must be 2"),
        ({"n_features": 1}, "n_features must be an integer of at least 2"),
        ({"n_bins": 1}, "n_bins must be an integer of at least 2"),
        ({"n_permutations": 0}, "n_permutations must be an integer of at least 1"),
        ({"features": "word"}, "features must be a list of names"),
        ({"features": ["word", "price"]}, "features names 'price', which is no column of X"),
        ({"features": ["word", 9]}, "the position 9, but X has 5 columns"),
        ({"features": ["word"]}, "interactions of 2 features need 2 different ones; got 1"),
        ({"features": ["word", "word"]}, "need 2 different ones; got 1"),
        ({"n_features": 2, "order": 3}, "interactions of 3 features need 3 different ones; got 2"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"estimator": ReliefF(p_values="stir")}, "p_values='stir' was given to the estimator inside interactions"),
        ({"estimator": ReliefF(redundancy=True)}, "redundancy=True was given to the estimator inside interactions"),
        ({"estimator": ReliefF(), "categorical_features": ["count"]}, "which has its own; set it there"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        interactions(*mixed(), **arguments)


def test_other_bad_input(found):
    with pytest.raises(TypeError, match="must be a member of the Relief family"):
        interactions(*mixed(), estimator=ReliefF)
    with pytest.raises(ValueError, match="make 166,650 groups of 3, more than 100,000"):
        interactions(np.random.default_rng(0).random((20, 120)), np.arange(20) % 2, n_features=101, order=3)
    with pytest.raises(ValueError, match="n_edges must be None or an integer"):
        found.to_svg(-1)


def test_whole_numbers_that_are_labels_are_names():
    X = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 4)), columns=[2010, 2011, 1, 0])
    y = X[2010] ^ X[2011]
    (row,) = interactions(X, y, features=[2010, 2011], n_permutations=9, random_state=0)
    assert row.features == ("2010", "2011")
    (row,) = interactions(X, y, features=[0, 2010], n_permutations=9, random_state=0)
    assert row.features == ("2010", "0")
    (row,) = interactions(X.set_axis(list("abcd"), axis=1), y, features=[0, 3], n_permutations=9, random_state=0)
    assert row.features == ("a", "d")
