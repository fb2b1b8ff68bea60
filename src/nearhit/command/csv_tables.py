"""CSV and TSV: Polars reads the rows; what it would fill up, cut or misread is refused, with the place where it is."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator

import polars as pl

from nearhit.command.messages import Refusal, counted, first_line

#: cells of a CSV file that stand for an unknown value
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")


def read_csv(name: str, data: bytes, separator: str) -> pl.DataFrame:
    """Read the rows, with types that every known cell of a column agrees with; blank lines are no rows."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")  # a byte order mark, blank lines
    if not data:
        raise Refusal(f"{name} holds nothing but blank lines; give a table with a header and rows.")
    try:
        frame = pl.read_csv(data, separator=separator, null_values=list(MISSING), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _check_rows(name, data, separator)  # says which row, if a row is too long
        raise Refusal(f"cannot read {name} as CSV: {first_line(error)}. Is a quotation mark not closed?") from None
    header = _header(name, data, separator)
    if len(header) != frame.width:
        raise Refusal(
            f"cannot read the header of {name} as CSV: do its lines end in \\n or \\r\\n, "
            "and are its quotation marks closed?"
        )
    frame.columns = header
    if frame.height and frame.to_series(-1).null_count():
        # Polars fills up rows that are too short. Then the last cell is unknown, so only then is there a need to look.
        is_blank = _check_rows(name, data, separator)
        frame = frame.filter(~pl.Series(is_blank))
    return frame.with_columns(_as_numbers(column) for column in frame.iter_columns() if column.dtype == pl.String)


def _records(name: str, data: bytes, separator: str) -> Iterator[list[str]]:
    """The rows as Python's own reader has them: slow, for the header and to say what is wrong where."""
    csv.field_size_limit(sys.maxsize)
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=separator)
    try:
        yield from reader
    except UnicodeDecodeError:
        line = _first_line_beyond_utf8(data)
        raise Refusal(f"{name} is not UTF-8 text: see line {line}; save it as UTF-8.") from None
    except csv.Error as error:
        raise Refusal(f"cannot read {name} as CSV: line {reader.line_num}: {error}.") from None


def _first_line_beyond_utf8(data: bytes) -> int:
    return next(number for number, line in enumerate(data.split(b"\n"), 1) if "\ufffd" in line.decode(errors="replace"))


def _header(name: str, data: bytes, separator: str) -> list[str]:
    cells = [cell.strip() for cell in next(_records(name, data, separator))]
    cells = [cell or unnamed(place) for place, cell in enumerate(cells, start=1)]
    twice = [cell for cell, times in Counter(cells).items() if times > 1]
    if twice:
        raise Refusal(f"{name} has more than one column named {twice[0]!r}; rename them.")
    return cells


def unnamed(place: int) -> str:
    """How a column without a name is called, counted from 1."""
    return f"unnamed{place}"


def _check_rows(name: str, data: bytes, separator: str) -> list[bool]:
    """Refuse a row that is too short or too long; return which rows are blank lines."""
    rows = _records(name, data, separator)
    width = len(next(rows))
    is_blank = []
    for number, row in enumerate(rows, start=1):
        is_blank.append(not row and width > 1)
        if row and len(row) != width:
            raise Refusal(
                f"row {number} of {name} has {counted(len(row), 'cell')} where the header has {width}; mend the row, "
                "or put cells with a separator in them in quotation marks."
            )
    return is_blank


def _as_numbers(text: pl.Series) -> pl.Series:
    """A column of text without blanks around the cells; a column of numbers if every known cell is one."""
    text = text.str.strip_chars()
    text = text.set(text.is_in(list(MISSING)), None)
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        return text
    integers = text.cast(pl.Int64, strict=False)
    return integers if integers.null_count() == text.null_count() else numbers.fill_nan(None)


def share_of_numbers(text: pl.Series) -> tuple[int, str]:
    """How many cells of a text column are numbers, and the first that is none."""
    numbers = text.cast(pl.Float64, strict=False)
    others = text.filter(numbers.is_null() & text.is_not_null())
    return len(text) - numbers.null_count(), str(others[0]) if len(others) else ""
