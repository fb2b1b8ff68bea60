"""How near to the limit of the machine are the kernels inside a fit, and what does the rest of a fit cost?

    python benchmarks/kernels.py
    python benchmarks/kernels.py --isa avx512,avx2
    python benchmarks/kernels.py --what stages --workloads W3,W4

Two tables. Kernels: G elements (pairs x columns) per second on one core, inside a fit, beside the limit that
limits.py measures in the same minute. Stages: where the time of each workload goes, and how it shrinks from one
thread to all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from limits import measure_limits, sets_here
from machine import in_words, n_cores, this_machine, today
from show_table import show
from stages import DISTANCES, NEIGHBOURS, RECIPES, STAGES, SUMS, Fit, best, take_apart
from workloads import SEED, SPECS, make

from nearhit import MultiSURF, ReliefF, RReliefF, recipes
from nearhit.kernels.native import NativeKernel
from nearhit.sweep import make_plan

N_TARGETS = 960


class Case(NamedTuple):
    """A table on which one kernel does nearly all of the work."""

    kernel: str
    what: str
    n_rows: int
    n_features: int
    fill: Callable[[np.random.Generator, int, int], npt.NDArray]
    categorical: bool
    recipe: recipes.Recipe = recipes.RELIEFF
    stage: int = DISTANCES


def numbers(rng: np.random.Generator, n: int, a: int) -> npt.NDArray:
    """Uniform columns."""
    return rng.random((n, a))


def of_values(n_values: int) -> Callable[[np.random.Generator, int, int], npt.NDArray]:
    """Categories, all as frequent."""
    return lambda rng, n, a: rng.integers(0, n_values, (n, a), dtype=np.int16 if n_values > 127 else np.int8)


def with_holes(rng: np.random.Generator, n: int, a: int) -> npt.NDArray:
    """Uniform columns, every tenth cell unknown."""
    return np.where(rng.random((n, a)) < 0.1, np.nan, rng.random((n, a)))


CASES = [
    Case("numeric16", "distances, numbers", 10_000, 1_000, numbers, False),
    Case("numeric16", "distances, numbers, few columns", 10_000, 100, numbers, False),
    Case("planes1", "distances, 2 categories", 4_000, 20_000, of_values(2), True),
    Case("planes2", "distances, genotypes", 4_000, 20_000, of_values(3), True),
    Case("planes2", "distances, wide genotypes", 2_350, 230_000, of_values(3), True),
    Case("planes3", "distances, 8 categories", 4_000, 20_000, of_values(8), True),
    Case("planes4", "distances, 16 categories", 4_000, 20_000, of_values(16), True),
    Case("bytes8", "distances, 100 categories", 4_000, 4_000, of_values(100), True),
    Case("words16", "distances, 1,000 categories", 4_000, 2_000, of_values(1000), True),
    Case("holes", "distances, numbers with unknown cells", 4_000, 400, with_holes, False),
    Case("codes32", "mean distances, numbers", 4_000, 2_000, numbers, False, recipes.MULTISURF, -1),
    Case("overlap", "scores within a radius, genotypes", 4_000, 20_000, of_values(3), True, recipes.MULTISURF, SUMS),
    Case("", "scores within a radius, numbers", 4_000, 2_000, numbers, False, recipes.MULTISURF, SUMS),
    Case("", "scores of 20 neighbours, numbers", 10_000, 1_000, numbers, False, recipes.RELIEFF, SUMS),
    Case("", "scores of 20 neighbours, genotypes", 4_000, 20_000, of_values(3), True, recipes.RELIEFF, SUMS),
]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and show what was asked for."""
    options = parse(argv)
    notes = [f"Machine: {in_words(this_machine())}. Measured {today()}, seed {SEED}, best of {options.repeats}."]
    if "kernels" in options.what:
        columns = ["set", "kernel", "work", "rows x columns", "G el/s", "limit", "of limit"]
        rows = [row for isa in options.isa for row in kernel_rows(isa, options)]
        show("How near to the limit of the machine are the kernels, on one core?", columns, rows, notes, n_left=4)
    if "stages" in options.what:
        columns = ["workload", "threads", *STAGES, "rest", "whole fit", "sweep x"]
        rows = [row for name in options.workloads for row in stage_rows(name, options)]
        show("Where does the time of a fit go? Milliseconds", columns, rows, notes)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--what", type=lambda text: text.split(","), default=["kernels", "stages"], metavar="WHAT,WHAT")
    parser.add_argument("--isa", type=lambda text: text.split(","), default=sets_here()[:2], metavar="SET,SET")
    parser.add_argument("--workloads", type=lambda text: text.split(","), default=list(SPECS), metavar="W1,W2")
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args(argv)


