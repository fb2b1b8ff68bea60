"""Where features are reflected: the point at which the target stops rising along a feature and falls, or the reverse.

    (best monotone fit - best fit with one turn) / (sigma^2 ln n) > 2                            SPEC.md section 5

Both fits are least squares of the target along the sorted feature, by pooling adjacent violators. One pass from the
left knows the best rising fit of every prefix, one from the right that of every suffix, and so every place where a
rising part can give way to a falling one is tried at once: O(n log n) for the sorting, O(n) for the rest.

sigma^2 is the mean square that the better fit leaves. It is a little too small, as the fit is free to follow noise;
that errs towards a point too many, which costs less than one that is missed (BD section 3.1). The bare minimum is a poor
place (noise moves it by 0.2 of the range and more), so the point is the midpoint of all turns that fit nearly as well.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearhit.grid import measure_spread
from nearhit.intake import Columns, NumericBlock, as_table, read_columns
from nearhit.table import Numbers, Table, make_table
from nearhit.target import check_target_kind, kind_of_target, read_classes, read_numbers, read_row_weights

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: the gain of a turn over the best monotone fit, in units of sigma^2 ln n
WORTH_A_TURN = 2.0
#: turns that lose less than this are as good as the best: measured, the mean error of the place is a third of that of the
#: bare minimum at noise 0.05 and half of it at 0.5 (benchmarks/bias.py)
AS_GOOD = 1.0
#: of 7 rows in random order one in 40 lies on a curve with one turn; of fewer, many do
FEWEST_ROWS = 8
#: sums of squares differ by this share of the total in nothing but roundings
ROUNDING = 1e-9


def find_reflection_points(
    X: Any,
    y: Any,
    *,
    target: str = "auto",
    categorical_features: Any = "from_dtype",
    sample_weight: Any = None,
) -> FloatArray:
    """Where along each feature the target turns from rising to falling, or from falling to rising.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Whatever `nearhit.ReliefF` takes. Unknown values are left out, feature by feature; rows with the same value
        of a feature count as one place.
    y : array of shape (n_samples,)
        Numbers or classes. Of two classes the share of one of them is followed along the feature; of more, every class
        is, and a point is where a class is rarest between two heaps of it.
    target : {"auto", "classes", "numeric"}, default="auto"
        What y is. "auto" takes floats with a fraction as numbers and all else as classes.
    categorical_features : "from_dtype", names, indices or mask, default="from_dtype"
        As in `nearhit.ReliefF`. Categories have no order, hence no point.
    sample_weight : array of shape (n_samples,), optional
        A weight w counts as w copies of a row.

    Returns
    -------
    points : array of shape (n_features,)
        In the units of the features; NaN where a feature is monotonic, and for categories.

    Examples
    --------
    >>> import numpy as np
    >>> from nearhit import find_reflection_points
    >>> x = np.linspace(0, 10, 101)
    >>> find_reflection_points(np.column_stack([x, x]), np.abs(x - 4) + 0.5 * (x > 4))
    array([4., 4.])
    >>> find_reflection_points(x[:, None], x**2 + 0.1)
    array([nan])
    """
    who = "find_reflection_points"
    check_target_kind(target)
    columns = read_columns(as_table(X, who), categorical_features, estimator_name=who)
    kind = kind_of_target(y) if target == "auto" else target
    values = read_numbers(y, who) if kind == "numeric" else read_classes(y, who).codes
    if len(values) != columns.n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {columns.n_rows} rows, "
            f"y has {len(values)}."
        )
    row_weights = read_row_weights(sample_weight, columns.n_rows)
    table = make_table(columns, [values], row_weights)
    return Scales.of(columns, row_weights).in_units_of_features(find_points(table), table)


class Scales(NamedTuple):
    """Where the range of each feature begins and how wide it is, in its units times `unit`; NaN for categories."""

    low: FloatArray
    width: FloatArray
    unit: FloatArray

    @staticmethod
    def of(columns: Columns, row_weights: FloatArray | None) -> Scales:
        """The ranges over the rows that count."""
        low, width, unit = np.full((3, columns.n_features), np.nan)
        for block in columns.numeric:
            if row_weights is not None:
                counts = row_weights > 0
                unknown = None if block.unknown is None else block.unknown[counts]
                block = NumericBlock(block.columns, block.values[counts], unknown)
            spread = measure_spread(block, columns.names)
            low[block.columns], width[block.columns] = spread.low, spread.width
            unit[block.columns] = 1 if spread.block.values is block.values else 4  # ranges beyond floats, grid.py
        return Scales(low, width, unit)

    def in_units_of_features(self, points: FloatArray, table: Table) -> FloatArray:
        """Points in codes of the table as the user knows them."""
        return (self.low + points / table.grid * self.width) * self.unit

    def in_codes(self, points: FloatArray, table: Table) -> FloatArray:
        """The user's points on the grid of the table, where a value that equals a point has its code."""
        width = np.where(self.width > 0, self.width, np.inf)
        return np.rint((points / self.unit - self.low) / width * table.grid)


# ------------------------------------------------------------------------------------------------- on a table's codes


def find_points(table: Table) -> FloatArray:
    """The points of all features in codes of the table, whole numbers; NaN for none. Features in the order of the input."""
    signals = Signals.of(table)
    points = np.full(table.n_features, np.nan)
    for j, feature in enumerate(table.numeric_columns):
        known = None if table.numeric_unknown is None else ~table.numeric_unknown[:, j]
        points[feature] = _find_point(table.numeric[:, j], known, signals)
    return points


