"""What was measured with the peers: kept in a file, shown as a table, written into the README.

The ratios are made when the table is, so nearhit or one peer can be measured again and the rest stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from machine import in_words, this_machine, today
from peer_envs import PEERS
from show_table import markdown, show
from workloads import SEED, SPECS

README = Path(__file__).resolve().parent / "README.md"
MARKS = "<!-- peers:begin -->", "<!-- peers:end -->"

QUESTION = "How long and how much memory does a ranking take?"
NAMES = ["workload", "peer"]
NUMBERS = ["threads", "first fit, s", "later fits, s", "x first", "x later", "memory, MiB", "top 2"]


@dataclass
class Row:
    """What is known about one workload and one peer; times are those at the measured size."""

    workload: str
    peer: str
    threads: int
    status: str = "lacks"
    message: str = ""
    date: str = field(default_factory=today)
    measured_size: tuple[int, int] = (0, 0)
    first_s: float = 0.0
    later_s: list[float] = field(default_factory=list)
    memory_mib: float = 0.0
    top: list[list[float]] = field(default_factory=list)
    found: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def filled(self, answer: dict[str, Any], size: tuple[int, int]) -> Row:
        """Take over the answer of a process that ranked a table of this size."""
        self.status, self.message, self.measured_size = answer["status"], answer.get("message", ""), size
        if self.was_measured:
            self.first_s, *self.later_s = answer["fits_s"]
            self.memory_mib, self.top, self.found = answer["memory_mib"], answer["top"], answer["found"]
            self.versions, self.note = answer["versions"], answer["note"]
        return self

    @property
    def was_measured(self) -> bool:
        """Whether there are numbers."""
        return self.status == "ok"

    @property
    def scale(self) -> float:
        """How many times more cells the full table has than the measured one."""
        return cells(full_size(self.workload)) / cells(self.measured_size)

    @property
    def first(self) -> float:
        """Seconds of the first fit at full size; what it takes more than a later one does not grow."""
        return self.best + self.first_s - self.shortest

    @property
    def best(self) -> float:
        """Seconds of the shortest fit at full size."""
        return self.shortest * self.scale

    @property
    def shortest(self) -> float:
        """Seconds of the shortest fit as measured."""
        return min([self.first_s, *self.later_s])


def full_size(workload: str) -> tuple[int, int]:
    """Rows and columns of a workload."""
    return SPECS[workload].n_rows, SPECS[workload].n_features


def cells(size: tuple[int, int]) -> int:
    """Values compared when every row meets every row: what the cost of all peers follows."""
    return size[0] ** 2 * size[1]


@dataclass
class Results:
    """Rows of one machine."""

    machine: dict[str, str | int] = field(default_factory=this_machine)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> Results:
        """The results in a file, none where there is no file."""
        if path is None or not path.exists():
            return cls()
        record = json.loads(path.read_text())
        return cls(record["machine"], {(row["workload"], row["peer"]): Row(**row) for row in record["rows"]})

    def add(self, row: Row) -> None:
        """Put in a row; an older one of the same workload and peer goes."""
        self.rows[row.workload, row.peer] = row

    def write(self, path: Path) -> None:
        """Write everything down; done after every measurement, because a long run may be stopped."""
        record = {"machine": self.machine, "seed": SEED, "rows": [asdict(row) for row in self.in_order()]}
        path.write_text(json.dumps(record, indent=1) + "\n")

    def in_order(self) -> list[Row]:
        """By workload, then by peer, in the order of their definitions."""
        return [self.rows[name, peer] for name in SPECS for peer in PEERS if (name, peer) in self.rows]

    def are_of_this_machine(self) -> bool:
        """Whether results of a run here may stand beside these."""
        here = this_machine()
        return all(self.machine[key] == here[key] for key in ("cpu", "cores"))


def show_results(results: Results) -> None:
    """Print the table."""
    notes = what_stands_beside(results)
    show(QUESTION, NAMES + NUMBERS, table_of(results), notes, n_left=len(NAMES))


def as_markdown(results: Results) -> str:
    """The same table and notes for a page."""
    notes = "\n".join(f"- {note}" for note in what_stands_beside(results))
    return f"{markdown(NAMES + NUMBERS, table_of(results), len(NAMES))}\n\n{notes}\n"


def update_readme(text: str) -> None:
    """Replace what stands between the marks."""
    before, begin, rest = README.read_text().partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not (begin and end):
        raise SystemExit(f"{README.name} has no {MARKS[0]} ... {MARKS[1]} to write between.")
    README.write_text(f"{before}{begin}\n{text}{end}{after}")


def table_of(results: Results) -> list[list[str]]:
    """One line a row; the ratios are to nearhit's row of the same workload."""
    lines, previous = [], ""
    for row in results.in_order():
        name = "" if row.workload == previous else f"{row.workload} {in_figures(full_size(row.workload))}"
        ours = results.rows.get((row.workload, "nearhit"))
        lines.append([name, row.peer, *numbers(row, ours)])
        previous = row.workload
    return lines


