"""The command, as its users see it: what it prints, decides, writes and refuses, and with which exit code.

The files in gold/ are renewed by  NEARHIT_RENEW_GOLD=1 pytest tests/test_cli.py ; look at the difference before you
commit it.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import nearhit
from nearhit import command
from nearhit.command import app as app_module
from nearhit.command import results, screen
from nearhit.command.app import app
from nearhit.command.options import METHODS, OPTION_OF

GOLD = Path(__file__).parent / "gold"
COMMAND = [sys.executable, "-W", "error", "-m", "nearhit.command"]


def table_text(target: str = "text") -> str:
    """48 rows by arithmetic: `left` and `right` tell the target only together; a few cells are missing."""
    targets = {
        "text": lambda together, i: ("no", "yes")[together],
        "whole": lambda together, i: together,
        "fraction": lambda together, i: together + (i * 5 % 7) / 16,
    }
    lines = ["left,right,shade,size,code,outcome"]
    for i in range(48):
        left, right = i % 2, i // 2 % 2
        shade = "" if i == 7 else ("dark", "light", "grey")[i * 5 % 3]
        size = "NA" if i in (3, 11) else f"{i * 37 % 41 / 4}"
        lines.append(f"{left},{right},{shade},{size},{i * 7 % 5},{targets[target](left ^ right, i)}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with t.csv (classes), n.csv (numbers) and w.csv (whole numbers)."""
    monkeypatch.chdir(tmp_path)
    for name, target in (("t", "text"), ("n", "fraction"), ("w", "whole")):
        (tmp_path / f"{name}.csv").write_text(table_text(target))
    return tmp_path


def runner(**environment: str) -> CliRunner:
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters  # older ones mix the two streams unless told
    return CliRunner(env=environment, **({"mix_stderr": False} if apart else {}))


def rank(*arguments: str, stdin: str | None = None):
    return runner().invoke(app, ["rank", *arguments], input=stdin, prog_name="nearhit", catch_exceptions=False)