# -------------------------------------------------------------------------------------------------------- kernels


def kernel_rows(isa: str, options: argparse.Namespace) -> Iterator[list[str]]:
    """One line per case. The limits are measured before and after, and the higher ones count."""
    before = measure_limits(isa)
    speeds = [speed(case, isa, options.repeats) for case in CASES]
    after = measure_limits(isa)
    for case, found in zip(CASES, speeds, strict=True):
        line = [isa, case.kernel, case.what, f"{case.n_rows:,} x {case.n_features:,}", f"{found:,.1f}"]
        if not case.kernel:
            yield [*line, "", ""]
            continue
        peak = max(before[case.kernel].peak, after[case.kernel].peak)
        yield [*line, f"{peak:,.0f}", f"{found / peak:.0%}"]


def speed(case: Case, isa: str, repeats: int) -> float:
    """G elements per second: pairs x columns that distances compare, or that scores add up."""
    rng = np.random.default_rng(SEED)
    X, y = case.fill(rng, case.n_rows, case.n_features), rng.integers(0, 2, case.n_rows)
    fit = Fit(X, y, np.full(case.n_features, case.categorical), case.recipe, NativeKernel(isa), 1)
    table = fit.read()
    handle = fit.load(table)
    rows = handle.in_order(np.arange(case.n_rows))[:N_TARGETS]
    blocks = make_plan(table, rows, 192).blocks
    if case.stage < 0:
        seconds, _ = best(lambda: [fit.kernel.moments(handle, block) for block in blocks], repeats)
        return N_TARGETS * case.n_rows * case.n_features / seconds / 1e9
    radii = fit.radii(table, handle)
    seconds, _ = best(lambda: fit.sweep(handle, radii, blocks, case.stage), repeats)
    if case.stage == DISTANCES:
        return N_TARGETS * case.n_rows * case.n_features / seconds / 1e9
    without, _ = best(lambda: fit.sweep(handle, radii, blocks, NEIGHBOURS), repeats)
    return pairs_to_add(case, fit, handle, radii, rows) * case.n_features / max(seconds - without, 1e-9) / 1e9


def pairs_to_add(case: Case, fit: Fit, handle, radii, rows) -> int:
    """How many pairs the scores add up; where they count by value, every row is looked at once for all values but one."""
    if not case.recipe.radius:
        return 2 * (case.recipe.k or 0) * len(rows)
    if case.categorical:
        return len(rows) * case.n_rows * (len(np.unique(fit.X[:, 0])) - 1)
    some = rows[:50]
    return int(np.mean([rows_within(fit.X, row, radii[row, 0] / handle.table.grid) for row in some]) * len(rows))


def rows_within(X: npt.NDArray, row: int, radius: float) -> int:
    """How many rows lie within the radius of a row, itself left out."""
    distances = np.abs((X - X[row]) / (X.max(axis=0) - X.min(axis=0))).sum(axis=1)
    return int(np.count_nonzero(distances <= radius)) - 1


# --------------------------------------------------------------------------------------------------------- stages


def stage_rows(name: str, options: argparse.Namespace) -> Iterator[list[str]]:
    """One thread, then all of them."""
    W, method = make(name), SPECS[name].method
    alone = 0.0
    for threads in sorted({1, n_cores()}):
        fit = Fit(W.X, W.y, W.categorical, RECIPES[method], NativeKernel(options.isa[0]), threads)
        parts = take_apart(fit, options.repeats)
        relief = {"ReliefF": ReliefF, "RReliefF": RReliefF, "MultiSURF": MultiSURF}[method]()
        relief.set_params(categorical_features=W.categorical, n_jobs=threads)
        whole, _ = best(lambda relief=relief: relief.fit(W.X, W.y), options.repeats)
        sweep = parts["distances"] + parts["selection"] + parts["scores"]
        alone = alone or sweep
        seconds = [*(parts[stage] for stage in STAGES), max(whole - sweep - parts["read"] - parts["pack"], 0.0), whole]
        title = f"{name} {W.size[0]:,} x {W.size[1]:,}"
        yield [title, str(threads), *(f"{1000 * s:,.1f}" for s in seconds), f"{alone / sweep:.2f}"]


if __name__ == "__main__":
    main()
