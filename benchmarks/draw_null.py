"""The picture of docs/significance.md: weights beside what they would be if the target had nothing to do with the table.

python benchmarks/draw_null.py            renews docs/significance.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("agg")
import matplotlib.pyplot as plt

from nearhit import ReliefF

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "significance.png"
GREY, BLUE, RED = "0.75", "#1f5fa8", "#b2321f"


def draw() -> None:
    """The example of the page: two columns that matter together, one alone, nine not at all."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 12))
    y = np.where(rng.random(200) < 0.1, X[:, 5], X[:, 3] ^ X[:, 7])
    tested = ReliefF(p_values="permutation", random_state=0).fit(X, y)
    shuffled = np.random.default_rng(1)
    null = np.array([ReliefF().fit(X, shuffled.permutation(y)).weights_ for _ in range(500)])
    order = np.argsort(-tested.weights_, kind="stable")
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    parts = axes.violinplot(null[:, order], widths=0.8, showextrema=False)
    for body in parts["bodies"]:
        body.set(facecolor=GREY, alpha=1)
    largest = np.quantile(null.max(axis=1), 0.95)
    axes.axhline(largest, color=RED, lw=1, ls="--")
    axes.text(12.5, largest, " 5 % of shuffles have any weight above", color=RED, ha="right", va="bottom", fontsize=8)
    significant = tested.adjusted_p_values()[order] < 0.05
    places = np.arange(1, 13)
    axes.scatter(
        places[significant], tested.weights_[order][significant], color=BLUE, zorder=3, label="p(max-T) < 0.05"
    )
    axes.scatter(places[~significant], tested.weights_[order][~significant], facecolor="white", edgecolor=BLUE, zorder=3,
                 label="not significant")  # fmt: skip
    axes.set_xticks(places, [f"x{i}" for i in order])
    axes.set_ylabel("weight")
    axes.set_title("Weights (dots) and weights after the target was shuffled (grey)", fontsize=10, loc="left")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    draw()
