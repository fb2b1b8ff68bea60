"""All of a fit or nothing: what estimators with a `fit` of their own share with `nearhit.feature_scorer`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def afresh(estimator: Any) -> Iterator[None]:
    """Nothing of the fit before is left, nor of this one if it fails or is interrupted."""
    forget(estimator)
    try:
        yield
    except BaseException:  # Ctrl-C too: half a fit is no fit
        forget(estimator)
        raise


def forget(estimator: Any) -> None:
    """Drop all fitted attributes."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("__")]:
        delattr(estimator, name)
