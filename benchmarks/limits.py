"""What is the peak of this machine for the instructions of each kernel?

    python benchmarks/limits.py
    python benchmarks/limits.py --isa avx512 --seconds 2

Compiles benchmarks/limits.cpp once per instruction set, with the flags of the library, and runs it on one core: the
steps of a kernel on values that stay in registers (limit), and its register tile on a panel in the first-level cache.
Other programs ask `measure_limits` in the minute in which they measure, because clocks move.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from machine import in_words, this_machine, today
from show_table import show

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "limits"

# What a step of each kernel does, and for which columns it is there.
STEPS = {
    "numeric16": "15-bit numbers, two a word: min, multiply-add",
    "planes1": "2 categories: xor, count, add",
    "planes2": "3-4 categories: 2 xor, count, add",
    "planes3": "5-8 categories: 3 xor, count, add",
    "planes4": "9-16 categories: 4 xor, count, add",
    "bytes8": "17-256 categories: xor, min, multiply-add",
    "words16": "more categories: xor, min, multiply-add",
    "holes": "unknown cells: and, add",
    "codes32": "full codes, for mean distances: min, add",
    "overlap": "rows within a radius, by value: and, count, add",
}


class Limit(NamedTuple):
    """G elements per second on one core."""

    peak: float
    tile: float


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and show."""
    options = parse(argv)
    rows = []
    for isa in options.isa:
        for name, limit in measure_limits(isa, options.seconds).items():
            rows.append(
                [isa, name, STEPS[name], f"{limit.peak:,.0f}", f"{limit.tile:,.0f}", f"{limit.tile / limit.peak:.0%}"]
            )
    notes = [f"Machine: {in_words(this_machine())}. One core, G elements/s, best of many. Measured {today()}."]
    columns = ["set", "kernel", "columns: steps", "limit", "tile", "tile / limit"]
    show("What is the peak of this machine for the instructions of each kernel?", columns, rows, notes, n_left=3)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--isa", type=lambda text: text.split(","), default=sets_here(), metavar="SET,SET")
    parser.add_argument("--seconds", type=float, default=0.4, help="for each kernel (0.4)")
    return parser.parse_args(argv)


def sets_here() -> list[str]:
    """The instruction sets of this machine that nearhit was built for."""
    from nearhit.kernels.native import instruction_sets

    return list(instruction_sets())


def measure_limits(isa: str, seconds: float = 0.4) -> dict[str, Limit]:
    """The limits of one instruction set, kernel by kernel."""
    output = subprocess.run([program(isa), str(seconds)], check=True, capture_output=True, text=True).stdout
    lines = (line.split() for line in output.splitlines())
    return {name: Limit(float(peak), float(tile)) for name, peak, tile in lines}


@cache
def program(isa: str) -> Path:
    """The program for one instruction set, compiled anew if anything has changed."""
    import cmake
    import nanobind

    command = Path(cmake.CMAKE_BIN_DIR) / "cmake"
    settings = [
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
        "-DNEARHIT_LIMITS=ON",
    ]
    for step in (["-S", ROOT, "-B", BUILD, *settings], ["--build", BUILD, "--target", f"limits_{isa}"]):
        done = subprocess.run([command, *step], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"limits.cpp could not be compiled:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return BUILD / f"limits_{isa}"


if __name__ == "__main__":
    main()
