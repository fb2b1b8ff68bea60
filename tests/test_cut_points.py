"""Cut points: worked examples, a plain reading of each method, and what changes nothing."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from nearhit.measures.cut_points import METHODS, find_cut_points

SUPERVISED = ["chimerge", "entropy-mdl"]


def cuts_of(values, method, classes=None, **more) -> list[float]:
    classes = None if classes is None else np.asarray(classes)
    return find_cut_points(np.asarray(values, float), method, classes=classes, **more).tolist()


# --- worked examples ------------------------------------------------------------------------------------------


def test_equal_width():
    assert cuts_of([0, 1, 10], "equal width", n_bins=4) == [2.5, 5.0, 7.5]  # bins may be empty: (2.5, 5] is
    assert cuts_of([-1.7e308, 1.7e308], "equal width", n_bins=2) == [0.0]  # their difference is no float
    low, high = 1.0, 1.0 + 2**-52
    assert cuts_of([low, high], "equal width", n_bins=5) == [low]  # two floats without one between them


def test_equal_frequency():
    assert cuts_of([1, 2, 3, 4, 5, 6], "equal frequency", n_bins=3) == [2.5, 4.5]
    # 7 of 10 rows are equal and stay together: 1/3 and 2/3 of the rows are both nearest to the edges of that run
    assert cuts_of([1] + [2] * 7 + [3, 4], "equal frequency", n_bins=3) == [1.5, 2.5]
    # half of 3 rows lies as near to the first row as to the second: the lower cut
    assert cuts_of([1, 2, 3], "equal frequency", n_bins=2) == [1.5]
    assert cuts_of([1, 2], "equal frequency", n_bins=9) == [1.5]


def test_chimerge():
    # 1 2 3 | 4 5 6, of one class each: chi2 of (3, 0) against (0, 3) is 3*1.5/1.5 + ... = 6 > 3.84
    assert cuts_of([1, 2, 3, 4, 5, 6], "chimerge", [0, 0, 0, 1, 1, 1]) == [3.5]
    # (1, 0) against (0, 1) is 2: not significant at 0.95, where the threshold is 3.84, but at 0.8, where it is 1.64
    assert cuts_of([1, 2], "chimerge", [0, 1]) == []
    assert cuts_of([1, 2], "chimerge", [0, 1], significance=0.8) == [1.5]
    assert cuts_of([1, 2], "chimerge", [0, 1], min_bins=2) == [1.5]
    assert cuts_of([1, 2, 3, 4, 5, 6], "chimerge", [0, 0, 0, 1, 1, 1], n_bins=1) == []


def test_entropy_mdl():
    # 4 + 4 rows: gain 1 bit; the price is log2(7)/8 + (log2(3^2 - 2) - 2)/8 = 0.35 + 0.10 bits
    assert cuts_of(range(8), "entropy-mdl", [0] * 4 + [1] * 4) == [3.5]
    # alternating classes: the best gain of 8 rows is 0.138 bits, under the price
    assert cuts_of(range(8), "entropy-mdl", [0, 1] * 4) == []
    three = [0] * 20 + [1] * 20 + [2] * 20
    assert cuts_of(range(60), "entropy-mdl", three) == [19.5, 39.5]


def test_a_column_of_ten_thousand_steps_needs_no_deep_stack():
    n = 4000
    classes = np.arange(n) // 4 % 2  # each cut leaves one more run to cut off
    assert len(cuts_of(range(n), "entropy-mdl", classes)) < n
    assert len(cuts_of(range(n), "chimerge", classes, significance=0.9, n_bins=None)) == n // 4 - 1


# --- a plain reading ------------------------------------------------------------------------------------------


def table_of(values, classes):
    """The different values and the classes that come with each, as counters."""
    different = sorted(set(values))
    return different, [Counter(c for v, c in zip(values, classes, strict=True) if v == d) for d in different]


def plain_chi2(a: Counter, b: Counter) -> Fraction:
    n_a, n_b = a.total(), b.total()
    result = Fraction(0)
    for c in a | b:
        for part, n in ((a, n_a), (b, n_b)):
            expected = Fraction(n * (a[c] + b[c]), n_a + n_b)
            result += (part[c] - expected) ** 2 / expected
    return result


def plain_chimerge(values, classes, threshold, n_bins=None):
    different, bins = table_of(values, classes)
    groups = [[d] for d in different]
    while len(groups) > 1:
        pairs = [plain_chi2(a, b) for a, b in pairwise(bins)]
        i = pairs.index(min(pairs))
        if float(pairs[i]) > threshold and (n_bins is None or len(groups) <= n_bins):
            break
        groups[i : i + 2] = [groups[i] + groups[i + 1]]
        bins[i : i + 2] = [bins[i] + bins[i + 1]]
    return [(a[-1] + b[0]) / 2 for a, b in pairwise(groups)]


def bits(counts: Counter) -> float:
    return -sum(n / counts.total() * math.log2(n / counts.total()) for n in counts.values() if n)


def plain_mdl(values, classes):
    """Recursive, over every cut between different values; also how close the decisions were."""
    different, counters = table_of(values, classes)
    everything = sum(counters, Counter())
    n, found = len(values), []
    for i in range(1, len(different)):
        left, right = sum(counters[:i], Counter()), sum(counters[i:], Counter())
        found.append((left.total() / n * bits(left) + right.total() / n * bits(right), i, left, right))
    if not found:
        return [], []
    after, i, left, right = min(found, key=lambda f: f[:2])
    gain = bits(everything) - after
    k, k1, k2 = len(everything), len(left), len(right)
    price = (
        math.log2(n - 1) / n + (math.log2(3**k - 2) - k * bits(everything) + k1 * bits(left) + k2 * bits(right)) / n
        if n > 1
        else math.inf
    )
    others = [f[0] - after for f in found if f[1] != i]
    margins = [abs(gain - price), *others]
    if gain <= price:
        return [], margins[:1]
    cut = (different[i - 1] + different[i]) / 2
    rows = list(zip(values, classes, strict=True))
    low, m1 = plain_mdl([v for v, _ in rows if v < cut], [c for v, c in rows if v < cut])
    high, m2 = plain_mdl([v for v, _ in rows if v > cut], [c for v, c in rows if v > cut])
    return [*low, cut, *high], margins + m1 + m2


columns = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 1, 2])), min_size=1, max_size=24)


@given(columns, st.sampled_from([0.5, 0.8, 0.95]), st.sampled_from([None, 2, 3]))
def test_chimerge_is_its_plain_reading(rows, significance, n_bins):
    values, classes = [float(v) for v, _ in rows], [c for _, c in rows]
    freedom = len(set(classes)) - 1
    threshold = chi2.ppf(significance, freedom) if freedom else math.inf
    found = cuts_of(values, "chimerge", classes, significance=significance, n_bins=n_bins)
    assert found == plain_chimerge(values, classes, threshold, n_bins)


@given(columns)
def test_entropy_mdl_is_its_plain_reading(rows):
    values, classes = [float(v) for v, _ in rows], [c for _, c in rows]
    expected, margins = plain_mdl(values, classes)
    if min(margins, default=1) < 1e-9:  # equally good cuts: rounding decides in the plain reading
        return
    assert cuts_of(values, "entropy-mdl", classes) == expected


def test_mdl_on_columns_with_something_to_cut():
    n_cuts = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 14, 30)
        classes = np.where(rng.random(30) < 0.15, rng.integers(0, 3, 30), values // 5)
        expected, margins = plain_mdl(values.tolist(), classes.tolist())
        if min(margins) > 1e-9:
            assert cuts_of(values, "entropy-mdl", classes) == expected
            n_cuts += len(expected)
    assert n_cuts > 80


def test_mdl_on_a_longer_column():
    rng = np.random.default_rng(3)
    values = rng.normal(size=300).round(2)
    classes = ((values > -0.5).astype(int) + (values > 0.7)) % 2
    classes[rng.random(300) < 0.1] ^= 1
    expected, _ = plain_mdl(values.tolist(), classes.tolist())
    assert cuts_of(values, "entropy-mdl", classes) == expected != []


def test_the_chi2_of_chimerge_is_that_of_scipy():
    a, b = [7, 2, 1], [3, 9, 4]
    expected = chi2_contingency([a, b], correction=False).statistic
    values, classes = np.repeat([1, 1, 1, 2, 2, 2], a + b), np.repeat([0, 1, 2] * 2, a + b)
    for above, n_cuts in ((-1e-9, 1), (1e-9, 0)):  # the level at which they are merged
        assert len(cuts_of(values, "chimerge", classes, significance=chi2.cdf(expected + above, 2))) == n_cuts


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(2, 6))
def test_equal_frequency_is_its_plain_reading(values, b):
    different, n = sorted(set(values)), len(values)
    expected = set()
    for k in range(1, b):
        misses = [abs(Fraction(k * n, b) - sum(v <= d for v in values)) for d in different[:-1]]
        if misses:
            i = misses.index(min(misses))
            expected.add((different[i] + different[i + 1]) / 2)
    assert cuts_of(values, "equal frequency", n_bins=b) == sorted(expected)


# --- what changes nothing -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def column():
    rng = np.random.default_rng(5)
    values = rng.normal(size=400).round(1)
    classes = np.digitize(values + rng.normal(size=400) / 3, [-1, 0.2, 1])
    return values, classes, rng


@pytest.mark.parametrize("method", METHODS)
def test_rows_and_classes_have_no_order(column, method):
    values, classes, rng = column
    expected = cuts_of(values, method, classes)
    assert len(expected) > 1
    order = rng.permutation(len(values))
    assert cuts_of(values[order], method, classes[order]) == expected
    for names in ([3, 1, 0, 2], [0, 2, 7, 5]):  # codes without rows are no classes
        assert cuts_of(values, method, np.array(names)[classes], n_classes=9) == expected


@pytest.mark.parametrize("method", METHODS)
def test_a_weight_is_a_number_of_copies(column, method):
    values, classes, rng = column
    copies = rng.integers(0, 4, len(values))
    for n_bins in (5, None) if method in SUPERVISED else (5,):
        copied = cuts_of(np.repeat(values, copies), method, np.repeat(classes, copies), n_bins=n_bins)
        assert cuts_of(values, method, classes, units=copies, n_bins=n_bins) == copied
        in_parts = cuts_of(values, method, classes, units=copies * 1024, one=1024, n_bins=n_bins)  # 1024ths of a row
        assert in_parts == copied


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"equal width"}))
def test_only_the_order_of_the_values_counts(column, method):
    values, classes, _ = column
    bins = np.searchsorted(cuts_of(values, method, classes), values)
    bent = np.exp(3 * values)
    assert (np.searchsorted(cuts_of(bent, method, classes), bent) == bins).all()
    bent[values == values.max()], bent[values == values.min()] = np.inf, -np.inf
    cuts = cuts_of(bent, method, classes)
    assert (np.searchsorted(cuts, bent) == bins).all()


@pytest.mark.parametrize("method", METHODS)
def test_awkward_columns(method):
    assert cuts_of([], method, []) == []
    assert cuts_of([3, 3, 3], method, [0, 1, 1]) == []
    assert cuts_of([1, 2, 3], method, [0, 0, 0]) == ([] if method in SUPERVISED else cuts_of([1, 2, 3], method))
    assert cuts_of([1, 2, 3], method, [0, 1, 1], units=np.array([0, 0, 5])) == []


def test_neighbouring_floats_are_cut_between():
    low, high = 1.0, 1.0 + 2**-52  # half-way rounds to one of them
    for a, b in ((low, high), (-high, -low), (5e-324, 1e-323), (1.7e308, 1.75e308), (-np.inf, np.inf)):
        (cut,) = cuts_of([a, b], "equal frequency", n_bins=2)
        assert a <= cut < b


def test_messages():
    with pytest.raises(ValueError, match=r"method must be one of 'equal width', .*; got 'quantile'"):
        cuts_of([1, 2], "quantile")
    with pytest.raises(ValueError, match='method="chimerge" needs the classes of the rows'):
        cuts_of([1, 2], "chimerge")
    with pytest.raises(ValueError, match='method="equal width" needs a number of bins'):
        cuts_of([1, 2], "equal width", n_bins=None)
    with pytest.raises(ValueError, match="needs finite values"):
        cuts_of([1, np.inf], "equal width")
