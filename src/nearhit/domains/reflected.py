"""Eight features that rise or fall with a signal, and twins of each that are reflected in the middle of their range.

The data on which Bins and Draper show that Relief undervalues features that peak inside their range (SPEC.md section 5
fills in what the paper leaves open). The features are functions of the signal s, uniform in (0, 1):

    L1 = s        L2 = 1 - s                                             linear, the signal drawn over the feature
    Q1 = root(s)  Q2 = 1 - Q1     Q3 = root(1 - s)  Q4 = 1 - Q3          quadratic
    G1 = root(-2 ln s) / max      G2 = 1 - root(-2 ln(1 - s)) / max      half a bell curve
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

FloatArray = npt.NDArray[np.float64]
NAMES = ("L1", "L2", "Q1", "Q2", "Q3", "Q4", "G1", "G2")


class Reflected(NamedTuple):
    """The table, its signal, and the names of its columns: "L1", "L1 left", "L1 right", …, "similar 1", "irrelevant 1"."""

    X: FloatArray
    y: FloatArray
    names: tuple[str, ...]


def reflected(
    n_rows: int = 200,
    *,
    noise: float = 0.05,
    features: tuple[str, ...] = NAMES,
    n_similar: int = 0,
    n_irrelevant: int = 0,
    random_state: Any = None,
) -> Reflected:
    """Draw the features, their twins reflected to the left and to the right, and others.

    Parameters
    ----------
    n_rows : int, default=200
    noise : float, default=0.05
        Standard deviation of what is added to the features; half of it to the twins, which are half as wide.
    features : names among "L1", "L2", "Q1" … "Q4", "G1", "G2", default=all
    n_similar : int, default=0
        More right twins of L1, each with coins and noise of its own.
    n_irrelevant : int, default=0
        Columns of random numbers between 0 and 1.
    random_state : int, RandomState or None

    Returns
    -------
    Reflected
        X, y and names.

    Examples
    --------
    >>> from nearhit.domains import reflected
    >>> data = reflected(features=("L1",), n_irrelevant=1, random_state=0)
    >>> data.names, data.X.shape
    (('L1', 'L1 left', 'L1 right', 'irrelevant 1'), (200, 4))
    """
    if unknown := sorted(set(features) - set(NAMES)):
        raise ValueError(f"features must be names among {', '.join(NAMES)}; got {unknown[0]!r}.")
    random = check_random_state(random_state)
    signal = random.uniform(np.nextafter(0, 1), 1, n_rows)
    functions = _functions(signal)
    columns: dict[str, FloatArray] = {}
    for name in features:
        values = functions[name]
        columns[name] = values + noise * random.standard_normal(n_rows)
        columns[f"{name} left"] = _twin(0.5 - values / 2, 0.5 + values / 2, noise, random)
        columns[f"{name} right"] = _twin(values / 2, 1 - values / 2, noise, random)
    for i in range(n_similar):
        columns[f"similar {i + 1}"] = _twin(signal / 2, 1 - signal / 2, noise, random)
    for i in range(n_irrelevant):
        columns[f"irrelevant {i + 1}"] = random.uniform(size=n_rows)
    return Reflected(np.column_stack(list(columns.values())), signal, tuple(columns))


def _functions(s: FloatArray) -> dict[str, FloatArray]:
    bell, other_bell = np.sqrt(-2 * np.log(s)), np.sqrt(-2 * np.log1p(-s))
    root, other_root = np.sqrt(s), np.sqrt(1 - s)
    bell, other_bell = bell / bell.max(), other_bell / other_bell.max()
    values = (s, 1 - s, root, 1 - root, other_root, 1 - other_root, bell, 1 - other_bell)
    return dict(zip(NAMES, values, strict=True))


def _twin(one: FloatArray, other: FloatArray, noise: float, random: np.random.RandomState) -> FloatArray:
    """A fair coin for each row says on which side of the middle it lies."""
    values = np.where(random.uniform(size=len(one)) < 0.5, one, other)
    return values + noise / 2 * random.standard_normal(len(one))
