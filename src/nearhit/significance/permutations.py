"""Which targets may change places under the null hypothesis, and the shuffles drawn from that.

Permutation b depends on the seed and on b alone: not on threads, batches, nor on how many others are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Exchange:
    """What changes places with what.

    Attributes
    ----------
    n_rows
        How many rows there are.
    groups
        The group of each row as a number, or None: all rows are alike.
    whole
        False: targets of rows change places within their group. True: groups of one size change places, each with its
        targets in their order.
    """

    n_rows: int
    groups: IntArray | None = None
    whole: bool = False

    def describe(self) -> str:
        """What is permuted, in words."""
        if self.groups is None:
            return "among all rows"
        n = int(self.groups.max()) + 1
        return f"of {n} whole groups among those of their size" if self.whole else f"of rows within {n} groups"

    def draw(self, seed: int, numbers: Sequence[int]) -> npt.NDArray[np.int32]:
        """One line for each permutation: row i gets the target of row line[i]."""
        lines = np.empty((len(numbers), self.n_rows), np.int32)
        for line, b in zip(lines, numbers, strict=True):
            random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(b,)))
            line[:] = self._one(random)
        return lines

    def _one(self, random: np.random.Generator) -> npt.NDArray[Any]:
        if self.groups is None:
            return random.permutation(self.n_rows)
        if not self.whole:
            order = np.empty(self.n_rows, np.intp)
            order[np.argsort(self.groups, kind="stable")] = np.lexsort((random.permutation(self.n_rows), self.groups))
            return order
        order = np.arange(self.n_rows)
        for groups in groups_by_size(self.groups):
            order[groups] = groups[random.permutation(len(groups))]
        return order


def groups_by_size(groups: IntArray) -> list[IntArray]:
    """For each size of group the rows of those groups: arrays of shape (groups, size)."""
    rows, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    return [rows[starts[sizes == size][:, None] + np.arange(size)] for size in np.unique(sizes)]


def find_exchange(target: npt.NDArray[Any], groups: npt.NDArray[Any] | None) -> Exchange:
    """What may change places: rows, rows within their group, or, where no group holds two targets, whole groups.

    Parameters
    ----------
    target : array of shape (n_rows,)
        Codes or numbers.
    groups : array of shape (n_rows,) or None
        The group of each row as a number.
    """
    if groups is None:
        return Exchange(len(target))
    numbered = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.intp)
    first = np.zeros(numbered.max() + 1, np.intp)
    first[numbered] = np.arange(len(target))
    if (target != target[first[numbered]]).any():
        return Exchange(len(target), numbered)
    if any((target[rows[:, 0]] != target[rows[0, 0]]).any() for rows in groups_by_size(numbered)):
        return Exchange(len(target), numbered, whole=True)
    raise ValueError(
        'p_values="permutation" has nothing to permute: y is the same in all rows of each group, and in all groups of one '
        "size. Give larger groups, or leave groups out if rows may change places freely."
    )
