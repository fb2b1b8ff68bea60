"""Each rule of `select=` on weights chosen for it."""

import numpy as np
import pytest

from nearhit import ReliefF
from nearhit.selection import chebyshev_threshold, select_features

WEIGHTS = np.array([0.5, -0.1, 0.45, 0.02, 0.05, 0.45])


@pytest.mark.parametrize(
    "rule, kept",
    [
        (None, [0, 1, 2, 3, 4, 5]),
        (1, [0]),
        (2, [0, 2]),  # of equals the earlier column
        (6, [0, 1, 2, 3, 4, 5]),
        (0.5, [0, 2, 5]),
        (0.01, [0]),
        (1.0, [0, 1, 2, 3, 4, 5]),
        ("gap", [0, 2, 5]),
        (">0.02", [0, 2, 4, 5]),
        ("> -0.5", [0, 1, 2, 3, 4, 5]),
        (">4.5e-1", [0]),
        ("chebyshev(0.05)", [0, 2, 5]),  # 1 / sqrt(0.05 * 500) = 0.2
        (lambda w: w > 0.48, [0]),
        (lambda w: np.argsort(w)[:2], [1, 3]),
        (lambda w: [], []),
    ],
    ids=range(15),
)
def test_what_a_rule_keeps(rule, kept):
    assert np.flatnonzero(select_features(rule, WEIGHTS, 500)).tolist() == kept


def test_a_single_or_constant_ranking_has_no_gap():
    assert select_features("gap", np.array([0.3]), 10).tolist() == [True]
    assert select_features("gap", np.array([0.3, 0.3]), 10).tolist() == [True, True]


def test_chebyshev_says_when_it_can_select_nothing():
    assert chebyshev_threshold(0.05, 500) == pytest.approx(0.2)
    with pytest.warns(UserWarning, match="nothing is selected"):
        assert not select_features("chebyshev(0.01)", WEIGHTS, 50).any()


def test_a_function_must_return_a_mask_or_positions():
    for wrong in (lambda w: w, lambda w: [99], lambda w: np.ones(3, bool)):
        with pytest.raises(ValueError, match="must return a mask of 6 booleans or positions"):
            select_features(wrong, WEIGHTS, 10)


def test_the_chebyshev_threshold_counts_the_sampled_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3))
    y = X[:, 0]
    assert ReliefF(select="chebyshev(0.05)").fit(X, y).support_.tolist() == [True, False, False]
    with pytest.warns(UserWarning, match="nothing is selected"):
        ReliefF(select="chebyshev(0.05)", n_targets=10, random_state=0).fit(X, y)
