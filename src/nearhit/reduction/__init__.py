"""Reduction: fewer features without a target, fewer dimensions, fewer values (SPEC.md section 7).

EntropyRanking       which features can be spared without changing which rows are alike
PrincipalComponents  the fewest linear combinations that keep a share of the variance
ValueReducer         numbers as bins: by hand, by equal width or frequency, by the classes, by ReliefF
"""

from nearhit.reduction.entropy_ranking import EntropyRanking
from nearhit.reduction.principal_components import Loadings, PrincipalComponents
from nearhit.reduction.value_reducer import ValueReducer

__all__ = ["EntropyRanking", "Loadings", "PrincipalComponents", "ValueReducer"]
