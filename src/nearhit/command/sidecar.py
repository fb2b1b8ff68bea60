"""The sidecar: a JSON file beside a table that names its digit-coded categories, its target and its task."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearhit.command.messages import Refusal, first_line
from nearhit.command.tables import STDIN


@dataclass(frozen=True)
class Sidecar:
    """What a JSON file beside a table knows and the table cannot say.

    Attributes
    ----------
    name : str
        The sidecar's file name.
    nominal : tuple of str
        Columns whose numbers are names of categories.
    target, task : str or None
        The column that is usually the target, and "classification" or "regression" for that column.
    """

    name: str
    nominal: tuple[str, ...]
    target: str | None = None
    task: str | None = None


def read_sidecar(source: str) -> Sidecar | None:
    """The sidecar of a table: heart.json beside heart.csv or heart.csv.gz; None if there is none."""
    if source == STDIN:
        return None
    path = Path(source)
    stem = Path(path.stem) if path.suffix.lower() == ".gz" else path
    beside = path.with_name(f"{stem.stem}.json")
    if not beside.is_file():
        return None
    try:
        content = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _bad_sidecar(beside.name, f"cannot be read: {first_line(error)}") from None
    if not isinstance(content, dict) or "nominal" not in content:
        return None  # some other JSON: without this key it says nothing about columns
    return _checked_sidecar(beside.name, content)


def _checked_sidecar(name: str, content: dict[str, Any]) -> Sidecar:
    nominal, target, task = content["nominal"], content.get("target"), content.get("task")
    if not isinstance(nominal, list) or not all(isinstance(column, str) for column in nominal):
        raise _bad_sidecar(name, 'must have a list of column names under "nominal"')
    if not isinstance(target, str | None):
        raise _bad_sidecar(name, f'must have a column name under "target"; got {target!r}')
    if task not in (None, "classification", "regression"):
        raise _bad_sidecar(name, f'must have "classification" or "regression" under "task"; got {task!r}')
    return Sidecar(name, tuple(nominal), target, task)


def _bad_sidecar(name: str, what: str) -> Refusal:
    return Refusal(f"the sidecar {name} {what}. Mend it, or add --no-sidecar.")
