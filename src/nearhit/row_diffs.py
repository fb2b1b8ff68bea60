"""The diffs between rows as floats, for members that weigh them anew in each step: I-Relief and Simba.

The same diffs as those of ReliefF (SPEC.md section 2: categories, missing values, ranges), computed where they are needed
and forgotten: computing a diff again takes no longer than reading it from memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nearhit.fitting import Options, get_ready
from nearhit.recipes import Recipe
from nearhit.score import units_of_one_diff
from nearhit.settings import get_config
from nearhit.table import Table
from nearhit.thread_limits import count_threads

#: a code of 32 bits and a float, and the two rows of a pair beside its features
BYTES_OF_A_DIFF, BYTES_OF_A_PAIR = 12, 16
#: small enough for the cache; a worker takes more only for a row that needs more, and never more than its share of the
#: bound on pair storage. No number of threads comes in: how rows are cut decides the last bit of sums of floats
BYTES_IN_CACHE, SHARE_OF_PAIR_MEMORY = 2**20, 16


class RowDiffs:
    """A table that was loaded for a recipe, to be asked for diffs; numeric columns first, 1 is the whole range."""

    def __init__(self, table: Table, recipe: Recipe, options: Options) -> None:
        ready = get_ready(recipe, table, np.zeros(1, np.intp), options)  # nobody looks for neighbours: nothing is kept
        self._kernel, self._handle = ready.kernel, ready.handle
        self._one = units_of_one_diff(recipe, table) * 2.0**-31
        most = get_config()["pair_memory"] // SHARE_OF_PAIR_MEMORY
        a_pair = table.n_features * BYTES_OF_A_DIFF + BYTES_OF_A_PAIR
        #: how many rows may be compared with all others at once: none where a single one is too many
        self.rows_at_once = max(min(BYTES_IN_CACHE, most) // (table.n_rows * a_pair), int(table.n_rows * a_pair <= most))
        #: how many others a single row may be compared with at once
        self.others_at_once = max(1, most // a_pair)
        self.n_threads = min(count_threads(options.n_jobs), SHARE_OF_PAIR_MEMORY)

    def what_ran(self, threads: int) -> str:
        return f"{self._kernel.name}, {threads} thread{'s' if threads > 1 else ''}"

    def between(self, rows: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """The diffs of each of `rows` to all `others`: shape (rows * others, features)."""
        codes = self._kernel.diffs(self._handle, np.repeat(rows, len(others)), np.tile(others, len(rows)))
        return np.multiply(codes, self._one)
