"""How does the time of a fit grow with rows, columns, neighbours, classes, unknown cells, categories and ties?

    python benchmarks/growth.py
    python benchmarks/growth.py --only rows,columns --threads 2
    python benchmarks/growth.py --picture docs/growth.png

One thing grows at a time, the rest stays as the table says. "Exponent" is the slope of a straight line through
the logarithms, "steepest" the largest factor between neighbouring sizes, divided by the factor between the sizes
where the work is meant to grow with them (twice the rows: four times the pairs).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from machine import in_words, this_machine, today
from show_table import show
from workloads import SEED

from nearhit import ReliefF

SECONDS_ENOUGH = 1.0


@dataclass(frozen=True)
class Size:
    """A table and what is asked of it."""

    rows: int = 4_000
    columns: int = 100
    neighbours: int | str = 10
    classes: int = 2
    unknown: float = 0.0
    categories: int = 0
    values: int = 0

    def table(self) -> tuple[npt.NDArray, npt.NDArray]:
        """Numbers, or numbers of few values, or categories; some cells unknown."""
        rng, shape = np.random.default_rng(SEED), (self.rows, self.columns)
        n_values = self.categories or self.values
        X = rng.integers(0, n_values, shape).astype(float) if n_values else rng.random(shape)
        X[rng.random(shape) < self.unknown] = np.nan
        return X, rng.integers(0, self.classes, self.rows)

    def seconds(self, threads: int) -> float:
        """The best of some fits."""
        X, y = self.table()
        categorical = np.full(self.columns, self.categories > 0)
        relief = ReliefF(self.neighbours, categorical_features=categorical, n_jobs=threads)
        found: list[float] = []
        while len(found) < 3 or (len(found) < 20 and sum(found) < SECONDS_ENOUGH / 4):
            start = time.perf_counter()
            relief.fit(X, y)
            found.append(time.perf_counter() - start)
            if sum(found) > SECONDS_ENOUGH and len(found) > 1:
                break
        return min(found)


class Growth(NamedTuple):
    """What grows, from which table, to which values, and with which power the work is meant to grow."""

    field: str
    base: Size
    values: Sequence[Any]
    power: int = 0


GROWTHS = [
    Growth("rows", Size(columns=50), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000], 2),
    Growth("columns", Size(rows=2_000), [5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000], 1),
    Growth("neighbours", Size(), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, "all"]),
    Growth("classes", Size(), [2, 3, 5, 10, 20, 50, 100]),
    Growth("unknown", Size(rows=3_000), [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 0.9]),
    Growth("categories", Size(), [2, 3, 4, 5, 8, 9, 16, 17, 50, 256, 257, 1_000]),
    Growth("values", Size(), [2, 3, 5, 10, 20, 100, 1_000, 0]),
]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, show and draw."""
    options = parse(argv)
    measured = {}
    for growth in GROWTHS:
        if growth.field in options.only:
            measured[growth.field] = list(measure(growth, options.threads))
    rows = [line(growth, measured[growth.field]) for growth in GROWTHS if growth.field in measured]
    notes = [
        f"{options.threads} thread(s), milliseconds, best of several whole fits. Values 0: numbers without ties.",
        f"Machine: {in_words(this_machine())}. Measured {today()}, seed {SEED}.",
    ]
    columns = ["what grows", "the rest", "milliseconds", "exponent", "steepest"]
    show("How does the time of a fit grow?", columns, rows, notes, n_left=3)
    if options.picture:
        draw(measured, options.picture)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    names = [growth.field for growth in GROWTHS]
    parser.add_argument("--only", type=lambda text: text.split(","), default=names, metavar="NAME,NAME")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it here")
    return parser.parse_args(argv)


def measure(growth: Growth, threads: int) -> Iterator[tuple[Any, float]]:
    """Each value with its seconds."""
    for value in growth.values:
        yield value, Size(**{**vars(growth.base), growth.field: value}).seconds(threads)


def line(growth: Growth, measured: list[tuple[Any, float]]) -> list[str]:
    """One row of the result."""
    sizes = as_numbers(growth.field, [value for value, _ in measured])
    seconds = np.array([s for _, s in measured])
    grows = (sizes[1:] > 0) & (sizes[:-1] > 0)
    factors = seconds[1:] / seconds[:-1]
    meant = np.where(grows, sizes[1:] / np.where(grows, sizes[:-1], 1), 1.0) ** growth.power
    some = sizes > 0
    exponent = np.polyfit(np.log(sizes[some]), np.log(seconds[some]), 1)[0]
    rest = {k: v for k, v in vars(growth.base).items() if k != growth.field and v != 0 and k in RELEVANT}
    return [
        growth.field,
        ", ".join(f"{v:,} {k}" for k, v in rest.items()),
        "  ".join(f"{value}: {1000 * s:,.1f}" for value, s in measured),
        f"{exponent:.2f}",
        f"{max((factors / meant).max(), 1.0):.1f}",
    ]


RELEVANT = {"rows", "columns"}


def as_numbers(field: str, values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """The values as numbers: "all" neighbours are as many as there are in a class."""
    return np.array([Size().rows / 2 if value == "all" else value for value in values], float)


def draw(measured: dict[str, list[tuple[Any, float]]], path: Path) -> None:
    """One small picture each, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    n = len(measured)
    figure, axes = plt.subplots(-(-n // 4), min(n, 4), figsize=(3.1 * min(n, 4), 2.9 * -(-n // 4)), squeeze=False)
    for axis, (field, points) in zip(axes.flat, measured.items(), strict=False):
        labels = [str(value) for value, _ in points]
        axis.plot(range(len(points)), [1000 * s for _, s in points], "o-", color="#1b6ca8", markersize=4, linewidth=1.4)
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("")
        axis.set_xticks(range(len(points)), labels, rotation=60, fontsize=7)
        axis.set_title(field if field != "values" else "values of a number (0: no ties)", fontsize=9)
        axis.grid(alpha=0.25, linewidth=0.5)
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, high / 30), high)  # a flat line looks flat
        axis.tick_params(axis="y", labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes.flat[n:]:
        axis.set_visible(False)
    axes[0, 0].set_ylabel("milliseconds", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
