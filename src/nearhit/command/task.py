"""Classes or numbers: what the target is, who said so, and the target as the estimators take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from nearhit.command.messages import Refusal, counted
from nearhit.command.options import TASK_OF, Choices
from nearhit.command.sidecar import Sidecar

CATEGORIES = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)


@dataclass(frozen=True)
class Decision:
    """Classification or regression, and who said so."""

    task: str
    why: str


def decide_task(values: pl.Series, choices: Choices, sidecar: Sidecar | None) -> Decision:
    """What the target is: as --task or --method say, or the sidecar, or as its values show; never a guess."""
    holds = _what_it_holds(values)
    if choices.task:
        decision = Decision(choices.task, "--task says so")
    elif choices.method in TASK_OF:
        decision = Decision(TASK_OF[choices.method], f"--method {choices.method} is for that")
    elif sidecar is not None and sidecar.task and sidecar.target == values.name:
        decision = Decision(sidecar.task, f"{sidecar.name} says so")
    elif holds == "whole numbers":
        raise Refusal(
            f"the target {values.name!r} holds whole numbers, which may be classes or quantities: add "
            "--task classification or --task regression."
        )
    else:
        task = "regression" if holds == "numbers with a fraction" else "classification"
        decision = Decision(task, f"the target {values.name!r} holds {holds}")
    if decision.task == "regression" and values.dtype in CATEGORIES:
        raise Refusal(
            f"{decision.why}, but regression needs numbers, and the target {values.name!r} holds {holds}: give --task "
            "classification, or a target of numbers."
        )
    _refuse_constant(values, decision.task)
    return decision


def _what_it_holds(values: pl.Series) -> str:
    """The kind of a target in words; a target with unknown values is refused."""
    if values.null_count():
        raise Refusal(
            f"the target {values.name!r} is missing in {values.null_count():,} of {counted(len(values), 'row')}; "
            "nearhit drops no row by itself, so remove these rows from the table."
        )
    if values.dtype in CATEGORIES:
        return {pl.Boolean: "true and false", pl.String: "text"}.get(values.dtype.base_type(), "categories")
    if not values.dtype.is_numeric():
        raise Refusal(f"the target {values.name!r} holds {values.dtype}; make it numbers or text.")
    return "numbers with a fraction" if _has_fraction(values) else "whole numbers"


def _has_fraction(values: pl.Series) -> bool:
    return not values.dtype.is_integer() and bool((values.cast(pl.Float64) % 1 != 0).any())


def _refuse_constant(values: pl.Series, task: str) -> None:
    if values.n_unique() == 1:
        needs = "two classes" if task == "classification" else "numbers that differ"
        advice = "name another target, or add rows in which it differs"
        where = f"all {len(values):,} rows" if len(values) > 1 else "the only row"
        raise Refusal(f"the target {values.name!r} is {values[0]!r} in {where}; a ranking needs {needs}: {advice}.")


def target_array(values: pl.Series, task: str) -> npt.NDArray[Any]:
    """The target as the estimators take it: classes keep the form in which they stand in the table."""
    if task == "regression":
        return values.cast(pl.Float64).to_numpy()
    if values.dtype == pl.Boolean:
        return values.to_numpy()
    if values.dtype.is_numeric() and not _has_fraction(values):
        integers = values.cast(pl.Int64, strict=False)
        if not integers.null_count():  # none too large
            return integers.to_numpy()
    return np.array(values.cast(pl.String).to_list(), object)
