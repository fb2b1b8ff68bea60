"""The pictures of selection.md and partners.md, from the examples of these pages.

python docs/draw_selection.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from nearhit import ReliefF, interactions, stability
from nearhit.demo import FILE

HERE = Path(__file__).parent
BLUE, VERMILION, INK, RULE = "#0072B2", "#D55E00", "#1a1a1a", "#bdbdbd"


def draw_stability(path: Path) -> None:
    """Ranks with their intervals, and how often each feature is selected."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 12))
    together, alone = (X[:, 2] > 0.5) ^ (X[:, 9] > 0.5), X[:, 5] > 0.5
    found = stability(ReliefF(), X, np.where(rng.random(300) < 0.3, alone, together), select=3, random_state=0)
    figure = Figure(figsize=(7.2, 3.8), dpi=110, layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    places = range(len(found))
    colours = [VERMILION if row.share > 0.8 else BLUE for row in found]
    low, high = zip(*((row.rank_low, row.rank_high) for row in found), strict=True)
    left.hlines(places, low, high, colors=colours, linewidth=3, alpha=0.5)
    left.scatter([row.rank for row in found], places, color=colours, zorder=2)
    left.set_yticks(places, [row.feature for row in found])
    left.set_xticks(range(1, len(found) + 1))
    left.set_xlabel("rank from all rows, and 90 % of the ranks from halves")
    left.invert_yaxis()
    right.barh(places, [row.share for row in found], color=colours, height=0.6)
    right.axvline(0.8, color=INK, linewidth=1, linestyle=":")
    right.set_xlim(0, 1)
    right.set_xlabel("share of halves: among the best 3")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(length=0)
        axes.grid(axis="x", color=RULE, linewidth=0.5)
        axes.set_axisbelow(True)
    figure.savefig(path, metadata={"Software": None})


def draw_partners(path: Path) -> None:
    """The graph of the embedded data set."""
    names, *lines = [line.split(",") for line in FILE.read_text(encoding="ascii").splitlines()]
    cells = np.array(lines)
    import pandas as pd

    found = interactions(pd.DataFrame(cells[:, :-1], columns=names[:-1]), cells[:, -1], random_state=0)
    figure = Figure(figsize=(4.6, 4.4), dpi=110, layout="constrained")
    found.plot(ax=figure.add_subplot())
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    draw_stability(HERE / "stability.png")
    draw_partners(HERE / "partners.png")
