"""One ranking in one fresh process: how long does it take, how much memory, which columns come first?

    python run_peer.py PEER FOLDER METHOD N_NEIGHBORS THREADS REPEATS SECONDS

Runs in the environment of the peer, so it imports NumPy and that peer and nothing of this project. FOLDER
holds X.npy, y.npy and categorical.npy. The last line printed is the answer, as JSON. Before the clock starts:
imports, loading the arrays, turning them into the peer's own kind of table.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Job:
    """What to rank and how."""

    X: np.ndarray
    y: np.ndarray
    categorical: np.ndarray
    method: str
    n_neighbors: int
    threads: int


class LacksMethodError(Exception):
    """The peer has no such method: nothing was tried."""


def main() -> None:
    """Run the job that the command line names and print the answer."""
    peer, folder, method, n_neighbors, threads, repeats, seconds = sys.argv[1:]
    warnings.simplefilter("ignore")
    X, y, categorical = (np.load(Path(folder) / f"{name}.npy") for name in ("X", "y", "categorical"))
    y = y if method == "RReliefF" else y.astype(np.int64)
    job = Job(X, y, categorical.astype(bool), method, int(n_neighbors), int(threads))
    print(json.dumps(answer(peer, job, int(repeats), float(seconds))))


def answer(peer: str, job: Job, repeats: int, seconds: float) -> dict[str, Any]:
    """Measure, or say in one word why there is nothing to measure."""
    try:
        return measure(peer, job, repeats, seconds)
    except LacksMethodError:
        return {"status": "lacks"}
    except (ValueError, TypeError, NotImplementedError) as error:
        return {"status": "refuses", "message": in_short(error)}
    except MemoryError as error:
        return {"status": "failed", "message": in_short(error)}


def measure(peer: str, job: Job, repeats: int, seconds: float) -> dict[str, Any]:
    """Fit once, once more unless that took all the `seconds`, then up to `repeats` while there is time."""
    start = time.perf_counter()
    prepare, packages = PEERS[peer]
    rank = prepare(job)
    ready_s = time.perf_counter() - start
    rss_before = resident_mib("VmRSS")
    was_reset = reset_peak()
    fits, scores = [timed(rank)], rank.scores
    peak = resident_mib("VmHWM") + sum(resident_mib("VmHWM", child) for child in descendants())
    while len(fits) <= repeats and (sum(fits) + min(fits) if fits[1:] else fits[0]) < seconds:
        fits.append(timed(rank))
    top = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:2]
    return {
        "status": "ok",
        "versions": {package: version(package) for package in packages},
        "note": rank.note,
        "ready_s": ready_s,
        "fits_s": fits,
        "rss_before_mib": rss_before,
        "memory_mib": peak - rss_before,
        "peak_was_reset": was_reset,
        "top": [[int(column), float(scores[column])] for column in top],
    }


class Ranking:
    """A fit that can be repeated; keeps the scores and what the estimator says about itself."""

    def __init__(self, fit: Callable[[], Any], scores: Callable[[Any], Any]) -> None:
        self.fit = fit
        self.read = scores
        self.scores = np.empty(0)
        self.note = ""

    def __call__(self) -> None:
        fitted = self.fit()
        self.scores = np.asarray(self.read(fitted), dtype=float)
        self.note = str(getattr(fitted, "kernel_", ""))


def timed(rank: Ranking) -> float:
    """Seconds of one fit."""
    start = time.perf_counter()
    rank()
    return time.perf_counter() - start


# One function a peer: what is not the fit happens in it, the fit in what it returns. Columns are declared
# numeric or nominal where the peer lets us; fast-select and scikit-rebate count values, to the same result.


def nearhit(job: Job) -> Ranking:
    """This library."""
    import nearhit

    neighbours = {} if job.method == "MultiSURF" else {"n_neighbors": job.n_neighbors}
    member = getattr(nearhit, job.method)
    estimator = member(**neighbours, categorical_features=job.categorical, n_jobs=job.threads)
    return Ranking(lambda: estimator.fit(job.X, job.y), lambda fitted: fitted.weights_)


def fast_select(job: Job) -> Ranking:
    """Numba, float32. It has no RReliefF: its ReliefF is asked, so that the refusal is its own."""
    import fast_select

    if job.method == "MultiSURF":
        estimator = fast_select.MultiSURF(backend="cpu", n_jobs=job.threads)
    else:
        estimator = fast_select.ReliefF(n_neighbors=job.n_neighbors, backend="cpu", n_jobs=job.threads)
    return Ranking(lambda: estimator.fit(job.X, job.y), lambda fitted: fitted.feature_importances_)


def skrebate(job: Job) -> Ranking:
    """NumPy and joblib processes. On a numeric target its ReliefF does something of its own."""
    import skrebate

    if job.method == "MultiSURF":
        estimator = skrebate.MultiSURF(n_jobs=job.threads)
    else:
        estimator = skrebate.ReliefF(n_neighbors=job.n_neighbors, n_jobs=job.threads)
    return Ranking(lambda: estimator.fit(job.X, job.y), lambda fitted: fitted.feature_importances_)


def orange(job: Job) -> Ranking:
    """One thread; draws its instances with replacement, as many as there are rows."""
    from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table
    from Orange.preprocess import score

    def variable(name: str, values: np.ndarray, is_nominal: bool) -> Any:
        if not is_nominal:
            return ContinuousVariable(name)
        n_values = int(np.nanmax(values)) + 1
        return DiscreteVariable(name, values=tuple(str(code) for code in range(n_values)))

    columns = [variable(f"a{j}", job.X[:, j], nominal) for j, nominal in enumerate(job.categorical)]
    target = variable("target", job.y, job.method != "RReliefF")
    table = Table.from_numpy(Domain(columns, target), job.X, job.y)
    scorer = getattr(score, job.method)(n_iterations=len(job.X), k_nearest=job.n_neighbors, random_state=0)
    return Ranking(lambda: scorer(table), lambda scores: scores)


PEERS: dict[str, tuple[Callable[[Job], Ranking], tuple[str, ...]]] = {
    "nearhit": (nearhit, ("nearhit", "numpy")),
    "fast-select": (fast_select, ("fast-select", "numba")),
    "skrebate": (skrebate, ("skrebate",)),
    "orange": (orange, ("Orange3",)),
}


def resident_mib(field: str, pid: int | str = "self") -> float:
    """A memory field of a process in MiB: VmRSS is what it holds now, VmHWM the most it held."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return fallback_mib() if pid == "self" else 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field + ":")), 0.0)


def fallback_mib() -> float:
    """Where there is no /proc: the most this process ever held, which is all such a system tells."""
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1024**2 if sys.platform == "darwin" else 1024)


def reset_peak() -> bool:
    """Let VmHWM start again from what the process holds now; False where the system does not offer it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def descendants() -> list[int]:
    """Workers the peer has started; joblib keeps them, so their peaks can be read after the fit."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name may hold spaces and brackets: what follows its last bracket is "state parent ...".
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def in_short(error: Exception) -> str:
    """Type and first sentence of a message."""
    sentence = str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
    return f"{type(error).__name__}: {sentence}"[:200]


if __name__ == "__main__":
    main()