def ranked(*arguments: str, stdin: str | None = None) -> dict:
    """The result as --json has it."""
    result = rank(*arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def refused(*arguments: str, stdin: str | None = None) -> str:
    """The only line of a run that ends with exit code 2: the reason."""
    result = rank(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    (reason,) = result.stderr.splitlines()
    assert reason.startswith("nearhit: ")
    return reason.removeprefix("nearhit: ")


# --- results, to the letter ---------------------------------------------------------------------------------


def without_machine(text: str) -> str:
    """The kernel, the time and the version differ between machines and releases."""
    text = re.sub(r"(native-\w+|reference), \d+ threads?", "KERNEL", text)
    text = re.sub(r"\d+\.\d\d s\b", "0.00 s", text)
    return text.replace(f'"nearhit": "{nearhit.__version__}"', '"nearhit": "VERSION"')


def check_gold(name: str, text: str) -> None:
    path = GOLD / name
    if os.environ.get("NEARHIT_RENEW_GOLD"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("classes", ["t.csv", "--target", "outcome", "--categorical", "code", "--select", "2"]),
        ("numbers", ["n.csv", "--target", "outcome", "--top", "3"]),
    ],
)
def test_table_and_files_are_as_ever(folder, name, arguments):
    result = rank(*arguments, "--out", "out")
    assert result.exit_code == 0
    check_gold(f"{name}.txt", without_machine(result.stdout))
    check_gold(f"{name}.messages.txt", result.stderr)
    for suffix in ("csv", "json"):
        check_gold(f"{name}.{suffix}", without_machine((folder / "out" / f"scores.{suffix}").read_bytes().decode()))


def test_features_that_matter_together_lead(folder):
    assert {score["feature"] for score in ranked("t.csv", "-t", "outcome")["scores"][:2]} == {"left", "right"}


def test_the_same_input_gives_the_same_bytes_and_no_place(folder):
    for out in ("one", "two"):
        assert rank("t.csv", "-t", "outcome", "--out", out).exit_code == 0
    for name in results.RESULTS:
        content = (folder / "one" / name).read_bytes()
        assert content == (folder / "two" / name).read_bytes()
        assert str(folder).encode() not in content
    assert sorted(os.listdir(folder / "one")) == sorted(results.RESULTS)


def test_scores_csv_holds_the_weights_to_the_last_bit(folder):
    rank("t.csv", "-t", "outcome", "--out", "out")
    table = pl.read_csv(folder / "t.csv", null_values=["", "NA"])
    relief = nearhit.ReliefF().fit(table.drop("outcome"), table["outcome"].to_numpy())
    with open(folder / "out" / "scores.csv") as file:
        rows = list(csv.DictReader(file))
    assert [(row["feature"], float(row["weight"])) for row in rows] == [row[:2] for row in relief.ranking()]
    assert list(rows[0]) == ["rank", "feature", "weight", "selected"]


def test_the_json_on_stdout_is_that_of_the_file(folder):
    result = rank("t.csv", "-t", "outcome", "--out", "out", "--json")
    assert result.stdout == (folder / "out" / "scores.json").read_text()


def test_the_picture_is_a_png_of_the_best_thirty(folder):
    from matplotlib.image import imread

    header = ",".join(f"a_very_long_name_of_a_feature_number_{i}_$x$" for i in range(40))
    rows = [",".join(str(i * (j + 3) % 11) for j in range(40)) + f",{'ab'[i % 2]}" for i in range(30)]
    (folder / "wide.csv").write_text("\n".join([header + ",y", *rows]))
    for name, target in (("wide", "y"), ("t", "outcome")):
        result = rank(f"{name}.csv", "-t", target, "--out", name)
        assert result.exit_code == 0
        assert "warning" not in result.stderr
    many, few = (imread(folder / name / "ranking.png") for name in ("wide", "t"))
    assert many.shape[0] > 2 * few.shape[0]
    assert many.shape[1] == few.shape[1]


# --- the table ----------------------------------------------------------------------------------------------


def test_top_says_how_many_features_are_shown(folder):
    shown = rank("t.csv", "-t", "outcome", "--top", "2").stdout
    assert "… 3 more; --top all shows them" in shown
    for everything in ("all", "0", "20"):
        text = rank("t.csv", "-t", "outcome", "--top", everything).stdout
        assert all(name in text for name in ("left", "right", "shade", "size", "code"))
        assert "more" not in text


def test_twenty_features_are_shown_by_default(folder):
    rows = [",".join(str(i * (j + 3) % 11) for j in range(25)) + f",{'ab'[i % 2]}" for i in range(12)]
    (folder / "wide.csv").write_text("\n".join([",".join(f"f{j}" for j in range(25)) + ",y", *rows]))
    assert "… 5 more" in rank("wide.csv", "-t", "y").stdout


def test_the_heading_counts_features_cells_and_classes(folder):
    text = rank("t.csv", "-t", "outcome").stdout
    assert "48 rows, 5 features (4 numeric, 1 categorical), 3 cells missing" in text
    assert "2 classes: no (24), yes (24)" in text
    assert re.search(r"classification by ReliefF: .+, \d+\.\d\d s", text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(folder, monkeypatch, where: io.StringIO, columns: int) -> str:
    """The table of t.csv with one long name, as it is printed on a terminal or elsewhere."""
    for variable in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    reports = []
    monkeypatch.setattr(app_module, "to_json", lambda report: reports.append(report) or "")
    (folder / "long.csv").write_text(table_text().replace("left", LONG_NAME))
    assert rank("long.csv", "-t", "outcome", "--json", "--select", "gap").exit_code == 0
    return screen.to_table(reports[0], None, where)


LONG_NAME = "a_name_of_fifty_letters_that_must_not_be_cut_short"


def test_names_are_whole_where_there_is_no_terminal(folder, monkeypatch):
    text = printed(folder, monkeypatch, io.StringIO(), 40)
    assert LONG_NAME in text
    assert "\x1b" not in text
    assert "█" in text


def test_a_narrow_terminal_folds_names_and_leaves_out_bars(folder, monkeypatch):
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(folder, monkeypatch, Terminal(), 44))
    assert max(map(len, text.splitlines())) <= 44
    assert "…" not in text.replace("… ", "")
    assert "█" not in text
    pieces = re.findall(r"^.{4}  ([a-z_]+)", text[text.index("a_name") - 6 :], re.M)
    assert "".join(pieces).startswith(LONG_NAME)


def test_a_wide_terminal_has_colours_and_bars(folder, monkeypatch):
    text = printed(folder, monkeypatch, Terminal(), 120)
    assert "\x1b[" in text
    assert "█" in text


def test_a_name_cannot_move_the_cursor(folder):
    (folder / "evil.csv").write_text(table_text().replace("left", "\x1b[2J[bold]left"))
    text = rank("evil.csv", "-t", "outcome").stdout
    assert "\\x1b[2J[bold]left" in text
    assert "\x1b" not in text


def test_a_stream_that_takes_only_ascii_gets_it(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    screen.put("größe  ██▍ ✓\n… 3 more\n")
    assert stream.buffer.getvalue() == b"gr\\xf6\\xdfe  ## x\n... 3 more\n"


@pytest.mark.parametrize(
    ("weight", "largest", "text"),
    [
        (0.12345, 0.5, "0.1235"),
        (-0.00001, 0.5, "0.0000"),
        (-0.25, 0.5, "-0.2500"),
        (0.0000123, 0.0000123, "0.0000123"),
        (0.0, 0.0, "0.0000"),
        (123456.789, 123456.789, "123457"),
    ],
)
def test_weights_are_readable_at_every_size(weight, largest, text):
    assert screen._weight_text(weight, largest) == text


# --- input --------------------------------------------------------------------------------------------------


def test_stdin_is_csv_and_other_formats_may_be_forced(folder):
    expected = ranked("t.csv", "-t", "outcome")["scores"]
    from_stdin = ranked("-", "-t", "outcome", stdin=table_text())
    assert from_stdin["scores"] == expected
    assert from_stdin["file"] == "the standard input"
    tabs = table_text().replace(",", "\t")
    assert ranked("-", "-t", "outcome", "--format", "tsv", stdin=tabs)["scores"] == expected
    assert ranked("-", "-t", "outcome", "--separator", ";", stdin=tabs.replace("\t", ";"))["scores"] == expected


@pytest.mark.parametrize(("name", "write"), [("t.parquet", "write_parquet"), ("t.feather", "write_ipc")])
def test_all_formats_give_the_same_scores(folder, name, write):
    getattr(pl.read_csv("t.csv", null_values=["", "NA"]), write)(name)
    assert ranked(name, "-t", "outcome")["scores"] == ranked("t.csv", "-t", "outcome")["scores"]


@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_categories_of_pandas_are_what_they_are_in_python(folder, form):
    """Whole numbers that are categories: a feature and the target. (pandas reads its Parquet file as numbers.)"""
    frame = pd.read_csv("w.csv").astype({"code": "category", "outcome": "category"})
    getattr(frame, f"to_{form}")(f"p.{form}")
    relief = nearhit.ReliefF().fit(frame.drop(columns="outcome"), frame["outcome"])
    as_numbers = nearhit.ReliefF().fit(frame.drop(columns="outcome").astype({"code": int}), frame["outcome"])
    assert as_numbers.weights_.tolist() != relief.weights_.tolist()
    result = ranked(f"p.{form}", "-t", "outcome")
    assert [(score["feature"], score["weight"]) for score in result["scores"]] == [row[:2] for row in relief.ranking()]
    assert result["features"]["categorical"] == ["shade", "code"]
    assert result["task_because"] == "the target 'outcome' holds categories"


def test_an_arff_file(folder):
    head = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute outcome {0,1}\n@data\n"
    (folder / "t.arff").write_text(head + "".join(f"{i % 4},{'xy'[i // 2 % 2]},{i % 2}\n" for i in range(12)))
    result = ranked("t.arff", "-t", "outcome")
    assert result["features"] == {"numeric": ["a"], "categorical": ["b"]}
    assert result["classes"] == [{"class": "0", "rows": 6}, {"class": "1", "rows": 6}]


def test_categorical_columns_in_lists_and_repeated(folder):
    result = ranked("t.csv", "-t", "outcome", "--categorical", "left, right", "--categorical", "code")
    assert result["features"] == {"numeric": ["size"], "categorical": ["left", "right", "shade", "code"]}
    assert result["parameters"]["categorical_features"] == ["left", "right", "code"]


def test_a_column_name_may_have_a_comma_in_it(folder):
    (folder / "comma.csv").write_text(table_text().replace("left,right", '"left,hand",right'))
    assert "left,hand" in ranked("comma.csv", "-t", "outcome", "--categorical", "left,hand")["features"]["categorical"]


def test_dropped_columns_are_no_features(folder):
    scores = ranked("t.csv", "-t", "outcome", "--drop", "size,code", "--drop", "shade")["scores"]
    assert sorted(score["feature"] for score in scores) == ["left", "right"]


def test_a_weight_counts_as_copies_of_a_row(folder):
    header, *rows = table_text().splitlines()
    weighted = [f"{row},{1 + i % 3}" for i, row in enumerate(rows)]
    (folder / "weighted.csv").write_text("\n".join([f"{header},w", *weighted]))
    copies = [row for i, row in enumerate(rows) for _ in range(1 + i % 3)]
    (folder / "copies.csv").write_text("\n".join([header, *copies]))
    result = ranked("weighted.csv", "-t", "outcome", "--weight-column", "w")
    assert result["scores"] == ranked("copies.csv", "-t", "outcome")["scores"]
    assert result["weight_column"] == "w"
    assert "48 rows weighted by w" in rank("weighted.csv", "-t", "outcome", "--weight-column", "w").stdout


# --- the sidecar --------------------------------------------------------------------------------------------


def write_sidecar(name: str, **content) -> None:
    Path(name).write_text(json.dumps(content))


def test_a_sidecar_is_used_and_said_so(folder):
    write_sidecar("w.json", nominal=["left", "code"], target="outcome", task="classification")
    result = rank("w.csv", "--json")
    assert json.loads(result.stdout)["features"]["categorical"] == ["left", "shade", "code"]
    assert result.stderr.splitlines() == [
        "nearhit: the target is 'outcome', because w.json says so",
        "nearhit: w.json was used: it makes categories of 2 features ('left', 'code')",
        "nearhit: classification, because w.json says so",
    ]


def test_a_sidecar_can_be_ignored(folder):
    write_sidecar("w.json", nominal=["left"], target="outcome", task="classification")
    assert "whole numbers" in refused("w.csv", "-t", "outcome", "--no-sidecar")
    assert "--target" in refused("w.csv", "--no-sidecar")
    result = ranked("w.csv", "-t", "outcome", "--task", "regression")
    assert (result["task"], result["task_because"]) == ("regression", "--task says so")


def test_the_task_of_a_sidecar_is_that_of_its_own_target(folder):
    write_sidecar("w.json", nominal=[], target="outcome", task="classification")
    assert "whole numbers" in refused("w.csv", "-t", "code")
    result = ranked("w.csv", "-t", "code", "--task", "regression")
    assert result["features"]["categorical"] == ["shade", "outcome"]  # classes remain categories as a feature


def test_a_sidecar_without_a_task_decides_nothing(folder):
    write_sidecar("w.json", nominal=[], target="outcome")
    assert "whole numbers" in refused("w.csv")


def test_a_sidecar_that_does_not_fit_is_refused(folder):
    write_sidecar("t.json", nominal=["lift"])
    assert "'lift', which is no column" in refused("t.csv", "-t", "outcome")
    write_sidecar("t.json", nominal=[], target="outcome", task="regression")
    assert "t.json says so, but regression needs numbers" in refused("t.csv")


# --- classes or numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "task", "method", "why"),
    [
        (["a", "b"], "classification", "ReliefF", "holds text"),
        (["true", "false"], "classification", "ReliefF", "holds true and false"),
        ([1.5, 2.0], "regression", "RReliefF", "holds numbers with a fraction"),
        ([-1e-9, 1], "regression", "RReliefF", "holds numbers with a fraction"),
    ],
)
def test_what_the_values_show(values, task, method, why):
    text = "a,y\n" + "".join(f"{i * 5 % 7},{values[i % 2]}\n" for i in range(10))
    result = rank("-", "-t", "y", "--json", stdin=text)
    assert result.stderr == f"nearhit: {task}, because the target 'y' {why}\n"
    assert json.loads(result.stdout)["method"] == method


def test_categories_are_classes(folder):
    table = pl.read_csv("w.csv", null_values=["", "NA"]).with_columns(pl.col("outcome").cast(pl.String))
    table.with_columns(pl.col("outcome").cast(pl.Categorical)).write_parquet("w.parquet")
    assert ranked("w.parquet", "-t", "outcome")["task_because"] == "the target 'outcome' holds categories"


@pytest.mark.parametrize("values", [("0", "1"), ("1.0", "2.0"), ("3", "5000000000")])
def test_whole_numbers_must_be_explained(values):
    text = "a,y\n" + "".join(f"{i * 5 % 7},{values[i % 2]}\n" for i in range(10))
    reason = refused("-", "-t", "y", stdin=text)
    assert "whole numbers" in reason
    assert "--task classification" in reason and "--task regression" in reason
    classes = ranked("-", "-t", "y", "--task", "classification", stdin=text)["classes"]
    assert [entry["class"] for entry in classes] == [int(float(value)) for value in values]
    assert ranked("-", "-t", "y", "--task", "regression", stdin=text)["method"] == "RReliefF"
    assert ranked("-", "-t", "y", "--method", "relief", stdin=text)["method"] == "Relief"


def test_a_task_can_be_forced_and_numbers_with_a_fraction_be_classes():
    text = "a,y\n" + "".join(f"{i * 5 % 7},{(0.5, 1.5)[i % 2]}\n" for i in range(10))
    assert ranked("-", "-t", "y", "--task", "classification", stdin=text)["classes"] == [
        {"class": "0.5", "rows": 5},
        {"class": "1.5", "rows": 5},
    ]


def test_conflicts_about_the_task_are_refused(folder):
    assert "--method relieff is for classification" in refused(
        "n.csv", "-t", "outcome", "--method", "relieff", "--task", "regression"
    )
    assert "regression needs numbers" in refused("t.csv", "-t", "outcome", "--task", "regression")
    assert "regression needs numbers" in refused("t.csv", "-t", "outcome", "--method", "rrelieff")
    assert "--task must be one of" in refused("t.csv", "-t", "outcome", "--task", "ranking")
    assert "--method must be one of" in refused("t.csv", "-t", "outcome", "--method", "chi2")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["a", "", "b", "?"], "missing in 2 of 4 rows; nearhit drops no row by itself, so remove these rows"),
        (["a", "a"], "is 'a' in all 2 rows; a ranking needs two classes: name another target, or add rows in which it"),
        (["a"], "is 'a' in the only row"),
        (["0.5", "0.5"], "a ranking needs numbers that differ"),
    ],
)
def test_a_target_that_cannot_be_used(cells, words):
    assert words in refused("-", "-t", "y", stdin="a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))


def test_a_target_of_dates_is_refused(folder):
    table = pl.DataFrame({"a": [1, 2], "y": ["2020-01-01", "2020-01-02"]}).with_columns(pl.col("y").str.to_date())
    table.write_parquet("d.parquet")
    assert "holds Date; make it numbers or text" in refused("d.parquet", "-t", "y")


# --- options and parameters ---------------------------------------------------------------------------------


def declared_options() -> dict[str, list[str]]:
    commands = typer.main.get_command(app).commands
    return {parameter.name: parameter.opts for parameter in commands["rank"].params}


@pytest.mark.parametrize("parameter", inspect.signature(nearhit.ReliefF).parameters)
def test_every_parameter_has_an_option(parameter):
    name = "categorical" if parameter == "categorical_features" else parameter
    assert OPTION_OF[parameter] in declared_options()[name]


def test_no_option_sets_what_no_estimator_has():
    accepted = {name for method in METHODS.values() for name in inspect.signature(method).parameters}
    assert set(OPTION_OF) == accepted - {"target"}  # which --task sets


SETTINGS = [
    (["--neighbors", "3"], "n_neighbors", 3),
    (["-k", "all"], "n_neighbors", "all"),
    (["--misses", "any class"], "misses", "any class"),
    (["--metric", "euclidean"], "metric", "euclidean"),
    (["--diff", "ramp", "--ramp", "0.1", "0.2"], "ramp", [0.1, 0.2]),
    (["--diff", "squared"], "diff", "squared"),
    (["--scale", "none"], "scale", None),
    (["--scale", "range"], "scale", "range"),
    (["--missing", "skip"], "missing", "skip"),
    (["--weights", "squared distance"], "weights", "squared distance"),
    (["--sigma", "5"], "sigma", 5.0),
    (["--targets", "10", "--seed", "0"], "n_targets", 10),
    (["--targets", "0.5", "--seed", "0"], "n_targets", 0.5),
    (["--seed", "0"], "random_state", 0),
    (["--ties", "first"], "ties", "first"),
    (["--categorical", "code"], "categorical_features", ["code"]),
    (["--select", "2"], "select", 2),
    (["--select", "0.5"], "select", 0.5),
    (["--select", "gap"], "select", "gap"),
    (["--select", ">0.02"], "select", ">0.02"),
    (["--select", "stability>0.8", "--seed", "0"], "select", "stability>0.8"),
    (["--redundancy", "0.9"], "redundancy", 0.9),
    (["--device", "cpu"], "device", "cpu"),
    (["--jobs", "1"], "n_jobs", 1),
    (["--verbose"], "verbose", 1),
    (["--p-values", "permutation"], "p_values", "permutation"),
    (["--permutations", "19"], "n_permutations", 19),
]


@pytest.mark.parametrize(("arguments", "parameter", "value"), SETTINGS)
def test_an_option_sets_its_parameter_and_no_other(folder, arguments, parameter, value):
    found = ranked("t.csv", "-t", "outcome", *arguments)["parameters"]
    assert found[parameter] == value
    set_here = {name for name, option in OPTION_OF.items() if option in arguments} | {parameter}
    for name, default in nearhit.ReliefF().get_params().items():
        assert name in set_here or found[name] == json.loads(json.dumps(default))


def test_every_parameter_is_set_by_some_test():
    assert {parameter for _, parameter, _ in SETTINGS} == set(OPTION_OF)


def test_the_defaults_are_those_of_the_estimator_at_hand(folder):
    assert ranked("n.csv", "-t", "outcome")["parameters"] == json.loads(json.dumps(nearhit.RReliefF().get_params()))


def test_a_selection_is_marked(folder):
    scores = ranked("t.csv", "-t", "outcome", "--select", "2")["scores"]
    assert [score["selected"] for score in scores] == [True, True, False, False, False]
    assert rank("t.csv", "-t", "outcome", "--select", "2").stdout.count("✓") == 2
    assert "✓" not in rank("t.csv", "-t", "outcome").stdout


def test_twins_are_named():
    lines = "\n".join(f"{i % 2},{1 - i % 2},{i // 2 % 2},{i % 2 ^ i // 2 % 2}" for i in range(40))
    table = f"a,not a,b,y\n{lines}\n"
    found = ranked("-", "-t", "y", "--task", "classification", "--redundancy", "1", stdin=table)
    assert found["twins"] == [{"representative": "a", "twins": ["not a"], "correlation": 1.0}]
    asked = ["-", "-t", "y", "--task", "classification", "--redundancy", "1"]
    assert "not a: the same as a (correlation 1.000)" in rank(*asked, stdin=table).stdout
    assert "no twins" in rank(*asked, "--drop", "a", stdin=table).stdout
    assert ranked("-", "-t", "y", "--task", "classification", stdin=table)["twins"] is None


def test_members_with_a_radius_take_both_kinds_of_target():
    table = "a,b,y\n" + "\n".join(f"{i * 7 % 10},{i % 3},{i * 7 % 10 + i % 2}" for i in range(30))
    numbers = ranked("-", "-t", "y", "--method", "multisurf", "--task", "regression", stdin=table)
    classes = ranked("-", "-t", "y", "--method", "surf*", "--task", "classification", stdin=table)
    assert (numbers["method"], numbers["scores"][0]["feature"]) == ("MultiSURF", "a")
    assert (classes["method"], classes["task"]) == ("SURFStar", "classification")
    refused = rank("-", "-t", "y", "--method", "multisurf", "--task", "regression", "-k", "5", stdin=table)
    assert refused.stderr == "nearhit: --neighbors has no meaning for --method multisurf; leave it out.\n"


def test_p_values_are_asked_for(folder):
    asked = ["t.csv", "-t", "outcome", "--p-values", "permutation", "--permutations", "99", "--seed", "0"]
    scores = ranked(*asked, "--select", "p<0.05")["scores"]
    assert scores[0]["p_value"] == 0.01 and [s["selected"] for s in scores] == [s["p_value"] < 0.05 for s in scores]
    assert "≤0.01" in rank(*asked).stdout and "p_value" not in ranked("t.csv", "-t", "outcome")["scores"][0]
    rank(*asked, "--out", "out")
    lines = (folder / "out" / "scores.csv").read_text().splitlines()
    assert lines[0] == "rank,feature,weight,selected,p_value" and lines[1].endswith(",true,0.01")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--redundancy", "0"], "--redundancy must be a correlation in (0, 1]; got 0.0."),
        (["--select", "p<0.05"], '--select p<0.05 needs p-values: add --p-values permutation.'),
        (["-k", "0"], '--neighbors must be an integer of at least 1 or "all"; got 0.'),
        (["-k", "ten"], "--neighbors must be"),
        (["--metric", "cosine"], "--metric must be one of"),
        (["--sigma", "0"], "--sigma must be"),
        (["--targets", "5000"], "--targets 5000 asks for more rows"),
        (["--targets", "-3"], "--targets must be an integer"),
        (["--select", "9"], "--select must be a number of features"),
        (["--select", "best"], "--select must be"),
        (["--scale", "none", "--select", "chebyshev(0.05)"], "not with --scale none"),
        (["--device", "cuda"], "--device cuda was asked for"),
        (["--jobs", "0"], "--jobs must"),
        (["--method", "relief", "--misses", "only"], "--misses has no meaning for --method relief"),
        (["--top", "-1"], "--top must be"),
        (["--top", "few"], "--top must be"),
        (["--ramp", "1", "x"], "--ramp"),
        (["--ramp", "0.1"], "Option '--ramp' requires 2 arguments. See nearhit rank --help."),
        (["--seed", "-5"], "--seed must be an integer from 0 to 4294967295; got -5."),
        (["--jobs", "two"], "--jobs"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_a_bad_value_is_refused_in_the_words_of_the_command(folder, arguments, words):
    reason = refused("t.csv", "-t", "outcome", *arguments)
    assert words in reason
    assert not re.search(r"\b(n_neighbors|n_targets|n_jobs|device=|function)", reason)


def test_columns_that_do_not_exist_are_refused_with_the_nearest_names(folder):
    assert refused("t.csv", "-t", "outcom") == "--target 'outcom' is no column of the table. Did you mean 'outcome'?"
    assert "--categorical 'shad' is no column of the table. Did you mean 'shade'?" in refused(
        "t.csv", "-t", "outcome", "--categorical", "code,shad"
    )
    assert "Did you mean 'size'?" in refused("t.csv", "-t", "outcome", "--drop", "sise")
    assert "There are 'left', 'right'" in refused("t.csv", "-t", "outcome", "--weight-column", "xyz")
    assert "there are 'left', 'right'" in refused("t.csv")
    assert "Are the cells separated by ';'?" in refused("-", "-t", "y", stdin="a;y\n1;2\n")


def test_a_column_has_one_role(folder):
    assert "in --target and in --drop" in refused("t.csv", "-t", "outcome", "--drop", "outcome")
    assert "in --weight-column and in --drop" in refused(
        "t.csv", "-t", "outcome", "--weight-column", "code", "--drop", "code"
    )
    assert "add --task classification" in refused("w.csv", "-t", "outcome", "--categorical", "outcome")
    assert refused(
        "t.csv", "-t", "outcome", "--drop", "left,right,shade,size,code"
    ) == "no feature is left beside --target and --drop; name fewer columns with --drop."
    assert refused("-", "-t", "y", stdin="y\na\nb\n").endswith("beside --target; add the columns to rank to the table.")


def test_bad_weights_of_rows_are_refused(folder):
    assert "must hold numbers" in refused("t.csv", "-t", "outcome", "--weight-column", "shade")
    assert "is missing in 2 rows" in refused("t.csv", "-t", "outcome", "--weight-column", "size")
    negative = "a,w,y\n1,1,a\n2,-1,b\n3,1,a\n"
    reason = refused("-", "-t", "y", "--weight-column", "w", stdin=negative)
    assert reason.startswith("--weight-column must not be negative")


# --- files that cannot be read or written -------------------------------------------------------------------


def test_unreadable_files_are_refused(folder):
    for name in ("x.parquet", "x.arrow", "x.arff"):
        Path(name).write_text("nonsense")
    Path("empty.csv").touch()
    Path("header.csv").write_text("a,outcome\n")
    for name, words in [
        ("none.csv", "there is no file"),
        (".", "is a directory"),
        ("empty.csv", "empty.csv is empty; give a table with a header and rows."),
        ("header.csv", "header.csv has a header and no rows; give a table with at least two."),
        ("x.parquet", "cannot read x.parquet"),
        ("x.arrow", "cannot read x.arrow"),
        ("x.arff", "is not ARFF"),
    ]:
        assert words in refused(name, "-t", "outcome")


def test_results_are_refused_before_the_work_where_they_cannot_be_written(folder, monkeypatch):
    monkeypatch.setattr(app_module, "read_table", None)  # would fail if it came to that
    assert "is a file" in refused("t.csv", "-t", "outcome", "--out", "t.csv")
    monkeypatch.setattr(results, "find_spec", lambda name: None)
    assert 'pip install "nearhit[report]"' in refused("t.csv", "-t", "outcome", "--out", "out")


@pytest.mark.parametrize("is_new", [True, False])
def test_a_full_disk_leaves_no_file_and_changes_none(folder, monkeypatch, is_new):
    if not is_new:
        rank("n.csv", "-t", "outcome", "--out", "out")
    before = {path.name: path.read_bytes() for path in folder.rglob("out/*")}

    def full(source, destination, move=os.replace):
        if str(destination).endswith("ranking.png"):
            raise OSError(28, "No space left on device")
        move(source, destination)

    monkeypatch.setattr(os, "replace", full)
    assert refused("t.csv", "-t", "outcome", "--out", "out") == (
        "cannot write into out: No space left on device. Nothing there was changed."
    )
    assert {path.name: path.read_bytes() for path in folder.rglob("out/*")} == before
    assert sorted(os.listdir(folder)) == sorted(["t.csv", "n.csv", "w.csv", *(["out"] if not is_new else [])])


# --- warnings, faults, Ctrl-C, pipes ------------------------------------------------------------------------


def warned(*arguments: str, stdin: str) -> list[str]:
    result = rank("-", "-t", "y", *arguments, stdin=stdin)
    assert result.exit_code == 0
    return [line for line in result.stderr.splitlines() if line.startswith("nearhit: warning: ")]


def test_warnings_of_the_library_are_one_line_each():
    (line,) = warned(stdin="a,b,y\n" + "".join(f"{i * 3 % 5},,{'ab'[i % 2]}\n" for i in range(8)))
    assert line == "nearhit: warning: column 'b' has no known value; its score is 0."


def test_text_that_looks_like_a_mistake_is_pointed_out():
    text = "a,b,y\n" + "".join(f"{i * 3 % 5},id{i},{'ab'[i % 2]}\n" for i in range(8)).replace("4,id3", "n.a.,id3")
    numbers, identifiers = warned(stdin=text)
    assert "'a' is taken as categories because of cells such as 'n.a.'" in numbers and "7 of its 8 cells" in numbers
    assert "--drop 'b'" in identifiers
    assert warned("--categorical", "a", "--drop", "b", stdin=text) == []


def test_row_numbers_are_pointed_out(folder):
    text = ",a,y\n" + "".join(f"{i},{i * 3 % 5},{'ab'[i % 2]}\n" for i in range(8))
    assert "--drop 'unnamed1'" in warned(stdin=text)[0]
    assert warned("--drop", "unnamed1", stdin=text) == []
    assert "row index of pandas" in warned(stdin=text.replace(",a", "Unnamed: 0,a", 1))[0]


def test_other_warnings_stay_as_they_are(folder, monkeypatch):
    def fit(self, *data, **more):
        warnings.warn("old", DeprecationWarning, stacklevel=2)

    monkeypatch.setattr(nearhit.ReliefF, "fit", fit)
    with pytest.raises(DeprecationWarning):
        rank("t.csv", "-t", "outcome")


@pytest.mark.parametrize("error", [KeyError("bug"), NotImplementedError("bug"), ZeroDivisionError("bug")])
def test_a_fault_of_nearhit_keeps_its_traceback(folder, monkeypatch, error):
    def fit(self, *data, **more):
        raise error

    monkeypatch.setattr(nearhit.ReliefF, "fit", fit)
    with pytest.raises(type(error)):
        rank("t.csv", "-t", "outcome")


def test_an_error_is_the_only_line(folder):
    """Also where the sidecar, the task and a doubtful column had been worth a line."""
    write_sidecar("w.json", nominal=["code"], target="outcome", task="classification")
    (folder / "w.csv").write_text(table_text("whole").replace("left,", ",").replace("left", ""))
    assert len(rank("w.csv").stderr.splitlines()) == 4
    assert refused("w.csv", "-k", "0") == '--neighbors must be an integer of at least 1 or "all"; got 0.'


@pytest.mark.parametrize("error", [ValueError, TypeError, RuntimeError, MemoryError])
def test_what_the_library_refuses_is_one_line(folder, monkeypatch, error):
    def fit(self, *data, **more):
        raise error("this is\n  refused: n_jobs=2.")

    monkeypatch.setattr(nearhit.ReliefF, "fit", fit)
    assert refused("t.csv", "-t", "outcome") == "this is refused: --jobs 2."


def test_ctrl_c_says_stopped(folder, monkeypatch):
    def fit(self, *data, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(nearhit.ReliefF, "fit", fit)
    result = rank("t.csv", "-t", "outcome", "--out", "out")
    assert result.exit_code == 130
    assert result.stderr == "nearhit: stopped\n"
    assert not Path("out").exists()


#: the command, which says when the work begins
AT_WORK = """
import sys, nearhit
from nearhit.command import main

def fit(self, *data, begin=nearhit.ReliefF._run):
    print("at work", file=sys.stderr, flush=True)
    return begin(self, *data)

nearhit.ReliefF._run = fit
sys.exit(main())
"""


def test_ctrl_c_in_the_middle_of_a_fit_leaves_nothing(folder):
    lines = [",".join(f"{i * (j + 3) % 101}" for j in range(40)) + f",{'ab'[i % 2]}" for i in range(4000)]
    (folder / "big.csv").write_text("\n".join([",".join(f"f{j}" for j in range(40)) + ",y", *lines]))
    before = sorted(os.listdir(folder))
    run = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", AT_WORK, "rank", "big.csv", "-t", "y", "--out", "out"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NEARHIT_KERNEL": "reference"},  # the slow one: it is still at work when the signal comes
    )  # fmt: skip
    assert run.stderr.readline() == "at work\n"
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    out, messages = run.communicate(timeout=30)
    assert (run.returncode, out, messages) == (130, "", "nearhit: stopped\n")
    assert sorted(os.listdir(folder)) == before


def test_a_closed_pipe_ends_quietly(folder):
    read_end, write_end = os.pipe()
    os.close(read_end)
    arguments = ["rank", "t.csv", "-t", "outcome", "--out", "out"]
    run = subprocess.run([*COMMAND, *arguments], stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert run.returncode == 141
    assert [line.split(" ")[0] for line in run.stderr.splitlines()] == ["nearhit:", "nearhit:"]
    assert len(os.listdir("out")) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_is_told(folder):
    arguments = ["rank", "t.csv", "-t", "outcome"]
    with open("/dev/full", "w") as full:
        run = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    assert run.stderr.splitlines()[-1] == "nearhit: cannot go on: No space left on device"


# --- the other commands -------------------------------------------------------------------------------------


def test_the_installed_command_reads_stdin(folder):
    script = Path(sys.executable).with_name("nearhit")
    start = [str(script)] if script.exists() else COMMAND
    run = subprocess.run(
        [*start, "rank", "-", "--target", "outcome", "--json"], input=table_text(), capture_output=True, text=True
    )
    assert run.returncode == 0
    assert len(json.loads(run.stdout)["scores"]) == 5
    run = subprocess.run([*start, "rank", "missing.csv", "-t", "y"], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", "nearhit: there is no file missing.csv.\n")


@pytest.mark.parametrize("missing", command.EXTRA)
def test_without_its_extra_the_command_says_what_to_install(missing, monkeypatch, capsys):
    for name in list(sys.modules):
        if name.startswith(("nearhit.command.", f"{missing}.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert command.main() == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == 'nearhit: the command needs typer, rich and polars: pip install "nearhit[cli]"\n'


def test_another_missing_module_is_a_fault(monkeypatch):
    for name in list(sys.modules):
        if name.startswith("nearhit.command."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "csv", None)
    with pytest.raises(ModuleNotFoundError):
        command.main()


def invoke(*arguments: str):
    return runner(COLUMNS="100", TERMINAL_WIDTH="100", NO_COLOR="1").invoke(app, list(arguments), prog_name="nearhit")


def test_version_and_config():
    assert invoke("--version").stdout == f"nearhit {nearhit.__version__}\n"
    assert invoke("config").stdout.startswith(f"nearhit {nearhit.__version__} (Python")


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("NEARHIT_KERNEL", "foo", "NEARHIT_KERNEL='foo' names no kernel of this machine"),
        ("NEARHIT_PAIR_MEMORY", "1 GB", "NEARHIT_PAIR_MEMORY must be a whole number of bytes"),
    ],
)
def test_a_bad_setting_from_outside_is_one_line(monkeypatch, capsys, variable, value, words):
    monkeypatch.setenv(variable, value)
    result = invoke("config")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"nearhit: {words}") and result.stderr.count("\n") == 1
    with pytest.raises((RuntimeError, ValueError), match=re.escape(words)):
        nearhit.show_config()
    assert capsys.readouterr().out == ""


def test_help_shows_every_option_and_examples_on_lines_of_their_own():
    text = invoke("rank", "--help").stdout
    for options in declared_options().values():
        assert options[-1] in text or options[-1] == "file"
    examples = [line for line in text.splitlines() if line.startswith((" nearhit rank", " zcat"))]
    assert len(examples) == 4
    for marker in ("NA", "N/A", "null", "?"):
        assert marker in text
    assert '{"nominal": ["sex", "chest"]}' in text  # rich has not taken the brackets for markup


def test_without_a_command_there_is_help():
    result = invoke()
    assert result.exit_code == 0
    assert "rank" in result.stdout and "config" in result.stdout
    assert invoke("rnak").exit_code == 2
    assert invoke("rnak").stderr.endswith("See nearhit --help.\n")


# --- public data --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "best"),
    [("gametes_2way_20atts", {"P1", "P2"}), ("gametes_2way_missing", {"M0P0", "M0P1"}), ("car", {"safety", "persons"})],
)
def test_known_answers_on_public_data(shared, name, best):
    scores = ranked(str(shared / "data" / f"{name}.csv"))["scores"]
    assert {score["feature"] for score in scores[:2]} == best
