"""The run: a table and what was decided about it go through an estimator, and a report comes out."""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from nearhit.command.columns import Roles
from nearhit.command.doubts import warn_about_row_numbers, warn_about_text
from nearhit.command.messages import Refusal, counted
from nearhit.command.options import METHODS, OPTION_OF, Choices, in_options
from nearhit.command.task import CATEGORIES, Decision, target_array
from nearhit.redundancy import Twins


@dataclass(frozen=True)
class Score:
    """One feature of the result."""

    rank: int
    feature: str
    weight: float
    selected: bool
    p_value: float | None = None


@dataclass(frozen=True)
class Report:
    """All that is shown and written: numbers, no text yet."""

    file: str
    roles: Roles
    decision: Decision
    method: str
    parameters: dict[str, Any]
    n_rows: int
    numeric: list[str]
    categorical: list[str]
    cells_missing: int
    classes: list[tuple[Any, int]]
    neighbors_used: float
    kernel: str
    seconds: float
    scores: list[Score]
    twins: list[Twins] | None
    least_p_value: float = 0.0


def run(file: str, table: pl.DataFrame, roles: Roles, decision: Decision, choices: Choices) -> Report:
    """Fit the estimator and keep what is worth telling."""
    X = table.select(roles.features)
    warn_about_row_numbers(table, roles)
    warn_about_text(X, roles)
    estimator = make_estimator(choices, decision, roles)
    y = target_array(table[roles.target], decision.task)
    start = time.perf_counter()
    _fit(estimator, X, y, _row_weights(table, roles.weight))
    seconds = time.perf_counter() - start
    selected = dict(zip(roles.features, estimator.support_.tolist(), strict=True))
    ranking = estimator.ranking()
    categorical = [name for name in roles.features if name in roles.categorical or X[name].dtype in CATEGORIES]
    return Report(
        file=file,
        roles=roles,
        decision=decision,
        method=type(estimator).__name__,
        parameters=estimator.get_params(),
        n_rows=table.height,
        numeric=[name for name in roles.features if name not in categorical],
        categorical=categorical,
        cells_missing=sum(X.null_count().row(0)),
        classes=_classes(y) if decision.task == "classification" else [],
        neighbors_used=estimator.n_neighbors_used_,
        kernel=estimator.kernel_,
        seconds=seconds,
        scores=[
            Score(row.rank, row.feature, row.weight, selected[row.feature], getattr(row, "p_value", None))
            for row in ranking
        ],
        twins=list(estimator.redundancy_) if hasattr(estimator, "redundancy_") else None,
        least_p_value=ranking.least_p_value,
    )


def make_estimator(choices: Choices, decision: Decision, roles: Roles) -> Any:
    """The estimator that the options describe; what they leave out keeps its default."""
    name = choices.method or ("relieff" if decision.task == "classification" else "rrelieff")
    accepted = inspect.signature(METHODS[name]).parameters
    for parameter in choices.parameters:
        if parameter not in accepted:
            raise Refusal(f"{OPTION_OF[parameter]} has no meaning for --method {name}; leave it out.")
    declared: dict[str, Any] = {"categorical_features": roles.categorical} if roles.categorical else {}
    if "target" in accepted:
        declared["target"] = "classes" if decision.task == "classification" else "numeric"
    return METHODS[name](**choices.parameters, **declared)


def _fit(estimator: Any, X: pl.DataFrame, y: npt.NDArray[Any], row_weights: npt.NDArray[Any] | None) -> None:
    try:
        estimator.fit(X, y, sample_weight=row_weights)
    except (NotImplementedError, RecursionError):  # RuntimeErrors that no user can put right
        raise
    except (ValueError, TypeError, RuntimeError, MemoryError) as error:
        raise Refusal(in_options(str(error)) or "there is not enough memory for this table.") from error


def _row_weights(table: pl.DataFrame, column: str | None) -> npt.NDArray[np.float64] | None:
    if column is None:
        return None
    values = table[column]
    if not values.dtype.is_numeric():
        raise Refusal(f"--weight-column {column!r} must hold numbers; it holds {values.dtype}.")
    if unknown := values.null_count():
        raise Refusal(f"--weight-column {column!r} is missing in {counted(unknown, 'row')}; give each row a weight.")
    return values.cast(pl.Float64).to_numpy()


def _classes(y: npt.NDArray[Any]) -> list[tuple[Any, int]]:
    labels, counts = np.unique(y, return_counts=True)
    return list(zip(labels.tolist(), counts.tolist(), strict=True))
