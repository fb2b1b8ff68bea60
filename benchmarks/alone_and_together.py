"""What does a feature tell alone, and what together with others?

    python benchmarks/alone_and_together.py --picture docs/measures.png

Three features tell the class alone, each less than the one before; two tell nothing alone and everything together; 19
are noise. Prints what ReliefF and the myopic measures make of them, and draws one against the other.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from workloads import SEED

from nearhit import compare


def make_table(n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Switches with an exclusive or, three indicators of the class, noise."""
    rng = np.random.default_rng(SEED)
    switches = rng.integers(0, 2, (n, 2))
    y = switches[:, 0] ^ switches[:, 1] ^ (rng.random(n) < 0.05)
    columns = {"switch A": switches[:, 0], "switch B": switches[:, 1]}
    for name, share in (("strong", 0.18), ("middling", 0.27), ("weak", 0.36)):
        columns[name] = y ^ (rng.random(n) < share)
    columns |= {f"noise {i}": rng.integers(0, 2, n) for i in range(19)}
    return pd.DataFrame(columns), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", type=Path, help="where to draw")
    arguments = parser.parse_args()
    table = compare(*make_table())
    print(table)
    if arguments.picture:
        import matplotlib

        matplotlib.use("agg")
        ax = table.plot(names=4)
        ax.set_xlabel("alone: information gain (bits)")
        ax.figure.savefig(arguments.picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
