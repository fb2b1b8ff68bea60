"""How many threads a fit may use: `n_jobs`, and what joblib, OMP_NUM_THREADS and threadpoolctl allow."""

from __future__ import annotations

import os
from importlib import import_module

import joblib
import threadpoolctl

LIBRARY = "_native_baseline"
import_module(f"nearhit.{LIBRARY}")  # from the start: threadpoolctl asks those libraries that it finds loaded
_most_threads: list[int] = []  # what threadpoolctl has set, if anything


def count_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` allows: all there are by default, one inside a parallel worker of joblib."""
    backend, active = joblib.parallel.get_active_backend()
    if n_jobs is None and active is None and not backend.nesting_level:
        n_jobs = -1  # nobody asked joblib for anything: use the machine
    limit = os.environ.get("OMP_NUM_THREADS", "")  # joblib and job schedulers set it to share a machine
    limits = [int(limit)] if limit.isdigit() and int(limit) > 0 else []
    return min([joblib.effective_n_jobs(n_jobs), *limits, *_most_threads])


class Controller(threadpoolctl.LibController):
    """What ``threadpoolctl.threadpool_limits`` sets and ``threadpool_info`` shows of nearhit."""

    user_api = "nearhit"
    internal_api = "nearhit"
    filename_prefixes = (LIBRARY,)

    def get_num_threads(self) -> int:
        return _most_threads[0] if _most_threads else joblib.effective_n_jobs(-1)

    def set_num_threads(self, num_threads: int) -> None:
        _most_threads[:] = [num_threads] if num_threads < joblib.effective_n_jobs(-1) else []

    def get_version(self) -> None:
        """Versions are Python's business."""


threadpoolctl.register(Controller)
