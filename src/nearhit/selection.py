"""Which features to keep: the rules that `select=` understands (SPEC.md section 6)."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearhit.significance.adjustment import ADJUSTMENTS

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
#: p-values by the name of their adjustment, "" for none
PValues = Callable[[str], FloatArray]
EXPECTED = (
    'select must be None, a number of features, a share between 0 and 1, "gap", "chebyshev(0.05)", ">0.02", "p<0.05", '
    '"p(bh)<0.05", "stability>0.8" or a function of the weights'
)


class StabilityRule(NamedTuple):
    """Among the best k (None: as many as `nearhit.stability` says) in more than a share of the resamples, or in as many."""

    k: int | None
    share: float
    or_equal: bool


def select_features(
    rule: Any,
    weights: FloatArray,
    n_targets: float,
    p_values: PValues | None = None,
    shares: FloatArray | None = None,
) -> BoolArray:
    """A mask of the features that a rule keeps.

    Parameters
    ----------
    rule
        See `select` of `nearhit.ReliefF`; checked by `check_rule` before.
    weights : array of shape (n_features,)
    n_targets : float
        How many rows (or how much weight) the weights are a mean over; for the Chebyshev threshold.
    p_values : function
        The p-values by the name of their adjustment; for a rule such as "p<0.05" or "p(bh)<0.05".
    shares : array of shape (n_features,)
        For a rule such as "stability>0.8": how often each feature was selected in resamples.
    """
    if rule is None:
        return np.ones(len(weights), bool)
    if callable(rule):
        return _of_function(rule, weights)
    if found := stability_rule(rule):
        if shares is None:
            raise ValueError(f"select={rule!r} needs an estimator that can be fitted on resamples of its rows.")
        return shares >= found.share if found.or_equal else shares > found.share
    if asked := p_value_rule(rule):
        adjustment, alpha = asked
        if p_values is None:
            raise ValueError(f"select={rule!r} needs an estimator that has p-values.")
        return p_values(adjustment) < alpha
    if isinstance(rule, str):
        return weights > _threshold(rule, weights, n_targets)
    if isinstance(rule, Integral):
        return _best(weights, int(rule))
    return _best(weights, max(1, round(float(rule) * len(weights))))


def check_rule(rule: Any, n_features: int) -> None:
    """Refuse what is no rule, before any work is done."""
    if rule is None or callable(rule):
        return
    if isinstance(rule, str):
        stable = stability_rule(rule)
        if stable and stable.k is not None and not 1 <= stable.k <= n_features:
            raise ValueError(
                f"stability(k) needs a number of features between 1 and the {n_features} of X; got {rule!r}."
            )
        if not stable and not p_value_rule(rule):
            _parse(rule)
    elif isinstance(rule, Integral) and not isinstance(rule, bool):
        if not 1 <= int(rule) <= n_features:
            raise ValueError(f"{EXPECTED}; got {rule} features where X has {n_features}.")
    elif not isinstance(rule, Real) or isinstance(rule, bool) or not 0 < float(rule) <= 1:
        raise ValueError(f"{EXPECTED}; got {rule!r}.")


def stability_rule(rule: Any) -> StabilityRule | None:
    """The parts of a rule such as "stability>0.8" or "stability(10)>=0.9"; None for other rules."""
    found = isinstance(rule, str) and re.fullmatch(
        r"stability\s*(?:\(([0-9]+)\))?\s*(>=?)\s*([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)", rule.strip(), re.IGNORECASE
    )
    if not found:
        return None
    k, share = int(found[1]) if found[1] else None, float(found[3])
    least = 0.0 if k else 0.5
    if not least < share <= 1:
        raise ValueError(
            f"stability is compared with a share of the resamples above {least:g} and up to 1"
            f"{'' if k else ', or say among the best how many: stability(10)'}; got select={rule!r}."
        )
    return StabilityRule(k, share, found[2] == ">=")


def p_value_rule(rule: Any) -> tuple[str, float] | None:
    """The adjustment ("" for none) and the level of a rule such as "p<0.05" or "p(bh)<0.05"; None for other rules."""
    found = re.fullmatch(r"p\s*(?:\(([a-z-]+)\))?\s*<\s*([0-9.]+(?:e[-+]?[0-9]+)?)", str(rule).strip(), re.IGNORECASE)
    if not isinstance(rule, str) or not found:
        return None
    adjustment = found[1] or ""
    if adjustment and adjustment.lower() not in [name.lower() for name in ADJUSTMENTS]:
        raise ValueError(f'p-values are adjusted by {", ".join(ADJUSTMENTS)}; got select="{rule}".')
    try:
        alpha = float(found[2])
    except ValueError:  # "0.0.5"
        alpha = math.nan
    if not 0 < alpha <= 1:
        raise ValueError(f'p-values are compared with a level between 0 and 1; got select="{rule}".')
    return adjustment, alpha


def is_chebyshev(rule: Any) -> bool:
    """Whether a rule asks for the Chebyshev threshold, which holds for some weights only."""
    return isinstance(rule, str) and rule.strip().lower().startswith("chebyshev")


def chebyshev_threshold(alpha: float, n_targets: float) -> float:
    """The weight that at most a share alpha of irrelevant features exceeds: 1 / sqrt(alpha * m)."""
    return 1 / math.sqrt(alpha * n_targets)


def _parse(rule: str) -> tuple[str, float]:
    if rule == "gap":
        return "gap", 0.0
    number = r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)"
    for kind, pattern in (("chebyshev", rf"chebyshev\({number}\)"), ("above", rf">\s*{number}")):
        if found := re.fullmatch(pattern, rule.strip(), re.IGNORECASE):
            try:
                value = float(found[1])
            except ValueError:
                break
            if kind == "chebyshev" and not 0 < value < 1:
                raise ValueError(f'chebyshev(alpha) needs a share alpha between 0 and 1; got "{rule}".')
            return kind, value
    raise ValueError(f"{EXPECTED}; got {rule!r}.")


def _threshold(rule: str, weights: FloatArray, n_targets: float) -> float:
    kind, value = _parse(rule)
    if kind == "above":
        return value
    if kind == "gap":
        return _lower_edge_of_widest_gap(weights)
    threshold = chebyshev_threshold(value, n_targets)
    if threshold >= 1:
        warnings.warn(
            f"the Chebyshev threshold {threshold:.3g} exceeds every possible weight, because alpha * rows = "
            f"{value * n_targets:.3g} is not above 1; nothing is selected. Use a larger alpha or more rows.",
            UserWarning,
            stacklevel=5,
        )
    return threshold


def _lower_edge_of_widest_gap(weights: FloatArray) -> float:
    descending = np.sort(weights)[::-1]
    if len(descending) == 1 or descending[0] == descending[-1]:
        return -math.inf
    return float(descending[1:][np.argmax(descending[:-1] - descending[1:])])


def _best(weights: FloatArray, n: int) -> BoolArray:
    """The n largest; among equals the earlier column."""
    mask = np.zeros(len(weights), bool)
    mask[np.argsort(-weights, kind="stable")[:n]] = True
    return mask


def _of_function(rule: Callable[[FloatArray], Any], weights: FloatArray) -> BoolArray:
    chosen = np.asarray(rule(weights.copy()))
    if chosen.dtype == bool and chosen.shape == weights.shape:
        return chosen
    if chosen.size == 0 or (chosen.dtype.kind in "iu" and chosen.ndim == 1 and _are_positions(chosen, len(weights))):
        mask = np.zeros(len(weights), bool)
        mask[chosen.astype(np.intp)] = True
        return mask
    raise ValueError(
        f"the function given as select must return a mask of {len(weights)} booleans or positions of features; "
        f"got an array of {chosen.dtype} with shape {chosen.shape}."
    )


def _are_positions(chosen: npt.NDArray, n: int) -> bool:
    return bool(chosen.min() >= -n and chosen.max() < n)
