"""Generated tables: numeric, nominal, mixed, with holes, ties, weights, and the awkward sizes."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from nearhit import recipes
from nearhit.engines import InLine
from nearhit.intake import Columns, NominalBlock, NumericBlock
from nearhit.kernels.native import is_filtered
from nearhit.recipes import Diff, DistanceWeights, EqualWeights, RankWeights, SigmoidWeights
from nearhit.score import score
from nearhit.sweep import Sums, find_radii, find_sigmoid, make_plan, sweep
from nearhit.table import make_table

# around a vector's width, a panel of 64 rows and a batch of 48 target rows
ROWS = [2, 3, 5, 9, 16, 17, 33, 47, 48, 49, 63, 64, 65, 70, 130]
# around the columns of a 32-bit word in every form: 2, 4, 32
NUMERIC = [0, 1, 2, 3, 5, 33]
NOMINAL = [0, 1, 2, 4, 5, 31, 32, 33]
CATEGORIES = [1, 2, 3, 4, 5, 8, 9, 16, 17, 256, 257]
PAIR_BYTES = 10**7


@dataclass(frozen=True)
class Data:
    """What a table is made of, so that it can be permuted, renamed, copied."""

    X: np.ndarray
    codes: np.ndarray
    unknown: np.ndarray | None
    y: np.ndarray
    weights: np.ndarray | None
    scale: str | None = "range"

    def table(self):
        n, a = self.X.shape
        b = self.codes.shape[1]
        numeric = (NumericBlock(np.arange(a), self.X, None),) if a else ()
        dtype = np.uint8 if self.codes.max(initial=0) < 256 else np.uint16
        n_codes = self.codes.max(axis=0, initial=0).astype(np.int64) + 1
        nominal = (NominalBlock(np.arange(a, a + b), self.codes.astype(dtype), n_codes, self.unknown),) if b else ()
        columns = Columns(tuple(f"x{j}" for j in range(a + b)), n, numeric, nominal)
        return make_table(columns, [self.y], self.weights, scale=self.scale)

    def rows(self, order):
        return replace(
            self,
            X=self.X[order],
            codes=self.codes[order],
            unknown=None if self.unknown is None else self.unknown[order],
            y=self.y[order],
            weights=None if self.weights is None else self.weights[order],
        )


@st.composite
def data(draw, classes=True, weights=(None, "whole", "real"), rows=ROWS, holes=(0.0, 0.1, 0.5), scale=("range", None)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from(rows))
    a, b = draw(st.sampled_from(NUMERIC)), draw(st.sampled_from(NOMINAL))
    a = a or (1 if b == 0 else 0)
    X = _numbers(rng, n, a, draw(st.sampled_from(["uniform", "steps", "heavy", "constant", "decimals"])))
    codes = rng.integers(0, draw(st.sampled_from(CATEGORIES)), (n, b))
    share = draw(st.sampled_from(holes))
    unknown = None
    if share:
        X[rng.random(X.shape) < share] = np.nan
        unknown = rng.random(codes.shape) < share
        if draw(st.booleans()) and a > 1:
            X[:, 0] = np.nan
        codes[unknown] = 0
    y = _classes(rng, n, draw(st.integers(2, 5))) if classes else np.round(rng.random(n), draw(st.integers(1, 8)))
    return Data(X, codes, unknown, y, _weights(rng, n, draw(st.sampled_from(weights))), draw(st.sampled_from(scale)))


def _numbers(rng, n, a, kind):
    X = rng.random((n, a)) * rng.choice([1, 1e9, 1e-9], a)
    if kind == "steps":
        return rng.integers(0, 4, (n, a)).astype(float)
    if kind == "heavy":
        return rng.standard_cauchy((n, a)) ** 3
    if kind == "constant" and a:
        X[:, 0] = 7.0
    return np.round(rng.normal(5, 2, (n, a)), 1) if kind == "decimals" else X


def _classes(rng, n, n_classes):
    """Classes of very different size, some of one row."""
    y = (rng.random(n) ** 3 * n_classes).astype(int)
    y[: min(2, n)] = [0, 1][: min(2, n)]
    return np.unique(y, return_inverse=True)[1]


def _weights(rng, n, kind):
    if kind is None:
        return None
    whole = rng.integers(0, 4, n).astype(float)
    whole[:4] = 1
    return whole if kind == "whole" else np.where(whole > 0, rng.random(n) * 3 + 1e-3, 0)


@st.composite
def class_recipes(draw, ties=("share", "first")):
    grouping = draw(st.sampled_from(["each class", "hits and misses"]))
    miss = draw(st.sampled_from(["prior over others", "prior as printed"])) if grouping == "each class" else "equal"
    return replace(draw(_recipes(ties)), grouping=grouping, miss=miss, hits=draw(st.booleans()))


@st.composite
def numeric_recipes(draw, ties=("share", "first")):
    return replace(draw(_recipes(ties)), name="RReliefF", grouping="everyone")


@st.composite
def _recipes(draw, ties):
    weights = [EqualWeights(), RankWeights(0.5), RankWeights(20.0), DistanceWeights(1), DistanceWeights(2)]
    return recipes.Recipe(
        "generated",
        k=draw(st.sampled_from([1, 2, 3, 10, 40, None])),
        weights=draw(st.sampled_from(weights)),
        diff=draw(st.sampled_from([Diff(), Diff(), Diff("squared"), Diff("ramp"), Diff("ramp", 0.0, 1.0)])),
        metric=draw(st.sampled_from(["manhattan", "manhattan", "euclidean"])),
        unknown=draw(st.sampled_from(["uniform", "skip", "expected"])),
        ties=draw(st.sampled_from(ties)),
    )


@st.composite
def radius_recipes(draw, grouping="each class"):
    far = draw(st.booleans())
    weights = draw(st.sampled_from([EqualWeights(), EqualWeights(), SigmoidWeights()]))
    return recipes.Recipe(
        "generated",
        grouping=grouping,
        k=None,
        radius=draw(st.sampled_from(["mean", "own mean"])),
        far=far,
        weights=weights,
        diff=draw(st.sampled_from([Diff(), Diff(), Diff("squared"), Diff("ramp")])),
        unknown=draw(st.sampled_from(["uniform", "skip", "expected"])),
    )


def usable(recipe, table):
    """Ties by row order have no meaning for weighted rows; one row has no neighbour."""
    return table.n_rows > 1 and not (recipe.ties == "first" and table.weights is not None)


def sums_of(recipe, table, kernel, engine=None, rows_per_block=512, targets=None, pair_bytes=PAIR_BYTES, keep=False):
    rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
    engine = engine or InLine()
    handle = kernel.load(table, recipe, pair_bytes, engine, keep=keep)
    radii = radii_of(recipe, table, rows, kernel, handle, engine)
    sums = Sums.zeros(recipe, table)
    sweep(sums, make_plan(table, handle.in_order(rows), rows_per_block).blocks, kernel, handle, engine, radii)
    return sums


def radii_of(recipe, table, rows, kernel, handle, engine):
    if not recipe.radius:
        return None
    find = find_sigmoid if isinstance(recipe.weights, SigmoidWeights) else find_radii
    return find(recipe, table, rows, kernel, handle, engine)


def keeps(recipe, table):
    """Whether the native kernels can keep the distances of all pairs."""
    return is_filtered(table, recipe) and not table.has_unknown


def weights_of(recipe, table, kernel, **how):
    targets = how.get("targets")
    weight = table.units().sum() if targets is None else table.units()[targets].sum()
    return score(sums_of(recipe, table, kernel, **how), recipe, table, float(weight))


def assert_same_sums(a, b):
    for name in ("diffs", "known", "weight"):
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        if x is not None:
            x, y = x.carried(), y.carried()
            np.testing.assert_array_equal(x.high, y.high, err_msg=name)
            np.testing.assert_array_equal(x.low, y.low, err_msg=name)
    np.testing.assert_array_equal(a.fewest, b.fewest)
