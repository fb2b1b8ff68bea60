"""Myopic measures: what each feature tells about the target alone, to be set beside what it tells together (ReliefF).

A measure is a function of a table of counts (counts.py), or of moments for a numeric target (moments.py);
`score_features` makes the tables from data. docs/measures.md shows them side by side.
"""

from nearhit.measures.accuracy import accuracy
from nearhit.measures.chi_squared import chi_squared
from nearhit.measures.gain_ratio import gain_ratio
from nearhit.measures.gini_gain import gini_gain
from nearhit.measures.gini_prime import gini_prime
from nearhit.measures.information_gain import information_gain
from nearhit.measures.j_measure import best_j_measure, j_measure, j_measure_of_rules
from nearhit.measures.mantaras_distance import mantaras_similarity
from nearhit.measures.mdl import mdl
from nearhit.measures.mean_squared_error import minus_mean_squared_error
from nearhit.measures.myopic_relieff import myopic_relieff
from nearhit.measures.score_features import score_features

__all__ = [
    "accuracy",
    "best_j_measure",
    "chi_squared",
    "gain_ratio",
    "gini_gain",
    "gini_prime",
    "information_gain",
    "j_measure",
    "j_measure_of_rules",
    "mantaras_similarity",
    "mdl",
    "minus_mean_squared_error",
    "myopic_relieff",
    "score_features",
]
