"""How sure is a weight? p-values from shuffled targets (permutations.py, null.py) or from STIR's t-test (stir.py).

    p = (1 + number of null weights >= the weight) / (1 + number of null weights)              SPEC.md section 6

The null weights of a feature are its weights after the target has been shuffled, which breaks every tie between target
and features and keeps those among features. adjustment.py corrects for looking at many features.
"""

from nearhit.significance.adjustment import ADJUSTMENTS, NO_LARGEST, Significance
from nearhit.significance.null import (
    NullSource,
    OneAgainstRest,
    PermutationTest,
    Refits,
    mean_weights_differ,
    null_of,
    null_of_one_against_rest,
)
from nearhit.significance.permutations import Exchange, find_exchange
from nearhit.significance.stir import refuse_stir, stir_test

__all__ = [
    "ADJUSTMENTS",
    "NO_LARGEST",
    "Exchange",
    "NullSource",
    "OneAgainstRest",
    "PermutationTest",
    "Refits",
    "Significance",
    "find_exchange",
    "mean_weights_differ",
    "null_of",
    "null_of_one_against_rest",
    "refuse_stir",
    "stir_test",
]
