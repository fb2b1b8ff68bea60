"""Which columns the caller declared to be nominal: by names, by indices or by a mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from numbers import Integral
from typing import Any, NoReturn

import numpy as np

from nearhit.intake.blocks import Mask
from nearhit.intake.messages import listed
from nearhit.intake.source import Source


def declared_columns(declared: Any, source: Source) -> Mask:
    """Which columns `categorical_features` names, as a mask over all columns."""
    n_features = len(source.names)
    is_declared = np.zeros(n_features, dtype=bool)
    entries = _declared_entries(declared)
    if all(isinstance(entry, bool | np.bool_) for entry in entries):
        if entries and len(entries) != n_features:
            raise ValueError(
                f"A mask in categorical_features must have one entry per column; it has {len(entries)} and X "
                f"has {n_features} columns. Give a mask of that length, or indices."
            )
        is_declared[np.flatnonzero(entries)] = True
        return is_declared
    if all(isinstance(entry, str) for entry in entries):
        positions = _positions_of_names(entries, source)
    elif all(isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_) for entry in entries):
        positions = _positions_of_indices(entries, n_features)
    else:
        _refuse_declaration(declared)
    twice = [source.names[position] for position, times in Counter(positions).items() if times > 1]
    if twice:
        raise ValueError(
            f"categorical_features must give each column once; it repeats {listed(twice)}. Remove what is repeated."
        )
    is_declared[positions] = True
    return is_declared


def _declared_entries(declared: Any) -> list[Any]:
    if declared is None or (isinstance(declared, str) and declared == "from_dtype"):
        return []
    if isinstance(declared, str | bytes | dict) or not isinstance(declared, Iterable):
        _refuse_declaration(declared)
    if isinstance(declared, np.ndarray) and declared.ndim != 1:
        _refuse_declaration(declared)
    return list(declared)


def _refuse_declaration(declared: Any) -> NoReturn:
    hint = f" For one column, write [{declared!r}]." if isinstance(declared, str | Integral) else ""
    raise ValueError(
        'categorical_features must be "from_dtype", None, or a list of column names, of column indices or of '
        f"one boolean per column; got {declared!r}.{hint}"
    )


def _positions_of_names(entries: list[str], source: Source) -> list[int]:
    if not source.is_named:
        raise ValueError(
            f"categorical_features may hold column names only when X is a data frame; got {listed(entries)} and "
            "an X without names. Give indices or a boolean mask, or X as a data frame."
        )
    position_of = {name: position for position, name in enumerate(source.names)}
    strange = [entry for entry in entries if entry not in position_of]
    if strange:
        raise ValueError(
            f"categorical_features must name columns of X; X has no column {listed(strange)}. "
            f"Its columns are {listed(source.names, at_most=20)}."
        )
    return [position_of[entry] for entry in entries]


def _positions_of_indices(entries: list[Any], n_features: int) -> list[int]:
    strange = [int(entry) for entry in entries if not -n_features <= entry < n_features]
    if strange:
        raise ValueError(
            f"Indices in categorical_features must lie between {-n_features} and {n_features - 1}; got "
            f"{listed(strange)}. X has {n_features} columns; the first has index 0."
        )
    return [int(entry) % n_features for entry in entries]
