"""Worked examples and closed forms of SPEC.md section 3, with the arithmetic visible."""

import math

import numpy as np
import pandas as pd
import pytest

from nearhit import Relief, ReliefF, RReliefF

EXACT = dict(rel=0, abs=1e-9)


def nominal(*columns):
    return np.array(columns, dtype=str).T


# ------------------------------------------------------------------------------------------- published numbers


def test_the_worked_example_of_the_textbook():
    """k = 1, squared diffs, no ranges: sums (22, 14) over 4 rows; a threshold of 5 keeps F1 and drops F2."""
    X = [[3, 4], [2, 5], [6, 7], [5, 6]]
    relief = Relief(scale=None, select=">5").fit(X, ["C1", "C1", "C2", "C2"])
    assert (relief.weights_ * 4).tolist() == [22, 14]
    assert relief.get_support().tolist() == [True, False]


def test_exclusive_or_of_table_1_in_1997():
    rows = ["001", "000", "110", "110", "011", "010", "101", "100"]
    X = np.array([list(row) for row in rows])
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    for estimator in (Relief(), ReliefF(1), ReliefF(1, misses="any class")):
        assert estimator.fit(X, y).weights_ == pytest.approx([0.5, 0.5, -0.75], rel=0, abs=1e-12)


def test_iris_as_published(oracle_table):
    X, y, _ = oracle_table("iris.csv")
    assert ReliefF().fit(X, y).weights_.round(4).tolist() == [0.1399, 0.1226, 0.3590, 0.3754]
    assert ReliefF(ties="first").fit(X, y).weights_.round(4).tolist() == [0.1399, 0.1225, 0.3590, 0.3755]


def test_iris_as_float32_is_iris_whatever_stands_beside_it(oracle_table):
    """A constant column takes no part; in float64 with it, 0.1 as float32 would be no decimal and break the ties."""
    X, y, _ = oracle_table("iris.csv")
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcd")).assign(constant=1.5)
    assert frame.dtypes.astype(str).tolist() == ["float32"] * 4 + ["float64"]
    assert ReliefF().fit(frame, y).weights_.tolist() == [*ReliefF().fit(X, y).weights_, 0.0]


# ------------------------------------------------------------------------------------------------ closed forms


def class_tables(X, y):
    """P(C), and P(V | C) of each column."""
    classes, counts = np.unique(y, return_counts=True)
    shares = [np.array([[np.mean(x[y == c] == v) for v in np.unique(x)] for c in classes]) for x in X.T]
    return counts, counts / counts.sum(), shares


