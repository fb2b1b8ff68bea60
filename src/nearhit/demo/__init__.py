"""A small data set in which the columns that matter do so only together, ranked: ``python -m nearhit.demo``."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

#: 200 cases and 200 controls, 50 genotypes (0, 1 or 2 copies of an allele); make_data.py says how they were drawn
FILE = Path(__file__).with_name("epistasis.csv")
TARGET = "status"


def load() -> tuple[list[str], npt.NDArray[np.int8], npt.NDArray[np.str_]]:
    """The names of the genotypes, one row of them per person, and who is a case."""
    with FILE.open(encoding="ascii", newline="") as lines:
        header, *rows = csv.reader(lines)
    return header[:-1], np.array([row[:-1] for row in rows], np.int8), np.array([row[-1] for row in rows])
