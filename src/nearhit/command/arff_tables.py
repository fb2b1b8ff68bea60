"""ARFF: attributes with their kinds and categories, then rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from nearhit.command.messages import Refusal, counted, first_line


def read_arff(name: str, data: bytes) -> pl.DataFrame:
    """ARFF: the head is SciPy's to read; its way with rows is not used, because it passes over what stands behind the
    last attribute (a weight, as in `1,a,{5}`) and takes the quotation marks of the first row for those of all."""
    try:
        head, at_data, rest = re.split(r"(?im)^(\s*@data\b.*)$", data.decode("utf-8-sig"), maxsplit=1)
    except UnicodeDecodeError:
        raise Refusal(f"{name} is not UTF-8 text; save it as UTF-8.") from None
    except ValueError:  # nothing to split at
        raise Refusal(f"{name} is not ARFF: it has no @data.") from None
    attributes = _arff_attributes(name, f"{head}{at_data}\n")
    lines = (line.strip() for line in rest.splitlines())
    rows = [_arff_cells(line) for line in lines if line and not line.startswith("%")]
    for number, row in enumerate(rows, start=1):
        if row[0].startswith("{"):
            raise Refusal(f"row {number} of {name} is sparse, which is not read from ARFF; save it as CSV.")
        if len(row) != len(attributes):
            raise Refusal(
                f"row {number} of {name} has {counted(len(row), 'value')} for {counted(len(attributes), 'attribute')}. "
                "Mend the row; make a weight in braces an attribute, for --weight-column."
            )
    columns = zip(*rows, strict=True) if rows else [()] * len(attributes)
    return pl.DataFrame(
        [_arff_column(name, key, *attributes[key], cells) for key, cells in zip(attributes, columns, strict=True)]
    )


def _arff_attributes(name: str, head: str) -> dict[str, tuple[str, Any]]:
    """For every attribute its kind, and its categories or the format of its dates."""
    from scipy.io import arff

    try:
        _, found = arff.loadarff(io.StringIO(head))
    except NotImplementedError:
        raise Refusal(f"{name} has a string attribute, not read from ARFF; remove it or make it nominal.") from None
    except StopIteration:
        raise Refusal(f"{name} is not ARFF: it has no @relation or no @attribute.") from None
    except (ValueError, arff.ArffError) as error:
        raise Refusal(f"cannot read {name} as ARFF: {first_line(error)}. Save it as CSV.") from None
    if not found.names():
        raise Refusal(f"{name} is not ARFF: it has no @attribute.")
    return {key: found[key] for key in found.names()}


def _arff_cells(line: str) -> list[str]:
    quote = '"' if '"' in line and "'" not in line else "'"
    separator = "\t" if "\t" in line and "," not in line else ","
    (cells,) = csv.reader([line], delimiter=separator, quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [cell.strip() for cell in cells]


def _arff_column(name: str, key: str, kind: str, about: Any, cells: Sequence[str]) -> pl.Series:
    text = pl.Series(key, [None if cell == "?" else cell for cell in cells], dtype=pl.String)
    try:
        if kind == "numeric":
            return text.cast(pl.Float64).fill_nan(None)
        if kind == "nominal":
            return text.cast(pl.Enum([category.strip(" '\"") for category in about]))
        if kind == "date":
            return text.str.to_datetime(about)
    except pl.exceptions.PolarsError as error:
        raise Refusal(f"attribute {key!r} of {name} is {kind}, but a value is not: {first_line(error)}.") from None
    raise Refusal(f"attribute {key!r} of {name} is {kind}, which is not read from ARFF; remove it.")