def random_nominal(seed, n=60, equal=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 if equal else (rng.random(n) ** 2 * 3).astype(int)
    X = np.stack([rng.integers(0, 2 + j, n) * (rng.random(n) < 0.6) + (y == j) for j in range(4)], axis=1)
    return X.astype(str), y


@pytest.mark.parametrize("seed", range(3))
def test_all_neighbours_have_a_closed_form(seed):
    X, y = random_nominal(seed)
    n, p, shares = class_tables(X, y)
    expected = []
    for q in shares:
        apart = 1 - q @ q.T  # D(C, C') = 1 - sum_V P(V|C) P(V|C')
        hits = (p * n / (n - 1) * np.diag(apart)).sum()
        misses = sum(p[c] * p[d] / (1 - p[c]) * apart[c, d] for c in range(len(p)) for d in range(len(p)) if c != d)
        expected.append(misses - hits)
    assert ReliefF("all").fit(X, y).weights_ == pytest.approx(expected, rel=0, abs=1e-9)


def test_all_neighbours_of_equal_classes_give_the_gini_form():
    """Equations (4) and (5) of 1994, once the factor n_C / (n_C - 1) of leaving oneself out is removed."""
    X, y = random_nominal(5, equal=True)
    n, p, shares = class_tables(X, y)
    same_class = (p**2).sum()
    for weight, q in zip(ReliefF("all").fit(X, y).weights_, shares, strict=True):
        value = p @ q
        equal_value = (value**2).sum()
        class_given_value = (p[:, None] * q / value) ** 2
        gini = (value**2 / equal_value * class_given_value.sum(axis=0)).sum() - same_class
        hits_apart = (p * (1 - (q**2).sum(axis=1))).sum()
        without_factor = weight + (p * n / (n - 1) * (1 - (q**2).sum(axis=1))).sum() - hits_apart
        assert without_factor == pytest.approx(equal_value * gini / (same_class * (1 - same_class)), abs=1e-9)


def test_weights_lie_between_minus_one_and_one():
    y = np.array([0, 1] * 20)
    perfect = ReliefF(3).fit(nominal(y, ["same"] * 40), y).weights_
    assert perfect == pytest.approx([1, 0], rel=0, abs=1e-12)
    assert perfect.max() <= 1
    # Twin rows of opposite class: the nearest miss agrees in the noise, all hits differ in it.
    paired = nominal(np.arange(40) // 2)
    assert ReliefF(1).fit(paired, y).weights_[0] == -1


# ----------------------------------------------------------------------------------- members and their weights

LINE = np.array([[0.0], [1.0], [3.0], [6.0], [10.0]])  # range 10


def test_k_hits_and_misses_by_hand():
    """Classes a a b b b at 0 1 3 6 10, k = 2. The hits of a class of two are the one other row."""
    y = list("aabbb")
    hits = [1, 1, (3 + 7) / 2, (3 + 4) / 2, (4 + 7) / 2]
    misses = [(3 + 6) / 2, (2 + 5) / 2, (2 + 3) / 2, (5 + 6) / 2, (9 + 10) / 2]
    fitted = ReliefF(2).fit(LINE, y)
    assert fitted.weights_ == pytest.approx([(sum(misses) - sum(hits)) / 5 / 10], **EXACT)
    assert fitted.n_neighbors_used_ == 1


def test_a_class_of_one_row_has_no_hits_but_misses():
    """a at 0, b at 1, b at 3; k = 1: hits 2 and 2 (none for a); misses 1, 1, 3."""
    fitted = ReliefF(1).fit(LINE[:3], list("abb"))
    assert fitted.weights_ == pytest.approx([((1 + 1 + 3) - (2 + 2)) / 3 / 3], **EXACT)
    assert fitted.n_neighbors_used_ == 0


def test_priors_of_three_classes():
    """a a at 0 1, b at 3, c c at 6 10; k = 1. Misses weigh P(C) / (1 - P(own class)), or P(C) as printed in 1994."""
    y = list("aabcc")
    P = {"a": 0.4, "b": 0.2, "c": 0.4}
    hits = (1 + 1 + 0 + 4 + 4) / 5
    nearest = {0: dict(b=3, c=6), 1: dict(b=2, c=5), 2: dict(a=2, c=3), 3: dict(a=5, b=3), 4: dict(a=9, b=7)}
    others = sum(P[c] / (1 - P[y[i]]) * d for i, miss in nearest.items() for c, d in miss.items()) / 5
    printed = sum(P[c] * d for i, miss in nearest.items() for c, d in miss.items()) / 5
    any_class = (3 + 2 + 2 + 3 + 7) / 5
    for misses, expected in (("each class", others), ("as printed", printed), ("any class", any_class)):
        assert ReliefF(1, misses=misses).fit(LINE, y).weights_ == pytest.approx([(expected - hits) / 10], **EXACT)


def test_contextual_merit_is_the_nearest_misses_by_inverse_square():
    """a a b b b at 0 1 3 6 10, k = 2: misses of 0 at 3 and 6 weigh 1/9 and 1/36, normalised; and so on."""
    pairs = [(3, 6), (2, 5), (2, 3), (5, 6), (9, 10)]
    expected = sum((1 / u + 1 / v) / (1 / u**2 + 1 / v**2) for u, v in pairs) / 5 / 10
    fitted = ReliefF(2, misses="only", weights="squared distance").fit(LINE, list("aabbb"))
    assert fitted.weights_ == pytest.approx([expected], **EXACT)


def test_contextual_merit_of_three_classes():
    """a a at 0 1, b at 3, c c at 6 10; k = 2. Hits are left out, and misses of all other classes stand in one line: from 0
    the nearest two are b at 3 and c at 6. They weigh 1/9 and 1/36, that is 4/5 and 1/5 of both.
    """
    nearest = [(3, 6), (2, 5), (2, 3), (3, 5), (7, 9)]  # distances to the two nearest misses of 0, 1, 3, 6 and 10
    shares = [  # 1/u^2 and 1/v^2 over their sum: v^2 and u^2 over u^2 + v^2
        (36 / 45, 9 / 45),
        (25 / 29, 4 / 29),
        (9 / 13, 4 / 13),
        (25 / 34, 9 / 34),
        (81 / 130, 49 / 130),
    ]
    mean_diffs = [w * u / 10 + x * v / 10 for (u, v), (w, x) in zip(nearest, shares, strict=True)]
    fitted = ReliefF(2, misses="only", weights="squared distance").fit(LINE, list("aabcc"))
    assert fitted.weights_ == pytest.approx([sum(mean_diffs) / 5], **EXACT)
    # not 1, which it is where the nearest of each class count: there is only one b
    assert fitted.n_neighbors_used_ == 2


@pytest.mark.parametrize("power, weights", [(1, "distance"), (2, "squared distance")])
def test_distance_weights(power, weights):
    pairs = [(3, 6), (2, 5), (2, 3), (5, 6), (9, 10)]
    expected = sum((u ** (1 - power) + v ** (1 - power)) / (u**-power + v**-power) for u, v in pairs) / 5 / 10
    fitted = ReliefF(2, misses="only", weights=weights).fit(LINE, list("aabbb"))
    assert fitted.weights_ == pytest.approx([expected], **EXACT)


def test_rank_weights_count_ranks_from_zero():
    w0, w1 = 1.0, math.exp(-((1 / 2) ** 2))
    pairs = [(3, 6), (2, 5), (2, 3), (5, 6), (9, 10)]
    expected = sum((w0 * u + w1 * v) / (w0 + w1) for u, v in pairs) / 5 / 10
    fitted = ReliefF(2, misses="only", weights="rank", sigma=2).fit(LINE, list("aabbb"))
    assert fitted.weights_ == pytest.approx([expected], **EXACT)


def test_tied_rows_share_the_places_that_are_left():
    """From 0: misses at 1, 1, 2 away with k = 1 share one place; with k = 2 both are in; rank weights are averaged."""
    X = np.array([[5.0, 5.0], [6.0, 5.0], [5.0, 6.0], [5.0, 7.0], [0.0, 0.0], [10.0, 10.0]])
    y = list("abbbaa")
    only = dict(misses="only", scale="range")
    one = ReliefF(1, n_targets=None, **only).fit(X, y, sample_weight=None)
    # row by row, misses only, distances in tenths: diffs (d0, d1) of the nearest, ties shared
    nearest = {0: [(1, 0), (0, 1)], 1: [(1, 0)], 2: [(0, 1)], 3: [(0, 2)], 4: [(6, 5), (5, 6)], 5: [(5, 3)]}
    expected = np.mean([np.mean(rows, axis=0) for rows in nearest.values()], axis=0) / 10
    assert one.weights_ == pytest.approx(expected, **EXACT)
    first = ReliefF(1, ties="first", **only).fit(X, y)
    nearest |= {0: [(1, 0)], 4: [(6, 5)]}
    assert first.weights_ == pytest.approx(
        np.mean([np.mean(r, axis=0) for r in nearest.values()], axis=0) / 10, **EXACT
    )


def test_one_class_against_the_rest_is_the_prior_weighted_mean():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 4)), rng.choice(list("aabbbc"), 50)
    shares = {c: np.mean(y == c) for c in "abc"}
    expected = sum(shares[c] * Relief().fit(X, y == c).weights_ for c in "abc")
    assert Relief().fit(X, y).weights_ == pytest.approx(expected, **EXACT)


