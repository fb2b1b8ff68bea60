"""The command `nearhit`: options in, the public functions called, and the result as a table, JSON or files.

What the command decides by itself, and says: whether the target is classes or numbers (`decide_task`), and which
columns are features and which of them categories (`assign_roles`). Results go to stdout, messages to stderr, one line
each. Exit codes: 0, 1 for a fault of nearhit with its traceback, 2 for what the user can put right, 130 for Ctrl-C.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import numpy.typing as npt
import polars as pl
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

import nearhit
from nearhit.files import (
    FORMATS,
    MISSING,
    Refusal,
    Sidecar,
    check_directory,
    counted,
    did_you_mean,
    read_sidecar,
    read_table,
    share_of_numbers,
    short_name,
    unnamed,
    write_together,
)
from nearhit.ranking import BAR_WIDTH, bar

METHODS: dict[str, Any] = {"relieff": nearhit.ReliefF, "rrelieff": nearhit.RReliefF, "relief": nearhit.Relief}
TASK_OF = {"relieff": "classification", "rrelieff": "regression", "relief": "classification"}
TASKS = ("classification", "regression")

#: the option that sets each parameter of the estimators; messages of the library are put in these words
OPTION_OF = {
    "n_neighbors": "--neighbors",
    "misses": "--misses",
    "metric": "--metric",
    "diff": "--diff",
    "ramp": "--ramp",
    "scale": "--scale",
    "missing": "--missing",
    "weights": "--weights",
    "sigma": "--sigma",
    "n_targets": "--targets",
    "ties": "--ties",
    "categorical_features": "--categorical",
    "select": "--select",
    "device": "--device",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "verbose": "--verbose",
}
RESULTS = ("scores.csv", "scores.json", "ranking.png")
STOPPED, PIPE_CLOSED = 130, 141  # as a shell has it: 128 and the number of the signal
BEST_SHOWN = 20
#: where no terminal sets a width: no name is cut
PIPE_WIDTH = 10_000
NARROWEST_BAR = 8

EXAMPLES = """[bold]Examples[/bold]

[cyan]nearhit rank heart.csv --target disease[/cyan]   [dim]text as target: classes[/dim]

[cyan]nearhit rank heart.csv --target disease --categorical sex,chest --drop patient[/cyan]

[cyan]nearhit rank cars.parquet --target price --task regression --select 10 --out result[/cyan]

