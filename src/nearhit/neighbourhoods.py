"""Who the neighbours are, and how far the features of two rows are apart: for those who ask more than a score.

The same rows, weights and diffs as a fit would add up (SPEC.md section 3), as arrays of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearhit.engines import choose_engine
from nearhit.fitting import Options, Ready, get_ready
from nearhit.recipes import Recipe
from nearhit.score import units_of_one_diff
from nearhit.settings import get_config
from nearhit.sweep import Neighbours, Sigmoid, make_plan, n_groups
from nearhit.table import Table

__all__ = ["Neighbours", "Pairs", "diffs_of_pairs", "find_neighbours"]

#: what the lists of one block of targets take at most, as a share of the bound on pair storage
SHARE_OF_PAIR_MEMORY = 8
BYTES_OF_A_PAIR = 120


class Pairs:
    """A table that was loaded for a recipe, to be asked about pairs of rows.

    Parameters
    ----------
    table, recipe
        What is compared, and how.
    targets : array of rows, optional
        Those that will be asked for their neighbours; all by default.
    options : Options
        Threads.
    """

    def __init__(
        self,
        table: Table,
        recipe: Recipe,
        targets: npt.NDArray[np.intp] | None = None,
        options: Options | None = None,
    ) -> None:
        self.table = table
        self.recipe = recipe
        self.rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
        self.ready: Ready = get_ready(recipe, table, self.rows, options or Options())

    def neighbours(self) -> Iterator[Neighbours]:
        """The neighbours of the targets, some targets of one class at a time."""
        ready = self.ready
        if isinstance(ready.radii, Sigmoid):
            raise ValueError(f"{self.recipe.name} has no neighbours: every row has its weight, a sigmoid of its distance.")
        radii = ready.radii
        most = get_config()["pair_memory"] // SHARE_OF_PAIR_MEMORY // ready.threads
        plan = make_plan(self.table, self.rows, max(1, most // (BYTES_OF_A_PAIR * self._neighbours_of_a_row())))

        def find(block: npt.NDArray[np.intp]) -> Neighbours:
            return ready.kernel.neighbours(ready.handle, block, None if radii is None else radii[block])

        for i in range(0, len(plan.blocks), ready.threads):  # as many as there are threads: nothing piles up
            some = plan.blocks[i : i + ready.threads]
            yield from choose_engine(ready.threads, len(some)).map(find, some)

    def diffs(self, rows: npt.NDArray[np.integer], others: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
        """The diffs of pairs of rows, one line a pair, columns in the order of the input; 1 is the whole range."""
        rows, others = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(others, np.int64)
        codes = self.ready.kernel.diffs(self.ready.handle, rows, others)
        return self.table.in_column_order(codes * (units_of_one_diff(self.recipe, self.table) * 2.0**-31))

    def _neighbours_of_a_row(self) -> int:
        k, n = self.recipe.k, self.table.n_rows
        return n if k is None else min(k * n_groups(self.recipe, self.table)[1], n)


def find_neighbours(
    table: Table, recipe: Recipe, targets: npt.NDArray[np.intp] | None = None, options: Options | None = None
) -> Iterator[Neighbours]:
    """The neighbours of all rows, or of some, some targets of one class at a time."""
    return Pairs(table, recipe, targets, options).neighbours()


def diffs_of_pairs(
    table: Table, recipe: Recipe, rows: npt.NDArray[np.integer], others: npt.NDArray[np.integer]
) -> npt.NDArray[np.float64]:
    """The diffs of pairs of rows, one line a pair, columns in the order of the input; 1 is the whole range."""
    return Pairs(table, recipe, np.unique(rows)).diffs(rows, others)
