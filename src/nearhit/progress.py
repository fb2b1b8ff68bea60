"""A progress bar for long work: on stderr, on a terminal or when `verbose` asks for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORTH_A_BAR_SECONDS = 2.0
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(title: str, n_steps: int, seconds: float, verbose: int) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with the number of finished steps, or None where nobody looks (never if `verbose` < 0)."""
    on_terminal = sys.stderr.isatty() and seconds > WORTH_A_BAR_SECONDS
    if verbose < 0 or not (on_terminal or verbose):
        yield None
    elif sys.stderr.isatty():
        with _bar(title, n_steps) as report:
            yield report
    else:
        yield _lines(title, n_steps)


@contextmanager
def _bar(title: str, n_steps: int) -> Iterator[Callable[[int], None]]:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield _lines(title, n_steps)
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=n_steps)
        yield lambda steps: bar.advance(task, steps)


def _lines(title: str, n_steps: int) -> Callable[[int], None]:
    """Plain lines, not more than one every few seconds, and one at the end."""
    state = {"done": 0, "next": time.monotonic() + SECONDS_BETWEEN_LINES}

    def report(steps: int) -> None:
        state["done"] += steps
        if state["done"] == n_steps or time.monotonic() > state["next"]:
            state["next"] = time.monotonic() + SECONDS_BETWEEN_LINES
            print(f"{title}: {state['done'] / n_steps:.0%}", file=sys.stderr, flush=True)

    return report
