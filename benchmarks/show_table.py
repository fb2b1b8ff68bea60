"""How is a result shown? As one table: by rich where it is installed, plain where not, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

Rows = Sequence[Sequence[str]]


def show(title: str, columns: Sequence[str], rows: Rows, notes: Sequence[str] = (), n_left: int = 1) -> None:
    """Print the table; its first `n_left` columns are text, the others numbers."""
    if find_spec("rich"):
        show_rich(title, columns, rows, n_left)
    else:
        print(f"\n{title}\n{plain(columns, rows, n_left)}")
    for note in notes:
        print(note)


def show_rich(title: str, columns: Sequence[str], rows: Rows, n_left: int) -> None:
    """The table in colours."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position < n_left else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(highlight=False)
    # A pipe or a log has no width of its own; rich would fold the table to 80 characters.
    console.width = console.width if console.is_terminal else 160
    console.print(table)


def plain(columns: Sequence[str], rows: Rows, n_left: int = 1) -> str:
    """The table in characters that every terminal has."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(pad(cell, widths[j], j < n_left) for j, cell in enumerate(cells)).rstrip()

    return "\n".join([line(columns), "  ".join("-" * width for width in widths), *map(line, rows)])


def markdown(columns: Sequence[str], rows: Rows, n_left: int = 1) -> str:
    """The table for a README."""
    rule = ["---" if j < n_left else "---:" for j in range(len(columns))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [columns, rule, *rows])


def pad(cell: str, width: int, is_text: bool) -> str:
    """Text to the left, numbers to the right."""
    return cell.ljust(width) if is_text else cell.rjust(width)
