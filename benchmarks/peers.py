"""How long and how much memory does a ranking take, here and with the peers?

    python benchmarks/peer_envs.py                           once: the peers' environments
    python benchmarks/peers.py                               everything
    python benchmarks/peers.py --workloads W1,W2 --peers nearhit,fast-select --repeats 3
    python benchmarks/peers.py --json peers.json             keep the numbers, each as soon as it is there
    python benchmarks/peers.py --json peers.json --peers nearhit --update-readme
    python benchmarks/peers.py --json peers.json --show      the table again, nothing measured

Every pair of workload and peer runs in a fresh process of the peer's environment, all with the same m (every
instance), k and number of threads. A pair that would take longer than the budget is measured on fewer columns
and rows and extrapolated by the number of cells compared, rows x rows x columns; such numbers carry a "~".
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import fresh_process
from machine import n_cores
from peer_envs import NEARHIT_IS_MISSING, PEERS, Peer
from peer_results import Results, Row, as_markdown, cells, full_size, in_seconds, show_results, update_readme
from workloads import SPECS, make

# The size of W1, where the slowest peer needs seconds and the fastest is past its fixed costs.
PROBE_CELLS = 100_000_000
# With fewer columns choosing the neighbours costs as much as the distances: from here on rows are left out.
FEWEST_COLUMNS = 200
FEWEST_ROWS = 200


def main(argv: Sequence[str] | None = None) -> None:
    """Measure what was asked for, keep it as it comes, and show it."""
    options = parse(argv)
    results = Results.read(options.json)
    if not options.show:
        add_measurements(results, options)
    show_results(results)
    if options.markdown:
        options.markdown.write_text(as_markdown(results))
    if options.update_readme:
        update_readme(as_markdown(results))


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--workloads", type=some_of(SPECS), default=list(SPECS), metavar="W1,W2")
    parser.add_argument("--peers", type=some_of(PEERS), default=list(PEERS), metavar="NAME,NAME")
    parser.add_argument("--repeats", type=int, default=5, help="fits after the first, the best counts (5)")
    parser.add_argument("--budget", type=float, default=120, help="longest fit tried at full size, in seconds (120)")
    parser.add_argument("--threads", type=int, default=n_cores(), help="for every peer that has any (all cores)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep results here; others in it stay")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here")
    parser.add_argument("--update-readme", action="store_true", help="write it into benchmarks/README.md")
    parser.add_argument("--show", action="store_true", help="measure nothing, show what --json holds")
    return parser.parse_args(argv)


def some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """Make a type for argparse: names with commas between them, each of them known."""

    def names(text: str) -> list[str]:
        chosen = text.split(",")
        if unknown := [name for name in chosen if name not in known]:
            asked, have = ", ".join(unknown), ", ".join(known)
            raise argparse.ArgumentTypeError(f"expected names among {have}; got {asked}")
        return chosen

    return names


def add_measurements(results: Results, options: argparse.Namespace) -> None:
    """Measure and put the rows beside those that are there."""
    if not results.are_of_this_machine():
        raise SystemExit(f"{options.json} holds results of another machine; name another file.")
    if "nearhit" in options.peers and PEERS["nearhit"].command is None:
        print(NEARHIT_IS_MISSING)
    for row in measure_all(options):
        results.add(row)
        print(sign_of_life(row), flush=True)
        if options.json:
            results.write(options.json)


def measure_all(options: argparse.Namespace) -> Iterator[Row]:
    """Take one pair after the other: two at a time would measure each other."""
    for workload in options.workloads:
        for name in options.peers:
            yield measure(workload, PEERS[name], options)


def measure(workload: str, peer: Peer, options: argparse.Namespace) -> Row:
    """Rank one workload with one peer, at full size if the budget allows it."""
    row = Row(workload, peer.name, threads=options.threads if peer.is_parallel else 1)
    if SPECS[workload].method in peer.lacks:
        return row
    full = full_size(workload)
    if cells(full) > PROBE_CELLS:
        answer, size = probe(workload, peer, options)
        if answer["status"] != "ok" or estimate(answer, size, full) > options.budget:
            return row.filled(answer, size)
    return row.filled(fit(workload, full, peer, options, options.repeats), full)


def probe(workload: str, peer: Peer, options: argparse.Namespace) -> tuple[dict[str, Any], tuple[int, int]]:
    """Rank a part of the table, small enough to cost little and large enough to tell what the whole would."""
    full, n_cells = full_size(workload), PROBE_CELLS
    while True:
        size = shrunk(full, n_cells)
        answer = fit(workload, size, peer, options, repeats=1)
        if answer["status"] != "ok" or estimate(answer, size, full) < options.budget:
            return answer, size
        shortest = min(answer["fits_s"])
        # In a short fit fixed costs weigh too much to scale it up (scikit-rebate's from the size of W1: five
        # times what W2 takes), so the part is made larger, as far as a third of the budget goes.
        if shortest > options.budget / 6:
            return answer, size
        n_cells = int(cells(size) * options.budget / 3 / shortest)


def fit(workload: str, size: tuple[int, int], peer: Peer, options: argparse.Namespace, repeats: int) -> dict[str, Any]:
    """Rank in a fresh process, and see whether the two best columns are informative ones."""
    table = make(workload, *size)
    answer = fresh_process.rank(
        peer,
        table,
        threads=options.threads,
        repeats=repeats,
        seconds=options.budget,
        # An estimate may be off by a factor of some; what is off by more is ended.
        patience=3 * options.budget + 120,
    )
    if answer["status"] == "ok":
        answer["found"] = all(column in table.informative for column, _ in answer["top"])
    return answer


def estimate(answer: dict[str, Any], size: tuple[int, int], full: tuple[int, int]) -> float:
    """Seconds of one fit at full size, by the number of cells."""
    shortest: float = min(answer["fits_s"])
    return shortest * cells(full) / cells(size)


def shrunk(full: tuple[int, int], n_cells: int) -> tuple[int, int]:
    """Size of a part of the table with about so many cells: columns are left out first, then rows."""
    n_rows, n_features = full
    n_features = min(n_features, max(n_cells // n_rows**2, FEWEST_COLUMNS))
    n_rows = min(n_rows, max(int((n_cells / n_features) ** 0.5), FEWEST_ROWS))
    return n_rows, n_features


def sign_of_life(row: Row) -> str:
    """Say what has just been measured."""
    time = f"{in_seconds(row.first)} s, {row.note}".rstrip(", ") if row.was_measured else row.message
    return f"{row.workload:4} {row.peer:12} {row.status:13} {time}"


if __name__ == "__main__":
    main()
