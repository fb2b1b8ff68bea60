"""Files in and out: tables of five formats, the sidecar that names digit-coded categories, results written whole.

A table becomes a polars data frame whose column types are the file's own, or, where a file has none (CSV), what
every single cell of a column says: numbers if all known cells are numbers, text otherwise. Rows are never dropped or
padded. Whatever cannot be read is refused in one sentence that says what to do.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl
import polars.selectors as cs

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
#: cells of a CSV file that stand for an unknown value
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")
GZIP, PARQUET, ARROW_FILE, FEATHER_1 = b"\x1f\x8b", b"PAR1", b"ARROW1", b"FEA1"


class Refusal(Exception):
    """Something that the user can put right; the message is one line that says how."""


# --- tables in ----------------------------------------------------------------------------------------------


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
        raise Refusal(f"{name} is empty.")
    if format in SEPARATOR_OF:
        frame = _read_csv(name, data, separator or SEPARATOR_OF[format])
    elif format == "arff":
        frame = _read_arff(name, data)
    else:
        frame = _read_binary(name, data, format)
    if not frame.height:
        raise Refusal(f"{name} has a header and no rows.")
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


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name: the nearest ones, if any is near."""
    import difflib

    by_small_letters = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_small_letters, n=2, cutoff=0.7)
    return f" Did you mean {' or '.join(repr(by_small_letters[other]) for other in near)}?" if near else ""


# --- CSV ----------------------------------------------------------------------------------------------------


def _read_csv(name: str, data: bytes, separator: str) -> pl.DataFrame:
    _refuse_other_than_text(name, data)
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")  # a byte order mark, blank lines
    if not data:
        raise Refusal(f"{name} holds nothing but blank lines.")
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


def _refuse_other_than_text(name: str, data: bytes) -> None:
    looks = {PARQUET: "parquet", ARROW_FILE: "arrow"}
    for start, format in looks.items():
        if data.startswith(start):
            raise Refusal(f"{name} is not text but looks like {format}; add --format {format}.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Refusal(f"{name} is UTF-16 text; save it as UTF-8.")
    if b"\0" in data[:4096]:
        raise Refusal(f"{name} is not text; save the table as CSV, Parquet or Arrow.")


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


# --- Parquet, Arrow, ARFF -----------------------------------------------------------------------------------


def _read_binary(name: str, data: bytes, format: str) -> pl.DataFrame:
    if data.startswith(FEATHER_1):
        raise Refusal(f"{name} is Feather of version 1, which nearhit does not read; write it anew as version 2.")
    read: Callable[[IO[bytes]], pl.DataFrame] = pl.read_parquet
    if format == "arrow":
        read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        frame = read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise Refusal(
            f"cannot read {name} as {format.capitalize()}: {first_line(error)[:100]}. "
            f"Is it complete, and is it {format}?"
        ) from None
    return frame.with_columns(cs.float().fill_nan(None))


def _read_arff(name: str, data: bytes) -> pl.DataFrame:
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


# --- the sidecar --------------------------------------------------------------------------------------------


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


# --- results out --------------------------------------------------------------------------------------------


def check_directory(directory: Path, names: Sequence[str], source: str) -> None:
    """Refuse, before any work is done, a directory that results could not be written to."""
    if directory.exists() and not directory.is_dir():
        raise Refusal(f"--out {directory} is a file; name a directory.")
    nearest = _nearest_existing(directory)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise Refusal(f"--out {directory} cannot be written: {nearest} allows no new files.")
    for path in (directory / name for name in names):
        if path.is_dir():
            raise Refusal(f"--out {directory} holds a directory {path.name} where a file of that name should go.")
        if source != STDIN and path.exists() and Path(source).exists() and path.samefile(source):
            raise Refusal(f"--out {directory} would overwrite the table {path.name} itself; name another directory.")


def write_together(directory: Path, contents: Mapping[str, bytes]) -> None:
    """Write several files whole, or, on any failure or Ctrl-C, none: then everything is as it was before.

    Parameters
    ----------
    directory : Path
        Made if it is missing, with its parents.
    contents : mapping of str to bytes
        Names and contents of the files; files of these names are replaced.
    """
    directory = directory.resolve()
    with _staging_directory(_nearest_existing(directory)) as staged, ExitStack() as undo:
        for name, content in contents.items():
            (staged / name).write_bytes(content)
        for missing in _missing_parents(directory):
            undo.callback(_remove_if_there, missing, Path.rmdir)
            missing.mkdir()
        for name in contents:
            _replace(staged, directory / name, undo)
        undo.pop_all()


@contextmanager
def _staging_directory(parent: Path) -> Iterator[Path]:
    """A hidden directory on the same disk, so that files move by a rename, which is all or nothing."""
    with tempfile.TemporaryDirectory(prefix=".nearhit-", dir=parent) as staged:
        yield Path(staged)


def _replace(staged: Path, path: Path, undo: ExitStack) -> None:
    """Move a file from the staging directory to its place, and say how to take that back."""
    if path.exists():
        before = staged / f"{path.name}.before"
        shutil.copy2(path, before)
        undo.callback(os.replace, before, path)
    else:
        undo.callback(_remove_if_there, path, Path.unlink)
    os.replace(staged / path.name, path)


def _remove_if_there(path: Path, remove: Callable[[Path], None]) -> None:
    if path.exists():
        remove(path)


def _missing_parents(directory: Path) -> list[Path]:
    """What must be made for a directory to exist, the outermost first."""
    return [path for path in [*reversed(directory.parents), directory] if not path.exists()]


def _nearest_existing(directory: Path) -> Path:
    return next(path for path in [directory.absolute(), *directory.absolute().parents] if path.exists())


def first_line(error: BaseException) -> str:
    """What an error of another library says, short and without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
