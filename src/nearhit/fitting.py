"""From a table and a recipe to weights: choose what runs, cut the work into blocks, sweep, score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.engines import choose_engine, count_threads
from nearhit.kernels.native import bytes_for_one_row
from nearhit.progress import progress
from nearhit.recipes import Recipe
from nearhit.score import add_by_size, score
from nearhit.settings import choose_kernel, get_config
from nearhit.sweep import Sums, make_plan, sweep
from nearhit.table import Classes, Table, make_target

#: rough speeds, only to size blocks: features of pairs per second and thread, and pairs per second
FILTER_SPEED, EXACT_SPEED, REFERENCE_SPEED, PAIR_SPEED = 1e11, 8e9, 2e6, 2e9
#: short enough for Ctrl-C to be heard within a second
SECONDS_PER_BLOCK = 0.1
#: below this, threads cost more than they bring
SECONDS_WORTH_THREADS = 0.001
BLOCKS_PER_THREAD = 4
ROWS_OF_A_BATCH = 48


@dataclass(frozen=True)
class Options:
    """How to run, none of which changes a bit of the result."""

    n_jobs: int | None = None
    verbose: int = 0
    title: str = "nearhit"


@dataclass(frozen=True, eq=False)
class Fit:
    """The weights and how they came about."""

    weights: npt.NDArray[np.float64]
    fewest_neighbours: float
    n_targets: float
    ran_on: str


def fit_recipe(recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options) -> Fit:
    """One sweep with one recipe."""
    kernel = choose_kernel()
    seconds = _seconds_per_row(recipe, table, kernel)
    n_targets = table.n_rows if targets is None else len(targets)
    threads = 1 if seconds * n_targets < SECONDS_WORTH_THREADS else count_threads(options.n_jobs)
    threads, pair_bytes = _share_pair_memory(table, threads)
    plan = make_plan(table, targets, _rows_per_block(seconds, n_targets, threads))
    with progress(options.title, len(plan.blocks), seconds * n_targets / threads, options.verbose) as report:
        engine = choose_engine(threads, len(plan.blocks), report)
        sums = sweep(recipe, table, plan, kernel, engine, pair_bytes)
    one = 1 if table.weights is None else table.weights.one
    weight_of_targets = float(sum(int(table.units()[block].sum()) for block in plan.blocks)) / one
    return Fit(score(sums, recipe, table, plan), _fewest(sums) / one, weight_of_targets, _what_ran(kernel, threads))


def fit_one_against_rest(recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options) -> Fit:
    """Kira and Rendell's way with many classes: the recipe on each two-class problem, the mean weighted by the priors."""
    classes = table.targets[0]
    if not isinstance(classes, Classes) or classes.n_classes == 2:
        return fit_recipe(recipe, table, targets, options)
    fits = []
    for c in range(classes.n_classes):
        binary = make_target((classes.codes == c).astype(np.int32), table.units())
        fits.append(fit_recipe(recipe, replace(table, targets=(binary,)), targets, options))
    share = classes.weight / classes.weight.sum()
    weights = add_by_size(np.stack([fit.weights * p for fit, p in zip(fits, share, strict=True)]))
    return replace(fits[0], weights=weights, fewest_neighbours=min(fit.fewest_neighbours for fit in fits))


def _seconds_per_row(recipe: Recipe, table: Table, kernel: Any) -> float:
    filtered = not table.has_unknown and recipe.diff.kind == "linear" and recipe.metric == "manhattan"
    speed = REFERENCE_SPEED if kernel.name == "reference" else FILTER_SPEED if filtered else EXACT_SPEED
    return table.n_rows * (table.n_features / speed + 1 / PAIR_SPEED)


def _rows_per_block(seconds_per_row: float, n_targets: int, threads: int) -> int:
    """Enough rows to be worth a call, few enough to be heard by Ctrl-C and to keep all threads busy to the end."""
    in_time = int(SECONDS_PER_BLOCK / seconds_per_row)
    shared = -(-n_targets // (threads * BLOCKS_PER_THREAD))
    rows = min(in_time, shared) if threads > 1 else in_time
    return max(1, rows) if rows < ROWS_OF_A_BATCH else rows // ROWS_OF_A_BATCH * ROWS_OF_A_BATCH


def _share_pair_memory(table: Table, threads: int) -> tuple[int, int]:
    """Fewer threads where the bound on pair storage does not feed all; an error where it does not feed one."""
    bound = get_config()["pair_memory"]
    one_row = bytes_for_one_row(table.n_rows)
    if one_row > bound:
        raise ValueError(
            f"the neighbours of one row may take {one_row / 2**20:.0f} MiB, more than the bound on pair storage of "
            f"{bound / 2**20:.0f} MiB. Raise it with nearhit.set_config(pair_memory={one_row}) or "
            f"NEARHIT_PAIR_MEMORY={one_row}, or use fewer rows."
        )
    threads = min(threads, bound // one_row)
    return threads, bound // threads


def _fewest(sums: Sums) -> int:
    never = np.iinfo(np.int64).max
    visited = sums.fewest[sums.fewest != never]
    return int(visited.min())


def _what_ran(kernel: Any, threads: int) -> str:
    return f"{kernel.name}, {threads} thread{'s' if threads > 1 else ''}"
