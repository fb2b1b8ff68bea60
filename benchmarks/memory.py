"""How much memory does a fit take above its input?

    python benchmarks/memory.py
    python benchmarks/memory.py --sizes 20000x500,20000x500:0.1 --threads 1

Each size is fitted once in a fresh process that already holds X and y. Counted is the most that was resident
during the fit, less what was resident right before it. A size is ROWSxCOLUMNS, with the share of missing
cells after a colon.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import fresh_process
import numpy as np
from machine import in_words, n_cores, this_machine, today
from peer_envs import NEARHIT_IS_MISSING, PEERS
from show_table import show
from workloads import SEED, Workload, make

COLUMNS = [
    "rows",
    "columns",
    "missing",
    "input, MiB",
    "before fit, MiB",
    "fit adds, MiB",
    "x input",
    "seconds",
]
DEFAULT_SIZES = "10000x100,50000x100,50000x100:0.05"


class Size(NamedTuple):
    """A table to fit."""

    n_rows: int
    n_features: int
    missing: float = 0.0


def main(argv: Sequence[str] | None = None) -> None:
    """Fit every size and show what it took."""
    options = parse(argv)
    if PEERS["nearhit"].command is None:
        raise SystemExit(NEARHIT_IS_MISSING)
    rows, kernels = [], {}
    for size in options.sizes:
        table = table_of(size)
        answer = fresh_process.rank(PEERS["nearhit"], table, threads=options.threads)
        rows.append(line(size, table, answer))
        kernels[answer.get("note") or "unnamed"] = answer.get("versions", {})
    notes = [
        f"Machine: {in_words(this_machine())}. {options.threads} threads. Measured {today()}, seed {SEED}.",
        *(f"Kernel {kernel}: " + ", ".join(map(" ".join, found.items())) for kernel, found in kernels.items()),
    ]
    show("How much memory does a fit take above its input?", COLUMNS, rows, notes, n_left=0)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--sizes", type=sizes_in, default=DEFAULT_SIZES, metavar="NxA,NxA:SHARE")
    parser.add_argument("--threads", type=int, default=n_cores(), help="all cores unless told")
    return parser.parse_args(argv)


def sizes_in(text: str) -> list[Size]:
    """Sizes as the command line gives them."""
    return [size_in(part) for part in text.split(",")]


def size_in(text: str) -> Size:
    """One size, such as 50000x100:0.05."""
    shape, _, missing = text.partition(":")
    n_rows, _, n_features = shape.partition("x")
    try:
        return Size(int(n_rows), int(n_features), float(missing or 0))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a size such as 50000x100:0.05; got {text!r}") from None


def table_of(size: Size) -> Workload:
    """The columns of W1 at this size, with cells taken out."""
    table = make("W1", size.n_rows, size.n_features)
    rng = np.random.default_rng(SEED)
    is_missing = rng.random(table.X.shape) < size.missing
    return replace(table, X=np.where(is_missing, np.nan, table.X))


def line(size: Size, table: Workload, answer: dict[str, Any]) -> list[str]:
    """One row of the result."""
    n_mib = table.X.nbytes / 2**20
    names = [f"{size.n_rows:,}", f"{size.n_features:,}", f"{size.missing:.0%}", f"{n_mib:,.1f}"]
    if answer["status"] != "ok":
        return [*names, answer["status"], answer.get("message", ""), "", ""]
    added = answer["memory_mib"]
    numbers = [f"{answer['rss_before_mib']:,.1f}", f"{added:,.1f}", f"{added / n_mib:.2f}"]
    return [*names, *numbers, f"{answer['fits_s'][0]:.2f}"]


if __name__ == "__main__":
    main()
