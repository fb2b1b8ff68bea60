"""Columns of Python objects: their kind is that of all their known cells."""

from __future__ import annotations

import sys
from collections import defaultdict
from decimal import Decimal
from itertools import compress, count
from numbers import Complex, Integral, Real
from operator import not_
from typing import Any, NoReturn

import numpy as np

from nearhit.intake.blocks import Block, Mask, NumericBlock
from nearhit.intake.codes import nominal_column
from nearhit.intake.messages import refuse_dtype


def cells_block(cells: list[Any], position: int, name: str) -> Block:
    """A column of Python objects: numeric if every known cell is a number, nominal if all are text or all bool."""
    kind_of = {cell_type: _kind_of_cell(cell_type) for cell_type in set(map(type, cells))}
    known, unknown = cells, np.zeros(len(cells), dtype=bool)
    if not {"missing", "real", "time"}.isdisjoint(kind_of.values()):
        is_unknown = [_is_unknown(cell, kind_of[type(cell)]) for cell in cells]
        known, unknown = list(compress(cells, map(not_, is_unknown))), np.array(is_unknown)
    known_types = set(map(type, known))
    kinds = {kind_of[cell_type] for cell_type in known_types}
    if kinds == {"integer"}:
        return _integers_block(known, unknown, position)
    if kinds <= {"integer", "real"}:  # or nothing is known: then there is nothing that says category
        return _floats_block(known, unknown, position)
    if kinds == {"string"} or kinds == {"boolean"}:
        number_of: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.zeros(len(cells), dtype=np.int64)
        codes[~unknown] = list(map(number_of.__getitem__, known))
        return nominal_column(codes, unknown, position, name)
    _refuse_cells(name, known_types, kind_of)


def _is_unknown(cell: Any, kind: str) -> bool:
    # Only NaN and NaT differ from themselves. Other kinds are not compared: their answer may be an array. A decimal is
    # asked, because comparing its signalling NaN is an error.
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return kind == "missing" or (kind in ("real", "time") and bool(cell != cell))


def _kind_of_cell(cell_type: type) -> str:
    pandas = sys.modules.get("pandas")  # NA and NaT cannot be here unless pandas is loaded
    missing = (type(None), type(np.ma.masked)) + ((type(pandas.NA), type(pandas.NaT)) if pandas else ())
    kinds: tuple[tuple[str, Any], ...] = (
        ("missing", missing),
        ("time", (np.datetime64, np.timedelta64)),  # before the integers: NumPy files timedelta64 among them
        ("boolean", (bool, np.bool_)),  # before the integers: Python files bool among them
        ("string", str),
        ("integer", Integral),
        ("real", (Real, Decimal)),
        ("complex", Complex),
    )
    return next((kind for kind, types in kinds if issubclass(cell_type, types)), "other")


def _integers_block(known: list[Any], unknown: Mask, position: int) -> NumericBlock:
    """Integers stay integers, also beside unknown ones: as floats those above 2^53 would run together."""
    integers = list(map(int, known))
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(integers) and max(integers) <= np.iinfo(dtype).max:
            values = np.zeros((len(unknown), 1), dtype)
            values[~unknown, 0] = integers
            return NumericBlock(np.array([position]), values, unknown[:, None] if unknown.any() else None)
    return _floats_block(integers, unknown, position)


def _floats_block(known: list[Any], unknown: Mask, position: int) -> NumericBlock:
    values = np.full((len(unknown), 1), np.nan)
    values[~unknown, 0] = list(map(_as_float, known))
    return NumericBlock(np.array([position]), values, None)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of more than 308 digits; the next stage refuses infinity by name
        return float("inf") if number > 0 else float("-inf")


def _refuse_cells(name: str, types: set[type], kind_of: dict[type, str]) -> NoReturn:
    """The words "argument must be a string or a real number" are those scikit-learn's checks look for."""
    words = {"integer": "numbers", "real": "numbers", "string": "strings", "boolean": "booleans"}
    if any(kind_of[cell_type] == "complex" for cell_type in types):
        refuse_dtype(name, "object with complex numbers in it", is_complex=True)
    strange = sorted(repr(cell_type.__name__) for cell_type in types if kind_of[cell_type] not in words)
    found = sorted({words[kind_of[cell_type]] for cell_type in types if kind_of[cell_type] in words}) + strange
    raise TypeError(
        f"column {name!r} {'mixes' if len(found) > 1 else 'holds'} {' and '.join(found)}: argument must be a "
        f"string or a real number in every row of a column, not {strange[0] if strange else 'some of each'}. "
        "Convert the column to one of them."
    )
