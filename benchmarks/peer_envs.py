"""Where does each peer live? In an environment of its own, so that none decides the versions of another.

    python benchmarks/peer_envs.py              make what is missing
    python benchmarks/peer_envs.py --again      make all of them anew

The Python peers are installed with pip into `benchmarks/.envs/`, which git ignores. CORElearn, an R package,
and Weka, a Java program, are used where they are found. For CORElearn that is an `Rscript` on the PATH that
knows the package; for Weka a JDK of at least 11 on the PATH and, in the environment variable
NEARHIT_WEKA_JAR, the path of weka.jar. Weka 3.6 is what the runner is written for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVS = HERE / ".envs"
RUNNERS = HERE / "runners"

# What the published numbers were measured with; a newer peer deserves a new run of everything.
REQUIREMENTS = {
    "fast-select": "fast-select==0.3.0",
    "skrebate": "skrebate==0.8.4",
    "orange": "Orange3==3.40.0",
}

NEARHIT_IS_MISSING = "nearhit is not installed in this environment: pip install ."


@dataclass(frozen=True)
class Peer:
    """A program that ranks: how its runner is started and what it offers."""

    name: str
    find: Callable[[], list[str] | None]
    where_from: str
    lacks: frozenset[str] = frozenset()
    is_parallel: bool = True
    takes_codes: bool = False

    @property
    def command(self) -> list[str] | None:
        """The command line of the runner, None where the peer is not installed."""
        return self.find()


def main(argv: Sequence[str] | None = None) -> None:
    """Make the environments, then say what each peer is found as."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true", help="make every environment anew")
    again = parser.parse_args(argv).again
    for name in REQUIREMENTS:
        make_env(name, again)
    for peer in PEERS.values():
        print(f"{peer.name:12} {'ready' if peer.command else 'not installed: ' + peer.where_from}")


def make_env(name: str, again: bool = False) -> None:
    """One environment with one peer; nothing is done where it already holds the version asked for."""
    folder, requirement = ENVS / name, REQUIREMENTS[name]
    done = folder / "installed.txt"
    if not again and done.exists() and done.read_text() == requirement:
        return
    print(f"installing {requirement} ...", flush=True)
    venv.EnvBuilder(clear=True, with_pip=True).create(folder)
    install = [str(python_of(name)), "-m", "pip", "install", "--quiet", requirement]
    if subprocess.run(install).returncode == 0:
        done.write_text(requirement)
    else:
        print(f"{requirement} could not be installed; the benchmarks go on without it.")


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment."""
    return ENVS / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def python_peer(name: str) -> list[str] | None:
    """A peer in an environment that this script made."""
    if not (ENVS / name / "installed.txt").exists():
        return None
    return [str(python_of(name)), str(RUNNERS / "run_peer.py"), name]


def nearhit() -> list[str] | None:
    """This library, in the environment that runs the benchmark."""
    return [sys.executable, str(RUNNERS / "run_peer.py"), "nearhit"] if find_spec("nearhit") else None


@cache
def corelearn() -> list[str] | None:
    """CORElearn, if R is on the PATH and knows it."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    asked = subprocess.run([rscript, "-e", "packageVersion('CORElearn')"], capture_output=True)
    return None if asked.returncode else [rscript, str(RUNNERS / "corelearn.R")]


@cache
def weka() -> list[str] | None:
    """Weka, if its jar is named and the Java on the PATH can compile the runner."""
    java, jar = shutil.which("java"), os.environ.get("NEARHIT_WEKA_JAR", "")
    if java is None or not Path(jar).is_file():
        return None
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True).stdout
    return [java, "-cp", jar, str(RUNNERS / "RunWeka.java")] if "jdk.compiler" in modules else None


PEERS = {
    peer.name: peer
    for peer in (
        Peer("nearhit", nearhit, "pip install .", takes_codes=True),
        Peer("fast-select", lambda: python_peer("fast-select"), "python benchmarks/peer_envs.py"),
        Peer("skrebate", lambda: python_peer("skrebate"), "python benchmarks/peer_envs.py"),
        Peer(
            "orange",
            lambda: python_peer("orange"),
            "python benchmarks/peer_envs.py",
            lacks=frozenset({"MultiSURF"}),
            is_parallel=False,
        ),
        Peer("corelearn", corelearn, "install.packages('CORElearn') in R", lacks=frozenset({"MultiSURF"})),
        Peer(
            "weka",
            weka,
            "a JDK and NEARHIT_WEKA_JAR=path of weka.jar",
            lacks=frozenset({"MultiSURF"}),
            is_parallel=False,
        ),
    )
}


if __name__ == "__main__":
    main()
