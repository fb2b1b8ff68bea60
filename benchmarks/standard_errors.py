"""How near are the standard errors of `nearhit.stability` to how much weights vary from table to table?

    python benchmarks/standard_errors.py
    python benchmarks/standard_errors.py --tables 200

Eight uniform columns; the class is the exclusive or of two of them, but for a share of rows in which a third decides.
"True" is the standard deviation of the weights over fresh tables, the others the mean estimate over some of them.
"""

from __future__ import annotations

import argparse

import numpy as np
from machine import in_words, this_machine, today
from show_table import show

from nearhit import ReliefF, stability

ROWS = (100, 200, 400, 800)
COLUMNS, RESAMPLES = 8, 100
KINDS = {"partners": slice(0, 2), "alone": slice(2, 3), "irrelevant": slice(3, None)}


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, COLUMNS))
    together, alone = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), X[:, 2] > 0.5
    return X, np.where(rng.random(n) < 0.3, alone, together)


def lines(tables: int, estimated: int) -> list[list[str]]:
    found = []
    for n in ROWS:
        weights = np.array([ReliefF().fit(*draw(n, seed)).weights_ for seed in range(tables)])
        errors = {
            method: np.mean(
                [
                    stability(
                        ReliefF(), *draw(n, seed), n_resamples=RESAMPLES, method=method, random_state=seed
                    ).standard_errors
                    for seed in range(estimated)
                ],
                axis=0,
            )
            for method in ("subsample", "bootstrap")
        }
        true = weights.std(axis=0, ddof=1)
        for kind, columns in KINDS.items():
            ratios = [f"{np.mean(errors[method][columns]) / np.mean(true[columns]):.2f}" for method in errors]
            found.append([f"{n:,}", kind, f"{np.mean(true[columns]):.4f}", *ratios])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--estimated", type=int, default=15)
    chosen = parser.parse_args()
    show(
        "Standard errors of weights",
        ["rows", "feature", "true", "halves / true", "bootstrap / true"],
        lines(chosen.tables, chosen.estimated),
        [
            f"{chosen.tables} tables, {chosen.estimated} of them resampled {RESAMPLES} times; {today()}",
            in_words(this_machine()),
        ],
        n_left=2,
    )


if __name__ == "__main__":
    main()