def test_rrelieff_by_hand():
    """Rows 0 1 3 with targets 0 2 1 (range 2), k = 1, equal weights: neighbours 1, 0, 1."""
    d_target, d_feature = [1, 1, 0.5], [1 / 3, 1 / 3, 2 / 3]
    n_dc, n_da = sum(d_target), sum(d_feature)
    n_dcda = sum(t * a for t, a in zip(d_target, d_feature, strict=True))
    expected = n_dcda / n_dc - (n_da - n_dcda) / (3 - n_dc)
    fitted = RReliefF(1, weights="equal").fit(LINE[:3], [0, 2, 1])
    assert fitted.weights_ == pytest.approx([expected], **EXACT)
    assert fitted.n_neighbors_used_ == 1


def test_a_target_that_never_differs_nearby_leaves_one_term_out():
    """Two pairs of twins: every nearest row has the same target, so N_dC = 0 and only the other term is left."""
    X = nominal([0, 0, 1, 1], [0, 1, 0, 1])
    with pytest.warns(UserWarning, match="N_dC = 0"):
        fitted = RReliefF(1, weights="equal").fit(X[:, :1], [0.0, 0.0, 1.0, 1.0])
    assert fitted.weights_.tolist() == [0.0]
    with pytest.warns(UserWarning, match="m - N_dC = 0"):
        always = RReliefF(1, weights="equal").fit([[0.0], [1.0], [5.0], [6.0]], [0.0, 1.0, 1.0, 0.0])
    assert always.weights_ == pytest.approx([1 / 6], **EXACT)