[cyan]zcat big.csv.gz | nearhit rank - --target class --targets 1000 --seed 1 --json[/cyan]"""

#: one line per paragraph, because rich keeps the line breaks of a help text
RANK_HELP = "\n\n".join(
    (
        "Rank the columns of a table by what they tell about the target, alone or together.",
        "[bold]Tables[/bold]: CSV and TSV (also .gz), Parquet, Arrow and Feather, ARFF. In a CSV file an empty cell, "
        f"{', '.join(MISSING[1:-1])} and {MISSING[-1]} are missing values; a column is numeric if all its other cells "
        "are numbers, otherwise its cells are categories, dates too.",
        "[bold]Target[/bold]: text, true/false and categories are classes (ReliefF), numbers with a fraction are "
        "numbers (RReliefF). Whole numbers may be either, so --task must say.",
        "[bold]Digits that are categories[/bold]: name the columns with --categorical, or once and for all in a file "
        'heart.json beside heart.csv: {"nominal": \\["sex", "chest"]}. It may also name the "target" and its "task".',
    )
)


# --- one line for every problem -----------------------------------------------------------------------------


class OneLine(TyperGroup):
    """Commands whose problems are told in one line on stderr, with an exit code that scripts can use."""

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        extra["standalone_mode"] = False
        with _warnings_in_one_line():
            try:
                code = super().main(*args, **extra)
            except Exception as error:
                if not hasattr(error, "format_message"):
                    raise
                # a wrong option or argument; which class says so depends on the version of typer
                asked = getattr(getattr(error, "ctx", None), "command_path", "nearhit")
                tell(f"{error.format_message().rstrip('.')}. See {asked} --help.")
                code = 2
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Refusal as refusal:
            tell(str(refusal))
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            tell("stopped")
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:  # nobody reads on, as in `| head`
            _close_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except OSError as error:  # a full disk behind stdout
            _close_stdout()
            where = f" ({error.filename})" if error.filename else ""
            tell(f"cannot go on: {error.strerror or error}{where}")
            raise typer.Exit(2) from None


def tell(message: str) -> None:
    print("nearhit:", " ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, UserWarning):
            show_others(message, category, *where, **more)
        elif str(message) not in told:
            told.add(str(message))
            tell(f"warning: {in_options(str(message))}")

    with warnings.catch_warnings():
        show_others = warnings.showwarning
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _close_stdout() -> None:
    """Let the interpreter find nothing to complain about when it flushes stdout at its end."""
    with open(os.devnull, "w") as nowhere, suppress(io.UnsupportedOperation):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def in_options(message: str) -> str:
    """A message of the library in the words of the command: `n_jobs=0` becomes `--jobs 0`."""

    def setting(found: re.Match[str]) -> str:
        value = found["quoted"] or found["bare"].lower()
        return f"{OPTION_OF[found['name']]} {value}"

    names = "|".join(OPTION_OF)
    message = re.sub(rf'\b(?P<name>{names})=(?:"(?P<quoted>[^"]*)"|(?P<bare>[\w.]*\w))', setting, message)
    distinct = "|".join(name for name in OPTION_OF if "_" in name)
    message = re.sub(rf"\b({distinct})\b|^({names})(?= must )", lambda found: OPTION_OF[found[0]], message)
    message = re.sub(r"\bsample_weight\b", "--weight-column", message)
    return message.replace("must be None, ", "must be ").replace(" or a function of the weights", "")  # not from here


# --- the commands -------------------------------------------------------------------------------------------

app = typer.Typer(
    cls=OneLine,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
INPUT, METHOD, NEIGHBOURS, RESULT, RUNNING = "Table", "Method", "Neighbours and diffs", "Result", "Running"


def _version(wanted: bool) -> None:
    if wanted:
        put(f"nearhit {nearhit.__version__}\n")
        raise typer.Exit()


@app.callback(invoke_without_command=True, epilog=EXAMPLES)
def nearhit_command(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Which columns matter, including those that only matter together: the Relief family."""
    if ctx.invoked_subcommand is None:
        put(ctx.get_help() + "\n")


@app.command()
def config() -> None:
    """Show what nearhit runs on here: versions, kernels, threads, settings."""
    nearhit.show_config()


