"""I-Relief and Simba: the papers' formulas in plain loops, worked examples, known behaviour, laws, checks, messages."""

import math
import pickle
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from nearhit import IRelief, ReliefF, Simba, row_diffs, stability
from nearhit.irelief import probabilities
from nearhit.settings import get_config


@parametrize_with_checks([IRelief(), Simba()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------------------------------- the papers in plain loops


def plain_diffs(columns, y, power=1):
    """diff(A, i, j) ** power of all pairs; an unknown value (None) is drawn from the known ones of its row's class."""
    n = len(y)
    D = np.zeros((n, n, len(columns)))
    for a, values in enumerate(columns):
        known = [v for v in values if v is not None]
        if not known:
            continue
        numeric = not isinstance(known[0], str)
        width = max(known) - min(known) if numeric else 1

        def diff(u, v, numeric=numeric, width=width):
            return (abs(u - v) / width if numeric and width else float(not numeric and u != v)) ** power

        def drawn(i, values=values, known=known):
            if values[i] is not None:
                return [values[i]]
            return [v for v, c in zip(values, y, strict=True) if c == y[i] and v is not None] or known

        for i, j in product(range(n), range(n)):
            D[i, j, a] = np.mean([diff(u, v) for u in drawn(i) for v in drawn(j)])
    return D


def plain_irelief(D, y, sigma, each_class=False, outliers=True, damping=0.5, max_iter=200, tol=1e-4):
    """Sun 2007, section 3; for several classes I-Relief-2, or I-Relief-1 with `each_class`."""
    n, a = len(y), D.shape[2]
    w = [1 / math.sqrt(a)] * a
    priors = {c: sum(d == c for d in y) / n for c in set(y)}
    for n_iter in range(1, max_iter + 1):
        f = [[math.exp(-sum(w[k] * D[i, j, k] for k in range(a)) / sigma) for j in range(n)] for i in range(n)]
        nu = np.zeros(a)
        for i in range(n):
            hits = [j for j in range(n) if j != i and y[j] == y[i]]
            misses = [j for j in range(n) if y[j] != y[i]]
            if not hits:
                continue
            of_hits, of_misses = sum(f[i][j] for j in hits), sum(f[i][j] for j in misses)
            m = np.zeros(a)
            for c in {y[j] for j in misses} if each_class else [None]:
                group = [j for j in misses if c is None or y[j] == c]
                share = priors[c] / (1 - priors[y[i]]) if each_class else 1
                m += share * sum(f[i][j] * D[i, j] for j in group) / sum(f[i][j] for j in group)
            h = sum(f[i][j] * D[i, j] for j in hits) / of_hits
            nu += (of_hits / (of_hits + of_misses) if outliers else 1) * (m - h)
        found = np.maximum(nu, 0) / math.sqrt(sum(max(v, 0) ** 2 for v in nu))
        if math.dist(found, w) < tol:
            return found, n_iter
        w = damping * np.array(w) + (1 - damping) * found
        w = w / math.sqrt(sum(w**2))
    return w, n_iter


def plain_simba(S, y, visits, steps=None):
    """Gilad-Bachrach et al. 2004, figure 2, on squared diffs; equally near rows share the place. Weights and margin."""
    n, a = len(y), S.shape[2]
    w = np.array([float(S[:, :, k].any()) for k in range(a)])  # a column that never differs is none

    def nearest(i, others):
        distances = [math.sqrt(sum(w[k] ** 2 * S[i, j, k] for k in range(a))) for j in others]
        rows = [j for j, d in zip(others, distances, strict=True) if d <= min(distances) * (1 + 1e-12)]
        return np.mean([S[i, j] for j in rows], axis=0), min(distances)

    def both(i):
        hits = [j for j in range(n) if j != i and y[j] == y[i]]
        return hits and (nearest(i, hits), nearest(i, [j for j in range(n) if y[j] != y[i]]))

    for at, i in enumerate(visits):
        if found := both(i):
            (hit, to_hit), (miss, to_miss) = found
            gain = (miss / to_miss if to_miss else 0) - (hit / to_hit if to_hit else 0)
            w = w + 0.5 * (steps[at] if steps else 1) * gain * w
    scores = w**2 / max(w**2)
    w = np.sqrt(scores)
    margins = [(found[1][1] - found[0][1]) / 2 for found in map(both, range(n)) if found]
    return scores, np.mean(margins)


def order_of_visits(seed, n, n_passes, start=0):
    """As documented: a seed for each start, an order for each pass."""
    seeds = np.random.RandomState(seed).randint(2**31 - 1, size=start + 1)
    rng = np.random.RandomState(seeds[start])
    return [int(i) for _ in range(n_passes) for i in rng.permutation(n)]


def mixed(n=40, n_classes=3, holes=0.0, seed=0):
    """Columns as lists, a data frame of them, and classes; one class is a single row."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.integers(0, 50, n).astype(float).tolist(),
        rng.integers(0, 5, n).astype(float).tolist(),
        rng.choice(["red", "green", "blue"], n).tolist(),
        rng.choice(["yes", "no"], n).tolist(),
        [7.0] * n,
    ]
    y = rng.integers(0, n_classes, n)
    y[0] = n_classes
    columns[0] = (np.array(columns[0]) + 10 * y).tolist()
    for values in columns[:4]:
        for i in np.flatnonzero(rng.random(n) < holes):
            values[i] = None
    frame = pd.DataFrame({f"c{k}": pd.Series(values, dtype=None) for k, values in enumerate(columns)})
    return columns, frame, y


IRELIEFS = [
    dict(),
    dict(sigma=0.2),
    dict(sigma=3.0, misses="each class"),
    dict(discount_outliers=False, misses="each class"),
    dict(damping=0.0, max_iter=7),
    dict(damping=0.8, tol=1e-6),
]


@pytest.mark.filterwarnings("ignore:I-Relief did not come to rest")
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("how", IRELIEFS, ids=str)
def test_irelief_is_the_paper(how, holes):
    columns, frame, y = mixed(holes=holes)
    names = {"discount_outliers": "outliers", "misses": "each_class"}
    plain = {names.get(key, key): value == "each class" if key == "misses" else value for key, value in how.items()}
    expected, n_iter = plain_irelief(plain_diffs(columns, y), y.tolist(), **{"sigma": 0.5, **plain})
    relief = IRelief(**how).fit(frame, y)
    assert relief.weights_ == pytest.approx(expected, rel=0, abs=1e-8 if holes else 1e-9)
    assert relief.n_iter_ == n_iter
    assert relief.weights_.min() >= 0 and relief.weights_ @ relief.weights_ == pytest.approx(1)


@pytest.mark.parametrize("seed", [0, 1])
def test_simba_is_the_paper(seed):
    columns, frame, y = mixed(seed=seed)
    expected, margin = plain_simba(plain_diffs(columns, y, power=2), y.tolist(), order_of_visits(seed, 40, 2))
    simba = Simba(2, random_state=seed).fit(frame, y)
    assert simba.weights_ == pytest.approx(expected, rel=0, abs=1e-9)
    assert simba.margin_ == pytest.approx(margin, rel=0, abs=1e-9)


def test_simba_with_missing_values_is_the_paper():
    """Expected squares lie on a grid of 2**-31, and the rounding of one step is carried on by the next."""
    columns, frame, y = mixed(holes=0.2)
    expected, margin = plain_simba(plain_diffs(columns, y, power=2), y.tolist(), order_of_visits(3, 40, 2))
    simba = Simba(2, random_state=3).fit(frame, y)
    assert simba.weights_ == pytest.approx(expected, rel=0, abs=1e-6)
    assert simba.margin_ == pytest.approx(margin, rel=0, abs=1e-6)


# ---------------------------------------------------------------------------------------------------- worked examples

SQUARE = [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"]]  # the class is the first column


def test_irelief_on_the_corners_of_a_square():
    """Equal weights 1/sqrt(2): the one hit differs in B, (0, 1); of the misses, one differs in A, one in both.

    With q = e^(-1/(sqrt(2) sigma)) they are as q to q^2, so alpha = 1/(1+q), q/(1+q), and gamma = q / (2 q + q^2):
    nu = gamma [(1, q/(1+q)) - (0, 1)], B is below 0, and w = (1, 0). Then nu = gamma [(1, 1/2) - (0, 1)]: at rest.
    """
    relief = IRelief(damping=0).fit(SQUARE, list("aabb"))
    assert relief.weights_.tolist() == [1, 0] and relief.n_iter_ == 2
    # With damping 1/2 a round halves the rest: at first w = ((1 + r)/2, r/2) / their length, r = 1/sqrt(2)
    r = 1 / math.sqrt(2)
    with pytest.warns(
        ConvergenceWarning, match=r"did not come to rest in max_iter=1 rounds: .* by 0.77, and tol=0.0001"
    ):
        once = IRelief(max_iter=1).fit(SQUARE, list("aabb"))
    assert once.weights_ == pytest.approx(np.array([1 + r, r]) / math.hypot(1 + r, r), abs=1e-12)


def test_simba_on_the_corners_of_a_square():
    """w = (1, 1): a row's hit is at (0, 1), a miss at (1, 0), both 1 away: w += 1/2 (1, -1), which is (1.5, 0.5).

    The next: 1/2 ((1, 0)/1.5 - (0, 1)/0.5) w = (0.5, -0.5): w = (2, 0). From now on B does not count: (2.5, 0), (3, 0).
    The margin under (1, 0) is 1/2 (1 - 0).
    """
    for seed in range(5):
        simba = Simba(1, random_state=seed).fit(SQUARE, list("aabb"))
        assert simba.weights_.tolist() == [1, 0] and simba.margin_ == 0.5


def test_probabilities_of_far_rows_do_not_vanish():
    near, mass = probabilities(np.array([[-5000.0, -5000.0, -6000.0], [-np.inf] * 3]))
    assert near.tolist() == [[0.5, 0.5, 0], [0, 0, 0]]
    assert mass.tolist() == [-5000 + math.log(2), -np.inf]


# ----------------------------------------------------------------------------------------------------- known behaviour


def together(n, a, kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        X = rng.random((n, a))
        return X, (X[:, 3] > 0.5) ^ (X[:, 7] > 0.5), {"x3", "x7"}
    X = rng.choice(list("01"), (n, a))
    columns = [3, 7] if kind == "categories" else [3, 7, 9]
    return X, (X[:, columns] == "1").sum(axis=1) % 2, {f"x{j}" for j in columns}


@pytest.mark.parametrize("kind", ["numbers", "categories", "parity of three"])
@pytest.mark.parametrize("estimator", [IRelief(), Simba(random_state=0)], ids=["IRelief", "Simba"])
def test_features_that_matter_only_together(estimator, kind):
    X, y, truth = together(200, 20, kind, seed=1)
    fitted = clone(estimator).fit(X, y)
    assert set(fitted.top(len(truth))) == truth
    relevant = np.array([int(name[1:]) for name in truth])
    assert fitted.weights_[relevant].min() > 5 * np.delete(fitted.weights_, relevant).max()


def test_irelief_sees_what_relieff_does_not():
    X, y, truth = together(200, 200, "numbers", seed=1)
    assert max(ReliefF().fit(X, y).ranking_[[3, 7]]) > 20
    assert set(IRelief().fit(X, y).top(2)) == truth


def test_without_damping_a_pair_swings():
    X, y, truth = together(200, 10, "categories", seed=0)
    with pytest.warns(ConvergenceWarning, match="I-Relief did not come to rest in max_iter=30 rounds"):
        swinging = IRelief(damping=0, max_iter=30).fit(X, y)
    assert max(swinging.ranking_[[3, 7]]) > 2
    assert set(IRelief(max_iter=30).fit(X, y).top(2)) == truth


@pytest.mark.parametrize("estimator", [IRelief(), Simba(random_state=0)], ids=["IRelief", "Simba"])
def test_columns_that_never_differ_have_no_weight(estimator):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"useful": rng.random(60), "constant": 3.0, "word": "same", "holes": "x", "empty": np.nan})
    frame.loc[::2, "holes"] = None
    with pytest.warns(UserWarning, match="column 'empty' has no known value; its score is 0"):
        fitted = clone(estimator).fit(frame, frame["useful"] > 0.5)
    assert fitted.weights_.tolist() == [1, 0, 0, 0, 0]


def test_nothing_differs():
    X, y = np.ones((10, 3)), np.arange(10) % 2
    with pytest.warns(UserWarning, match="no feature differs more to the nearest miss than to the nearest hit"):
        relief = IRelief().fit(X, y)
    assert relief.weights_.tolist() == [0, 0, 0] and relief.n_iter_ == 1
    simba = Simba().fit(X, y)
    assert simba.weights_.tolist() == [0, 0, 0] and simba.margin_ == 0


def test_no_class_of_two_rows():
    """No row has a hit, so none has a margin."""
    X, y = np.arange(4.0)[:, None], np.arange(4)
    with pytest.warns(UserWarning) as caught:
        relief = IRelief().fit(X, y)
    assert any("no feature differs more" in str(warning.message) for warning in caught)
    assert relief.weights_.tolist() == [0]
    assert Simba().fit(X, y).margin_ == 0


@pytest.mark.parametrize("starts", [1, 4])
def test_the_best_start_wins(starts):
    X, y, _ = together(40, 15, "numbers", seed=2)
    X = np.round(X * 20)  # whole numbers: there is no rounding to the grid that one step would pass on to the next
    S = plain_diffs(X.T.tolist(), y, power=2)
    plain = [plain_simba(S, y.tolist(), order_of_visits(6, 40, 1, start)) for start in range(starts)]
    expected, margin = max(plain, key=lambda start: start[1])
    simba = Simba(1, n_starts=starts, random_state=6).fit(X, y)
    assert simba.weights_ == pytest.approx(expected, abs=1e-9)
    assert simba.margin_ == pytest.approx(margin, abs=1e-9)
    assert starts == 1 or margin > plain[0][1]


# ----------------------------------------------------------------------------------------------------------------- laws

PAIR = [IRelief(), IRelief(misses="each class"), Simba(2, n_starts=3, random_state=0)]
each_one = pytest.mark.parametrize("estimator", PAIR, ids=["IRelief", "IRelief, each class", "Simba"])


@each_one
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_threads_change_no_bit(estimator, holes):
    _, frame, y = mixed(200, holes=holes)
    one, two, four = (clone(estimator).set_params(n_jobs=jobs).fit(frame, y).weights_ for jobs in (1, 2, 4))
    np.testing.assert_array_equal(two, one)
    np.testing.assert_array_equal(four, one)


@each_one
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_columns_and_names(estimator, holes):
    _, frame, y = mixed(80, holes=holes)
    expected = clone(estimator).fit(frame, y).weights_
    turned = frame[["c3", "c4", "c0", "c2", "c1"]].rename(columns=str.upper)
    turned["C2"] = turned["C2"].map({"red": "z", "green": "a", "blue": "k"})
    names = np.array(["d", "b", "a", "c"])[y]
    found = clone(estimator).fit(turned, names)
    assert found.weights_ == pytest.approx(expected[[3, 4, 0, 2, 1]], rel=0, abs=1e-9 if not holes else 1e-6)
    assert found.classes_.tolist() == list("abcd")


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("misses", ["any class", "each class"])
def test_the_order_of_rows_is_nothing_to_irelief(misses, holes):
    _, frame, y = mixed(150, holes=holes)
    order = np.random.default_rng(0).permutation(150)
    expected = IRelief(misses=misses).fit(frame, y).weights_
    found = IRelief(misses=misses).fit(frame.iloc[order], y[order]).weights_
    assert found == pytest.approx(expected, rel=0, abs=1e-9)


@each_one
def test_other_units_and_shifts(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.random((100, 5)), rng.integers(0, 2, 100)
    X[:, 0] += y
    expected = clone(estimator).fit(X, y).weights_
    found = clone(estimator).fit(X * [1e3, 1e-6, -1, 1, 7] + [0, 5, 1, -2, 0], y).weights_
    assert found == pytest.approx(expected, rel=0, abs=1e-6)


@each_one
def test_whole_weights_are_copies(estimator):
    _, frame, y = mixed(60)
    copies = np.random.default_rng(1).integers(0, 4, 60)
    weighted = clone(estimator).fit(frame, y, sample_weight=copies)
    copied = clone(estimator).fit(frame.loc[np.repeat(np.arange(60), copies)], np.repeat(y, copies))
    assert weighted.weights_ == pytest.approx(copied.weights_, rel=0, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_copies_that_share_a_place(seed):
    """Among few categories many rows are equally near: each counts by its copies."""
    X, y, _ = together(40, 8, "categories", seed=1)
    y = y ^ (np.random.default_rng(seed).random(40) < 0.2)
    copies = np.random.default_rng(2).integers(0, 4, 40)
    weighted = Simba(1, random_state=seed).fit(X, y, sample_weight=copies)
    copied = Simba(1, random_state=seed).fit(X.repeat(copies, axis=0), y.repeat(copies))
    assert weighted.weights_ == pytest.approx(copied.weights_, rel=0, abs=1e-9)


def test_parts_of_rows():
    """A weight of 1.5 is a step and half a step for Simba; to I-Relief a common factor matters by a row's own copies."""
    columns, frame, y = mixed(40, n_classes=2)
    keep = np.arange(40) > 0  # without the class of one row
    frame, y = frame[keep], y[keep]
    columns = [[v for v, kept in zip(values, keep, strict=True) if kept] for values in columns]
    weights = np.where(np.arange(39) % 3, 1.0, 0.5)
    expected, _ = plain_simba(
        plain_diffs(columns, y, 2),
        y.tolist(),
        order_of_visits(2, 39, 2),
        [weights[i] for i in order_of_visits(2, 39, 2)],
    )
    simba = Simba(2, random_state=2).fit(frame, y, sample_weight=weights)
    assert simba.weights_ == pytest.approx(expected, rel=0, abs=1e-9)
    halves = IRelief().fit(frame, y, sample_weight=np.full(39, 0.5)).weights_
    assert halves == pytest.approx(IRelief().fit(frame, y).weights_, rel=0, abs=1e-9)


@each_one
@pytest.mark.parametrize("in_cache", [76, 1000])  # one other row at a time, or thirteen
def test_little_memory(estimator, in_cache, monkeypatch):
    """Rows that do not fit are looked at in parts, some of the other rows at a time."""
    _, frame, y = mixed(60, holes=0.1)
    estimator = clone(estimator).set_params(**({"max_iter": 5, "tol": 0.1} if isinstance(estimator, IRelief) else {}))
    expected = clone(estimator).fit(frame, y).weights_
    monkeypatch.setattr(row_diffs, "BYTES_OF_A_ROW", 4000)
    monkeypatch.setattr(row_diffs, "BYTES_IN_CACHE", in_cache)
    assert clone(estimator).fit(frame, y).weights_ == pytest.approx(expected, rel=0, abs=1e-9)


def test_the_bound_on_pair_storage_is_kept(monkeypatch):
    """Whatever the number of features: a worker's block of diffs stays under a sixteenth."""
    monkeypatch.setattr("nearhit.settings._settings", {"pair_memory": 2**20})
    assert get_config()["pair_memory"] == 2**20
    seen, between = [], row_diffs.RowDiffs.between

    def watched(self, rows, others):
        found = between(self, rows, others)
        seen.append(found.nbytes * 3 // 2)
        return found

    monkeypatch.setattr(row_diffs.RowDiffs, "between", watched)
    X = np.random.default_rng(0).random((50, 500))
    IRelief(max_iter=1, tol=10).fit(X, np.arange(50) % 2)
    Simba(1, random_state=0).fit(X, np.arange(50) % 2)
    assert 2**15 < max(seen) <= 2**16


def test_seeds_make_the_order():
    X, y, _ = together(60, 20, "numbers", seed=3)
    first, again, other = (Simba(1, random_state=seed).fit(X, y).weights_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(again, first)
    assert (other != first).any()


# ------------------------------------------------------------------------------------------------- scikit-learn citizens


@each_one
def test_what_fit_leaves_behind(estimator):
    X, y, truth = together(100, 20, "categories", seed=0)
    fitted = clone(estimator).set_params(select=2).fit(X, y)
    assert set(fitted.get_feature_names_out()) == truth
    assert fitted.target_kind_ == "classes" and fitted.kernel_.startswith("native-")
    assert fitted.feature_importances_ is fitted.weights_
    assert fitted.transform(X).shape == (100, 2)
    assert not hasattr(fitted, "n_neighbors_used_")  # there is no k
    twin = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(twin.weights_, fitted.weights_)


def test_what_was_not_ruled_out():
    X, y, _ = together(100, 20, "numbers", seed=0)
    relief = IRelief(select=">0").fit(X, y)
    assert relief.support_.tolist() == (relief.weights_ > 0).tolist() and 2 <= relief.support_.sum() < 20


@pytest.mark.parametrize("estimator", [IRelief(), Simba(random_state=0)], ids=["IRelief", "Simba"])
def test_grid_search(estimator):
    X = np.random.default_rng(0).integers(0, 2, (120, 25))
    y = X[:, 3] ^ X[:, 7]
    pipeline = make_pipeline(clone(estimator), DecisionTreeClassifier(random_state=0))
    name = pipeline.steps[0][0]
    parameter = "sigma" if isinstance(estimator, IRelief) else "n_passes"
    search = GridSearchCV(
        pipeline,
        {f"{name}__{parameter}": [0.5, 1] if parameter == "sigma" else [1, 3], f"{name}__select": [2, 25]},
        cv=3,
    )
    search.fit(X, y)
    assert search.best_score_ == 1 and search.best_params_[f"{name}__select"] == 2


def test_progress(capsys):
    X, y, _ = together(60, 10, "numbers", seed=0)
    for estimator in (IRelief(), Simba()):
        estimator.fit(X, y)
        assert capsys.readouterr().err == ""
        estimator.set_params(verbose=1).fit(X, y)
        assert f"{type(estimator).__name__}: 100%" in capsys.readouterr().err


CASES = [
    (IRelief(sigma=0), "sigma must be a finite number greater than 0; got 0"),
    (IRelief(sigma=np.inf), "sigma must be"),
    (IRelief(misses="only"), "misses must be one of 'any class', 'each class'; got 'only'"),
    (IRelief(discount_outliers="yes"), "discount_outliers must be True or False; got 'yes'"),
    (IRelief(damping=1), "damping must be a share of at least 0 and below 1; got 1"),
    (IRelief(damping=-0.1), "damping must be"),
    (IRelief(damping=np.nan), "damping must be"),
    (IRelief(max_iter=0), "max_iter must be an integer of at least 1; got 0"),
    (IRelief(tol=0), "tol must be a finite number greater than 0; got 0"),
    (IRelief(tol=True), "tol must be"),
    (
        IRelief(missing="skip"),
        'missing="skip" leaves pairs out of a mean over neighbours, and IRelief weighs distances',
    ),
    (IRelief(missing="drop"), "missing must be one of"),
    (IRelief(select="p(bh)<0.05"), 'select="p.bh.<0.05" needs p-values. IRelief has no p-values; how steady'),
    (Simba(select="p<0.05"), 'select="p<0.05" needs p-values. Simba has no p-values; how steady'),
    (
        IRelief(select="chebyshev(0.1)"),
        "the Chebyshev threshold holds for the weights of one fit only: not with IRelief",
    ),
    (Simba(n_passes=0), "n_passes must be an integer of at least 1; got 0"),
    (Simba(n_passes=1.5), "n_passes must be"),
    (Simba(n_starts=0), "n_starts must be an integer of at least 1; got 0"),
    (Simba(random_state=-1), "random_state must be"),
    (Simba(n_jobs=0), "n_jobs must be"),
    (Simba(verbose=-1), "verbose must be"),
]


@pytest.mark.parametrize("estimator, message", CASES, ids=lambda case: str(case)[:40])
def test_errors_at_the_door(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(SQUARE, list("aabb"))


@pytest.mark.parametrize("estimator", [IRelief, Simba])
def test_one_class_is_refused(estimator):
    with pytest.raises(ValueError, match=rf"{estimator.__name__} needs at least two classes in y; all 4 rows are 'a'"):
        estimator().fit(SQUARE, list("aaaa"))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        estimator().fit(SQUARE, [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("make", [IRelief, partial(Simba, 1, random_state=0)], ids=["IRelief", "Simba"])
def test_the_rule_of_stability_is_that_of_the_function(make):
    rng = np.random.default_rng(0)
    X = rng.random((40, 5))
    y = X[:, 3] > 0.5
    relief = make(select="stability(1)>0.8").fit(X, y)
    found = stability(make(), X, y, select=1, random_state=0)
    np.testing.assert_array_equal(relief.stability_, found.shares)
    assert relief.support_.tolist() == [False, False, False, True, False]
    with pytest.raises(AttributeError, match="has no p-values"):
        relief.adjusted_p_values()
