"""On what was it measured? The record that stands beside every result."""

from __future__ import annotations

import os
import platform
from datetime import date
from pathlib import Path


def this_machine() -> dict[str, str | int]:
    """Processor, cores this process may use, memory, system and Python."""
    return {
        "cpu": cpu_model(),
        "cores": n_cores(),
        "memory_gib": memory_gib(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def in_words(machine: dict[str, str | int]) -> str:
    """The record as one line."""
    memory = f"{machine['memory_gib']} GiB, " if machine["memory_gib"] else ""
    return f"{machine['cpu']}, {machine['cores']} cores, {memory}{machine['system']}, Python {machine['python']}"


def today() -> str:
    """The date in the form 2025-01-31."""
    return date.today().isoformat()


def n_cores() -> int:
    """Cores this process may use: fewer than the machine has inside a container or under taskset."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def memory_gib() -> int:
    """Memory of the machine, 0 where the system does not tell."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3)
    except (AttributeError, ValueError, OSError):
        return 0
