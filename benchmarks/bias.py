"""Does Relief undervalue features that peak inside their range, and does bias-corrected Relief not?

    python benchmarks/bias.py
    python benchmarks/bias.py --trials 50
    python benchmarks/bias.py --picture docs/bias.png --update-docs       renews what docs/bias.md shows

The data of Bins and Draper (nearhit.domains.reflected), their tables 1 and 2 and their figures 3, 5, 6 and 7: the number
that was published, ours, and their ratio. Of the figures only the shape is known. Seeds are 0, 1, 2 …, one a trial.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from machine import in_words, this_machine, today
from show_table import markdown, show

from nearhit import BiasCorrectedRelief, ReliefF, find_reflection_points
from nearhit.domains import reflected

PAGE = Path(__file__).resolve().parents[1] / "docs" / "bias.md"
BEGIN, END = "<!-- tables:begin -->", "<!-- tables:end -->"
NOISES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
EXTRAS = (0, 5, 10, 20, 50)
#: the other features of each figure, and whether weights are corrected
FIGURES = {3: ("irrelevant", False), 5: ("similar", False), 6: ("irrelevant", True), 7: ("similar", True)}
#: the paper's tables: not reflected, to the left, to the right
TABLE_1 = {
    "L1": (0.1223, 0.0016, 0.0020),
    "L2": (0.1212, 0.0020, 0.0011),
    "Q1": (0.0977, -0.0006, 0.0031),
    "Q2": (0.0975, 0.0026, -0.0002),
    "Q3": (0.0931, 0.0019, 0.0003),
    "Q4": (0.0915, 0.0000, 0.0022),
    "G1": (0.0537, 0.0026, -0.0001),
    "G2": (0.0543, 0.0002, 0.0025),
}
TABLE_2 = {
    "L1": (0.1210, 0.1135, 0.1146),
    "L2": (0.1213, 0.1141, 0.1151),
    "Q1": (0.0991, 0.0801, 0.0694),
    "Q2": (0.0972, 0.0742, 0.0776),
    "Q3": (0.0920, 0.0738, 0.0730),
    "Q4": (0.0921, 0.0732, 0.0662),
    "G1": (0.0535, 0.0470, 0.0536),
    "G2": (0.0529, 0.0539, 0.0475),
}


class Table(NamedTuple):
    """One table of the result."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


class Case(NamedTuple):
    """What is drawn and how it is scored."""

    form: str
    corrected: bool
    noise: float
    n_bins: int = 10
    features: tuple[str, ...] = tuple(TABLE_1)
    n_similar: int = 0
    n_irrelevant: int = 0


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, show, and renew the page."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw it here")
    parser.add_argument("--update-docs", action="store_true", help="write the tables into docs/bias.md")
    options = parser.parse_args(argv)
    n = options.trials
    tables = [
        published("Table 1: Relief as in the paper", TABLE_1, False, n),
        published("Table 2: the same, corrected", TABLE_2, True, n),
        by_noise(n),
        false_points(n),
        figures(n),
        detector(n),
        irrelevant(n),
        seconds(),
    ]
    notes = f"Machine: {in_words(this_machine())}. Measured {today()}, {n} trials, seeds 0 to {n - 1}."
    for table in tables:
        show(table.title, table.columns, table.rows, [table.note] if table.note else [])
    print(notes)
    if options.update_docs:
        update(PAGE, tables, notes)
    if options.picture:
        draw(options.picture, n)