@app.command(help=RANK_HELP, epilog=EXAMPLES)
def rank(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A table with a header; - is CSV from the standard input.")
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="What the features should tell.", rich_help_panel=INPUT),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"{', '.join(FORMATS)}; if the name of the file does not say.", rich_help_panel=INPUT
        ),
    ] = None,
    separator: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Between the cells of a CSV file.", rich_help_panel=INPUT)
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Numbers that are names of categories: a,b,c. May be repeated.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="No features: identifiers. May be repeated.", rich_help_panel=INPUT),
    ] = None,
    weight_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="How many rows each row counts for.", rich_help_panel=INPUT),
    ] = None,
    no_sidecar: Annotated[
        bool,
        typer.Option("--no-sidecar", help="Do not look for FILE.json beside the table.", rich_help_panel=INPUT),
    ] = False,
    task: Annotated[
        str | None,
        typer.Option(metavar="|".join(TASKS), help="Is the target classes or numbers?", rich_help_panel=METHOD),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(METHODS),
            help="By default relieff for classes, rrelieff for numbers.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    n_neighbors: Annotated[
        str | None,
        typer.Option(
            "--neighbors",
            "-k",
            metavar="K|all",
            help="How many: 10 of each class for relieff, 70 for rrelieff, 1 for relief by default.",
            rich_help_panel=NEIGHBOURS,
        ),
    ] = None,
    misses: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help='Which neighbours of other classes count: "each class", "as printed", "any class" or only.',
            rich_help_panel=NEIGHBOURS,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="manhattan|euclidean", help="How diffs add up to a distance.", rich_help_panel=NEIGHBOURS),
    ] = None,
    diff: Annotated[
        str | None,
        typer.Option(metavar="linear|squared|ramp", help="The diff of two numbers.", rich_help_panel=NEIGHBOURS),
    ] = None,
    ramp: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="A B",
            help="Shares of the range up to which numbers are equal, and from which they differ.",
            rich_help_panel=NEIGHBOURS,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(metavar="range|none", help="Divide columns by their ranges, or not.", rich_help_panel=NEIGHBOURS),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(metavar="expected|uniform|skip", help="What an unknown value does.", rich_help_panel=NEIGHBOURS),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help='How much each neighbour counts: equal, rank, distance or "squared distance".',
            rich_help_panel=NEIGHBOURS,
        ),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(metavar="S", help="For --weights rank: how fast they fall off.", rich_help_panel=NEIGHBOURS),
    ] = None,
    ties: Annotated[
        str | None,
        typer.Option(metavar="share|first", help="Rows at equal distance.", rich_help_panel=NEIGHBOURS),
    ] = None,
    n_targets: Annotated[
        str | None,
        typer.Option(
            "--targets", metavar="ROWS|SHARE", help="Look at so many rows, drawn by --seed.", rich_help_panel=NEIGHBOURS
        ),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help='Mark features: a number, a share, gap, "chebyshev(0.05)", ">0.02".',
            rich_help_panel=RESULT,
        ),
    ] = None,
    top: Annotated[
        str, typer.Option(metavar="N|all", help="How many features to print.", rich_help_panel=RESULT)
    ] = str(BEST_SHOWN),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel=RESULT)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Write {', '.join(RESULTS)} into DIR.", rich_help_panel=RESULT),
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="auto|cpu|cuda", help="Where the work runs.", rich_help_panel=RUNNING)
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="Threads; all by default.", rich_help_panel=RUNNING)
    ] = None,
    random_state: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="For --targets.", rich_help_panel=RUNNING)
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Report progress.", rich_help_panel=RUNNING)
    ] = False,
) -> None:
    """Rank the columns of a table: parse, call the library, render. The help text is `RANK_HELP`."""
    choices = make_choices(task, method, top, ctx.params)
    if out is not None:
        check_out(out, file)
    table = read_table(file, format, separator)
    sidecar = None if no_sidecar else read_sidecar(file)
    lists = split_names(drop, table), split_names(categorical, table)
    roles = assign_roles(table, target, weight_column, *lists, sidecar)
    decision = decide_task(table[roles.target], choices, sidecar)
    tell(f"{decision.task}, because {decision.why}")
    report = run(short_name(file), table, roles, decision, choices)
    if out is not None:
        write_results(out, report)
    put(to_json(report) if as_json else to_table(report, choices.top, sys.stdout))


# --- options into choices -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choices:
    """What the options say, checked as far as that goes without a table."""

    task: str | None
    method: str | None
    top: int | None
    parameters: dict[str, Any]


def make_choices(task: str | None, method: str | None, top: str, options: dict[str, Any]) -> Choices:
    """Check what does not depend on the table; parameters are only those given, as the estimators take them."""
    for option, value, allowed in (("--task", task, TASKS), ("--method", method, tuple(METHODS))):
        if value is not None and value not in allowed:
            raise Refusal(f"{option} must be one of {', '.join(allowed)}; got {value!r}.")
    if task and method and TASK_OF[method] != task:
        raise Refusal(f"--method {method} is for {TASK_OF[method]}, not for --task {task}; leave out one of them.")
    if top != "all" and not top.isdecimal():
        raise Refusal(f'--top must be a number of features or "all"; got {top!r}.')
    given = {name: value for name in OPTION_OF if (value := options.get(name)) is not None and value is not False}
    parameters = {name: CONVERSIONS.get(name, _unchanged)(value) for name, value in given.items()}
    return Choices(task, method, None if top == "all" or int(top) == 0 else int(top), parameters)


def _whole_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text  # the estimator knows the words, and what to say about the others


def _number_or_text(text: str) -> float | str:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _unchanged(value: Any) -> Any:
    return value


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "n_neighbors": _whole_or_text,
    "n_targets": _number_or_text,
    "select": _number_or_text,
    "scale": lambda text: None if text == "none" else text,
    "verbose": int,
}


def check_out(out: Path, file: str) -> None:
    """Refuse before any work what would fail after it."""
    if find_spec("matplotlib") is None:
        raise Refusal('--out draws a picture with matplotlib, which is missing: pip install "nearhit[report]"')
    check_directory(out, RESULTS, file)


