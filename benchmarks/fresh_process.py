"""One measurement is one fresh process: compilation on the fly and memory are then those a user meets.

The table is handed over as .npy files in a temporary folder and the answer comes back as one line of JSON, so
the peer's environment needs NumPy and the peer, nothing of this one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from peer_envs import PEERS, Peer
from workloads import SPECS, Workload

# Every pool of threads a peer may bring along obeys one of these.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def rank(
    peer: Peer,
    workload: Workload,
    *,
    threads: int,
    repeats: int = 0,
    seconds: float = 60.0,
    patience: float = 3600.0,
) -> dict[str, Any]:
    """The runner's answer about one peer and one table; "status" says whether there is anything more to read.

    A first fit that takes less than `seconds` is repeated once, and up to `repeats` times while another one
    still ends within them. After `patience` seconds the process is ended.
    """
    if peer.command is None:
        return {"status": "not installed", "message": peer.where_from}
    with handed_over(workload, peer) as folder:
        spec = SPECS[workload.name]
        settings = [folder, spec.method, spec.n_neighbors, threads, repeats, seconds]
        code, output, errors = run([*peer.command, *map(str, settings)], environment(peer, threads), patience)
    answers = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(answers[-1]) if answers else what_went_wrong(code, errors, patience)


@contextmanager
def handed_over(workload: Workload, peer: Peer) -> Iterator[str]:
    """The table as files: float64 throughout, but integer codes as they are for a peer that takes them."""
    arrays = {"X": workload.X, "y": workload.y, "categorical": workload.categorical}
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as folder:
        for name, array in arrays.items():
            keeps_type = name == "X" and peer.takes_codes
            np.save(Path(folder) / f"{name}.npy", array if keeps_type else array.astype(np.float64))
        yield folder


def run(command: list[str], env: dict[str, str], patience: float) -> tuple[int | None, str, str]:
    """Exit code (None: out of patience), output and errors; worker processes end with their parent."""
    process = subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        output, errors = process.communicate(timeout=patience)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        end_session(process)
        process.communicate()
        return None, "", ""
    except BaseException:
        end_session(process)
        raise


def end_session(process: subprocess.Popen[str]) -> None:
    """End the process and the workers it has started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def environment(peer: Peer, threads: int) -> dict[str, str]:
    """This process's environment with the same number of threads for everybody."""
    env = dict(os.environ) | {variable: str(threads) for variable in THREAD_VARIABLES}
    if peer is not PEERS["nearhit"]:
        env.pop("PYTHONPATH", None)  # meant for this interpreter, not for the peer's
    return env


def what_went_wrong(code: int | None, errors: str, patience: float) -> dict[str, Any]:
    """A process that gave no answer, in one line."""
    if code is None:
        return {"status": "failed", "message": f"ended after {patience:.0f} s"}
    last = errors.strip().splitlines()[-1:] or ["no message"]
    cause = f"signal {signal.Signals(-code).name}" if code < 0 else last[0][:200]
    return {"status": "failed", "message": cause}
