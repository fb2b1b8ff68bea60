"""The tables every benchmark ranks: W1 to W8, the same numbers on every machine.

    W1, W2, W3, W8   numeric; the class is the XOR of columns 0 and 1 (above one half or not), 5 % wrong
    W4               genotypes 0, 1, 2 as int8; the XOR of "carries the allele" in columns 0 and 1, 10 % wrong
    W5               half numeric, half nominal, five classes, 10 % of the cells missing
    W6               regression on columns 0 to 3, two of them as a product
    W7a, W7b         like W1, for MultiSURF

No measure that looks at one column at a time can solve the numeric XOR tables. The sizes differ in what is
hard about them: many rows and few columns (W8), many columns and few rows (W4), both (W3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SEED = 20240


# X, y, which columns are categorical, which are informative.
Filled = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, ...]]


@dataclass(frozen=True)
class Workload:
    """One table to rank, with what is known about it."""

    name: str
    X: np.ndarray
    y: np.ndarray
    categorical: np.ndarray
    task: str
    informative: tuple[int, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]


class Spec(NamedTuple):
    """How large a workload is, what fills it and what is asked of it."""

    n_rows: int
    n_features: int
    fill: Callable[[np.random.Generator, int, int], Filled]
    method: str = "ReliefF"
    n_neighbors: int = 10


def make(name: str, n_rows: int | None = None, n_features: int | None = None) -> Workload:
    """Make the named workload; fewer rows or columns may be asked for, to extrapolate from.

    Examples
    --------
    >>> make("W1").size
    (1000, 100)
    >>> make("W4", n_rows=10, n_features=20).X.dtype
    dtype('int8')
    """
    spec = SPECS[name]
    size = n_rows or spec.n_rows, n_features or spec.n_features
    rng = np.random.default_rng([SEED, int(name[1]), ord(name[2]) if len(name) > 2 else 0])
    X, y, categorical, informative = spec.fill(rng, *size)
    task = "regression" if spec.fill is numeric_regression else "classification"
    return Workload(name, X, y, categorical, task, informative)


# Each of these draws in a fixed order: another order would be another table under the same name.


def numeric_xor(rng: np.random.Generator, n_rows: int, n_features: int) -> Filled:
    """Uniform columns; the class is the XOR of the first two."""
    X = rng.random((n_rows, n_features))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(np.int64)
    y = np.where(rng.random(n_rows) < 0.05, 1 - y, y)
    return X, y, np.zeros(n_features, bool), (0, 1)


def genotypes(rng: np.random.Generator, n_rows: int, n_features: int) -> Filled:
    """Counts of the rarer allele, kept in one byte each."""
    allele_share = rng.uniform(0.1, 0.5, n_features)
    X = rng.binomial(2, allele_share, size=(n_rows, n_features)).astype(np.int8)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(np.int64)
    y = np.where(rng.random(n_rows) < 0.1, 1 - y, y)
    return X, y, np.ones(n_features, bool), (0, 1)


def mixed_with_missing(rng: np.random.Generator, n_rows: int, n_features: int) -> Filled:
    """Numeric columns, then nominal ones of five values; every tenth cell is missing."""
    n_numeric = n_features // 2
    X = np.empty((n_rows, n_features))
    X[:, :n_numeric] = rng.random((n_rows, n_numeric))
    X[:, n_numeric:] = rng.integers(0, 5, size=(n_rows, n_features - n_numeric))
    y = ((X[:, n_numeric] + (X[:, 0] > 0.5) * 2 + (X[:, 1] > 0.7)) % 5).astype(np.int64)
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, 5, n_rows), y)
    X[rng.random((n_rows, n_features)) < 0.10] = np.nan
    return X, y, np.arange(n_features) >= n_numeric, (n_numeric, 0, 1)


def numeric_regression(rng: np.random.Generator, n_rows: int, n_features: int) -> Filled:
    """One linear column, one product of two, one wave, and noise."""
    X = rng.random((n_rows, n_features))
    y = X[:, 0] + 2 * X[:, 1] * X[:, 2] + np.sin(6 * X[:, 3]) + 0.1 * rng.standard_normal(n_rows)
    return X, y, np.zeros(n_features, bool), (0, 1, 2, 3)


SPECS = {
    "W1": Spec(1_000, 100, numeric_xor),
    "W2": Spec(5_000, 200, numeric_xor),
    "W3": Spec(10_000, 1_000, numeric_xor),
    "W4": Spec(2_000, 20_000, genotypes),
    "W5": Spec(2_000, 100, mixed_with_missing),
    # 70 neighbours weighed by rank, as the papers use RReliefF.
    "W6": Spec(5_000, 200, numeric_regression, "RReliefF", 70),
    "W7a": Spec(1_000, 1_000, numeric_xor, "MultiSURF"),
    "W7b": Spec(2_000, 2_000, numeric_xor, "MultiSURF"),
    "W8": Spec(50_000, 10, numeric_xor),
}
