"""From a table and a recipe to weights: choose what runs, cut the work into blocks, sweep, score."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.engines import InLine, choose_engine
from nearhit.grid import Coder
from nearhit.intake import Columns
from nearhit.kernels.native import bytes_for_one_row
from nearhit.progress import progress
from nearhit.recipes import Recipe, SigmoidWeights
from nearhit.score import add_by_size, score
from nearhit.settings import choose_kernel, get_config
from nearhit.sweep import (
    NEVER,
    Sigmoid,
    Sums,
    bytes_of_sums,
    find_radii,
    find_sigmoid,
    hit_group,
    make_plan,
    n_groups,
    sweep,
)
from nearhit.table import Classes, Table, make_target
from nearhit.thread_limits import count_threads

#: rough speeds, only to size blocks: features of pairs per second and thread, and pairs per second
FILTER_SPEED, EXACT_SPEED, REFERENCE_SPEED, PAIR_SPEED = 1e11, 8e9, 2e6, 2e9
#: short enough for Ctrl-C to be heard within a second
SECONDS_PER_BLOCK = 0.25
#: below this, threads cost more than they bring
SECONDS_WORTH_THREADS = 0.001
#: above this a first batch is timed, to size the blocks by it: ties, k and scores cost what no formula foresees
SECONDS_WORTH_A_PROBE = 0.2
BLOCKS_PER_THREAD = 4
CELLS_WORTH_THREADS = 500_000
LARGEST_SUMS = 4 * 2**30
#: the share of the bound on pair storage that kept distances may take
MOST_TO_KEEP = 0.75
ROWS_OF_A_BATCH = 48
#: where each row of the table has a weight for each target: distance, weight, group and what NumPy needs in between
BYTES_OF_A_WEIGHED_PAIR = 64


@dataclass(frozen=True)
class Options:
    """How to run, none of which changes a bit of the result."""

    n_jobs: int | None = None
    verbose: int = 0
    title: str = "nearhit"
    #: so many fits run beside each other and share the bound on pair storage
    beside: int = 1


@dataclass(frozen=True, eq=False)
class Fit:
    """The weights and how they came about."""

    weights: npt.NDArray[np.float64]
    fewest_neighbours: float
    n_targets: float
    ran_on: str


def choose_coder(columns: Columns, n_jobs: int | None) -> Coder:
    """Who puts the numbers of a table on the grid."""
    threads = count_threads(n_jobs) if columns.n_rows * columns.n_features > CELLS_WORTH_THREADS else 1
    return Coder(choose_kernel().coder, choose_engine(threads, threads))


@dataclass(frozen=True, eq=False)
class Ready:
    """A table that was loaded for a recipe, and what runs on it."""

    kernel: Any
    handle: Any
    threads: int
    pair_bytes: int  # for each thread, beside the distances that are kept
    radii: npt.NDArray[np.int64] | Sigmoid | None
    seconds_per_row: float


def get_ready(recipe: Recipe, table: Table, rows: npt.NDArray[np.intp], options: Options) -> Ready:
    """Choose what runs and load the table for some target rows."""
    if recipe.radius and (recipe.grouping == "each class") != isinstance(table.targets[0], Classes):
        raise ValueError(
            f"{recipe.name}: with a radius classes are grouped by class and numbers into hits and misses; got "
            f"grouping '{recipe.grouping}' for {'classes' if isinstance(table.targets[0], Classes) else 'numbers'}."
        )
    kernel = choose_kernel()
    seconds = _guess_seconds_per_row(recipe, table, kernel)
    threads = 1 if seconds * len(rows) < SECONDS_WORTH_THREADS else count_threads(options.n_jobs)
    keeps = kernel.bytes_to_keep(table, recipe, len(rows))
    bound = get_config()["pair_memory"] // options.beside
    keeps = keeps if keeps <= bound * MOST_TO_KEEP else 0
    threads, pair_bytes = _share_pair_memory(table, threads, bound - keeps)
    engine = choose_engine(threads, threads)
    handle = kernel.load(table, recipe, pair_bytes, engine, keep=keeps > 0)
    find = find_sigmoid if isinstance(recipe.weights, SigmoidWeights) else find_radii
    radii = find(recipe, table, rows, kernel, handle, engine) if recipe.radius else None
    return Ready(kernel, handle, threads, pair_bytes, radii, seconds)


def fit_recipe(recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options) -> Fit:
    """One sweep with one recipe."""
    _refuse_too_many_classes(recipe, table)
    rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
    ready = get_ready(recipe, table, rows, options)
    kernel, handle, threads, radii = ready.kernel, ready.handle, ready.threads, ready.radii
    seconds, sums, waiting = ready.seconds_per_row, Sums.zeros(recipe, table), handle.in_order(rows)
    if seconds * len(rows) > SECONDS_WORTH_A_PROBE:
        first = make_plan(table, waiting, _rows_in_time(seconds, ROWS_OF_A_BATCH)).blocks[0]
        seconds = _time(lambda: sweep(sums, [first], kernel, handle, InLine(), radii)) / len(first)
        waiting = waiting[~np.isin(waiting, first)]
    size = _rows_per_block(seconds, len(waiting), threads)
    if isinstance(radii, Sigmoid):
        size = max(1, min(size, ready.pair_bytes // (BYTES_OF_A_WEIGHED_PAIR * table.n_rows)))
    plan = make_plan(table, waiting, size)
    with progress(options.title, len(plan.blocks), seconds * len(rows) / threads, options.verbose) as report:
        sweep(sums, plan.blocks, kernel, handle, choose_engine(threads, len(plan.blocks), report), radii)
    weight_of_targets = table.units_of(rows)
    weights = score(sums, recipe, table, float(weight_of_targets))
    return Fit(weights, _fewest(sums, recipe) / table.one, weight_of_targets / table.one, _what_ran(kernel, threads))


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


def _time(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _guess_seconds_per_row(recipe: Recipe, table: Table, kernel: Any) -> float:
    filtered = not table.has_unknown and recipe.diff.kind == "linear" and recipe.metric == "manhattan"
    speed = REFERENCE_SPEED if kernel.name == "reference" else FILTER_SPEED if filtered else EXACT_SPEED
    return table.n_rows * (table.n_features / speed + 1 / PAIR_SPEED)


def _rows_per_block(seconds_per_row: float, n_targets: int, threads: int) -> int:
    """Enough rows to be worth a call, few enough to be heard by Ctrl-C and to keep all threads busy to the end."""
    shared = n_targets if threads == 1 else -(-n_targets // (threads * BLOCKS_PER_THREAD))
    rows = _rows_in_time(seconds_per_row, shared)
    return rows if rows < ROWS_OF_A_BATCH else rows // ROWS_OF_A_BATCH * ROWS_OF_A_BATCH


def _rows_in_time(seconds_per_row: float, most: int) -> int:
    return max(1, min(most, int(SECONDS_PER_BLOCK / seconds_per_row)))


def _refuse_too_many_classes(recipe: Recipe, table: Table) -> None:
    if (size := bytes_of_sums(recipe, table)) > LARGEST_SUMS:
        raise ValueError(
            f"y has {n_groups(recipe, table)[0]} classes: the sums of every pair of them over {table.n_features} features "
            f"would take {size / 2**30:.1f} GiB. Use RReliefF if y is a number, another target if it is an identifier."
        )


def threads_that_fit(table: Table, n_jobs: int | None) -> int:
    """How many fits may run beside each other, each in one thread, within the bound on pair storage."""
    return max(1, min(count_threads(n_jobs), get_config()["pair_memory"] // bytes_for_one_row(table.n_rows)))


def _share_pair_memory(table: Table, threads: int, bound: int) -> tuple[int, int]:
    """Fewer threads where the bound on pair storage does not feed all; an error where it does not feed one."""
    one_row = bytes_for_one_row(table.n_rows)
    if one_row > bound:
        raise ValueError(
            f"the neighbours of one row may take {one_row / 2**20:.0f} MiB, more than the bound on pair storage of "
            f"{bound / 2**20:.0f} MiB. Raise it with nearhit.set_config(pair_memory={one_row}) or "
            f"NEARHIT_PAIR_MEMORY={one_row}, or use fewer rows."
        )
    threads = min(threads, bound // one_row)
    return threads, bound // threads


def _fewest(sums: Sums, recipe: Recipe) -> int:
    """The smallest neighbourhood that counts in the score."""
    near = sums.fewest[:, : sums.fewest.shape[1] // (2 if recipe.far else 1)]
    counts = near != NEVER
    if not recipe.hits:
        for c in range(len(counts)):
            counts[c, hit_group(recipe, c)] = False
    return int(near[counts].min())


def _what_ran(kernel: Any, threads: int) -> str:
    return f"{kernel.name}, {threads} thread{'s' if threads > 1 else ''}"
