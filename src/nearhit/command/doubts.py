"""Features that look like a mistake: pointed out with the option that helps, and ranked all the same."""

from __future__ import annotations

import re
import warnings

import polars as pl

from nearhit.command.columns import Roles
from nearhit.command.csv_tables import share_of_numbers, unnamed


def warn_about_row_numbers(table: pl.DataFrame, roles: Roles) -> None:
    """Columns that number the rows, to go by their names."""
    for place, column in enumerate(table.columns, start=1):
        if column not in roles.features:
            continue
        what = None
        if column == unnamed(place):
            what = f"column {place} has no name and is called {column} here"
        elif re.fullmatch(r"__index_level_\d+__|Unnamed: \d+", column):
            what = f"column {column!r} looks like the row index of pandas"
        if what:
            warnings.warn(
                f"{what}. If it numbers the rows, leave it out: --drop {column!r}.", UserWarning, stacklevel=2
            )


def warn_about_text(X: pl.DataFrame, roles: Roles) -> None:
    """Text that looks like a mistake: identifiers, and numbers with a few cells that are none."""
    for column in X.iter_columns():
        if column.dtype != pl.String or column.name in roles.categorical:
            continue
        n_numbers, other = share_of_numbers(column)
        if n_numbers >= (len(column) - column.null_count()) / 2 and n_numbers:
            warnings.warn(
                f"column {column.name!r} is taken as categories because of cells such as {other!r}, but {n_numbers:,} "
                f"of its {len(column):,} cells are numbers. If it is numeric, mend those cells; else add --categorical "
                f"{column.name!r}.",
                UserWarning,
                stacklevel=2,
            )
        elif column.n_unique() == len(column):
            warnings.warn(
                f"column {column.name!r} is text that differs in every row, so it can tell nothing. If it identifies "
                f"the rows, leave it out: --drop {column.name!r}.",
                UserWarning,
                stacklevel=2,
            )