# ----------------------------------------------------------------------------------------------- diff and metric


def test_squares_ramp_and_common_scale():
    """Two rows, two classes, one miss each: the weight is the diff itself. Range 10 from two more far rows of both."""
    X = np.array([[0.0], [0.7], [10.0], [10.0]])
    y = list("abab")

    def miss(**how):  # rows 0 and 1 differ by 0.7, rows 2 and 3 by nothing
        return ReliefF(1, misses="only", **how).fit(X, y).weights_[0]

    assert miss() == pytest.approx(0.07 / 2, **EXACT)
    assert miss(diff="squared") == pytest.approx(0.07**2 / 2, **EXACT)
    assert miss(diff="ramp") == pytest.approx((0.07 - 0.04) / 0.06 / 2, **EXACT)
    assert miss(diff="ramp", ramp=(0.0, 0.05)) == pytest.approx(1 / 2, **EXACT)
    assert miss(diff="ramp", ramp=(0.08, 0.1)) == 0
    assert miss(scale=None) == pytest.approx(0.7 / 2, abs=1e-8)
    assert miss(scale=None, diff="squared") == pytest.approx(0.49 / 2, abs=1e-8)


def test_the_euclidean_metric_changes_the_neighbour_and_not_the_diff():
    """From the origin: Manhattan prefers (0.5, 0) to (0.3, 0.3); Euclid the other way round."""
    X = np.array([[0, 0], [0.5, 0], [0.3, 0.3], [1, 1], [1, 0.9]])
    y = list("abbaa")
    manhattan = ReliefF(1, misses="only", n_targets=None).fit(X, y).weights_
    euclid = ReliefF(1, misses="only", metric="euclidean").fit(X, y).weights_
    # nearest misses of rows 0..4, both metrics: only row 0 changes
    rows = np.array([[0.5, 0], [0.5, 0], [0.3, 0.3], [0.7, 0.7], [0.7, 0.6]])
    assert manhattan == pytest.approx(rows.mean(axis=0), **EXACT)
    rows[0] = [0.3, 0.3]
    assert euclid == pytest.approx(rows.mean(axis=0), **EXACT)


# --------------------------------------------------------------------------------------------------- unknown values


