"""What each column of a table is for: target, weight, feature, category, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from nearhit.command.messages import Refusal, counted, did_you_mean, listed, tell
from nearhit.command.sidecar import Sidecar


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are for; `categorical` are the features declared to hold categories."""

    target: str
    weight: str | None
    features: list[str]
    categorical: list[str]


def assign_roles(
    table: pl.DataFrame,
    target: str | None,
    weight: str | None,
    drop: Sequence[str],
    categorical: Sequence[str],
    sidecar: Sidecar | None,
) -> Roles:
    """Say for every column what it is for, and refuse names that are no columns or have two roles."""
    if target is None:
        target = _target_of_sidecar(table, sidecar)
    wanted = [("--target", [target]), ("--weight-column", [weight] if weight else []), ("--drop", drop)]
    role_of: dict[str, str] = {}
    for role, columns in wanted:
        for column in columns:
            _check_column(column, table, role)
            if role_of.setdefault(column, role) != role:
                raise Refusal(f"column {column!r} is in {role_of[column]} and in {role}; leave out one of them.")
    features = [column for column in table.columns if column not in role_of]
    for column in categorical:
        _check_column(column, table, "--categorical")
        if column in role_of:
            hint = " For a target of classes add --task classification." if column == target else ""
            raise Refusal(f"column {column!r} is no feature but {role_of[column]}: not for --categorical too.{hint}")
    if not features:
        roles = " and ".join(role for role, columns in wanted if columns)
        advice = "name fewer columns with --drop" if drop else "add the columns to rank to the table"
        raise Refusal(f"no feature is left beside {roles}; {advice}.")
    declared = {*categorical, *_categorical_of_sidecar(table, target, features, sidecar)}
    return Roles(target, weight, features, [column for column in features if column in declared])


def split_names(given: Iterable[str] | None, table: pl.DataFrame) -> list[str]:
    """Column names out of `a,b` or `a` `b`; a name may have a comma in it."""
    names = []
    for entry in given or ():
        names += [entry] if entry in table.columns else [name.strip() for name in entry.split(",") if name.strip()]
    return list(dict.fromkeys(names))


def _check_column(column: str, table: pl.DataFrame, option: str) -> None:
    if column in table.columns:
        return
    hint = did_you_mean(column, table.columns) or f" There are {listed(table.columns)}."
    if table.width == 1:
        marks = [mark for mark in ";\t|" if mark in table.columns[0]]
        hint = f" There is only {table.columns[0]!r}."
        hint += f" Are the cells separated by {marks[0]!r}? Say so with --separator." if marks else ""
    raise Refusal(f"{option} {column!r} is no column of the table.{hint}")


def _target_of_sidecar(table: pl.DataFrame, sidecar: Sidecar | None) -> str:
    if sidecar is None or sidecar.target is None:
        raise Refusal(f"say which column is the target with --target; there are {listed(table.columns, 10)}.")
    tell(f"the target is {sidecar.target!r}, because {sidecar.name} says so")
    return sidecar.target


def _categorical_of_sidecar(
    table: pl.DataFrame, target: str, features: list[str], sidecar: Sidecar | None
) -> list[str]:
    """The features that the sidecar lists; also its own target, if that is classes and now a feature."""
    if sidecar is None:
        return []
    strange = [column for column in sidecar.nominal if column not in table.columns]
    if strange:
        raise Refusal(
            f"the sidecar {sidecar.name} lists {strange[0]!r}, which is no column of the table. Mend it, or add "
            "--no-sidecar."
        )
    classes = {sidecar.target} if sidecar.task == "classification" else set()
    found = [column for column in features if column in {*sidecar.nominal, *classes}]
    names = f" ({listed(found)})" if found else ""
    tell(f"{sidecar.name} was used: it makes categories of {counted(len(found), 'feature')}{names}")
    return found