# --- what each column is ------------------------------------------------------------------------------------


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
        raise Refusal(f"no feature is left beside {' and '.join(role for role, columns in wanted if columns)}.")
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


def listed(names: Sequence[str], at_most: int = 5) -> str:
    """Names for a message: the first few, and how many more there are."""
    rest = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(map(repr, names[:at_most])) + rest


# --- classes or numbers -------------------------------------------------------------------------------------

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
    elif choices.method:
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
        raise Refusal(f"{decision.why}, but regression needs numbers, and the target {values.name!r} holds {holds}.")
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
        where = f"all {len(values):,} rows" if len(values) > 1 else "the only row"
        raise Refusal(f"the target {values.name!r} is {values[0]!r} in {where}; a ranking needs {needs}.")


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


# --- the run ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """One feature of the result."""

    rank: int
    feature: str
    weight: float
    selected: bool


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


def run(file: str, table: pl.DataFrame, roles: Roles, decision: Decision, choices: Choices) -> Report:
    """Fit the estimator and keep what is worth telling."""
    X = table.select(roles.features)
    _warn_about_row_numbers(table, roles)
    _warn_about_text(X, roles)
    estimator = make_estimator(choices, decision, roles)
    y = target_array(table[roles.target], decision.task)
    start = time.perf_counter()
    _fit(estimator, X, y, _row_weights(table, roles.weight))
    seconds = time.perf_counter() - start
    selected = dict(zip(roles.features, estimator.support_.tolist(), strict=True))
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
        scores=[Score(row.rank, row.feature, row.weight, selected[row.feature]) for row in estimator.ranking()],
    )


def make_estimator(choices: Choices, decision: Decision, roles: Roles) -> Any:
    """The estimator that the options describe; what they leave out keeps its default."""
    name = choices.method or ("relieff" if decision.task == "classification" else "rrelieff")
    accepted = inspect.signature(METHODS[name]).parameters
    for parameter in choices.parameters:
        if parameter not in accepted:
            raise Refusal(f"{OPTION_OF[parameter]} has no meaning for --method {name}; leave it out.")
    declared = {"categorical_features": roles.categorical} if roles.categorical else {}
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


def _warn_about_row_numbers(table: pl.DataFrame, roles: Roles) -> None:
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


def _warn_about_text(X: pl.DataFrame, roles: Roles) -> None:
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


# --- results as files and text ------------------------------------------------------------------------------


def write_results(out: Path, report: Report) -> None:
    """All files of --out, or none."""
    try:
        write_together(out, _files(report))
    except OSError as error:
        raise Refusal(f"cannot write into {out}: {error.strerror}. Nothing there was changed.") from None
    tell(f"wrote {', '.join(RESULTS)} into {out}")


def _files(report: Report) -> dict[str, bytes]:
    """Names and contents; the same for the same input."""
    from nearhit.pictures import draw_ranking

    title = f"What tells “{printable(report.roles.target)}”"
    n_features = len(report.scores)
    what = f"{report.method} on {report.file}: {counted(report.n_rows, 'row')}, {counted(n_features, 'feature')}"
    picture = draw_ranking([(score.feature, score.weight) for score in report.scores], title, what)
    return dict(zip(RESULTS, (to_csv(report).encode(), to_json(report).encode(), picture), strict=True))


