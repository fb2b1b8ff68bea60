"""What does `import nearhit` add to `import sklearn`?

    python benchmarks/import_time.py [--repeats 7]

Nobody uses a scikit-learn estimator without scikit-learn, so what counts is the time and the modules that
come on top of `sklearn.base` and `sklearn.feature_selection`. Best of several fresh processes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec

from machine import in_words, this_machine, today
from peer_envs import NEARHIT_IS_MISSING
from show_table import show

STEPS = ("import sklearn.base, sklearn.feature_selection", "import nearhit")
COLUMNS = ["step", "best, ms", "median, ms", "modules"]

# Run by the fresh process: the seconds and the modules of each step, one after the other.
PROGRAM = """
import json, sys, time
answer = []
for step in sys.argv[1:]:
    before, start = set(sys.modules), time.perf_counter()
    exec(step)
    seconds = time.perf_counter() - start
    answer.append([seconds, sorted(set(sys.modules) - before)])
print(json.dumps(answer))
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Import in fresh processes and show what it took."""
    options = parse(argv)
    if find_spec("nearhit") is None:
        raise SystemExit(NEARHIT_IS_MISSING)
    runs = [import_once() for _ in range(options.repeats)]
    rows = [line(j, [run[j] for run in runs]) for j in range(len(STEPS))]
    versions = ", ".join(f"{package} {version(package)}" for package in ("nearhit", "scikit-learn", "numpy"))
    notes = [
        f"Packages that nearhit brings along: {', '.join(packages_of(runs[0][-1][1]))}.",
        f"Best and median of {options.repeats} fresh processes with files in the system's cache.",
        f"Machine: {in_words(this_machine())}. {versions}. Measured {today()}.",
    ]
    show("What does `import nearhit` add to `import sklearn`?", COLUMNS, rows, notes)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--repeats", type=int, default=7, help="fresh processes (7)")
    return parser.parse_args(argv)


def import_once() -> list[tuple[float, list[str]]]:
    """Seconds and new modules of each step, in a fresh process."""
    command = [sys.executable, "-c", PROGRAM, *STEPS]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        raise SystemExit(answer.stderr)
    steps: list[tuple[float, list[str]]] = json.loads(answer.stdout)
    return steps


def line(step: int, runs: Sequence[tuple[float, list[str]]]) -> list[str]:
    """One row of the result."""
    seconds = sorted(run[0] for run in runs)
    name = STEPS[step] if step == 0 else f"{STEPS[step]}, after that"
    times = [f"{1000 * value:.1f}" for value in (seconds[0], seconds[len(seconds) // 2])]
    return [name, *times, str(len(runs[0][1]))]


def packages_of(modules: Sequence[str]) -> list[str]:
    """The packages that modules belong to, those of Python itself left out."""
    packages = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    return sorted(package for package in packages if not package.startswith("_"))


if __name__ == "__main__":
    main()
