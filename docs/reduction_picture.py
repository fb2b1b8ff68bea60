"""What each cut of a column tells, alone and together: the picture of docs/reduction.md.

    python docs/reduction_picture.py          # renews docs/reduction.png
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from nearhit import ValueReducer
from nearhit.fitting import Options
from nearhit.intake import read_columns
from nearhit.measures.counts import Cases, count_splits
from nearhit.measures.information_gain import information_gain
from nearhit.reduction.guided_cuts import weigh_pairs
from nearhit.table import make_table

X = np.random.default_rng(0).random((300, 4))
y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)

values = np.unique(X[:, 0])
cuts = (values[1:] + values[:-1]) / 2
gains = information_gain(count_splits(X[:, 0], Cases(y.astype(np.int32), 2)))

pairs = weigh_pairs(make_table(read_columns(X), [y.astype(np.int64)]), 10, Options())
side = X[:, 0] > cuts[:, None]
is_apart = side[:, pairs.rows] != side[:, pairs.others]
weights = is_apart @ pairs.apart / pairs.apart.sum() * pairs.weight_apart
weights -= is_apart @ pairs.together / pairs.together.sum() * pairs.weight_together

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for is_yes, colour, marker in ((False, "tab:blue", "o"), (True, "tab:orange", "^")):
    left.scatter(*X[y == is_yes, :2].T, s=12, c=colour, marker=marker, label="yes" if is_yes else "no")
found = ValueReducer("relieff", n_bins=2).fit(X, y).cut_points_
left.axvline(found["x0"][0], color="black", linewidth=1)
left.axhline(found["x1"][0], color="black", linewidth=1)
left.set(xlabel="x0", ylabel="x1", title="300 rows of two classes, and the cuts found by ReliefF")
left.legend(loc="upper right", framealpha=1)
right.plot(cuts, weights, color="tab:green", label="ReliefF weight")
right.plot(cuts, gains, color="grey", label="information gain (bits)")
right.axhline(0, color="black", linewidth=0.5)
right.set(xlabel="a cut of x0", title="What each cut of x0 tells about the class")
right.set_ylim(top=1.35 * weights.max())  # room for the legend above the peak
right.legend(loc="upper left")
figure.savefig(Path(__file__).with_suffix(".png").with_name("reduction.png"), dpi=80)