class Signals(NamedTuple):
    """What is followed along a feature, row by row in an order that has nothing to do with the order of the input.

    ``values`` has one column for numbers or two classes, and one for each class where there are more; then only valleys
    count, because a middle class peaks along a feature that simply rises (SPEC.md section 5).
    """

    rows: npt.NDArray[np.intp]
    values: FloatArray
    weight: FloatArray
    only_valleys: bool

    @staticmethod
    def of(table: Table) -> Signals:
        """The signals of a table's target."""
        target = table.targets[0]
        codes: npt.NDArray[Any] = target.codes
        # Rows that are equal in target and weight may change places: what is added up is the same.
        rows = np.lexsort((table.units(), codes))
        weight = table.units()[rows] / table.one
        if isinstance(target, Numbers):
            return Signals(rows, codes[rows, None] * 2.0**-31, weight, False)
        several = target.n_classes > 2
        wanted = np.arange(target.n_classes) if several else np.ones(1, int)
        return Signals(rows, (codes[rows, None] == wanted).astype(np.float64), weight, several)


def _find_point(codes: npt.NDArray, known: npt.NDArray[np.bool_] | None, signals: Signals) -> float:
    """The point of one feature: that of the signal that turns most clearly."""
    rows, values, weight = signals.rows, signals.values, signals.weight
    if known is not None:
        counts = known[rows]
        rows, values, weight = rows[counts], values[counts], weight[counts]
    n = float(weight.sum())
    if n < FEWEST_ROWS:
        return np.nan
    order = np.argsort(codes[rows], kind="stable")
    places, begins = np.unique(codes[rows][order], return_index=True)
    if len(places) < 3:
        return np.nan
    weight, values = weight[order], values[order]
    weights = np.add.reduceat(weight, begins)
    turns = []
    for signal in values.T:
        moments = Moments.of(weight, signal, begins, weights)
        turns.append(_find_turn(places.astype(np.float64), moments, n, signals.only_valleys))
    clearest = max(turn.clearness for turn in turns)
    if not clearest > 1:
        return np.nan
    # Two classes may turn at the same places alike: no order between classes decides.
    first = min(turn.first for turn in turns if turn.clearness >= clearest * (1 - ROUNDING))
    last = max(turn.last for turn in turns if turn.clearness >= clearest * (1 - ROUNDING))
    return float(np.rint((first + last) / 2))


class Moments(NamedTuple):
    """A signal along the different values of a feature: weight and weighted sum at each, and the sum of squares.

    ``ends`` are the last values of runs along which the signal is level.
    """

    weights: FloatArray
    sums: FloatArray
    total: float
    ends: IntArray

    @staticmethod
    def of(weight: FloatArray, signal: FloatArray, begins: IntArray, weights: FloatArray) -> Moments:
        """Around the mean, so that sums of squares keep their digits; but equal shares are equal only as they are."""
        ends = _ends_of_runs(np.add.reduceat(weight * signal, begins) / weights)
        centred = signal - (weight * signal).sum() / weight.sum()
        return Moments(weights, np.add.reduceat(weight * centred, begins), float((weight * centred**2).sum()), ends)


class Turn(NamedTuple):
    """How clearly a signal turns, 1 being just enough, and the first and last place where it may well do so."""

    clearness: float
    first: float = np.nan
    last: float = np.nan


def _find_turn(places: FloatArray, moments: Moments, n: float, only_valleys: bool) -> Turn:
    """Compare the best fit without a turn to the best with one."""
    weights, sums, total, last_of_run = moments
    begins = np.concatenate([[0], last_of_run[:-1] + 1])
    weights, sums = np.add.reduceat(weights, begins), np.add.reduceat(sums, begins)
    if len(weights) < 3:
        return Turn(0.0)
    rising, falling = rising_fits(weights, sums), rising_fits(weights, -sums)
    # Read from the right, what falls rises.
    peaks = rising[:-1] + rising_fits(weights[::-1], sums[::-1])[::-1][1:]
    valleys = falling[:-1] + rising_fits(weights[::-1], -sums[::-1])[::-1][1:]
    straight = max(rising[-1], falling[-1])
    if only_valleys:
        straight, turned = max(straight, float(peaks.max())), valleys
    else:
        turned = np.maximum(peaks, valleys)
    best = float(turned.max())
    noise = max(total - best, 0.0) / n * math.log(n)
    gain = best - straight - ROUNDING * total
    if not gain > 0:
        return Turn(0.0)
    good = np.flatnonzero(turned >= best - AS_GOOD * noise - ROUNDING * total)
    cuts = (places[last_of_run[:-1]] + places[last_of_run[:-1] + 1]) / 2
    return Turn(gain / max(WORTH_A_TURN * noise, ROUNDING * total), cuts[good[0]], cuts[good[-1]])


def _ends_of_runs(means: FloatArray) -> IntArray:
    """The last of each run of equal means: a best fit is level on a run and turns at one of its ends."""
    return np.flatnonzero(np.append(means[1:] != means[:-1], True))


def rising_fits(weights: FloatArray, sums: FloatArray) -> FloatArray:
    """How much of the sum of squares the best rising fit of each prefix explains.

    Pooling adjacent violators, one value after the other: a level that does not rise above the one before joins it. The
    fit of a prefix explains the sum over its levels of (sum of the level)^2 / (weight of the level).
    """
    means, level_weights, level_sums = [-math.inf], [0.0], [0.0]
    explained, prefixes = 0.0, []
    for weight, total in zip(weights.tolist(), sums.tolist(), strict=True):
        mean = total / weight
        while mean <= means[-1]:
            explained -= level_sums[-1] * means.pop()
            weight += level_weights.pop()
            total += level_sums.pop()
            mean = total / weight
        means.append(mean)
        level_weights.append(weight)
        level_sums.append(total)
        explained += total * mean
        prefixes.append(explained)
    return np.array(prefixes)