@cache
def weights(case: Case, n_trials: int) -> dict[str, float]:
    """The mean weight of each feature."""
    found = []
    for seed in range(n_trials):
        drawn = dict(features=case.features, n_similar=case.n_similar, n_irrelevant=case.n_irrelevant)
        X, y, names = reflected(noise=case.noise, random_state=seed, **drawn)
        points = "auto" if case.corrected else None
        found.append(BiasCorrectedRelief(form=case.form, n_bins=case.n_bins, points=points).fit(X, y).weights_)
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def groups(found: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The mean weight of the features of a letter, and that of their reflected twins."""

    def mean(letter: str, reflected_ones: bool) -> float:
        chosen = [w for name, w in found.items() if name[0] == letter and (len(name) > 2) == reflected_ones]
        return float(np.mean(chosen))

    return {letter: (mean(letter, False), mean(letter, True)) for letter in "LQG"}


def published(title: str, table: dict[str, tuple[float, ...]], corrected: bool, n: int) -> Table:
    """A table of the paper beside ours."""
    ours = weights(Case("averaged", corrected, 0.05), n)
    rows = []
    for name, numbers in table.items():
        mine = [ours[name], ours[f"{name} left"], ours[f"{name} right"]]
        cells = [cell for pair in zip(numbers, mine, strict=True) for cell in pair]
        share = (mine[1] + mine[2]) / 2 / mine[0]
        rows.append([name, *(f"{c:.4f}" for c in cells), f"{sum(numbers[1:]) / 2 / numbers[0]:.2f}", f"{share:.2f}"])
    columns = ["feature", "plain", "ours", "left", "ours", "right", "ours", "reflected / plain", "ours"]
    return Table(title, columns, rows, "Averaged form, noise 0.05, ten classes, n = 200.")


def by_noise(n: int) -> Table:
    """The reflected twin as a share of its feature."""
    rows = []
    for form in ("averaged", "relieff"):
        for corrected in (False, True):
            for letter in "LQG":
                shares = []
                for noise in NOISES:
                    feature, twin = groups(weights(Case(form, corrected, noise), n))[letter]
                    shares.append(f"{twin / feature:.2f}")
                rows.append([form, "corrected" if corrected else "plain", letter, *shares])
    columns = ["form", "", "features", *(f"{noise:g}" for noise in NOISES)]
    return Table("Weight of a reflected feature as a share of its twin's, by noise", columns, rows)


def false_points(n: int) -> Table:
    """What a point at 0.5 that is not there adds to the monotonic features."""
    rows = []
    for form in ("averaged", "relieff"):
        for noise in (0.0, 0.05):
            ratios = []
            for seed in range(n):
                X, y, names = reflected(noise=noise, random_state=seed)
                right = BiasCorrectedRelief(form=form).fit(X, y)
                at = [0.5 if len(name) == 2 else p for name, p in zip(names, right.reflection_points_, strict=True)]
                wrong = BiasCorrectedRelief(form=form, points=at).fit(X, y)
                pairs = [groups(dict(zip(names, relief.weights_, strict=True))) for relief in (wrong, right)]
                ratios.append([pairs[0][letter][0] / pairs[1][letter][0] for letter in "LQG"])
            rows.append([form, f"{noise:g}", *(f"{ratio:.2f}" for ratio in np.mean(ratios, axis=0))])
    note = "Published: from 1.2 (linear) to 1.6 (half a bell curve)."
    title = "Monotonic features with a false point at 0.5, weight / right weight"
    return Table(title, ["form", "noise", *"LQG"], rows, note)


def figures(n: int) -> Table:
    """Figures 3, 5, 6, 7: L1 and its twin to the right among other features."""
    rows = []
    for figure, (kind, corrected) in FIGURES.items():
        for form in ("averaged", "relieff"):
            found = [weights(extra_case(form, corrected, kind, extra), n) for extra in EXTRAS]
            cells = [f"{w['L1']:.3f} / {w['L1 right']:.3f}" for w in found]
            rows.append([f"{figure}", "corrected" if corrected else "plain", kind, form, *cells])
    columns = ["figure", "", "others", "form", *(f"{extra}" for extra in EXTRAS)]
    note = "No noise, five classes. Published as curves only: plain, the reflected one falls; corrected, both stay."
    return Table("L1 / its reflection, by the number of other features", columns, rows, note)


def extra_case(form: str, corrected: bool, kind: str, extra: int) -> Case:
    """Figures 3, 5, 6 and 7 have five classes and no noise."""
    others: dict[str, Any] = {f"n_{kind}": extra}
    return Case(form, corrected, 0.0, 5, ("L1",), **others)


def detector(n: int) -> Table:
    """Who gets a point, and how far off it is."""
    rows = []
    for signal in ("numbers", "2 classes", "3 classes", "10 classes"):
        cells = []
        for noise in NOISES:
            found = []
            for seed in range(n):
                X, y, names = reflected(noise=noise, n_irrelevant=8, random_state=seed)
                target = y if signal == "numbers" else (y * int(signal.split()[0])).astype(int)
                points = find_reflection_points(X, target)
                there = ~np.isnan(points)
                is_twin = np.array(["left" in name or "right" in name for name in names])
                is_noise = np.array(["irrelevant" in name for name in names])
                off = np.abs(points[is_twin & there] - 0.5).mean()
                found.append([there[is_twin].mean(), there[~is_twin & ~is_noise].mean(), there[is_noise].mean(), off])
            recall, false, random, off = np.mean(found, axis=0)
            cells.append(f"{recall:.2f} {false:.2f} {random:.2f} {off:.3f}")
        rows.append([signal, *cells])
    columns = ["signal", *(f"{noise:g}" for noise in NOISES)]
    note = "Share of reflected, of monotonic and of irrelevant features with a point, and the mean error of the place."
    return Table("The detector, by noise", columns, rows, note)


def irrelevant(n: int) -> Table:
    """What the correction does to features that tell nothing."""
    rows = []
    for form in ("averaged", "relieff"):
        spread = []
        for points in (None, "auto"):
            found: list[npt.NDArray[np.float64]] = []
            for seed in range(n):
                X, y, _ = reflected(features=("L1", "Q1"), n_irrelevant=20, random_state=seed)
                found.append(BiasCorrectedRelief(form=form, points=points).fit(X, y).weights_[6:])
            spread += [float(np.mean(found)), float(np.std(found))]
        rows.append([form, *(f"{number:.4f}" for number in spread), f"{spread[3] / spread[1]:.1f}"])
    columns = ["form", "mean, plain", "spread", "mean, corrected", "spread", "ratio of spreads"]
    return Table("Irrelevant features", columns, rows)


def seconds() -> Table:
    """Whole fits, the best of three."""
    rng, rows = np.random.default_rng(0), []
    for n_rows, n_columns in ((1_000, 100), (5_000, 100), (10_000, 100)):
        X, y = rng.random((n_rows, n_columns)), rng.random(n_rows)
        classes = (y * 10).astype(int)
        cells = [
            best_of_three(lambda X=X, y=y: find_reflection_points(X, y)),
            best_of_three(lambda X=X, y=y: BiasCorrectedRelief(n_bins=2).fit(X, y)),
            best_of_three(lambda X=X, y=y: BiasCorrectedRelief().fit(X, y)),
            best_of_three(lambda X=X, y=classes: ReliefF().fit(X, y)),
        ]
        rows.append([f"{n_rows:,} x {n_columns}", *(f"{cell:.2f}" for cell in cells)])
    columns = ["table", "points alone", "fit, 2 classes", "fit, 10 classes", "ReliefF, 10 classes"]
    return Table("Seconds, all features irrelevant: half of them with a point", columns, rows)


def best_of_three(work: Any) -> float:
    """Seconds of the fastest of three calls."""
    found = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def update(page: Path, tables: Sequence[Table], notes: str) -> None:
    """Write the tables between the two marks of the page."""
    text = page.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    parts = [
        f"**{table.title}.** {table.note}".rstrip() + f"\n\n{markdown(table.columns, table.rows)}" for table in tables
    ]
    page.write_text(before + BEGIN + "\n" + "\n\n".join([*parts, notes]) + "\n" + END + after, encoding="utf-8")


def draw(path: Path, n: int) -> None:
    """Left: a feature and its reflection with the point. Right: weights of all features, plain and corrected."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (data, bars) = plt.subplots(1, 2, figsize=(9.2, 3.3), width_ratios=(1, 2.1))
    X, y, names = reflected(features=("L1",), random_state=0)
    j = names.index("L1 right")
    data.scatter(X[:, j], y, s=9, color="#1b6ca8", alpha=0.7, linewidths=0)
    data.axvline(find_reflection_points(X, y)[j], color="#c8553d", linewidth=1.4)
    data.set(xlabel="L1, reflected to the right", ylabel="signal", title="a feature with a reflection point")
    plain, corrected = (weights(Case("relieff", how, 0.05), n) for how in (False, True))
    shown = [name for letter in TABLE_1 for name in (letter, f"{letter} left", f"{letter} right")]
    at = np.array([i + i // 3 for i in range(len(shown))])
    bars.bar(at - 0.2, [plain[name] for name in shown], 0.4, color="#b9c4cc", label="ReliefF")
    bars.bar(at + 0.2, [corrected[name] for name in shown], 0.4, color="#1b6ca8", label="bias-corrected")
    bars.set_xticks(at, [name.replace("left", "l").replace("right", "r") for name in shown], rotation=90, fontsize=7)
    bars.set(ylabel="weight", title="eight features, each with two reflected twins")
    bars.legend(frameon=False, fontsize=8)
    for axis in (data, bars):
        axis.title.set_fontsize(9)
        axis.tick_params(labelsize=7)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
