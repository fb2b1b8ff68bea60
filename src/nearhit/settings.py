"""What runs here: the instruction sets that were built, which one is taken, and the bound on pair storage."""

from __future__ import annotations

import os
from typing import Any

from nearhit.kernels.native import NativeKernel, instruction_sets
from nearhit.kernels.reference import ReferenceKernel

KERNEL_VARIABLE = "NEARHIT_KERNEL"
_settings: dict[str, int] = {"pair_memory": 256 * 2**20}


def set_config(*, pair_memory: int) -> None:
    """Change a setting of this process.

    Parameters
    ----------
    pair_memory : int
        Bytes that may hold pairs of rows (distances and candidates) at any time, over all threads; 256 MiB by default.

    Examples
    --------
    >>> import nearhit
    >>> nearhit.set_config(pair_memory=256 * 2**20)
    """
    if not isinstance(pair_memory, int) or pair_memory < 2**20:
        raise ValueError(f"pair_memory must be a whole number of bytes, at least 1 MiB (1048576); got {pair_memory!r}.")
    _settings["pair_memory"] = pair_memory


def get_config() -> dict[str, int]:
    """The settings of this process."""
    return dict(_settings)


def available_kernels() -> list[str]:
    """What NEARHIT_KERNEL may name on this machine, the default first."""
    return [*instruction_sets(), ReferenceKernel.name]


def choose_kernel() -> Any:
    """The fastest kernel that runs here, or the one that NEARHIT_KERNEL names."""
    there = available_kernels()
    wanted = os.environ.get(KERNEL_VARIABLE, "") or there[0]
    if wanted not in there:
        raise RuntimeError(
            f"{KERNEL_VARIABLE}={wanted!r} names no kernel of this machine; available: {', '.join(there)}. "
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
    from nearhit.engines import count_threads

    there = available_kernels()
    print(
        f"nearhit {__version__} (Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"scikit-learn {sklearn.__version__})"
    )
    print(f"kernels      {', '.join(there)}   (in use: {choose_kernel().name}; force one with {KERNEL_VARIABLE}=NAME)")
    print(f"threads      {count_threads(None)}")
    print(f"pair memory  {_settings['pair_memory'] / 2**20:.0f} MiB   (nearhit.set_config(pair_memory=BYTES))")
