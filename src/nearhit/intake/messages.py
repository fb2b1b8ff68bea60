"""What the stages say in the same words: columns listed, and a dtype that is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn


def refuse_dtype(name: str, dtype: object, *, is_complex: bool = False) -> NoReturn:
    """Say which column has a dtype that no block can hold."""
    if is_complex:
        raise ValueError(
            f"Complex data not supported: column {name!r} has dtype {dtype}. Give the real and the imaginary "
            "part as two columns."
        )
    raise TypeError(
        f"Columns must hold numbers, dates, durations, strings, booleans or categories; column {name!r} has "
        f"dtype {dtype}. Convert it or drop it."
    )


def refuse_infinite_categories(names: Iterable[str], advice: str) -> NoReturn:
    """Say which columns of categories hold infinite values."""
    raise ValueError(
        f"A categorical column must hold finite values; there are infinite ones in column {listed(names)}. "
        f"Replace them, or {advice}."
    )


def listed(names: Iterable[Any], at_most: int = 5) -> str:
    """Names for a message: the first few and how many more there are."""
    every = list(names)
    rest = f" and {len(every) - at_most} more" if len(every) > at_most else ""
    return ", ".join(map(repr, every[:at_most])) + rest
