"""SURF and its kin as estimators: the recipe behind each, both kinds of target, the peers' numbers, the laws."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from generated import Data, weights_of
from sklearn.base import clone

import nearhit
from nearhit import MultiSURF, MultiSURFStar, MultiSWRFStar, ReliefF, SURFStar, SWRFStar, TuRF, recipes
from nearhit.fitting import Options, fit_recipe
from nearhit.kernels.native import NativeKernel, instruction_sets

FAMILY = {
    "SURF": recipes.SURF,
    "SURFStar": recipes.SURF_STAR,
    "MultiSURF": recipes.MULTISURF,
    "MultiSURFStar": recipes.MULTISURF_STAR,
    "SWRFStar": recipes.SWRF_STAR,
    "MultiSWRFStar": recipes.MULTI_SWRF_STAR,
}
each_member = pytest.mark.parametrize("name", FAMILY)


def member(name, **choices):
    return getattr(nearhit, name)(**choices)


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    X = rng.random((90, 6)).round(2)
    codes = rng.integers(0, 3, (90, 2))
    y = rng.integers(0, 3, 90)
    return X, codes, y


@each_member
def test_each_class_is_its_recipe(name, table):
    X, codes, y = table
    frame = pd.DataFrame(X).assign(a=pd.Categorical(codes[:, 0]), b=pd.Categorical(codes[:, 1]))
    found = member(name).fit(frame.rename(columns=str), y)
    made = Data(X, codes, None, y, None).table()
    np.testing.assert_array_equal(found.weights_, weights_of(FAMILY[name], made, NativeKernel(instruction_sets()[0])))
    assert found.target_kind_ == "classes" and found.classes_.tolist() == [0, 1, 2]


@each_member
def test_a_pair_of_numbers_is_a_hit_within_one_deviation(name):
    """y = x0 x1: the two columns stand out, and what y was taken for is said."""
    rng = np.random.default_rng(5)
    X = rng.random((300, 6)) - 0.5
    found = member(name).fit(X, X[:, 0] * X[:, 1])
    assert found.target_kind_ == "numeric" and sorted(found.top(2)) == ["x0", "x1"]
    assert not hasattr(found, "classes_")


def test_what_an_integer_target_is_can_be_said():
    rng = np.random.default_rng(6)
    X, y = rng.random((80, 3)), rng.integers(0, 5, 80)
    assert MultiSURF().fit(X, y).target_kind_ == "classes"
    as_numbers = MultiSURF(target="numeric").fit(X, y)
    assert as_numbers.target_kind_ == "numeric"
    np.testing.assert_array_equal(as_numbers.weights_, MultiSURF().fit(X, y + 0.5).weights_)
    with pytest.raises(ValueError, match="target must be one of 'auto', 'classes', 'numeric'; got 'number'"):
        MultiSURF(target="number").fit(X, y)
    with pytest.raises(ValueError, match=r"MultiSURF needs a target that varies; y is 0\.5 in all 80 rows"):
        MultiSURF().fit(X, np.full(80, 0.5))


@each_member
def test_scikit_rebate_finds_the_same(name, peer, oracle_table):
    """Two classes, complete numbers without ties. SURF's T is over the n (n - 1) pairs here and over all n^2 cells there,
    the n distances of rows to themselves among them (oracles/README.md, 10): nearly, not exactly, the same."""
    X, y, names = oracle_table("xor_numeric.csv")
    expected = peer("skrebate", "xor_numeric.csv", name.replace("Star", "star"), names)
    close = 1e-9 if name.startswith("Multi") else 2e-3
    np.testing.assert_allclose(member(name).fit(X, y).weights_, expected, rtol=0, atol=close)


@pytest.mark.parametrize("name", ["SURF", "SURFStar", "MultiSURF", "MultiSURFStar"])
def test_scikit_rebate_finds_the_same_in_categories(name, peer, oracle_table):
    """Here no distance lies between the two means. (SWRF* differs: rows at the very mean count there, with weight 0.)"""
    X, y, names = oracle_table("parity_nominal.csv")
    expected = peer("skrebate", "parity_nominal.csv", name.replace("Star", "star"), names)
    np.testing.assert_allclose(member(name).fit(X, y).weights_, expected, rtol=0, atol=1e-9)


@each_member
@pytest.mark.parametrize("numeric", [False, True], ids=["classes", "numbers"])
def test_order_names_and_threads_change_nothing(name, numeric, table):
    X, _, y = table
    y = X[:, 0] * X[:, 1] if numeric else y
    expected = member(name, n_jobs=1).fit(X, y).weights_
    rng = np.random.default_rng(8)
    rows, columns = rng.permutation(90), rng.permutation(6)
    renamed = 3 - 2 * y if numeric else np.array(["c", "a", "b"])[y]
    shuffled = member(name, n_jobs=2).fit(X[rows][:, columns], renamed[rows]).weights_
    if numeric:  # the codes of another y are rounded elsewhere
        np.testing.assert_allclose(shuffled, expected[columns], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(
            member(name, n_jobs=2).fit(X[rows][:, columns], y[rows]).weights_, expected[columns]
        )
    else:
        np.testing.assert_array_equal(shuffled, expected[columns])


@each_member
def test_copies_are_weights(name, table):
    X, _, y = table
    copies = np.random.default_rng(9).integers(0, 3, 90)
    weighted = member(name).fit(X, y, sample_weight=copies).weights_
    np.testing.assert_array_equal(weighted, member(name).fit(X.repeat(copies, axis=0), y.repeat(copies)).weights_)


def test_rows_all_alike_have_no_neighbours():
    """No distance is less than the mean of equal distances: every weight is 0."""
    X, y = np.ones((6, 2)), [0, 1, 0, 1, 0, 1]
    for name in FAMILY:
        found = member(name).fit(X, y)
        assert found.weights_.tolist() == [0, 0] and found.n_neighbors_used_ == 0


def test_worked_example():
    """Four rows at 0, 1, 2, 6 of one column (in sixths of the range), classes a a b b.

    Distances 1 2 6 1 5 4: T = 19/6. SURF, near pairs 0-1, 0-2, 1-2. Row 0: hit 1 at 1/6, miss at 2/6: +1/6. Row 1: hit at
    1/6, miss at 1/6: 0. Row 2: misses at 2/6 and 1/6, no hit near: +1/4. Row 3: nobody. W = (1/6 + 1/4) / 4 = 5/48.
    SURF*, far pairs 0-3, 1-3, 2-3. Row 0: miss at 1: -1. Row 1: miss at 5/6. Row 2: hit at 4/6: +4/6. Row 3: misses at 1
    and 5/6, hit at 4/6: -(11/12 - 4/6). Far together -(1 + 5/6 - 4/6 + 1/4) = -17/12: W = 5/48 - 17/48 = -12/48.
    """
    X, y = [[0], [1], [2], [6]], ["a", "a", "b", "b"]
    assert nearhit.SURF().fit(X, y).weights_[0] == pytest.approx(5 / 48, abs=1e-9)
    assert SURFStar().fit(X, y).weights_[0] == pytest.approx(-1 / 4, abs=1e-9)


@pytest.mark.parametrize(
    "choices", [{}, {"missing": "skip"}, {"missing": "uniform"}, {"diff": "ramp"}, {"diff": "squared"}]
)
def test_holes_and_diffs(choices, table):
    X, _, y = table
    X = X.copy()
    X[::7, 2] = np.nan
    for name in FAMILY:
        found = member(name, **choices).fit(X, y)
        reference = weights_with(found, choices, X, y)
        np.testing.assert_array_equal(found.weights_, reference)


def weights_with(found, choices, X, y):
    diff = recipes.Diff(choices.get("diff", "linear"))
    recipe = replace(FAMILY[type(found).__name__], unknown=choices.get("missing", "expected"), diff=diff)
    return weights_of(
        recipe, Data(X, np.zeros((len(X), 0), int), None, y, None).table(), nearhit.settings.choose_kernel()
    )


def test_p_values_and_wrappers(table):
    X = table[0]
    pair = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    found = MultiSURF(p_values="permutation", n_permutations=39, random_state=0, select="p<0.05").fit(X, pair)
    assert found.p_values_[:2].tolist() == [1 / 40, 1 / 40] and found.support_[:2].all()
    by_hand = MultiSURF().fit(X, pair).weights_
    np.testing.assert_array_equal(found.weights_, by_hand)
    with pytest.raises(ValueError, match=r'p_values="stir" is a test for k neighbours'):
        MultiSURFStar(p_values="stir").fit(X, pair)
    assert sorted(TuRF(MultiSURF(), keep=2).fit(X, pair).top(2)) == ["x0", "x1"]


@pytest.mark.parametrize("member", [SURFStar, MultiSURFStar, SWRFStar, MultiSWRFStar])
def test_chebyshev_does_not_hold_for_differences_of_two_means(member, table):
    X, y = table[0], table[0][:, 0] > 0.5
    for rule in ("chebyshev(0.5)", " Chebyshev(0.5)"):
        with pytest.raises(ValueError, match=f"holds for weights of near rows only: not with {member.__name__}, which"):
            member(select=rule).fit(X, y)
    assert MultiSURF(select="chebyshev(0.5)").fit(X, y).support_[0]


def test_twins_are_found_among_near_rows(table):
    X, _, y = table
    twins = np.hstack([X, X[:, [4]]])
    for name in ("MultiSURF", "SURFStar", "SWRFStar"):
        assert [group.twins for group in member(name, redundancy=True).fit(twins, y).redundancy_] == [("x6",)]


def test_clone_and_parameters():
    relief = MultiSWRFStar(target="classes", missing="skip", select=3)
    assert clone(relief).get_params() == relief.get_params()
    assert set(SWRFStar().get_params()) == set(ReliefF().get_params()) - {
        *("n_neighbors", "misses", "metric", "weights", "sigma", "ties")
    } | {"target"}


def test_weighed_pairs_share_the_bound_with_fits_beside(monkeypatch, own_settings):
    """Each of four fits beside each other has a quarter of 1 MiB: 13 rows of 300 weighed pairs at 64 bytes."""
    rng = np.random.default_rng(0)
    made = Data(rng.random((300, 4)), np.zeros((300, 0), int), None, rng.integers(0, 2, 300), None).table()
    expected = fit_recipe(recipes.SWRF_STAR, made, None, Options(n_jobs=1)).weights
    nearhit.set_config(pair_memory=2**20)
    sizes, run = [], NativeKernel.run_given
    monkeypatch.setattr(NativeKernel, "run_given", lambda *given: sizes.append(len(given[2])) or run(*given))
    found = fit_recipe(recipes.SWRF_STAR, made, None, Options(n_jobs=1, beside=4)).weights
    np.testing.assert_array_equal(found, expected)
    assert sum(sizes) == 300 and max(sizes) <= 2**20 // 4 // (64 * 300)
