"""A report to look at: as wide as the terminal, in letters that the stream takes."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nearhit.command.messages import counted, printable
from nearhit.command.run import Report, Score
from nearhit.ranking import BAR_WIDTH, bar, p_value_in_words

#: where no terminal sets a width: no name is cut
PIPE_WIDTH = 10_000
NARROWEST_BAR = 8


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
    tested = report.parameters["p_values"] is not None
    if tested:
        table.add_column("p", justify="right", no_wrap=True)
    has_rule = report.parameters["select"] is not None
    if has_rule:
        table.add_column("selected", justify="center")
    names = [printable(score.feature) for score in shown]
    bar_width = min(BAR_WIDTH, width - max(map(len, names), default=0) - (28 + 10 * has_rule + 10 * tested))
    if bar_width >= NARROWEST_BAR:
        table.add_column("", no_wrap=True)
    largest = max(abs(score.weight) for score in report.scores)
    for score, name in zip(shown, names, strict=True):
        cells = [Text(str(score.rank)), Text(name), Text(_weight_text(score.weight, largest))]
        cells += [Text(p_value_in_words(score.p_value, report.least_p_value))] if score.p_value is not None else []
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
    for group in report.twins or []:
        twins = ", ".join(map(printable, group.twins))
        lines.append(f"{twins}: the same as {printable(group.representative)} (correlation {group.correlation:.3f})")
    if report.twins == []:
        lines.append("no twins")
    return lines


def _weight_text(weight: float, largest: float) -> str:
    """Four decimals, more where all weights are tiny, fewer where they are huge (unscaled columns)."""
    if largest >= 1000:
        return f"{weight:.6g}"
    decimals = 4
    while 0 < largest * 10**decimals < 100 and decimals < 12:
        decimals += 1
    return f"{weight + 0.0:.{decimals}f}".replace(f"-{0:.{decimals}f}", f"{0:.{decimals}f}")


#: for streams that do not take every letter
PLAIN = str.maketrans({"█": "#", "…": "...", "✓": "x", "≤": "<=", **dict.fromkeys("▏▎▍▌▋▊▉", "")})


def put(text: str) -> None:
    """Write a result to stdout at once, in letters that it takes."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(text)
    sys.stdout.flush()
