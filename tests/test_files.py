"""Tables in: what each cell and column becomes, and what is refused in which words. Results out: all files or none."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearhit.command.all_or_nothing import check_directory, write_together
from nearhit.command.csv_tables import MISSING
from nearhit.command.messages import Refusal, did_you_mean
from nearhit.command.sidecar import Sidecar, read_sidecar
from nearhit.command.tables import read_table


@pytest.fixture
def save(tmp_path):
    """Write a file and return its path."""

    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def refusal(source: str, **options) -> str:
    with pytest.raises(Refusal) as caught:
        read_table(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- CSV ----------------------------------------------------------------------------------------------------


def test_a_column_is_numeric_if_all_its_known_cells_are_numbers(save):
    table = read_table(save("t.csv", 'i,f,e,s,q,w\n1,1.5,1e3,a,"7", 8\n-2,.5,-1E-2,1,"+9",9 \n'))
    assert table.schema == {
        "i": pl.Int64, "f": pl.Float64, "e": pl.Float64, "s": pl.String, "q": pl.Int64, "w": pl.Int64,
    }  # fmt: skip
    assert table["q"].to_list() == [7, 9]
    assert table["w"].to_list() == [8, 9]


def test_the_last_of_many_rows_counts_for_the_type_of_a_column(save):
    table = read_table(save("t.csv", "a,b\n" + "1,1\n" * 20_000 + "x,1.5\n"))
    assert table.schema == {"a": pl.String, "b": pl.Float64}
    assert table["a"][-1] == "x"


@pytest.mark.parametrize("marker", MISSING)
def test_each_documented_marker_is_a_missing_value(save, marker):
    table = read_table(save("t.csv", f'n,s,quoted,wide\n1,a,1,1\n{marker},{marker},"{marker}", {marker} \n3,c,3,3\n'))
    assert table.null_count().row(0) == (1, 1, 1, 1)
    assert [str(dtype) for dtype in table.dtypes] == ["Int64", "String", "Int64", "Int64"]


def test_a_column_without_known_cells_is_numeric(save):
    assert read_table(save("t.csv", "a,b\n,1\n?,2\n"))["a"].dtype == pl.Int64


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",  # byte order mark
        b"a,b\r\n1,2\r\n3,4\r\n",
        b"\n\na,b\n1,2\n\n3,4\n\n",  # blank lines
        b" a , b \n1, 2\n3, 4",
    ],
)
def test_forms_of_the_same_table(save, content):
    assert read_table(save("t.csv", content)).to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}


def test_a_blank_line_in_a_table_of_one_column_is_a_missing_value(save):
    assert read_table(save("t.csv", "a\n1\n\n2\n"))["a"].to_list() == [1, None, 2]


def test_separators_compression_and_forced_formats(save):
    expected = {"a": [1], "b": ["x,y"]}
    assert read_table(save("t.tsv", "a\tb\n1\tx,y\n")).to_dict(as_series=False) == expected
    assert read_table(save("t.csv", "a;b\n1;x,y\n"), separator=";").to_dict(as_series=False) == expected
    assert read_table(save("t.csv.gz", gzip.compress(b'a,b\n1,"x,y"\n'))).to_dict(as_series=False) == expected
    assert read_table(save("t.dat", "a\tb\n1\tx,y\n"), "tsv").to_dict(as_series=False) == expected


def test_a_column_without_a_name_is_numbered(save):
    assert read_table(save("t.csv", ",b\n1,2\n")).columns == ["unnamed1", "b"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("\n\n", "nothing but blank lines"),
        ("a,b\n", "a header and no rows"),
        ("a,b\n1,2\n3\n", "row 2 of t.csv has 1 cell where the header has 2"),
        ("a,b\n1,2,3\n", "row 1 of t.csv has 3 cells where the header has 2"),
        ("a, a\n1,2\n", "more than one column named 'a'"),
        ("a,b\n1,2\nä,1\n".encode("latin-1"), "not UTF-8 text: see line 3"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        ("a,b\r1,2\r", "do its lines end in"),
        (b"a\0b\n", "not text"),
        (b"PAR1....", "add --format parquet"),
        (b"ARROW1..", "add --format arrow"),
    ],
)
def test_what_is_no_csv_is_refused_with_the_reason(save, content, words):
    assert words in refusal(save("t.csv", content))


def test_a_broken_gzip_file_is_refused(save):
    assert "cannot unpack" in refusal(save("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:30]))


# --- which file, which format -------------------------------------------------------------------------------


def test_a_missing_file_is_refused_with_the_nearest_name(save, tmp_path):
    save("heart.csv", "a\n1\n")
    assert "Did you mean 'heart.csv'?" in refusal(str(tmp_path / "haert.csv"))
    assert "Nor is there a directory" in refusal(str(tmp_path / "no" / "t.csv"))
    assert "is a directory" in refusal(str(tmp_path))


def test_an_unknown_format_is_refused(save):
    assert "say which format it has with --format" in refusal(save("t.xlsx", "PK"))
    assert "--format must be one of" in refusal(save("t.csv", "a\n1\n"), format="excel")
    assert "--separator must be one ASCII character" in refusal(save("t.csv", "a\n1\n"), separator=";;")
    assert "--separator" in refusal(save("t.parquet", "a\n1\n"), separator=";")


def test_the_nearest_names_ignore_capitals():
    assert did_you_mean("AGE", ["age", "sex"]) == " Did you mean 'age'?"
    assert did_you_mean("xyz", ["age", "sex"]) == ""


# --- Parquet, Arrow, ARFF -----------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "number": [1.5, float("nan"), None],
        "whole": [1, 2, 3],
        "category": pl.Series(["a", "b", None], dtype=pl.Categorical),
        "flag": [True, False, None],
    }
)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.parquet", "write_parquet"),
        ("t.pq", "write_parquet"),
        ("t.arrow", "write_ipc"),
        ("t.feather", "write_ipc"),
        ("t.arrows", "write_ipc_stream"),
    ],
)
def test_typed_formats_keep_their_types_and_nan_is_missing(tmp_path, name, write):
    getattr(FRAME, write)(tmp_path / name)
    table = read_table(str(tmp_path / name))
    assert [dtype.base_type() for dtype in table.dtypes] == [pl.Float64, pl.Int64, pl.Categorical, pl.Boolean]
    assert table.null_count().row(0) == (2, 0, 1, 1)


CATEGORIES_OF_PANDAS = pd.DataFrame(
    {
        "code": pd.Categorical([30, 1, 2, 1]),
        "größe": pd.Categorical([0.5, 1.5, 0.5, 2.5]),
        "text": pd.Categorical(["b", "a", "b", "c"]),
        "flag": pd.Categorical([True, False, True, True]),
        "day": pd.Categorical(pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01", "2020-01-01"])),
        "count": [1, 2, 3, 4],
    }
)


def write_described(frame: pd.DataFrame, path: Path) -> None:
    """As other writers than pyarrow do: with the description of pandas and without the schema of Arrow."""
    table = pa.table(frame)
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"pandas": table.schema.metadata[b"pandas"].decode()})


def write_arrow(table: pa.Table, path: Path, new=pa.ipc.new_file, **options) -> None:
    with new(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.feather", lambda frame, path: frame.to_feather(path)),
        ("t.parquet", lambda frame, path: frame.to_parquet(path)),
        ("t.parquet", write_described),
        ("t.parquet", lambda frame, path: pq.write_table(pa.table(frame).replace_schema_metadata(None), path)),
        ("t.arrow", lambda frame, path: write_arrow(pa.table(frame).replace_schema_metadata(None), path)),
        ("t.arrows", lambda frame, path: write_arrow(pa.table(frame), path, pa.ipc.new_stream)),
        ("t.arrow", lambda frame, path: write_arrow(pa.table(frame), path, use_legacy_format=True)),
    ],
    ids=["feather", "parquet", "described by pandas", "described by arrow", "arrow", "stream", "before 0.15"],
)
@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_categories_that_are_no_text_are_categories(tmp_path, monkeypatch, name, write, has_pyarrow):
    write(CATEGORIES_OF_PANDAS, tmp_path / name)
    if not has_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = read_table(str(tmp_path / name))
    categorical, boolean = pl.Categorical, pl.Boolean
    assert [dtype.base_type() for dtype in table.dtypes] == [categorical] * 3 + [boolean, categorical, pl.Int64]
    assert table["code"].to_list() == ["30", "1", "2", "1"]
    assert table["text"].to_list() == ["b", "a", "b", "c"]


@pytest.mark.parametrize(
    "column", [[3, None, 1], [0.5, None, 1.5], ["a", None, "b"], pd.to_datetime(["2020-01-01", None, "2021-01-01"])]
)
@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrows"])
def test_categories_may_be_missing(tmp_path, monkeypatch, name, column):
    frame = pd.DataFrame({"code": pd.Categorical(column)})
    if name == "t.arrows":
        write_arrow(pa.table(frame), tmp_path / name, pa.ipc.new_stream)
    else:
        getattr(frame, f"to_{name[2:]}")(tmp_path / name)
    table = read_table(str(tmp_path / name))
    assert table.dtypes[0].base_type() == pl.Categorical
    assert table["code"].is_null().to_list() == [False, True, False] and table["code"].n_unique() == 3
    if name != "t.parquet":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert refusal(str(tmp_path / name)).endswith("pip install pyarrow, or write the table as Parquet.")


def test_infinite_categories_are_refused(tmp_path):
    pd.DataFrame({"size": pd.Categorical([0.5, float("inf")])}).to_parquet(tmp_path / "t.parquet")
    assert "column 'size' holds categories, and infinite ones" in refusal(str(tmp_path / "t.parquet"))


def test_metadata_that_cannot_be_read_is_refused(tmp_path):
    table = pa.table({"a": [1, 2]}).replace_schema_metadata({"pandas": "{"})
    pq.write_table(table, tmp_path / "t.parquet")
    assert "cannot read t.parquet" in refusal(str(tmp_path / "t.parquet"))


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
@pytest.mark.parametrize("content", [b"nonsense, and more of it", b"PAR1....PAR1", b"ARROW1\0\0....ARROW1"])
def test_unreadable_binary_files_are_refused(save, name, content):
    assert "cannot read" in refusal(save(name, content))


def test_feather_of_version_1_is_refused_by_name(save):
    assert "version 1" in refusal(save("t.feather", b"FEA1...."))


ARFF_HEAD = """@relation r
@attribute size numeric
@attribute 'the colour' {red , 'light blue'}
@attribute y {no,yes}
@DATA
"""


def test_arff_nominal_attributes_are_categories(save):
    rows = "1,red,yes\n% a comment, with, many, commas\n\n2.5, 'light blue',?\n?, \"red\" ,no\n"
    table = read_table(save("t.arff", ARFF_HEAD + rows))
    assert [dtype.base_type() for dtype in table.dtypes] == [pl.Float64, pl.Enum, pl.Enum]
    assert table.columns == ["size", "the colour", "y"]
    assert table.rows() == [(1.0, "red", "yes"), (2.5, "light blue", None), (None, "red", "no")]


def test_arff_dates_are_dates(save):
    text = "@relation r\n@attribute d date 'yyyy-MM-dd'\n@attribute y {é,b}\n@data\n2020-01-02,é\n?,b\n"
    table = read_table(save("t.arff", text))
    assert table["d"].dtype.is_temporal() and table["d"].null_count() == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "is not ARFF"),
        ("@data\n1,2\n", "is not ARFF"),
        (ARFF_HEAD, "no rows"),
        (ARFF_HEAD + "1,green,no\n", "'the colour' of t.arff is nominal, but a value is not"),
        (ARFF_HEAD + "x,red,no\n", "'size' of t.arff is numeric, but a value is not"),
        (ARFF_HEAD + "1,red,no\n1,red\n", "row 2 of t.arff has 2 values for 3 attributes"),
        (ARFF_HEAD + "1,red,no,{5}\n", "row 1 of t.arff has 4 values"),
        (ARFF_HEAD + "{0 1, 1 red, 2 yes}\n", "row 1 of t.arff is sparse"),
        ("@relation r\n@attribute s string\n@attribute y {a,b}\n@data\nhi,a\n", "string attribute"),
        ("@relation r\n@attribute s {é,b}\n@data\n".encode("latin-1"), "not UTF-8"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "more than once"),
        ("@relation r\n@attribute t relational\n@attribute b real\n@end t\n@data\n'1'\n", "relational"),
    ],
)
def test_what_is_not_read_from_arff_is_refused_with_the_reason(save, content, words):
    assert words in refusal(save("t.arff", content))


# --- the sidecar --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_the_sidecar_lies_beside_the_table(save, name):
    save("t.json", '{"nominal": ["a", "b"], "target": "y", "task": "regression", "title": "more"}')
    assert read_sidecar(save(name, "")) == Sidecar("t.json", ("a", "b"), "y", "regression")


def test_no_sidecar(save):
    assert read_sidecar("-") is None
    assert read_sidecar(save("t.csv", "")) is None
    save("t.json", '[{"a": 1}]')
    assert read_sidecar(save("t.csv", "")) is None  # JSON of another kind
    save("t.json", '{"target": "y"}')
    assert read_sidecar(save("t.csv", "")) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ('{"nominal": "a"}', 'list of column names under "nominal"'),
        ('{"nominal": [1]}', 'list of column names under "nominal"'),
        ('{"nominal": [], "target": 1}', 'column name under "target"'),
        ('{"nominal": [], "task": "ranking"}', 'under "task"'),
    ],
)
def test_a_bad_sidecar_is_refused(save, content, words):
    save("t.json", content)
    with pytest.raises(Refusal, match="--no-sidecar") as caught:
        read_sidecar(save("t.csv", ""))
    assert words in str(caught.value)


# --- results out --------------------------------------------------------------------------------------------


def everything_below(directory: Path) -> dict[str, bytes]:
    paths = directory.rglob("*")
    return {str(path.relative_to(directory)): path.read_bytes() if path.is_file() else b"" for path in paths}


def test_files_are_written_together_and_nothing_else(tmp_path):
    write_together(tmp_path / "new" / "deep", {"a": b"1", "b": b"2"})
    write_together(tmp_path / "new" / "deep", {"a": b"3"})
    assert everything_below(tmp_path) == {"new": b"", "new/deep": b"", "new/deep/a": b"3", "new/deep/b": b"2"}


@pytest.mark.parametrize("problem", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("good_moves", [0, 1])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_failure_leaves_everything_as_it_was(tmp_path, monkeypatch, problem, good_moves, is_new):
    out = tmp_path / "out"
    if not is_new:
        write_together(out, {"a": b"old", "c": b"other"})
    before = everything_below(tmp_path)
    moves, move = [], os.replace

    def fail_later(source, destination):
        moves.append(destination)
        if len(moves) == good_moves + 1:
            raise problem
        move(source, destination)

    monkeypatch.setattr(os, "replace", fail_later)
    with pytest.raises(problem):
        write_together(out, {"a": b"new", "b": b"new"})
    assert everything_below(tmp_path) == before


def test_a_directory_that_cannot_take_the_results_is_refused_at_the_door(tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("a\n1\n")
    (tmp_path / "busy" / "scores.csv").mkdir(parents=True)
    for directory, words in [
        (table, "is a file"),
        (tmp_path, "overwrite the table"),
        (tmp_path / "busy", "holds a directory"),
        (table / "below", "allows no new files"),
    ]:
        with pytest.raises(Refusal, match=words):
            check_directory(directory, ["scores.csv"], str(table))
    check_directory(tmp_path / "new", ["scores.csv"], str(table))
