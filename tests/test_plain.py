"""The exact integers against the formulas in plain floats, on tie-free data: within 1e-9."""

import itertools

import numpy as np
import pytest

from nearhit import ReliefF, RReliefF


def plain_diffs(X, nominal, diff):
    span = np.where(nominal, 1, np.ptp(X, axis=0))
    d = np.abs(X[:, None] - X[None]) / span
    d = np.where(nominal, d > 0, d)
    if diff == "squared":
        return d**2
    return np.where(nominal, d, np.clip((d - 0.04) / 0.06, 0, 1)) if diff == "ramp" else d


def plain_weights(distances, weights, sigma):
    w = {
        "equal": np.ones(len(distances)),
        "rank": np.exp(-((np.arange(len(distances)) / sigma) ** 2)),
        "distance": 1 / distances,
        "squared distance": 1 / distances**2,
    }[weights]
    return w / w.sum()


def plain_relieff(X, y, nominal, k, metric, diff, weights, sigma=20):
    d = plain_diffs(X, nominal, diff)
    distance = d.sum(axis=2) if metric == "manhattan" else np.sqrt((d**2).sum(axis=2))
    W = np.zeros(X.shape[1])
    P = {c: np.mean(y == c) for c in np.unique(y)}
    for i, c in itertools.product(range(len(X)), P):
        members = np.flatnonzero((y == c) & (np.arange(len(X)) != i))
        near = members[np.argsort(distance[i, members])][:k]
        mean = plain_weights(distance[i, near], weights, sigma) @ d[i, near]
        W += -mean if c == y[i] else P[c] / (1 - P[y[i]]) * mean
    return W / len(X)


def plain_rrelieff(X, tau, nominal, k, metric, diff, weights, sigma=20):
    d = plain_diffs(X, nominal, diff)
    distance = d.sum(axis=2) if metric == "manhattan" else np.sqrt((d**2).sum(axis=2))
    dt = plain_diffs(tau[:, None], np.array([False]), diff)[:, :, 0]
    n_dc, n_da, n_dcda = 0.0, 0.0, 0.0
    for i in range(len(X)):
        members = np.flatnonzero(np.arange(len(X)) != i)
        near = members[np.argsort(distance[i, members])][:k]
        w = plain_weights(distance[i, near], weights, sigma)
        n_dc += w @ dt[i, near]
        n_da += w @ d[i, near]
        n_dcda += (w * dt[i, near]) @ d[i, near]
    return n_dcda / n_dc - (n_da - n_dcda) / (len(X) - n_dc)


def tie_free(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((60, 7)) * rng.choice([1e-6, 1, 1e6], 7) + rng.normal(0, 5, 7)
    nominal = np.arange(7) >= 5
    X[:, nominal] = rng.integers(0, 3, (60, 2))
    return X, (rng.random(60) ** 2 * 3).astype(int), nominal, rng.normal(0, 1, 60)


EVERYTHING = list(
    itertools.product(
        (1, 10, 50),
        ("manhattan", "euclidean"),
        ("linear", "squared"),
        ("equal", "rank", "distance", "squared distance"),
    )
)


@pytest.mark.parametrize("k, metric, diff, weights", EVERYTHING)
def test_relieff_and_rrelieff_equal_the_plain_formula(k, metric, diff, weights):
    X, y, nominal, tau = tie_free(k)
    how = dict(metric=metric, diff=diff, weights=weights)
    # 1/D of a root of fourth powers magnifies the grid where D is small.
    steep = metric == "euclidean" and diff == "squared" and "distance" in weights
    tolerance = dict(rel=0, abs=1e-7 if steep else 1e-9)
    exact = ReliefF(k, categorical_features=nominal, **how).fit(X, y).weights_
    assert exact == pytest.approx(plain_relieff(X, y, nominal, k, **how), **tolerance)
    exact = RReliefF(k, categorical_features=nominal, **how).fit(X, tau).weights_
    assert exact == pytest.approx(plain_rrelieff(X, tau, nominal, k, **how), **tolerance)


@pytest.mark.parametrize("outlier", [1e7, 1e8, 1e9])
def test_euclidean_distances_see_small_diffs_beside_an_outlier(outlier):
    """A sentinel makes the other diffs of a column tiny; their squares still decide who is near."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.append(rng.normal(40_000, 9_000, 99), outlier), rng.integers(0, 2, (100, 3))])
    y = (X[:, 0] > 40_000) ^ (X[:, 1] == 1)
    nominal = np.array([False, True, True, True])
    exact = ReliefF(10, metric="euclidean", categorical_features=nominal).fit(X, y.astype(int)).weights_
    plain = plain_relieff(X, y.astype(int), nominal, 10, "euclidean", "linear", "equal")
    assert exact[1:] == pytest.approx(plain[1:], rel=0, abs=1e-9)


@pytest.mark.parametrize("weights", ["equal", "rank"])
def test_the_ramp_equals_the_plain_formula_where_it_makes_no_ties(weights):
    X, y, nominal, tau = tie_free(3)
    X[:, :5] = np.random.default_rng(3).random((60, 5)) ** 8  # most values within the ramp, all different
    how = dict(metric="manhattan", diff="ramp", weights=weights)
    everyone = ReliefF("all", categorical_features=nominal, diff="ramp").fit(X, y).weights_
    assert everyone == pytest.approx(plain_relieff(X, y, nominal, 60, "manhattan", "ramp", "equal"), rel=0, abs=1e-9)
    assert RReliefF(59, categorical_features=nominal, **how | {"weights": "equal"}).fit(
        X, tau
    ).weights_ == pytest.approx(plain_rrelieff(X, tau, nominal, 59, "manhattan", "ramp", "equal"), rel=0, abs=1e-9)


@pytest.mark.parametrize("factor", [1, 100, 1e4])
def test_the_ramp_on_a_common_scale_takes_categories_as_they_are(factor):
    """A ramp is a share of the common range and needs no unit: a mismatch stays 1 whatever the unit of the numbers."""
    X, y, nominal, _ = tie_free(5)
    X[:, :5] = np.random.default_rng(5).random((60, 5)) ** 8 * factor
    d = np.abs(X[:, None] - X[None]) / max(np.ptp(X[:, :5], axis=0).max(), 1)  # not under the 1 of a mismatch
    d = np.where(nominal, d > 0, np.clip((d - 0.04) / 0.06, 0, 1))
    P = {c: np.mean(y == c) for c in np.unique(y)}
    W = np.zeros(7)
    for i, c in itertools.product(range(60), P):
        members = np.flatnonzero((y == c) & (np.arange(60) != i))
        W += d[i, members].mean(axis=0) * (-1 if c == y[i] else P[c] / (1 - P[y[i]]))
    exact = ReliefF("all", diff="ramp", scale=None, categorical_features=nominal).fit(X, y).weights_
    assert exact == pytest.approx(W / 60, rel=0, abs=1e-9)