def to_csv(report: Report) -> str:
    """One line per feature, the best first; weights to the last bit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["rank", "feature", "weight", "selected"])
    writer.writerows([s.rank, s.feature, repr(s.weight), str(s.selected).lower()] for s in report.scores)
    return text.getvalue()


def to_json(report: Report) -> str:
    """Scores and how they came about; neither times nor places, so the same input gives the same text."""
    content = {
        "nearhit": nearhit.__version__,
        "file": report.file,
        "target": report.roles.target,
        "task": report.decision.task,
        "task_because": report.decision.why,
        "method": report.method,
        "parameters": report.parameters,
        "weight_column": report.roles.weight,
        "rows": report.n_rows,
        "features": {"numeric": report.numeric, "categorical": report.categorical},
        "cells_missing": report.cells_missing,
        "classes": [{"class": label, "rows": rows} for label, rows in report.classes] or None,
        "neighbors_used": report.neighbors_used,
        "kernel": report.kernel,
        "scores": [vars(score) for score in report.scores],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def to_table(report: Report, top: int | None, where: Any) -> str:
    """The ranking to look at: as wide as the terminal, or as it needs to be where there is none."""
    console = Console(file=where, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        console = Console(file=where, highlight=False, width=PIPE_WIDTH)
    shown = report.scores[:top]
    with console.capture() as capture:
        for line in _heading(report):
            console.print(line)
        console.print()
        console.print(_ranking_table(report, shown, console.width))
        for note in _footing(report, shown):
            console.print(note, style="dim")
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def _heading(report: Report) -> list[Text]:
    n_numeric, n_categorical = len(report.numeric), len(report.categorical)
    missing = counted(report.cells_missing, "cell") if report.cells_missing else "no cell"
    weighted = f" weighted by {printable(report.roles.weight)}" if report.roles.weight else ""
    lines = [
        Text.assemble((printable(report.file), "bold"), ", target ", (printable(report.roles.target), "bold")),
        Text(
            f"{counted(report.n_rows, 'row')}{weighted}, {counted(len(report.scores), 'feature')} "
            f"({n_numeric:,} numeric, {n_categorical:,} categorical), {missing} missing"
        ),
    ]
    if report.classes:
        named = [f"{printable(str(label))} ({rows:,})" for label, rows in report.classes[:6]]
        rest = [f"and {len(report.classes) - 6} more"] if len(report.classes) > 6 else []
        lines.append(Text(f"{len(report.classes)} classes: {', '.join(named + rest)}"))
    ran = f"{report.decision.task} by {report.method}: {report.kernel}, {report.seconds:.2f} s"
    return [*lines, Text(ran, style="dim")]


def _ranking_table(report: Report, shown: list[Score], width: int) -> Table:
    """Names are folded, never cut; bars take what is left, or are left out."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rank", justify="right")
    table.add_column("feature", overflow="fold")
    table.add_column("weight", justify="right", no_wrap=True)
    has_rule = report.parameters["select"] is not None
    if has_rule:
        table.add_column("selected", justify="center")
    names = [printable(score.feature) for score in shown]
    bar_width = min(BAR_WIDTH, width - max(map(len, names), default=0) - (38 if has_rule else 28))
    if bar_width >= NARROWEST_BAR:
        table.add_column("", no_wrap=True)
    largest = max(abs(score.weight) for score in report.scores)
    for score, name in zip(shown, names, strict=True):
        cells = [Text(str(score.rank)), Text(name), Text(_weight_text(score.weight, largest))]
        cells += [Text("✓" if score.selected else "", style="green")] if has_rule else []
        cells += [Text(bar(score.weight, largest, bar_width), style="blue")] if bar_width >= NARROWEST_BAR else []
        table.add_row(*cells, style=None if score.weight > 0 else "dim")
    return table


def _footing(report: Report, shown: list[Score]) -> list[str]:
    lines = []
    if len(shown) < len(report.scores):
        lines.append(f"… {len(report.scores) - len(shown):,} more; --top all shows them")
    if report.parameters["select"] is not None:
        n_selected = sum(score.selected for score in report.scores)
        lines.append(f"{n_selected:,} of {counted(len(report.scores), 'feature')} selected")
    return lines


def _weight_text(weight: float, largest: float) -> str:
    """Four decimals, more where all weights are tiny, fewer where they are huge (unscaled columns)."""
    if largest >= 1000:
        return f"{weight:.6g}"
    decimals = 4
    while 0 < largest * 10**decimals < 100 and decimals < 12:
        decimals += 1
    return f"{weight + 0.0:.{decimals}f}".replace(f"-{0:.{decimals}f}", f"{0:.{decimals}f}")


def printable(name: str) -> str:
    """A name that cannot move the cursor or break the line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


#: for streams that do not take every letter
PLAIN = str.maketrans({"█": "#", "…": "...", "✓": "x", **dict.fromkeys("▏▎▍▌▋▊▉", "")})


def put(text: str) -> None:
    """Write a result to stdout at once, in letters that it takes."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()
