"""One fit taken apart: how long does each of its stages take?

The stages are those of nearhit.fitting.fit_recipe. Distances, selection and scores are told apart by runs that stop
after the first, the second and none of them; each stage is the best of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit import recipes
from nearhit.engines import choose_engine
from nearhit.fitting import MOST_TO_KEEP
from nearhit.grid import Coder
from nearhit.intake import read_columns
from nearhit.kernels.native import Handle, NativeKernel
from nearhit.recipes import Recipe
from nearhit.settings import get_config
from nearhit.sweep import find_radii, make_plan
from nearhit.table import Table, make_table

RECIPES = {"ReliefF": recipes.RELIEFF, "RReliefF": recipes.RRELIEFF, "MultiSURF": recipes.MULTISURF}
STAGES = ("read", "pack", "distances", "selection", "scores")
DISTANCES, NEIGHBOURS, SUMS = range(3)
PAIR_BYTES = 2**26


@dataclass(frozen=True)
class Fit:
    """A table and a recipe on one kernel, with so many threads."""

    X: npt.NDArray
    y: npt.NDArray
    categorical: npt.NDArray[np.bool_]
    recipe: Recipe
    kernel: NativeKernel
    threads: int

    def read(self) -> Table:
        """From an array to a checked table of codes."""
        columns = read_columns(self.X, self.categorical, estimator_name="ReliefF")
        coder = Coder(self.kernel.coder, choose_engine(self.threads, self.threads))
        return make_table(columns, [self.y], None, scale="range", coder=coder)

    def load(self, table: Table, *, keep: bool = False) -> Handle:
        """The packed table, perhaps with all distances."""
        return self.kernel.load(table, self.recipe, PAIR_BYTES, choose_engine(self.threads, self.threads), keep=keep)

    def keeps(self, table: Table) -> bool:
        """Whether a fit would keep all distances."""
        size = self.kernel.bytes_to_keep(table, self.recipe, table.n_rows)
        return 0 < size <= get_config()["pair_memory"] * MOST_TO_KEEP

    def radii(self, table: Table, handle: Handle) -> npt.NDArray[np.int64] | None:
        """How far each row looks, if the recipe says so."""
        if not self.recipe.radius:
            return None
        engine = choose_engine(self.threads, self.threads)
        return find_radii(self.recipe, table, np.arange(table.n_rows), self.kernel, handle, engine)

    def sweep(self, handle: Handle, radii: Any, blocks: Iterable[npt.NDArray[np.intp]], last_stage: int) -> None:
        """All blocks, as far as `last_stage`."""

        def run(rows: npt.NDArray[np.intp]) -> None:
            near = None if radii is None else radii[rows]
            toward = handle.toward(handle._class_of(rows))
            handle.loaded.run(rows, near, handle.batch, handle.candidates, handle.neighbours_waiting, toward, last_stage)

        blocks = list(blocks)
        for _ in choose_engine(self.threads, len(blocks)).map(run, blocks):
            pass


def take_apart(fit: Fit, repeats: int = 5, rows_per_block: int = 192) -> dict[str, float]:
    """Seconds of each stage. What is kept, and radii, belong to the distances."""
    read_s, table = best(fit.read, repeats)
    pack_s, handle = best(lambda: fit.load(table), repeats)
    radii_s, radii = 0.0, None
    if keeps := fit.keeps(table):
        kept_s, handle = best(lambda: fit.load(table, keep=True), repeats)
        radii_s = max(kept_s - pack_s, 0.0)
    if fit.recipe.radius:
        more_s, radii = best(lambda: fit.radii(table, handle), repeats)
        radii_s += more_s
    blocks = make_plan(table, handle.in_order(np.arange(table.n_rows)), rows_per_block).blocks
    parts = [best(lambda stage=stage: fit.sweep(handle, radii, blocks, stage), repeats)[0] for stage in range(3)]
    return {
        "read": read_s,
        "pack": pack_s,
        "distances": parts[DISTANCES] + radii_s,
        "selection": max(parts[NEIGHBOURS] - parts[DISTANCES], 0.0),
        "scores": max(parts[SUMS] - parts[NEIGHBOURS], 0.0),
        "kept": float(keeps),
    }


def best(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest time of several, and what came last."""
    shortest, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result
