"""nearhit: which columns matter, including those that only matter together.

>>> import numpy as np
>>> from nearhit import ReliefF
>>> rng = np.random.default_rng(0)
>>> X = rng.integers(0, 2, size=(200, 10))
>>> y = X[:, 3] ^ X[:, 7]                          # neither column tells anything alone
>>> sorted(ReliefF().fit(X, y).top(2))
['x3', 'x7']
"""

from importlib.metadata import version as _version

from nearhit.partners import Interactions, interactions
from nearhit.ranking import Ranking
from nearhit.redundancy import Redundancy, find_redundancy
from nearhit.relief import Relief, ReliefF, RReliefF
from nearhit.resampling import Stability, stability
from nearhit.settings import get_config, set_config, show_config

__version__ = _version("nearhit")
__all__ = [
    "Interactions",
    "RReliefF",
    "Ranking",
    "Redundancy",
    "Relief",
    "ReliefF",
    "Stability",
    "find_redundancy",
    "get_config",
    "interactions",
    "set_config",
    "show_config",
    "stability",
]
