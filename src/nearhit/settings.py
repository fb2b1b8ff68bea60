"""What runs here: the instruction sets that were built, which one is taken, and the bound on pair storage."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from nearhit.kernels.native import NativeKernel, best_instruction_set, instruction_sets
from nearhit.kernels.reference import ReferenceKernel

KERNEL_VARIABLE = "NEARHIT_KERNEL"
PAIR_MEMORY_VARIABLE = "NEARHIT_PAIR_MEMORY"
LEAST_PAIR_MEMORY = 2**20
_settings: dict[str, int] = {}


def set_config(*, pair_memory: int) -> None:
    """Change a setting of this process.

    Parameters
    ----------
    pair_memory : int
        Bytes that may hold pairs of rows (distances and candidates) at any time, over all threads; 256 MiB by default,
        or what the environment variable NEARHIT_PAIR_MEMORY says.

    Examples
    --------
    >>> import nearhit
    >>> nearhit.set_config(pair_memory=256 * 2**20)
    """
    _settings["pair_memory"] = _checked(pair_memory, "pair_memory")


def get_config() -> dict[str, int]:
    """The settings of this process.

    Examples
    --------
    >>> import nearhit
    >>> nearhit.get_config()
    {'pair_memory': 268435456}
    """
    if "pair_memory" not in _settings:
        given = os.environ.get(PAIR_MEMORY_VARIABLE, "")
        return {
            "pair_memory": _checked(int(given) if given.isdigit() else given, PAIR_MEMORY_VARIABLE) if given else 2**28
        }
    return dict(_settings)


def _checked(pair_memory: Any, name: str) -> int:
    if not isinstance(pair_memory, Integral) or pair_memory < LEAST_PAIR_MEMORY:
        raise ValueError(
            f"{name} must be a whole number of bytes, at least 1 MiB ({LEAST_PAIR_MEMORY}); got {pair_memory!r}."
        )
    return int(pair_memory)


def available_kernels() -> list[str]:
    """What NEARHIT_KERNEL may name on this machine, the default first."""
    return [*instruction_sets(), ReferenceKernel.name]


def choose_kernel() -> Any:
    """The fastest kernel that runs here, or the one that NEARHIT_KERNEL names, as in `available_kernels` or `kernel_`."""
    named = os.environ.get(KERNEL_VARIABLE, "")
    if not named:
        return NativeKernel(best_instruction_set())
    there, wanted = available_kernels(), named.removeprefix("native-")
    if wanted not in there:
        raise RuntimeError(
            f"{KERNEL_VARIABLE}={named!r} names no kernel of this machine; available: {', '.join(there)}. "
            "Unset the variable to take the first."
        )
    return ReferenceKernel() if wanted == ReferenceKernel.name else NativeKernel(wanted)


def show_config() -> None:
    """Print what nearhit runs on here: versions, kernels, threads, settings.

    Examples
    --------
    >>> import nearhit
    >>> nearhit.show_config()  # doctest: +ELLIPSIS
    nearhit ...
    """
    import platform

    import numpy
    import sklearn

    from nearhit import __version__
    from nearhit.thread_limits import count_threads

    there, in_use, pair_memory = available_kernels(), choose_kernel().name, get_config()["pair_memory"]
    versions = f"Python {platform.python_version()}, NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}"
    print(f"nearhit {__version__} ({versions})")
    print(f"kernels      {', '.join(there)}   (in use: {in_use}; force one with {KERNEL_VARIABLE}=NAME)")
    print(f"threads      {count_threads(None)}")
    print(f"pair memory  {pair_memory / 2**20:.0f} MiB   ({PAIR_MEMORY_VARIABLE}=BYTES)")
