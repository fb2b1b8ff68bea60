"""The command `nearhit`: options in, the public functions called, and the result as a table, JSON or files.

What the command decides by itself, and says: whether the target is classes or numbers (task.py), and which columns are
features and which of them categories (columns.py). Results go to stdout, messages to stderr, one line each.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import nearhit
from nearhit.command.columns import assign_roles, split_names
from nearhit.command.csv_tables import MISSING
from nearhit.command.messages import Refusal, news_at_the_end, tell
from nearhit.command.options import METHODS, TASKS, make_choices
from nearhit.command.problems import OneLine
from nearhit.command.results import RESULTS, check_out, to_json, write_results
from nearhit.command.run import run
from nearhit.command.screen import put, to_table
from nearhit.command.sidecar import read_sidecar
from nearhit.command.tables import FORMATS, read_table, short_name
from nearhit.command.task import decide_task

BEST_SHOWN = 20
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
    try:
        nearhit.show_config()
    except (ValueError, RuntimeError) as error:  # from an environment variable, which the message names
        raise Refusal(str(error)) from error


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
            help='Mark features: a number, a share, gap, "chebyshev(0.05)", ">0.02", "p<0.05", "stability>0.8".',
            rich_help_panel=RESULT,
        ),
    ] = None,
    redundancy: Annotated[
        float | None,
        typer.Option(
            metavar="CORRELATION", help="Name twins: features that tell the same, from 0.95 on, say.", rich_help_panel=RESULT
        ),
    ] = None,
    p_values: Annotated[
        str | None,
        typer.Option(
            metavar="permutation|stir",
            help="A p-value for each feature: from shuffled targets, or by STIR's quick and rough t-test.",
            rich_help_panel=RESULT,
        ),
    ] = None,
    n_permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", metavar="N", help="How often to shuffle; 1000 by default.", rich_help_panel=RESULT
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
        int | None,
        typer.Option("--seed", metavar="N", help="For --targets, --p-values and stability.", rich_help_panel=RUNNING),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report progress.", rich_help_panel=RUNNING)] = False,
) -> None:
    """Rank the columns of a table: parse, call the library, render. The help text is `RANK_HELP`."""
    with news_at_the_end():
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
