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

from nearhit.bias_corrected import BiasCorrectedRelief
from nearhit.compare import Comparison, compare
from nearhit.irelief import IRelief
from nearhit.myopic import MyopicMeasure
from nearhit.partners import Interactions, interactions
from nearhit.ranking import Ranking
from nearhit.reduction import EntropyRanking, PrincipalComponents, ValueReducer
from nearhit.redundancy import Redundancy, find_redundancy
from nearhit.reflection import find_reflection_points
from nearhit.relief import Relief, ReliefF, RReliefF
from nearhit.resampling import Stability, stability
from nearhit.settings import get_config, set_config, show_config
from nearhit.simba import Simba
from nearhit.surf import SURF, MultiSURF, MultiSURFStar, MultiSWRFStar, SURFStar, SWRFStar
from nearhit.turf import TuRF
from nearhit.vls import VLSRelief

__version__ = _version("nearhit")
__all__ = [
    "SURF",
    "BiasCorrectedRelief",
    "Comparison",
    "EntropyRanking",
    "IRelief",
    "Interactions",
    "MultiSURF",
    "MultiSURFStar",
    "MultiSWRFStar",
    "MyopicMeasure",
    "PrincipalComponents",
    "RReliefF",
    "Ranking",
    "Redundancy",
    "Relief",
    "ReliefF",
    "SURFStar",
    "SWRFStar",
    "Simba",
    "Stability",
    "TuRF",
    "VLSRelief",
    "ValueReducer",
    "compare",
    "find_redundancy",
    "find_reflection_points",
    "get_config",
    "interactions",
    "set_config",
    "show_config",
    "stability",
]