def test_rules_for_an_unknown_category():
    """Class a: ? ? u u v; class b: v v w w. k = all, so every pair counts, and hits and misses have different holes."""
    X = np.array([[None], [None], ["u"], ["u"], ["v"], ["v"], ["v"], ["w"], ["w"]], object)
    y = list("aaaaabbbb")
    P_a = {"u": 2 / 3, "v": 1 / 3, "w": 0.0}
    values, n_values = [row[0] for row in X], 3

    def diff(i, j, rule):
        if values[i] is not None and values[j] is not None:
            return float(values[i] != values[j])
        if rule == "uniform":
            return 1 - 1 / n_values
        if values[i] is None and values[j] is None:
            return 1 - sum(p * p for p in P_a.values())
        return 1 - P_a[values[j] or values[i]]

    def mean(rule, pairs):
        if rule == "skip":  # K94 section 3, C: one mean over all known pairs, hits and misses apart
            pairs, rule = [(i, j) for i, j in pairs if values[i] is not None and values[j] is not None], "uniform"
        group = [y.count(y[j]) - (y[i] == y[j]) for i, j in pairs]  # a neighbour weighs 1 / (rows of its group)
        return np.average([diff(i, j, rule) for i, j in pairs], weights=1 / np.array(group))

    pairs = [(i, j) for i in range(9) for j in range(9) if i != j]
    for rule in ("expected", "uniform", "skip"):
        hits = mean(rule, [(i, j) for i, j in pairs if y[i] == y[j]])
        misses = mean(rule, [(i, j) for i, j in pairs if y[i] != y[j]])
        assert ReliefF("all", missing=rule).fit(X, y).weights_ == pytest.approx([misses - hits], **EXACT)


def test_two_unknown_categories():
    """1 - sum_V P(V | class of one) P(V | class of the other)."""
    X = np.array([[None], ["u"], ["v"], [None], ["v"], ["v"]], object)
    y = list("aaabbb")
    P = {"a": {"u": 0.5, "v": 0.5}, "b": {"u": 0.0, "v": 1.0}}
    values = [row[0] for row in X]

    def diff(i, j):
        x, v = values[i], values[j]
        if x is not None and v is not None:
            return float(x != v)
        if x is None and v is None:
            return 1 - sum(P[y[i]][w] * P[y[j]][w] for w in "uv")
        return 1 - P[y[j]][x] if v is None else 1 - P[y[i]][v]

    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    hits = np.mean([diff(i, j) for i, j in pairs if y[i] == y[j]])
    misses = np.mean([diff(i, j) for i, j in pairs if y[i] != y[j]])
    assert ReliefF("all").fit(X, y).weights_ == pytest.approx([misses - hits], **EXACT)


def test_rules_for_an_unknown_number():
    """E|x - V| over the known values of the unknown row's class; 1/3 of the range by rule B."""
    X = np.array([[np.nan], [0.0], [4.0], [10.0], [6.0], [np.nan]])
    y = list("aaabbb")
    known = {"a": [0.0, 4.0], "b": [10.0, 6.0]}

    def expected_diff(i, j):
        xs = [X[i, 0]] if X[i, 0] == X[i, 0] else known[y[i]]
        vs = [X[j, 0]] if X[j, 0] == X[j, 0] else known[y[j]]
        return np.mean([abs(x - v) for x in xs for v in vs]) / 10

    def uniform_diff(i, j):
        return 1 / 3 if np.isnan(X[[i, j]]).any() else abs(X[i, 0] - X[j, 0]) / 10

    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    for missing, diff in (("expected", expected_diff), ("uniform", uniform_diff)):
        hits = np.mean([diff(i, j) for i, j in pairs if y[i] == y[j]])
        misses = np.mean([diff(i, j) for i, j in pairs if y[i] != y[j]])
        assert ReliefF("all", missing=missing).fit(X, y).weights_ == pytest.approx([misses - hits], **EXACT)


