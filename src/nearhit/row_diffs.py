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

#: a code of 32 bits and the same as a float; the two rows of a pair beside its features
BYTES_OF_A_DIFF, BYTES_OF_A_PAIR = 12, 16
#: what is worked on stays in the cache of a core; a single row may take a little more before it is taken in parts
BYTES_IN_CACHE, BYTES_OF_A_ROW = 2**20, 2**22
#: and a worker stays under this share of the bound on pair storage. No number of threads comes in: how rows are cut
#: decides the last bit of sums of floats
SHARE_OF_PAIR_MEMORY = 16


class RowDiffs:
    """A table that was loaded for a recipe, to be asked for diffs as floats; numeric columns first.

    Attributes
    ----------
    one : float
        By what the diffs have to be multiplied for 1 to be the whole range.
    rows_at_once : int
        How many rows may be compared with all others at once: 0 where a single one is too many.
    others_at_once : int
        How many others a single row may be compared with then.
    """

    def __init__(self, table: Table, recipe: Recipe, options: Options) -> None:
        ready = get_ready(recipe, table, np.zeros(1, np.intp), options)  # nobody looks for neighbours: nothing is kept
        self._kernel, self._handle = ready.kernel, ready.handle
        self.one = units_of_one_diff(recipe, table) * 2.0**-31
        a_pair = table.n_features * BYTES_OF_A_DIFF + BYTES_OF_A_PAIR
        a_row = table.n_rows * a_pair
        most = get_config()["pair_memory"] // SHARE_OF_PAIR_MEMORY
        self.rows_at_once = max(min(BYTES_IN_CACHE, most) // a_row, int(a_row <= min(BYTES_OF_A_ROW, most)))
        self.others_at_once = max(1, min(BYTES_IN_CACHE, most) // a_pair)
        self.n_threads = min(count_threads(options.n_jobs), SHARE_OF_PAIR_MEMORY)

    def between(self, rows: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """The diffs of each of `rows` to all `others`: shape (rows * others, features)."""
        codes = self._kernel.diffs(self._handle, np.repeat(rows, len(others)), np.tile(others, len(rows)))
        return codes.astype(np.float64)

    def parts(self, others: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
        """Others for a single row, as many as it may be compared with at once."""
        return [others[i : i + self.others_at_once] for i in range(0, len(others), self.others_at_once)]

    def what_ran(self, threads: int) -> str:
        return f"{self._kernel.name}, {threads} thread{'s' if threads > 1 else ''}"
