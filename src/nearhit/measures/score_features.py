"""What each feature tells alone: a measure over the tables of every column."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.intake import Columns, NumericBlock, read_columns
from nearhit.measures.accuracy import accuracy
from nearhit.measures.chi_squared import chi_squared
from nearhit.measures.counts import Cases, FloatArray
from nearhit.measures.gain_ratio import gain_ratio
from nearhit.measures.gini_gain import gini_gain
from nearhit.measures.gini_prime import gini_prime
from nearhit.measures.groupings import best_grouping
from nearhit.measures.information_gain import information_gain
from nearhit.measures.j_measure import best_j_measure
from nearhit.measures.mantaras_distance import mantaras_similarity
from nearhit.measures.mdl import mdl
from nearhit.measures.mean_squared_error import minus_mean_squared_error
from nearhit.measures.moments import NumberCases, variance
from nearhit.measures.myopic_relieff import myopic_relieff
from nearhit.measures.tables import Tables, known_values, rows_of, tables_of_bins, tables_of_splits, tables_of_values
from nearhit.table import whole_weights
from nearhit.target import FOR_CLASSES, read_classes, read_numbers, read_row_weights

Measure = Callable[[npt.NDArray[Any]], Any]
#: measures of classes: functions of tables of counts
MEASURES: dict[str, Measure] = {
    "information gain": information_gain,
    "gain ratio": gain_ratio,
    "mantaras similarity": mantaras_similarity,
    "gini gain": gini_gain,
    "gini prime": gini_prime,
    "myopic relieff": myopic_relieff,
    "j-measure": best_j_measure,
    "mdl": mdl,
    "chi-squared": chi_squared,
    "accuracy": accuracy,
}
#: measures of a numeric target: functions of tables of moments
NUMERIC_MEASURES: dict[str, Measure] = {"mse": minus_mean_squared_error}

WAYS_TO_CUT = ("best split", "entropy-mdl", "equal width", "equal frequency", "chimerge")
WAYS_TO_GROUP = (None, "all values", "best grouping")
#: these ask which classes lie in a bin
NEED_CLASSES = ("entropy-mdl", "chimerge")


def score_features(
    X: Any,
    y: Any,
    measure: str = "information gain",
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
    *,
    numeric: str | int = "best split",
    nominal: str | None = None,
) -> npt.NDArray[np.float64]:
    """What each feature tells about the target by itself.

    Rows in which a feature is unknown are left out of that feature's table.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        As in `nearhit.ReliefF`. Infinite numbers are allowed where only the order of numbers counts.
    y : array of shape (n_samples,)
        The classes, or numbers for ``measure="mse"``.
    measure : str, default="information gain"
        "information gain", "gain ratio", "mantaras similarity", "gini gain", "gini prime", "myopic relieff",
        "j-measure", "mdl", "chi-squared" or "accuracy"; "mse" for a numeric target. Larger is better in each of them.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `nearhit.ReliefF`.
    sample_weight : array of shape (n_samples,), optional
        A weight w counts as w copies of a row.
    numeric : {"best split", "entropy-mdl", "equal width", "equal frequency", "chimerge"} or int, default="best split"
        What becomes of numbers: the split in two of which the measure is largest, over all cuts between different
        values; or the bins of a discretisation (five of equal width or frequency), all at once. An integer asks for so
        many bins of equal frequency.
    nominal : {None, "all values", "best grouping"}, default=None
        What becomes of categories: a table of all values; or the split in two groups of values of which the measure is
        largest. None: all values, but the best grouping for "mse", which is defined for splits in two. With more than
        ten values and more than two classes the best grouping is looked for greedily.

    Returns
    -------
    scores : array of shape (n_features,)

    Examples
    --------
    Neither column of an exclusive or tells anything alone:

    >>> from nearhit.measures import score_features
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> score_features(X, ["no", "yes", "yes", "no"]).tolist()
    [0.0, 0.0]

    The error that is left when the numbers are cut between 2 and 3:

    >>> score_features([[1.0], [2.0], [3.0], [4.0]], [10.0, 12.0, 30.0, 30.0], "mse").tolist()
    [-0.5]
    """
    check_choices(measure, numeric, nominal)
    columns = read_columns(X, categorical_features, estimator_name="score_features")
    target = read_target(y, target_kind_of(measure), "score_features", OTHER_MEASURE)
    data = counted(columns, target, read_row_weights(sample_weight, columns.n_rows))
    return score_columns(data, [measure], numeric, nominal)[0]


# --------------------------------------------------------------------------------------------------- the door


#: what to do with classes where the measure says what y is
OTHER_MEASURE = 'For classes, use another measure, such as "information gain".'


def target_kind_of(measure: str) -> str:
    return "classes" if measure in MEASURES else "numeric"


def check_choices(measure: Any, numeric: Any, nominal: Any) -> None:
    """Refuse unknown measures and ways to treat columns, and pairs of them that make no sense."""
    every = [*MEASURES, *NUMERIC_MEASURES]
    if not isinstance(measure, str) or measure not in every:
        raise ValueError(f"measure must be one of {', '.join(map(repr, every))}; got {measure!r}.")
    check_ways(numeric, nominal, target_kind_of(measure))


def check_ways(numeric: Any, nominal: Any, target_kind: str) -> None:
    is_count = isinstance(numeric, Integral) and not isinstance(numeric, bool | np.bool_) and int(numeric) >= 1
    if not is_count and not (isinstance(numeric, str) and numeric in WAYS_TO_CUT):
        raise ValueError(
            f"numeric must be one of {', '.join(map(repr, WAYS_TO_CUT))} or a number of bins; got {numeric!r}."
        )
    if not (nominal is None or isinstance(nominal, str)) or nominal not in WAYS_TO_GROUP:
        raise ValueError(f"nominal must be one of {', '.join(map(repr, WAYS_TO_GROUP))}; got {nominal!r}.")
    if target_kind == "numeric" and numeric in NEED_CLASSES:
        raise ValueError(
            f'numeric={numeric!r} cuts by classes, and the target is numeric. Use "best split", "equal width", '
            '"equal frequency" or a number of bins.'
        )


@dataclass(frozen=True, eq=False)
class Target:
    """What y was taken for: codes of classes and what they stand for, or numbers and None."""

    values: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None


def read_target(y: Any, kind: str, who: str, advice: str = FOR_CLASSES) -> Target:
    if kind == "numeric":
        return Target(read_numbers(y, who, advice), None)
    found = read_classes(y, who)
    return Target(found.codes, found.classes)


@dataclass(frozen=True, eq=False)
class Data:
    """Columns and cases of the rows that count, and the classes among them (None for a numeric target)."""

    columns: Columns
    cases: Cases | NumberCases
    classes: npt.NDArray[Any] | None

    @property
    def is_constant(self) -> bool:
        """Whether the target never varies."""
        if isinstance(self.cases, NumberCases):
            return not self.cases.limbs.any()
        return self.cases.n_classes < 2


def counted(columns: Columns, target: Target, row_weights: FloatArray | None) -> Data:
    """The rows of positive weight, and what they count; a class without such a row is none."""
    if len(target.values) != columns.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {columns.n_rows} rows, "
            f"y has {len(target.values)}."
        )
    values, units, one = target.values, None, 1
    if row_weights is not None:
        whole = whole_weights(row_weights)
        units, one = whole.units, whole.one
        if not units.all():
            keep = np.flatnonzero(units)
            columns, values, units = rows_of(columns, keep), values[keep], units[keep]
    if target.classes is None:
        return Data(columns, NumberCases.of(values, units, one), None)
    present, codes = np.unique(values, return_inverse=True)
    return Data(columns, Cases(codes.astype(np.int32), len(present), units, one), target.classes[present])


# ------------------------------------------------------------------------------------------------ the scores


def score_columns(
    data: Data, measures: Sequence[str], numeric: str | int = "best split", nominal: str | None = None
) -> FloatArray:
    """Several measures of every column, shape (measures, n_features): the tables are counted once."""
    functions = [{**MEASURES, **NUMERIC_MEASURES}[measure] for measure in measures]
    cases = data.cases
    if nominal is None:
        nominal = "best grouping" if isinstance(cases, NumberCases) else "all values"
    scores = np.zeros((len(measures), data.columns.n_features))
    is_known = np.zeros(data.columns.n_features, bool)
    for batch in _batches(data, numeric):
        # The parts of a row are not all 0 if it counts, and none of those that count is negative.
        is_known[batch.columns] = (batch.tables[batch.starts] != 0).any(axis=(1, 2))
        for i, function in enumerate(functions):
            scores[i, batch.columns] = _scores(batch, cases, function, nominal)
    _note_unknown(scores, is_known, data)
    return scores


def _batches(data: Data, numeric: str | int) -> Iterator[Tables]:
    for block in data.columns.numeric:
        if numeric == "best split":
            yield from tables_of_splits(block, data.cases)
        else:
            yield from _binned(block, numeric, data)
    for nominal_block in data.columns.nominal:
        yield from tables_of_values(nominal_block, data.cases)


def _scores(batch: Tables, cases: Cases | NumberCases, measure: Measure, nominal: str) -> Any:
    if batch.of_values and nominal == "best grouping":
        return [best_grouping(table, cases, measure) for table in batch.tables]
    return np.maximum.reduceat(measure(cases.finished(batch.tables)), batch.starts)


def _binned(block: NumericBlock, numeric: str | int, data: Data) -> Iterator[Tables]:
    """Numbers as bins, column by column."""
    find_cut_points = import_module("nearhit.measures.cut_points").find_cut_points  # only where bins are asked for
    cases = data.cases
    method, how = numeric, dict[str, Any]()
    if not isinstance(numeric, str):
        method, how = "equal frequency", {"n_bins": int(numeric)}
    for j, column in enumerate(block.columns.tolist()):
        values, is_known = known_values(block, j)
        if method == "equal width" and np.isinf(values).any():
            raise ValueError(
                f"bins of equal width need finite numbers; column {data.columns.names[column]!r} holds infinity. "
                'Use numeric="best split" or "equal frequency".'
            )
        some, cuts = cases.take(is_known), values
        if isinstance(some, Cases):
            how |= {"classes": some.classes, "n_classes": some.n_classes}
        if len(values):
            cuts = find_cut_points(values, method, **how, units=some.units, one=some.one)
        yield tables_of_bins(np.searchsorted(cuts, values, side="left"), len(cuts) + 1, column, some)


def _note_unknown(scores: FloatArray, is_known: npt.NDArray[np.bool_], data: Data) -> None:
    """A column without a known value tells nothing."""
    for column in np.flatnonzero(~is_known):
        name = data.columns.names[column]
        if isinstance(data.cases, NumberCases):
            scores[:, column] = -variance(data.cases)  # 0 would be the best of all
            warnings.warn(
                f"column {name!r} has no known value; its score is minus the variance of y, that of a column which tells "
                "nothing.",
                UserWarning,
                stacklevel=4,
            )
        else:
            scores[:, column] = 0.0
            warnings.warn(f"column {name!r} has no known value; its score is 0.", UserWarning, stacklevel=4)
