"""Do large tables take seconds, and very small ones microseconds?

    python benchmarks/large.py
    python benchmarks/large.py --only "genotypes, ReliefF" --repeats 3

Each case runs in a fresh process. Seconds are those of whole fits from a NumPy array, memory is the most that was
resident during the first fit, less what was before it (the input is). The fits of a tree's nodes are those below the
scikit-learn layer: rows of a table that is there, one recipe, weights.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from machine import in_words, n_cores, this_machine, today
from show_table import show
from workloads import SEED

sys.path.insert(0, str(Path(__file__).resolve().parent / "runners"))
from run_peer import reset_peak, resident_mib

from nearhit import MultiSURF, ReliefF
from nearhit.fitting import Options, choose_coder, fit_recipe
from nearhit.intake import read_columns
from nearhit.recipes import RELIEFF
from nearhit.table import make_table

NODES = 1_000


def genotypes(rng: np.random.Generator, n: int, a: int) -> npt.NDArray:
    """Counts of the rarer allele, some thousand columns at a time."""
    X = np.empty((n, a), np.int8)
    for first in range(0, a, 10_000):
        some = min(10_000, a - first)
        X[:, first : first + some] = rng.binomial(2, rng.uniform(0.1, 0.5, some), size=(n, some))
    return X


def uniform(rng: np.random.Generator, n: int, a: int) -> npt.NDArray:
    """Numbers without any structure."""
    return rng.random((n, a))


def clustered(rng: np.random.Generator, n: int, a: int) -> npt.NDArray:
    """Numbers around a hundred centres."""
    return rng.random((100, a))[rng.integers(0, 100, n)] + rng.normal(0, 0.03, (n, a))


class Case(NamedTuple):
    """A table and what is asked of it."""

    n_rows: int
    n_features: int
    fill: Callable[[np.random.Generator, int, int], npt.NDArray]
    method: str = "ReliefF"
    classes: int = 2
    repeats: int = 5


CASES = {
    "genotypes, ReliefF": Case(2_350, 230_000, genotypes, classes=3),
    "genotypes, MultiSURF": Case(2_350, 230_000, genotypes, "MultiSURF", classes=3),
    "100,000 rows": Case(100_000, 100, uniform, repeats=2),
    "a million rows, uniform": Case(1_000_000, 10, uniform, repeats=1),
    "a million rows, clustered": Case(1_000_000, 10, clustered, repeats=1),
    "a node of a tree": Case(60, 20, uniform, "nodes"),
    "a node, its rows chosen": Case(60, 20, uniform, "chosen nodes"),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure every case in a process of its own, or one here."""
    options = parse(argv)
    if options.here:
        print(json.dumps(measure(options.here, options.threads)))
        return
    rows = []
    for name in options.only or CASES:
        command = [sys.executable, __file__, "--here", name, "--threads", str(options.threads)]
        answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        case = CASES[name]
        size = f"{case.n_rows:,} x {case.n_features:,}"
        rows.append([name, size, *answer["seconds"], f"{answer['input_mib']:,.0f}", f"{answer['memory_mib']:,.0f}"])
    notes = [
        f"{options.threads} threads; nodes on one. Best of up to 5 fits; of one for a million rows.",
        f"Machine: {in_words(this_machine())}. Measured {today()}, seed {SEED}.",
    ]
    columns = ["case", "rows x columns", "first fit", "best fit", "input, MiB", "fit adds, MiB"]
    show("Do large tables take seconds?", columns, rows, notes, n_left=2)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--only", action="append", choices=CASES, metavar="NAME", help="may be given several times")
    parser.add_argument("--here", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=n_cores(), help="all cores unless told")
    return parser.parse_args(argv)


def measure(name: str, threads: int) -> dict[str, object]:
    """Seconds of the first and of the best fit, and memory."""
    case = CASES[name]
    rng = np.random.default_rng(SEED)
    X, y = case.fill(rng, case.n_rows, case.n_features), rng.integers(0, case.classes, case.n_rows)
    is_node = case.method.endswith("nodes")
    fit = nodes(X, y, case.method) if is_node else whole_fit(X, y, case, threads)
    before = resident_mib("VmRSS")
    reset_peak()
    seconds = [timed(fit)]
    memory = resident_mib("VmHWM") - before
    seconds += [timed(fit) for _ in range(case.repeats - 1)]
    unit = (1000 / NODES, "ms") if is_node else (1.0, "s")
    shown = [f"{s * unit[0]:.3g} {unit[1]}" for s in (seconds[0], min(seconds))]
    return {"seconds": shown, "input_mib": X.nbytes / 2**20, "memory_mib": memory}


def whole_fit(X: npt.NDArray, y: npt.NDArray, case: Case, threads: int) -> Callable[[], object]:
    """As a user has it."""
    categorical = np.full(case.n_features, X.dtype == np.int8)
    estimator = MultiSURF() if case.method == "MultiSURF" else ReliefF()
    estimator.set_params(categorical_features=categorical, n_jobs=threads)
    return lambda: estimator.fit(X, y)


def nodes(X: npt.NDArray, y: npt.NDArray, method: str) -> Callable[[], object]:
    """So many nodes; where that is asked for, the rows of each are chosen from a table before."""
    table = make_table(columns := read_columns(X, "from_dtype", estimator_name="ReliefF"), [y], None,
                       scale="range", coder=choose_coder(columns, 1))  # fmt: skip
    rows = np.arange(len(X))

    def fit() -> None:
        for _ in range(NODES):
            node = table.take(rows) if method == "chosen nodes" else table
            fit_recipe(RELIEFF, node, None, Options(n_jobs=1))

    return fit


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
