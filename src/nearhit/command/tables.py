"""Tables in: a file of one of five formats, or the standard input, becomes a polars data frame.

The types of the columns are the file's own, or, where a file has none (CSV), what every single cell of a column says:
numbers if all known cells are numbers, text otherwise. Rows are never dropped or padded. Whatever cannot be read is
refused in one sentence that says what to do.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from pathlib import Path
from typing import cast

import polars as pl
import polars.selectors as cs

from nearhit.command.arff_tables import read_arff
from nearhit.command.arrow_schemas import categories_of_arrow, categories_of_parquet
from nearhit.command.csv_tables import read_csv
from nearhit.command.messages import Refusal, did_you_mean, first_line

STDIN = "-"
FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arff": "arff",
}
FORMATS = tuple(dict.fromkeys(FORMAT_OF_SUFFIX.values()))
SEPARATOR_OF = {"csv": ",", "tsv": "\t"}
GZIP, PARQUET, ARROW_FILE, FEATHER_1 = b"\x1f\x8b", b"PAR1", b"ARROW1", b"FEA1"


def read_table(source: str, format: str | None = None, separator: str | None = None) -> pl.DataFrame:
    """Read a table with a header.

    Parameters
    ----------
    source : str
        Path of a file, or "-" for the standard input. CSV, TSV and ARFF may be compressed by gzip.
    format : {"csv", "tsv", "parquet", "arrow", "arff"}, optional
        By default what the name ends in; CSV on the standard input.
    separator : str, optional
        What stands between the cells of a CSV file, if not a comma (a tab for TSV).

    Returns
    -------
    polars.DataFrame
        With at least one row, and columns that have different names.

    Raises
    ------
    Refusal
        If there is no such file, or it cannot be read as a table.
    """
    _refuse_missing(source)
    format = format or _format_of(source)
    if format not in FORMATS:
        raise Refusal(f"--format must be one of {', '.join(FORMATS)}; got {format!r}.")
    if separator is not None and (format not in SEPARATOR_OF or len(separator.encode()) != 1):
        raise Refusal(f"--separator must be one ASCII character, and for CSV only; got {separator!r} for {format}.")
    name = short_name(source)
    data = _bytes_of(source)
    if not data:
        raise Refusal(f"{name} is empty; give a table with a header and rows.")
    if format in SEPARATOR_OF:
        _refuse_other_than_text(name, data)
        frame = read_csv(name, data, separator or SEPARATOR_OF[format])
    elif format == "arff":
        frame = read_arff(name, data)
    else:
        frame = _read_binary(name, data, format)
    if not frame.height:
        raise Refusal(f"{name} has a header and no rows; give a table with at least two.")
    return frame


def short_name(source: str) -> str:
    """How messages and results call a file: without its folders."""
    return "the standard input" if source == STDIN else Path(source).name


def _format_of(source: str) -> str:
    if source == STDIN:
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if not suffixes or suffixes[-1] not in FORMAT_OF_SUFFIX:
        raise Refusal(
            f"the name {short_name(source)!r} does not end in {', '.join(FORMAT_OF_SUFFIX)} or .csv.gz; say which "
            f"format it has with --format {'|'.join(FORMATS)}."
        )
    return FORMAT_OF_SUFFIX[suffixes[-1]]


def _refuse_missing(source: str) -> None:
    path = Path(source)
    if source == STDIN or (path.exists() and not path.is_dir()):
        return
    if path.exists():
        raise Refusal(f"{source} is a directory; name a file in it.")
    raise Refusal(f"there is no file {source}.{_nearest_file(path)}")


def _bytes_of(source: str) -> bytes:
    if source == STDIN:
        return sys.stdin.buffer.read()
    try:
        data = Path(source).read_bytes()
    except OSError as error:
        raise Refusal(f"cannot read {source}: {error.strerror}.") from None
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise Refusal(f"cannot unpack {short_name(source)}: {error}. Is the file complete?") from None


def _nearest_file(path: Path) -> str:
    try:
        return did_you_mean(path.name, os.listdir(path.parent))
    except OSError:
        return f" Nor is there a directory {path.parent}."


def _refuse_other_than_text(name: str, data: bytes) -> None:
    looks = {PARQUET: "parquet", ARROW_FILE: "arrow"}
    for start, format in looks.items():
        if data.startswith(start):
            raise Refusal(f"{name} is not text but looks like {format}; add --format {format}.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Refusal(f"{name} is UTF-16 text; save it as UTF-8.")
    if b"\0" in data[:4096]:
        raise Refusal(f"{name} is not text; save the table as CSV, Parquet or Arrow.")


def _read_binary(name: str, data: bytes, format: str) -> pl.DataFrame:
    if data.startswith(FEATHER_1):
        raise Refusal(f"{name} is Feather of version 1, which nearhit does not read; write it anew as version 2.")
    try:
        if format == "arrow":
            frame, categories = _read_arrow(name, data), categories_of_arrow(data)
        else:
            frame, categories = pl.read_parquet(io.BytesIO(data)), categories_of_parquet(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, LookupError) as error:
        raise Refusal(
            f"cannot read {name} as {format.capitalize()}: {first_line(error)[:100]}. "
            f"Is it complete, and is it {format}?"
        ) from None
    frame = frame.with_columns(cs.float().fill_nan(None))
    return frame.with_columns(_as_categories(column) for column in frame.iter_columns() if column.name in categories)


def _read_arrow(name: str, data: bytes) -> pl.DataFrame:
    is_file = data.startswith(ARROW_FILE)
    try:
        return (pl.read_ipc if is_file else pl.read_ipc_stream)(io.BytesIO(data))
    except pl.exceptions.ComputeError as error:
        # Under an unknown category pandas writes the code -1, which Polars takes for a category.
        if "dictionary key" not in str(error):
            raise
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise Refusal(
            f"{name} has missing values in a column of categories, which Polars cannot read from Arrow files: "
            "pip install pyarrow, or write the table as Parquet."
        ) from None
    with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(data) as reader:
        return cast(pl.DataFrame, pl.from_arrow(reader.read_all()))


def _as_categories(column: pl.Series) -> pl.Series:
    """Values of a category column as categories: Polars keeps those of text only (arrow_schemas.py)."""
    if column.dtype in (pl.Categorical, pl.Enum, pl.Boolean):
        return column
    if column.dtype.is_float() and column.is_infinite().any():
        raise Refusal(
            f"column {column.name!r} holds categories, and infinite ones among them; replace them, or mark them as missing."
        )
    return column.cast(pl.String).cast(pl.Categorical)
