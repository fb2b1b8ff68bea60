"""The myopic measures as a scikit-learn estimator: what each feature tells about the target by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from nearhit.feature_scorer import FeatureScorer
from nearhit.measures.score_features import (
    OTHER_MEASURE,
    Data,
    check_choices,
    counted,
    read_target,
    score_columns,
    target_kind_of,
)
from nearhit.ranking import ranks_of
from nearhit.selection import select_features
from nearhit.target import read_row_weights


class MyopicMeasure(FeatureScorer):
    """How much each feature tells about the target by itself, by one of many measures.

    Fast, and blind to features that matter only together: set it beside `ReliefF`, as `nearhit.compare` does.
    docs/measures.md has the formulas and what to choose.

    Parameters
    ----------
    measure : str, default="information gain"
        "information gain", "gain ratio", "mantaras similarity", "gini gain", "gini prime", "myopic relieff",
        "j-measure", "mdl", "chi-squared" or "accuracy"; "mse" (minus the mean squared error) for a numeric target.
        Larger is better in each of them.
    numeric : {"best split", "entropy-mdl", "equal width", "equal frequency", "chimerge"} or int, default="best split"
        What becomes of numbers: the split in two of which the measure is largest, or the bins of a discretisation (five
        of equal width or frequency), all at once. An integer asks for so many bins of equal frequency.
    nominal : {None, "all values", "best grouping"}, default=None
        What becomes of categories: a table of all values, or the split in two groups of values of which the measure is
        largest. None: all values, but the best grouping for "mse", which is defined for splits in two. With more than
        ten values and more than two classes the best grouping is looked for greedily.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        Which columns are categories. Strings, booleans and categories always are; numbers only if named here.
    select : None, int, float, str or callable, default=None
        What `transform` keeps: everything, so many features, a share, those above the widest "gap", above a number
        (">0.02"), or what a function of the weights returns (mask or positions).

    Attributes
    ----------
    weights_ : array of shape (n_features,)
        The measure of each feature. Also `feature_importances_`.
    ranking_ : array of shape (n_features,)
        1 for the best; equal weights share a rank.
    support_ : array of shape (n_features,)
        Mask of the selected features.
    target_kind_ : str
        "classes" or "numeric": what y was taken for.
    classes_ : array
        The classes of y; not for "mse".
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    compare : all measures side by side.
    nearhit.measures : the measures as functions of tables of counts.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import MyopicMeasure
    >>> X = [["red", 3.0], ["red", 1.0], ["blue", 2.0], ["blue", 9.0]]
    >>> alone = MyopicMeasure("gain ratio", select=1).fit(X, [0, 0, 1, 1])
    >>> alone.weights_.round(3).tolist()
    [1.0, 0.384]
    >>> alone.top(1)
    ['x0']
    """

    def __init__(
        self,
        measure: str = "information gain",
        *,
        numeric: str | int = "best split",
        nominal: str | None = None,
        categorical_features: Any = "from_dtype",
        select: Any = None,
    ) -> None:
        self.measure = measure
        self.numeric = numeric
        self.nominal = nominal
        self.categorical_features = categorical_features
        self.select = select

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        columns = self._read_columns(X, y)
        target = read_target(y, target_kind_of(self.measure), type(self).__name__, OTHER_MEASURE)
        row_weights = read_row_weights(sample_weight, columns.n_rows)
        data = counted(columns, target, row_weights)
        refuse_constant_target(data, type(self).__name__)
        self._keep(data)

    def _keep(self, data: Data) -> None:
        self.weights_ = score_columns(data, [self.measure], self.numeric, self.nominal)[0]
        self.ranking_ = ranks_of(self.weights_)
        self.support_ = select_features(self.select, self.weights_, data.columns.n_rows)
        self.target_kind_ = target_kind_of(self.measure)
        if data.classes is not None:
            self.classes_ = data.classes

    def _check_parameters(self) -> None:
        check_choices(self.measure, self.numeric, self.nominal)
        if isinstance(self.select, str) and self.select.strip().lower().startswith("chebyshev"):
            raise ValueError(
                f"the Chebyshev threshold holds for weights of Relief only, not for {self.measure!r}; give select= a number "
                'of features, a share, "gap" or a threshold such as ">0.02".'
            )


def refuse_constant_target(data: Data, who: str) -> None:
    """A target that never varies can be told by nothing."""
    n_rows = data.columns.n_rows
    if n_rows < 2:
        raise ValueError(f"{who} needs at least 2 rows; got {n_rows} sample(s) (n_samples={n_rows}).")
    if not data.is_constant:
        return
    if data.classes is None:
        raise ValueError(f"{who} needs a target that varies; y is the same in all {n_rows} rows.")
    only = np.asarray(data.classes[0]).item()
    raise ValueError(f"{who} needs at least two classes in y; all {n_rows} rows are {only!r} (one class).")