@pytest.mark.parametrize("diff, expected", [("linear", 1 / 3), ("squared", 1 / 6), ("ramp", None)])
def test_two_uniform_values_are_expected_to_differ(diff, expected):
    """One unknown cell among two rows of each class: its pairs show the constant of rule B."""
    if expected is None:  # the mean of the ramp over the density 2 (1 - t), by brute force
        t = (np.arange(2_000_000) + 0.5) / 2_000_000
        expected = np.mean(np.clip((t - 0.04) / 0.06, 0, 1) * 2 * (1 - t))
    X = np.array([[0.0], [np.nan], [0.0], [1.0]])
    # targets 0 and 1 are of class a; the misses of the unknown row all differ by the constant c:
    # misses: row 0: (0 + 1)/2, row 1: c, row 2: (0 + c)/2, row 3: (1 + c)/2;  hits are left out
    fitted = ReliefF("all", misses="only", missing="uniform", diff=diff).fit(X, list("aabb"))
    assert fitted.weights_[0] * 4 == pytest.approx(0.5 + expected + expected / 2 + (1 + expected) / 2, abs=1e-8)


def test_a_class_without_a_known_value_falls_back_to_the_whole_table():
    X = np.array([[np.nan], [np.nan], [0.0], [1.0]])
    # class a knows nothing: its values are taken from {0, 1}, so every pair with one of its rows differs by 1/2
    fitted = ReliefF("all", misses="only").fit(X, list("aabb"))
    assert fitted.weights_ == pytest.approx([0.5], **EXACT)


def test_a_column_without_a_known_value_scores_zero_and_says_so():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0], [np.nan, 4.0]])
    with pytest.warns(UserWarning, match="column 'x0' has no known value; its score is 0"):
        assert ReliefF(1).fit(X, list("aabb")).weights_[0] == 0


def test_an_unknown_number_without_classes_is_conditioned_on_nothing():
    X = np.array([[0.0], [1.0], [np.nan], [0.4]])
    tau = np.array([0.0, 1.0, 0.5, 0.2])
    known = [0.0, 1.0, 0.4]
    value = {i: [X[i, 0]] if i != 2 else known for i in range(4)}
    diff = {(i, j): np.mean([abs(a - b) for a in value[i] for b in value[j]]) for i in range(4) for j in range(4)}
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    n_dc = sum(abs(tau[i] - tau[j]) for i, j in pairs) / 3
    n_da = sum(diff[p] for p in pairs) / 3
    n_dcda = sum(abs(tau[i] - tau[j]) * diff[i, j] for i, j in pairs) / 3
    fitted = RReliefF("all", weights="equal").fit(X, tau)
    assert fitted.weights_ == pytest.approx([n_dcda / n_dc - (n_da - n_dcda) / (4 - n_dc)], **EXACT)


def test_the_letters_agree_where_nothing_is_unknown():
    rng = np.random.default_rng(4)
    X, y = rng.random((40, 5)), rng.integers(0, 2, 40)
    letters = [
        ReliefF(5, misses="any class", missing=rule).fit(X, y).weights_ for rule in ("uniform", "skip", "expected")
    ]
    assert letters[0].tolist() == letters[1].tolist() == letters[2].tolist()
    assert ReliefF(5).fit(X, y).weights_ == pytest.approx(letters[0], abs=1e-12)


def test_rule_c_agrees_with_the_others_on_complete_data_whatever_the_weights_add_up_to():
    """As printed the misses weigh less than 1 together, and a class of one row has no hits; C must not rescale that."""
    rng = np.random.default_rng(6)
    X, y = rng.random((40, 4)), np.array([0] * 20 + [1] * 12 + [2] * 7 + [3])
    for misses in ("each class", "as printed", "any class", "only"):
        by_rule = [ReliefF(4, misses=misses, missing=rule).fit(X, y).weights_ for rule in ("skip", "expected")]
        assert by_rule[0] == pytest.approx(by_rule[1], rel=0, abs=1e-12)


def test_equal_weights_share_the_better_rank():
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (60, 3))
    relief = ReliefF().fit(np.hstack([X, X[:, :1]]), X[:, 0])
    assert relief.ranking_[[0, 3]].tolist() == [1, 1]
    assert sorted(relief.ranking_[[1, 2]]) == [3, 4]
