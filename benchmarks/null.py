"""Are p-values true where no feature has anything to do with the target, and do adjustments keep what they promise?

    python benchmarks/null.py                    everything, some minutes on two cores
    python benchmarks/null.py --data-sets 50     a look

1. Twelve null designs, 500 data sets of each, one p-value for each data set, of a feature drawn at random: how many are
   at most 0.05, and at most 0.01? 24 tests of "no more than that", with Bonferroni at 1 %: z <= 3.3 in each. STIR's t-test
   beside it, where it can be asked.
2. Designs with signals: the share of irrelevant features among those that "p(bh)<0.1" keeps, and how often
   "p(max-T)<0.05" keeps any.

All seeds are fixed here. The table of docs/significance.md is what this prints.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from machine import in_words, n_cores, this_machine, today
from show_table import show

from nearhit import ReliefF, RReliefF

SEED = 20_240_501
N_DATA_SETS, N_PERMUTATIONS = 500, 99  # 0.05 and 0.01 of 100 are whole
LEVELS = (0.05, 0.01)
LARGEST_Z = 3.3
Random = np.random.Generator


class DataSet(NamedTuple):
    """A table, its target, and how it is to be fitted."""

    X: npt.NDArray
    y: npt.NDArray
    estimator: ReliefF | RReliefF
    weights: npt.NDArray | None = None
    groups: npt.NDArray | None = None
    relevant: tuple[int, ...] = ()


def independent(rng: Random) -> DataSet:
    return DataSet(rng.normal(size=(80, 8)), rng.permutation(80) % 2, ReliefF())


def correlated(rng: Random) -> DataSet:
    X = rng.normal(size=(80, 10)) + 2 * rng.normal(size=(80, 1))
    return DataSet(np.cumsum(X, axis=1), rng.permutation(80) % 2, ReliefF())


def heavy_tailed(rng: Random) -> DataSet:
    return DataSet(rng.standard_cauchy((80, 8)), rng.permutation(80) % 2, ReliefF())


def genotypes(rng: Random) -> DataSet:
    X = rng.binomial(2, rng.uniform(0.05, 0.5, 30), (100, 30))
    return DataSet(X, rng.permutation(100) % 2, ReliefF(categorical_features=list(range(30))))


def mixed(rng: Random) -> DataSet:
    X = np.hstack([rng.normal(size=(80, 4)).round(1), rng.integers(0, 5, (80, 4))])
    return DataSet(X, rng.permutation(80) % 2, ReliefF(categorical_features=[4, 5, 6, 7], weights="rank"))


def missing(rng: Random) -> DataSet:
    X = rng.normal(size=(60, 8))
    X[rng.random(X.shape) < 0.2] = np.nan
    return DataSet(X, rng.permutation(60) % 2, ReliefF())


def imbalanced(rng: Random) -> DataSet:
    return DataSet(rng.normal(size=(100, 8)), (rng.permutation(100) < 8).astype(int), ReliefF())


def many_classes(rng: Random) -> DataSet:
    return DataSet(rng.random((100, 8)), np.repeat([0, 1, 2, 3], [10, 20, 30, 40]), ReliefF(5))


def numbers(rng: Random) -> DataSet:
    return DataSet(rng.normal(size=(70, 8)), rng.normal(size=70), RReliefF(20))


def numbers_with_ties(rng: Random) -> DataSet:
    return DataSet(rng.integers(0, 4, (70, 8)), rng.poisson(1.5, 70).astype(float), RReliefF(20))


def row_weights(rng: Random) -> DataSet:
    weights = rng.integers(1, 4, 60).astype(float)
    return DataSet(rng.normal(size=(60, 8)), rng.permutation(60) % 2, ReliefF(), weights)


def groups(rng: Random) -> DataSet:
    """Four laboratories, each with its own level of every feature and its own share of cases."""
    group = np.repeat(np.arange(4), 25)
    X = rng.normal(size=(100, 8)) + rng.normal(size=(4, 8))[group]
    y = np.concatenate([rng.permutation(25) < n for n in (5, 10, 15, 20)]).astype(int)
    return DataSet(X, y, ReliefF(), groups=group)


NULLS: list[Callable[[Random], DataSet]] = [
    independent, correlated, heavy_tailed, genotypes, mixed, missing, imbalanced, many_classes, numbers,
    numbers_with_ties, row_weights, groups,
]  # fmt: skip


def main_effects(rng: Random) -> DataSet:
    X = rng.random((150, 40))
    y = X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=150) > 2
    return DataSet(X, y.astype(int), ReliefF(), relevant=(0, 1, 2, 3))


def together_only(rng: Random) -> DataSet:
    X = rng.integers(0, 2, (200, 20))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(200) < 0.1)
    return DataSet(X, y.astype(int), ReliefF(), relevant=(0, 1))


def correlated_irrelevant(rng: Random) -> DataSet:
    X = rng.normal(size=(150, 40))
    X[:, 4:] += rng.normal(size=(150, 1))
    y = X[:, :4].sum(axis=1) + 0.5 * rng.normal(size=150) > 0
    return DataSet(X, y.astype(int), ReliefF(), relevant=(0, 1, 2, 3))


def numeric_signal(rng: Random) -> DataSet:
    X = rng.random((150, 30))
    return DataSet(X, X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=150), RReliefF(30), relevant=(0, 1))


SIGNALS = [main_effects, together_only, correlated_irrelevant, numeric_signal]


def one_null(design: Callable[[Random], DataSet], i: int, n_permutations: int) -> tuple[float, float]:
    """The p-value of one feature, by permutations and by STIR (NaN where it cannot be asked)."""
    rng = np.random.default_rng([SEED, NULLS.index(design), i])
    made = design(rng)
    feature = int(rng.integers(made.X.shape[1]))
    made.estimator.set_params(p_values="permutation", n_permutations=n_permutations, random_state=i, n_jobs=1)
    p = made.estimator.fit(made.X, made.y, made.weights, made.groups).p_values_[feature]
    if isinstance(made.estimator, RReliefF) or made.estimator.weights != "equal":
        return p, math.nan
    if made.weights is not None or made.groups is not None:
        return p, math.nan
    return p, made.estimator.set_params(p_values="stir").fit(made.X, made.y).p_values_[feature]


def one_signal(design: Callable[[Random], DataSet], i: int, n_permutations: int) -> tuple[float, bool, float]:
    """The share of false discoveries by BH at 0.1, whether max-T at 0.05 makes any, and the share found by BH."""
    made = design(np.random.default_rng([SEED, 100 + SIGNALS.index(design), i]))
    made.estimator.set_params(p_values="permutation", n_permutations=n_permutations, random_state=i, n_jobs=1)
    tested = made.estimator.fit(made.X, made.y)
    irrelevant = np.ones(made.X.shape[1], bool)
    irrelevant[list(made.relevant)] = False
    kept = tested.adjusted_p_values("bh") < 0.1
    false = kept[irrelevant].sum() / max(kept.sum(), 1)
    return false, bool((tested.adjusted_p_values("max-T") < 0.05)[irrelevant].any()), kept[~irrelevant].mean()


def test_nulls(run: Parallel, n_data_sets: int, n_permutations: int) -> None:
    rows = []
    for design in NULLS:
        begin = time.perf_counter()
        p, stir = np.array(run(delayed(one_null)(design, i, n_permutations) for i in range(n_data_sets))).T
        cells = [design.__name__.replace("_", " ")]
        for level in LEVELS:
            z = (np.sum(p <= level) - n_data_sets * level) / math.sqrt(n_data_sets * level * (1 - level))
            cells += [f"{np.mean(p <= level):.3f}", f"{z:+.1f}{'' if z <= LARGEST_Z else ' FAILS'}"]
        cells += ["–" if np.isnan(stir).any() else f"{np.mean(stir <= level):.3f}" for level in LEVELS]
        rows.append([*cells, f"{time.perf_counter() - begin:.0f}"])
    title = (
        f"{n_data_sets} data sets of each design, {n_permutations} permutations; every z is to be at most {LARGEST_Z}"
    )
    show(title, ["design", "p ≤ 0.05", "z", "p ≤ 0.01", "z", "STIR ≤ 0.05", "STIR ≤ 0.01", "seconds"], rows)


def test_signals(run: Parallel, n_data_sets: int) -> None:
    rows = []
    for design in SIGNALS:
        found = np.array(run(delayed(one_signal)(design, i, 499) for i in range(n_data_sets)))
        rows.append([design.__name__.replace("_", " "), *(f"{share:.3f}" for share in found.mean(axis=0))])
    show(
        f"{n_data_sets} data sets of each design with signals, 499 permutations",
        ["design", "false among p(bh)<0.1", "any false in p(max-T)<0.05", "found by p(bh)<0.1"],
        rows,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=N_DATA_SETS)
    parser.add_argument("--permutations", type=int, default=N_PERMUTATIONS)
    parser.add_argument("--jobs", type=int, default=n_cores())
    asked = parser.parse_args()
    print(f"{today()}, {in_words(this_machine())}")
    with Parallel(n_jobs=asked.jobs) as run:
        test_nulls(run, asked.data_sets, asked.permutations)
        test_signals(run, max(asked.data_sets // 5, 10))
