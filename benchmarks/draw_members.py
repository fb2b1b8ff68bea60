"""The picture of docs/radius.md: what a row counts for, by its distance, in each member of the family.

python benchmarks/draw_members.py            renews docs/radius.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "radius.png"
GREY, BLUE, RED = "0.85", "#1f5fa8", "#b2321f"


def draw() -> None:
    """One target among 400 rows: their distances as a histogram, and above it how much each counts."""
    rng = np.random.default_rng(1)
    X = rng.random((400, 20))
    distances = np.sort(np.abs(X[1:] - X[0]).sum(axis=1))
    all_pairs = np.abs(X[:, None] - X[None]).sum(axis=2)[~np.eye(400, dtype=bool)]
    own, deviation, every = distances.mean(), distances.std(), all_pairs.mean()
    d = np.linspace(distances[0], distances[-1], 600)
    members = {
        "ReliefF, k = 10": np.where(d <= distances[9], 1.0, 0),
        "SURF": np.where(d < every, 1.0, 0),
        "SURF*": np.sign(every - d),
        "MultiSURF": np.where(d < own - deviation / 2, 1.0, 0),
        "MultiSURF*": np.where(d < own - deviation / 2, 1.0, np.where(d > own + deviation / 2, -1.0, 0)),
        "MultiSWRF*": 2 / (1 + np.exp(-4 * (own - d) / deviation)) - 1,
    }
    figure, grid = plt.subplots(2, 3, figsize=(8.4, 4.2), sharex=True, sharey=True, layout="constrained")
    for axes, (name, weight) in zip(grid.flat, members.items(), strict=True):
        heights, edges = np.histogram(distances, 40)
        axes.bar(edges[:-1], heights / heights.max(), np.diff(edges), align="edge", color=GREY)
        axes.plot(d, weight, color=BLUE, lw=2)
        axes.fill_between(d, weight, where=weight < 0, color=RED, alpha=0.15)
        axes.axhline(0, color="0.6", lw=0.8)
        axes.set_title(name, fontsize=10, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_yticks([-1, 0, 1])
    figure.supxlabel("distance from one row (grey: how many rows lie there)", fontsize=9)
    figure.supylabel("what a row counts for", fontsize=9)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    draw()
