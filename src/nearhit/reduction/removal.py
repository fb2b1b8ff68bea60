"""Backward removal: the column that changes the disorder of the pairs least goes first (DM section 3.4).

    E = sum over pairs of h(S)        remove the feature of the smallest |E - E without it|, again and again

Each round goes over the pairs once. In a stretch of pairs the sums over the columns that are left are made once and each
of these columns is taken away from them in turn: O(a) for a pair and a round, O(a^2 n^2) in all, and no pair is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nearhit.engines import Report, choose_engine
from nearhit.reduction.similarity import FRACTION_BITS, IntArray, Similarity, Stretch, all_pairs

#: a stretch of pairs: its handful of arrays fit the second-level cache (2**13 is a fifth slower, 2**17 twice as slow)
PAIRS_AT_A_TIME = 2**15
#: for Ctrl-C and for progress, at that many pairs times columns a second
SECONDS_PER_TASK, SPEED = 0.25, 1e8
TASKS_PER_THREAD = 4
#: sums of h over the pairs of one task stay in 64 bits
LARGEST_TASK = 2**22
#: pairs times columns under which threads cost more than they bring
WORTH_THREADS = 200_000


@dataclass(frozen=True)
class Removals:
    """What went, in that order, by how much each changed E, E of all features, and what is left.

    E and its changes in units of 2**-40 bits.
    """

    features: list[int]
    changes: list[int]
    everything: int
    left: list[int]


def remove_features(
    disorder: PairDisorder, features: Sequence[int], threshold: float | None, report: Report | None = None
) -> Removals:
    """Remove one feature after the other, until none is left or the next would change E by more than a share of it.

    Of equal changes the later column goes. `report` is told of pairs that were looked at, `n_looks` in all.
    """
    left = list(features)
    everything = current = disorder.of(left, report)
    removed: list[int] = []
    changes: list[int] = []
    while left:
        without = disorder.without_each(left, report) if len(left) > 1 else [0]  # rows without columns are all alike
        change, k = min((abs(current - entropy), -k) for k, entropy in enumerate(without))
        if threshold is not None and change > threshold * everything:
            break
        current = without[-k]
        removed.append(left.pop(-k))
        changes.append(change)
    return Removals(removed, changes, everything, left)


class PairDisorder:
    """E of a table for any set of its columns."""

    def __init__(self, similarity: Similarity, n_rows: int, n_threads: int) -> None:
        self.similarity = similarity
        self.n_pairs = n_rows * (n_rows - 1) // 2
        self.n_threads = n_threads
        self._stretches = all_pairs(n_rows, PAIRS_AT_A_TIME)

    def n_looks(self, n_features: int) -> int:
        """How often pairs are looked at until no feature is left: once, then for all candidates of all rounds but one."""
        return self.n_pairs * (n_features * (n_features + 1) // 2)

    def of(self, left: Sequence[int], report: Report | None = None) -> int:
        """E of some columns."""
        return self._sum(left, lambda sums: self.similarity.bits(sums, len(left)), report)

    def mean(self, left: Sequence[int], quantity: Callable[[IntArray], IntArray]) -> float:
        """The mean over pairs of what a function makes, in units of 2**-40, of the sums over some columns."""
        return self._sum(left, quantity) / 2**FRACTION_BITS / self.n_pairs if left else 0.0

    def without_each(self, left: Sequence[int], report: Report | None = None) -> list[int]:
        """E of some columns without the first, without the second …"""

        def work(stretches: list[Stretch]) -> list[int]:
            entropies = np.zeros(len(left), np.int64)
            for stretch in stretches:
                sums = self._sums(left, stretch)
                for k, feature in enumerate(left):
                    rest = sums - self.similarity.parts(feature, stretch)
                    entropies[k] += self.similarity.bits(rest, len(left) - 1).sum()
            return entropies.tolist()

        return self._add_up(work, len(left), len(left), report)

    def _sum(self, left: Sequence[int], quantity: Callable[[IntArray], IntArray], report: Report | None = None) -> int:
        def work(stretches: list[Stretch]) -> list[int]:
            return [sum(int(quantity(self._sums(left, stretch)).sum()) for stretch in stretches)]

        return self._add_up(work, len(left), 1, report)[0] if left else 0

    def _sums(self, left: Sequence[int], stretch: Stretch) -> IntArray:
        sums = self.similarity.parts(left[0], stretch)
        for feature in left[1:]:
            sums += self.similarity.parts(feature, stretch)
        return sums

    def _add_up(
        self, work: Callable[[list[Stretch]], list[int]], n_left: int, n_sums: int, report: Report | None
    ) -> list[int]:
        """Sums over all pairs, as Python's integers: with 40 bits of fraction a large table exceeds 64."""
        tasks = self._tasks(n_left)
        threads = self.n_threads if self.n_pairs * n_left > WORTH_THREADS else 1
        sums = [0] * n_sums
        for task, part in zip(tasks, choose_engine(threads, len(tasks)).map(work, tasks), strict=True):
            sums = [a + b for a, b in zip(sums, part, strict=True)]
            if report:
                report(n_sums * sum(stretch.n_pairs for stretch in task))
        return sums

    def _tasks(self, n_left: int) -> list[list[Stretch]]:
        pairs = min(SECONDS_PER_TASK * SPEED / n_left, self.n_pairs / (self.n_threads * TASKS_PER_THREAD), LARGEST_TASK)
        size = max(1, math.floor(pairs / PAIRS_AT_A_TIME))
        return [self._stretches[i : i + size] for i in range(0, len(self._stretches), size)]
