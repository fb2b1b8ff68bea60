"""How long do a thousand permutations take, and how much of that do shared distances save?

    python benchmarks/permutations.py
    python benchmarks/permutations.py --permutations 200 --refits 5

For each table: a fit without p-values, the same with 1,000 permutations (the best of three), and what as many fits would
take, from a few of them. The targets of issue 4: 400 x 200 in 0.5 s and 1,000 x 1,000 in 6 s, on two cores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from machine import in_words, this_machine, today
from show_table import show

from nearhit import ReliefF, RReliefF

SEED = 0
RNG = np.random.default_rng(SEED)


class Case(NamedTuple):
    """A table, its target and the estimator."""

    name: str
    X: npt.NDArray
    y: npt.NDArray
    estimator: ReliefF | RReliefF


def cases() -> list[Case]:
    def coin(n: int) -> npt.NDArray:
        return RNG.integers(0, 2, n)

    wide, genotypes = RNG.random((1000, 1000)), RNG.integers(0, 3, (1000, 1000), dtype=np.int8)
    holes = np.where(RNG.random((400, 200)) < 0.1, np.nan, RNG.random((400, 200)))
    categorical = ReliefF(categorical_features=list(range(1000)))
    return [
        Case("400 x 200 numbers", RNG.random((400, 200)), coin(400), ReliefF()),
        Case("1,000 x 1,000 numbers", wide, coin(1000), ReliefF()),
        Case("1,000 x 1,000 genotypes", genotypes, coin(1000), categorical),
        Case("1,000 x 1,000 numbers, 5 classes", wide, RNG.integers(0, 5, 1000), ReliefF()),
        Case("1,000 x 1,000 numbers, weights by rank", wide, coin(1000), ReliefF(weights="rank")),
        Case("5,000 x 100 numbers", RNG.random((5000, 100)), coin(5000), ReliefF()),
        Case("400 x 200, numeric target (RReliefF, k = 70)", RNG.random((400, 200)), RNG.random(400), RReliefF()),
        Case("400 x 200, 10 % missing, skipped", holes, coin(400), ReliefF(missing="skip")),
        Case("400 x 200, 10 % missing, expected: fits", holes, coin(400), ReliefF()),
    ]


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The best of some runs."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def measure(case: Case, n_permutations: int, n_refits: int) -> list[str]:
    X, y, estimator = case.X, case.y, case.estimator
    shuffled = [RNG.permutation(y) for _ in range(n_refits)]
    one = seconds(lambda: estimator.fit(X, y), 3)
    loop = seconds(lambda: [estimator.fit(X, target) for target in shuffled], 1) / n_refits * n_permutations
    estimator.set_params(p_values="permutation", n_permutations=n_permutations, random_state=SEED)
    tested = seconds(lambda: estimator.fit(X, y), 3)
    return [case.name, f"{one:.4f}", f"{tested:.2f}", f"{tested / one:.0f}", f"{loop:.1f}", f"{loop / tested:.0f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--refits", type=int, default=20, help="how many of the fits beside it are run")
    asked = parser.parse_args()
    title = f"{asked.permutations:,} permutations, seconds; {today()}, {in_words(this_machine())}"
    columns = ["table", "one fit", "tested", "in fits", "a loop of fits", "times as long"]
    show(title, columns, [measure(case, asked.permutations, asked.refits) for case in cases()])
