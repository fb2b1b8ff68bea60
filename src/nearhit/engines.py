"""Where blocks run: in line, or on threads. An engine maps tasks in order and knows neither rows nor formulas.

The native code releases the interpreter lock and reads shared arrays, so threads cost nothing to start and copy
nothing. Results do not depend on the engine: sums are integers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Report = Callable[[int], None]
SECONDS_BETWEEN_SIGNALS = 0.1


@dataclass(frozen=True)
class InLine:
    """One task after the other in the calling thread."""

    report: Report | None = None

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        for task in tasks:
            result = work(task)
            if self.report:
                self.report(1)
            yield result


@dataclass(frozen=True)
class Threads:
    """Tasks on a pool of threads; on an error or Ctrl-C the tasks that have not begun are dropped."""

    n_threads: int
    report: Report | None = None

    def map(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        pool = ThreadPoolExecutor(min(self.n_threads, len(tasks)), thread_name_prefix="nearhit")
        try:
            waiting = deque(pool.submit(work, task) for task in tasks)
            while waiting:
                yield _result(waiting.popleft())  # and forget it: results are not kept until the end
                if self.report:
                    self.report(1)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[Result]) -> Result:
    """Wait in short steps: the main thread must come up for air to hear Ctrl-C."""
    while True:
        try:
            return future.result(timeout=SECONDS_BETWEEN_SIGNALS)
        except TimeoutError:
            if future.done():
                raise  # the task's own


def choose_engine(n_threads: int, n_tasks: int, report: Report | None = None) -> InLine | Threads:
    """Threads where there is more than one task and more than one thread."""
    n_threads = min(n_threads, n_tasks)
    return Threads(n_threads, report) if n_threads > 1 else InLine(report)
