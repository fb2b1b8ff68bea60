"""Which member finds two columns that matter only together among ever more columns of noise, and what does it cost?

    python benchmarks/hidden_pair.py
    python benchmarks/hidden_pair.py --picture docs/iterated.png

200 rows of uniform numbers; the class is whether exactly one of two columns exceeds a half. Counted is how often those
two are ranked first and second, over several tables. The picture shows one table of 1,000 columns round by round.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from machine import in_words, this_machine, today
from show_table import show

from nearhit import IRelief, ReliefF, Simba, TuRF, VLSRelief

ROWS, PAIR = 200, [3, 7]
MEMBERS = {
    "ReliefF()": ReliefF(),
    "TuRF()": TuRF(),
    "TuRF(drop=0.3)": TuRF(drop=0.3),
    "VLSRelief()": VLSRelief(random_state=0),
    "IRelief()": IRelief(),
    "Simba()": Simba(random_state=0),
    "Simba(n_starts=10)": Simba(n_starts=10, random_state=0),
}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and show, or draw."""
    options = parse(argv)
    if options.picture:
        draw(options.picture)
        return
    rows = []
    for name, member in MEMBERS.items():
        found = [measure(member, columns, options.tables) for columns in options.columns]
        rows.append([name, *[f"{hits} of {options.tables}" for hits, _ in found], *[f"{s:.2f}" for _, s in found]])
    notes = [
        f"{ROWS} rows, {options.tables} tables of each size. Seconds of processor time, the mean of all fits.",
        f"Machine: {in_words(this_machine())}. Measured {today()}.",
    ]
    columns = ["", *[f"{n:,} columns" for n in options.columns], *[f"seconds at {n:,}" for n in options.columns]]
    show("How often is the pair ranked first?", columns, rows, notes, n_left=1)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--columns", type=lambda text: [int(n) for n in text.split(",")], default=[100, 300, 1000])
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the rounds of TuRF here instead")
    return parser.parse_args(argv)


def make_table(columns: int, seed: int) -> tuple[npt.NDArray, npt.NDArray]:
    """Numbers, and classes that need both columns of the pair."""
    X = np.random.default_rng(seed).random((ROWS, columns))
    return X, (X[:, PAIR] > 0.5).sum(axis=1) == 1


def measure(member: Any, columns: int, tables: int) -> tuple[int, float]:
    """How often the pair comes first, and the processor seconds of a fit."""
    hits, start = 0, time.process_time()
    for seed in range(tables):
        hits += int(max(member.fit(*make_table(columns, seed)).ranking_[PAIR]) == 2)
    return hits, (time.process_time() - start) / tables


def draw(file: Path) -> None:
    """Each column's weight in each round, the pair in colour."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    turf = TuRF().fit(*make_table(1000, 1))
    n_left = [len(some.features) for some in turf.history_]
    figure, (ranks, weights) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    noise = [np.delete(some.weights, np.searchsorted(some.features, PAIR)) for some in turf.history_]
    weights.fill_between(n_left, [w.min() for w in noise], [w.max() for w in noise], color="0.85", label="the others")
    for column, colour in zip(PAIR, ["tab:red", "tab:blue"], strict=True):
        own = np.array([some.weights[np.searchsorted(some.features, column)] for some in turf.history_])
        rank = [1 + int((some.weights > w).sum()) for some, w in zip(turf.history_, own, strict=True)]
        ranks.plot(n_left, rank, color=colour, marker=".", label=f"x{column}")
        weights.plot(n_left, own, color=colour, marker=".", label=f"x{column}")
    ranks.set(ylabel="rank among those that are left", yscale="log")
    ranks.invert_yaxis()
    weights.set(ylabel="weight in the round")
    weights.axhline(0, color="0.5", linewidth=0.8)
    for axes in (ranks, weights):
        axes.set(xscale="log", xlabel="columns that are left")
        axes.set_xlim(1100, 9)
        axes.set_xticks([1000, 300, 100, 30, 10], ["1,000", "300", "100", "30", "10"])
        axes.minorticks_off()
        axes.legend(frameon=False, loc="lower right" if axes is ranks else "upper left")
    ranks.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
    figure.savefig(file, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