def numbers(row: Row, ours: Row | None) -> list[str]:
    """The cells of one line after its names."""
    if not row.was_measured:
        return ["-" if row.status == "lacks" else row.status, *[""] * (len(NUMBERS) - 1)]
    about, at = ("", "") if row.scale == 1 else ("~", f" at {in_figures(row.measured_size)}")
    later = about + in_seconds(min(row.later_s) * row.scale) if row.later_s else ""
    top = ", ".join(str(int(column)) for column, _ in row.top)
    return [
        str(row.threads),
        about + in_seconds(row.first),
        later,
        *ratios(row, ours, about),
        f"{max(row.memory_mib, 0):,.0f}{at}",
        top if row.found else f"{top} (no)",
    ]


def ratios(row: Row, ours: Row | None, about: str) -> list[str]:
    """How many times as long as nearhit, first fit to first fit and best to best."""
    if ours is None or not ours.was_measured:
        return ["", ""]
    times = row.first / ours.first, row.best / ours.best
    return [f"{about}{value:,.{1 if value < 10 else 0}f}" for value in times]


def in_seconds(value: float) -> str:
    """Three digits, which is more than two runs agree on."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def in_figures(size: Iterable[int]) -> str:
    """Rows and columns as a reader writes them."""
    return " x ".join(f"{n:,}" for n in size)


def what_stands_beside(results: Results) -> list[str]:
    """Machine, dates, versions, how to read the columns, and the words of those that did not rank."""
    rows = results.in_order()
    dates = sorted({row.date for row in rows}) or [today()]
    measured = " to ".join(dict.fromkeys([dates[0], dates[-1]]))
    versions = dict.fromkeys(f"{name} {version}" for row in rows for name, version in row.versions.items())
    return [
        f"Machine: {in_words(results.machine)}. Measured {measured}.",
        f"Versions: {', '.join(versions) or 'none'}. Seed of the tables: {SEED}.",
        *HOW_TO_READ,
        *own_words(rows),
    ]


HOW_TO_READ = (
    "First fit: the first of a process, with what is compiled on the fly, without imports. Later fits: the"
    " best of the rest. x: times nearhit's.",
    "Memory: the most that was resident during the first fit, worker processes included, less what was"
    " resident before it.",
    "~: measured on fewer columns and rows, scaled by rows x rows x columns. -: the peer has no such method.",
    "Top 2: the two best columns; (no) where one of them is not an informative one.",
)


def own_words(rows: Iterable[Row]) -> list[str]:
    """Why a peer did not rank, with the workloads it says so about."""
    workloads: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row.message:
            workloads.setdefault((row.peer, row.status, row.message), []).append(row.workload)
    return [f"{peer} {status} ({', '.join(names)}): {said}" for (peer, status, said), names in workloads.items()]
