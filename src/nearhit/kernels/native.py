"""The C++ kernel: the same integers as the reference, at the speed of the machine.

One module per instruction set is built from the same source; the best one that runs here is taken. The environment
variable NEARHIT_KERNEL forces one ("avx512", "avx2", "baseline", or "reference" for the NumPy judge).
"""

from __future__ import annotations

import importlib
import math
import threading
from dataclasses import dataclass, field, replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from nearhit.diffs import diff_code, divide_rounded, expected_uniform_code, ramp_codes, ramp_width, square_shift
from nearhit.recipes import DistanceWeights, RankWeights, Recipe, SigmoidWeights
from nearhit.sweep import (
    BlockSums,
    IntArray,
    Moments,
    Neighbours,
    Wide,
    counts_places,
    fraction_bits,
    frequencies,
    largest_diff_of_hits,
    n_groups,
    n_parts,
    places,
    rank_weights,
    rows_met,
)
from nearhit.table import Classes, Table

INSTRUCTION_SETS = ("avx512", "avx2", "baseline")
GROUPINGS = {"each class": 0, "hits and misses": 1, "everyone": 2}
DIFFS = {"linear": 0, "squared": 1, "ramp": 2}
RULES = {"uniform": 0, "skip": 1, "expected": 2}
#: so many targets are searched together; more where a panel of rows is so wide that it comes from memory each time
FASTEST_BATCH, BATCH_OF_WIDE_ROWS, WIDE_PANELS = 48, 288, 16 * 2**20
#: a table is packed in so many shares, on as many threads as there are, unless it is small
SHARES, CELLS_OF_A_SHARE = 16, 100_000
PANEL = 64
#: expected diffs are written down, once for all who ask, while they take 64 MB at most
MOST_EXPECTED_DIFFS = 2**24
#: beyond so many columns sums of full codes are not known from the filter any more
MOST_COLUMNS_OF_MEANS = 32_000
#: so many words a row are worth measuring each pair only once, and writing its distance down twice
WORDS_WORTH_KEEPING = 250
#: a candidate waits in a list that grows by doubling (16), perhaps with its distance in a heap (8); those of one target
#: at a time are ranked (24) and weighed (24); a neighbour waits (24), perhaps with its place (4), until it is added with its
#: factors (16 for each part of the sums): native/target.hpp, native/kernel.hpp
BYTES_WAITING, BYTES_AT_WORK, BYTES_OF_A_NEIGHBOUR = 24, 80, 60
#: pairs of classes whose sums are worth keeping for many permutations at a time
MOST_CELLS_TO_PERMUTE = 4096
#: more neighbours than these gain nothing by waiting for each other
MOST_NEIGHBOURS = 2**18


@cache
def instruction_sets() -> tuple[str, ...]:
    """The instruction sets that were built and run on this machine, best first."""
    return tuple(isa for isa in INSTRUCTION_SETS if _runs_here(isa))


@cache
def best_instruction_set() -> str:
    """The first of them; the modules of the others are not loaded."""
    return next(isa for isa in INSTRUCTION_SETS if _runs_here(isa))


@dataclass(frozen=True)
class NativeKernel:
    """The kernel of one instruction set."""

    isa: str

    @property
    def name(self) -> str:
        return f"native-{self.isa}"

    @property
    def coder(self) -> ModuleType:
        """What puts numbers on the grid (grid.py)."""
        return _module(self.isa)

    def bytes_to_keep(self, table: Table, recipe: Recipe, n_targets: int) -> int:
        """What all distances would take, each pair measured once for both of its rows; 0 where that does not pay."""
        # A column takes half a word at most, so few columns need no counting: small fits come here often.
        if not recipe.radius and (table.n_features < WORDS_WORTH_KEEPING or _words_of_row(table) < WORDS_WORTH_KEEPING):
            return 0
        if 2 * n_targets < table.n_rows or table.has_unknown or not is_filtered(table, recipe):
            return 0
        places = table.n_rows + PANEL * n_groups(recipe, table)[0]  # each class is padded to whole panels
        return 4 * places * places

    def load(self, table: Table, recipe: Recipe, pair_bytes: int, engine: Any, keep: bool = False) -> Handle:
        """Pack the table; `pair_bytes` bounds what one worker holds of pairs of rows beside the distances it keeps."""
        loaded = _module(self.isa).Loaded(
            **_table_arguments(table),
            uniform=_expected_uniform(table, recipe),
            rank_weights=rank_weights(recipe, table),
            recipe=_recipe_arguments(table, recipe),
            n_classes=n_groups(recipe, table)[0],
            writes_down=table.n_rows * table.n_features * n_groups(recipe, table)[0] <= MOST_EXPECTED_DIFFS,
        )
        shares = 1 if table.numeric.size + table.nominal.size < CELLS_OF_A_SHARE else SHARES
        for _ in engine.map(lambda share: loaded.prepare(share, shares), range(shares)):
            pass
        if keep:
            for _ in engine.map(loaded.keep, range(loaded.begin_to_keep())):
                pass
            loaded.end_to_keep()
        return Handle(loaded, table, recipe, _batch(table), *_waiting(table, pair_bytes))

    def run(self, handle: Handle, block: npt.NDArray[np.intp], radii: IntArray | None = None) -> BlockSums:
        return handle.run(block, radii)

    def moments(self, handle: Handle, block: npt.NDArray[np.intp]) -> Moments:
        return handle.moments(block)

    def run_given(self, handle: Handle, block: npt.NDArray[np.intp], weights: npt.NDArray[np.float64]) -> BlockSums:
        return handle.run_given(block, weights)

    def distances(self, handle: Handle, block: npt.NDArray[np.intp]) -> IntArray:
        return handle.distances(block)

    def neighbours(self, handle: Handle, block: npt.NDArray[np.intp], radii: IntArray | None = None) -> Neighbours:
        return handle.neighbours(block, radii)

    def diffs(self, handle: Handle, rows: IntArray, others: IntArray) -> npt.NDArray[np.uint32]:
        return handle.loaded.diffs(rows, others).reshape(len(rows), handle.table.n_features)

    def shares_distances(self, table: Table, recipe: Recipe) -> bool:
        """Whether distances stand while targets are permuted, and this kernel can use that (native/permute.hpp)."""
        if recipe.radius or table.weights is not None or math.prod(n_groups(recipe, table)) > MOST_CELLS_TO_PERMUTE:
            return False
        return not (table.has_unknown and recipe.unknown == "expected" and isinstance(table.targets[0], Classes))

    def load_distances(self, table: Table, recipe: Recipe, engine: Any, by_class: bool = False) -> Distances:
        """Pack the table as one class, so that rows stand in one order whatever their classes are.

        `by_class`: as the classes that it has, for expected diffs that depend on them; targets stay what they are then.
        """
        target = table.targets[0]
        if isinstance(target, Classes) and not by_class:
            together = Classes(np.zeros(table.n_rows, np.int32), np.array([table.all_units]))
            alike = replace(table, targets=(together,))
        else:
            alike = table
        loaded = _module(self.isa).Loaded(
            **_table_arguments(alike),
            uniform=_expected_uniform(table, recipe),
            rank_weights=rank_weights(recipe, table),
            recipe={**_recipe_arguments(table, recipe), "measures": True},
            n_classes=n_groups(recipe, alike)[0],
            writes_down=table.n_rows * table.n_features * n_groups(recipe, alike)[0] <= MOST_EXPECTED_DIFFS,
        )
        shares = 1 if table.numeric.size + table.nominal.size < CELLS_OF_A_SHARE else SHARES
        for _ in engine.map(lambda share: loaded.prepare(share, shares), range(shares)):
            pass
        return Distances(loaded, table, recipe, by_class)


@dataclass(frozen=True, eq=False)
class Distances:
    """A packed table whose rows stand in one order, from each target row, for all targets that they may be given."""

    loaded: Any
    table: Table
    recipe: Recipe
    by_class: bool

    def permuted(
        self, rows: npt.NDArray[np.intp], targets: npt.NDArray[Any], pair_bytes: int, squares: bool = False
    ) -> tuple[IntArray, IntArray | None, IntArray]:
        """The sums of some target rows under permuted targets, one column for each permutation.

        Those of the diffs, of what is known (rule C) and of the weights, as in `sweep.Sums` with an axis of permutations
        before the others. `squares`: of the squares of the diffs. Rows are of one class if the table is packed by class.
        """
        classes, groups = n_groups(self.recipe, self.table)
        is_classes = isinstance(self.table.targets[0], Classes)
        found = self.loaded.permuted(
            rows.astype(np.int64),
            np.ascontiguousarray(targets, np.uint16) if is_classes else None,
            None if is_classes else np.ascontiguousarray(targets, np.uint32),
            classes,
            squares,
            pair_bytes,
            *self._toward(int(self.table.targets[0].codes[rows[0]]) if self.by_class else 0),
        )
        shape = (targets.shape[1], classes, groups, 1 if is_classes else 2)
        diffs, known, weight = found
        wide = (*shape, self.table.n_features)
        return (
            diffs.reshape(wide),
            known.reshape(wide) if self.recipe.unknown == "skip" else None,
            weight.reshape(shape),
        )

    def _toward(self, c: int) -> tuple[Any, Any]:
        in_full = is_filtered(self.table, self.recipe) and self.table.n_features < MOST_COLUMNS_OF_MEANS
        return self.loaded.toward(c, False), self.loaded.toward(c, True) if in_full else None


@dataclass(frozen=True, eq=False)
class Handle:
    """A packed table; `run` may be called from many threads."""

    loaded: Any
    table: Table
    recipe: Recipe
    batch: int
    candidates: int
    neighbours_waiting: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _toward: dict[tuple[int, bool], Any] = field(default_factory=dict)

    def in_order(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """The rows as they are best taken: near ones together."""
        return self.loaded.in_order(rows.astype(np.int64))

    def run(self, block: npt.NDArray[np.intp], radii: IntArray | None = None) -> BlockSums:
        """The sums of a block of target rows of one class; of those within `radii`, if the recipe has any."""
        c = self._class_of(block)
        rows = block.astype(np.int64, copy=False)
        found = self.loaded.run(rows, radii, self.batch, self.candidates, self.neighbours_waiting, self.toward(c))
        return self._sums(c, found)

    def run_given(self, block: npt.NDArray[np.intp], weights: npt.NDArray[np.float64]) -> BlockSums:
        """The sums of a block of target rows of one class over all rows, each with a weight that is given."""
        rows = block.astype(np.int64, copy=False)
        found = self.loaded.run_given(rows, weights, self.batch, self.candidates, self.neighbours_waiting)
        return self._sums(self._class_of(block), found)

    def distances(self, block: npt.NDArray[np.intp]) -> IntArray:
        """The distances of some rows of one class to all rows."""
        c = self._class_of(block)
        in_full = self.toward(c, True) if is_filtered(self.table, self.recipe) else None
        rows = block.astype(np.int64, copy=False)
        return self.loaded.distances(rows, self.batch, self.toward(c), in_full).reshape(len(block), self.table.n_rows)

    def _sums(self, c: int, found: Any) -> BlockSums:
        groups, parts = n_groups(self.recipe, self.table)[1], n_parts(self.recipe, self.table)
        diffs_high, diffs, known_high, known, weight_high, weight, fewest = found

        def wide(high: IntArray, low: IntArray, *shape: int) -> Wide:
            return Wide(high.reshape(groups, *shape), low.reshape(groups, *shape))

        return BlockSums(
            c,
            wide(diffs_high, diffs, parts, self.table.n_features),
            wide(known_high, known, parts, self.table.n_features) if self.recipe.unknown == "skip" else None,
            wide(weight_high, weight, parts),
            fewest,
        )

    def neighbours(self, block: npt.NDArray[np.intp], radii: IntArray | None = None) -> Neighbours:
        """The neighbours of some target rows of one class, one after the other."""
        rows = block.astype(np.int64, copy=False)
        toward = self.toward(self._class_of(block))
        found = self.loaded.neighbours(rows, radii, self.batch, self.candidates, self.neighbours_waiting, toward)
        return Neighbours.of_copies(*found)

    def moments(self, block: npt.NDArray[np.intp]) -> Moments:
        """The distances from rows of one class to all others: how many, their sums and sums of squares."""
        c = self._class_of(block)
        in_full = self.toward(c, True) if is_filtered(self.table, self.recipe) else None
        words = self.loaded.moments(block.astype(np.int64), self.batch, self.toward(c), in_full).reshape(-1, 3, 2)
        sums, low, high = (words[:, part].astype(object) @ [1, 1 << 64] for part in range(3))
        return Moments(rows_met(self.table, block), list(sums), list(low + high * 2**64))

    def _class_of(self, block: npt.NDArray[np.intp]) -> int:
        target = self.table.targets[0]
        return int(target.codes[block[0]]) if isinstance(target, Classes) else 0

    def toward(self, c: int, in_full: bool = False) -> npt.NDArray[np.uint32] | None:
        """What an unknown value of class c is expected to differ by; blocks come class by class, so few are kept."""
        with self._lock:
            if (c, in_full) not in self._toward:
                if len(self._toward) > 1 + in_full:
                    self._toward.pop(next(iter(self._toward)))
                self._toward[c, in_full] = self.loaded.toward(c, in_full)
            return self._toward[c, in_full]


@cache
def _module(isa: str) -> ModuleType:
    return importlib.import_module(f"nearhit._native_{isa}")


def _runs_here(isa: str) -> bool:
    try:
        if not _module("baseline").runs_here(isa):
            return False
        _module(isa)
    except ImportError:
        return False
    return True


def is_filtered(table: Table, recipe: Recipe) -> bool:
    """Whether distances go through the 15-bit filter (native/packed.hpp has the same rule)."""
    if not len(table.numeric_columns) and not table.has_unknown:
        return True
    if recipe.radius and table.n_features >= MOST_COLUMNS_OF_MEANS:
        return False
    return recipe.metric == "manhattan" and (recipe.diff.kind == "linear" or not len(table.numeric_columns))


def _words_of_row(table: Table) -> float:
    """How many 32-bit words a row takes in panels."""
    bits = np.array([1, 2, 3, 4, 8, 16])[np.searchsorted([2, 4, 8, 16, 256], table.n_codes)]
    return len(table.numeric_columns) / 2 + float(bits.sum()) / 32


def _batch(table: Table) -> int:
    """How many target rows are searched together, memory allowing; a batch with more candidates is halved."""
    words = table.n_rows * (2 * len(table.numeric_columns) + len(table.nominal_columns) // 4)
    return BATCH_OF_WIDE_ROWS if words > WIDE_PANELS else FASTEST_BATCH


def _waiting(table: Table, pair_bytes: int) -> tuple[int, int]:
    """How many candidates and neighbours may wait beside those of the one target that is at work."""
    neighbours = min(MOST_NEIGHBOURS, max(0, pair_bytes - bytes_for_one_row(table.n_rows)) // 4 // BYTES_OF_A_NEIGHBOUR)
    rest = pair_bytes - table.n_rows * BYTES_AT_WORK - neighbours * BYTES_OF_A_NEIGHBOUR
    return max(0, rest) // BYTES_WAITING, neighbours


def bytes_for_one_row(n_rows: int) -> int:
    """The least bound on pair storage with which a worker can search."""
    return n_rows * (BYTES_WAITING + BYTES_AT_WORK)


def _table_arguments(table: Table) -> dict[str, Any]:
    target = table.targets[0]
    is_classes = isinstance(target, Classes)
    bytes_do = table.nominal.dtype == np.uint8
    return {
        "numeric": np.ascontiguousarray(table.numeric),
        "numeric_unknown": _contiguous(table.numeric_unknown),
        "nominal8": _contiguous(table.nominal) if bytes_do else None,
        "nominal16": None if bytes_do else _contiguous(table.nominal),
        "nominal_unknown": _contiguous(table.nominal_unknown),
        "n_codes": np.ascontiguousarray(table.n_codes, np.int64),
        "class_of": target.codes if is_classes else np.zeros(table.n_rows, np.int32),
        "target": None if is_classes else _contiguous(target.codes),
        "units": None if table.weights is None else _contiguous(table.weights.units),
        "frequencies": None if table.weights is None else _contiguous(frequencies(table)),
    }


def _contiguous(array: npt.NDArray | None) -> npt.NDArray | None:
    return None if array is None else np.ascontiguousarray(array)


def _recipe_arguments(table: Table, recipe: Recipe) -> dict[str, Any]:
    equal, slope = ramp_codes(recipe.diff, table.grid)
    target_equal, target_slope = ramp_codes(recipe.diff, 2**31)
    weighing = 1 if isinstance(recipe.weights, RankWeights) else 2 if isinstance(recipe.weights, DistanceWeights) else 0
    return {
        "grouping": GROUPINGS[recipe.grouping],
        "diff": DIFFS[recipe.diff.kind],
        "weighing": weighing,
        "rule": RULES[recipe.unknown],
        "euclidean": recipe.metric == "euclidean",
        "square_shift": square_shift(table.n_features),
        "radius": recipe.radius is not None and not isinstance(recipe.weights, SigmoidWeights),
        "far": recipe.far,
        "measures": recipe.radius is not None,
        "largest_diff_of_hits": largest_diff_of_hits(recipe, table),
        "ties_first": recipe.ties == "first",
        "counts_places": counts_places(recipe, table),
        "whole_weights": table.weights is None or table.weights.are_whole,
        "power": recipe.weights.power if isinstance(recipe.weights, DistanceWeights) else 1,
        "bits": fraction_bits(recipe, table),
        "places": places(recipe, table),
        "one": table.one,
        "grid": table.grid,
        "mismatch": mismatch_code(table, recipe),
        "ramp_equal": equal,
        "ramp_slope": slope,
        "ramp_width": ramp_width(recipe.diff, table.grid),
        "target_ramp_equal": target_equal,
        "target_ramp_slope": target_slope,
    }


def mismatch_code(table: Table, recipe: Recipe) -> int:
    """The diff of two categories; a ramp takes shares of the range to a diff of 0 to 1, so a mismatch is 1."""
    if recipe.diff.kind == "ramp":
        return table.grid
    return int(diff_code(np.array([table.mismatch]), recipe.diff, table.grid)[0])


def _expected_uniform(table: Table, recipe: Recipe) -> npt.NDArray[np.int64]:
    """Rule B per column, numeric columns first."""
    mismatch = mismatch_code(table, recipe)
    numeric = (
        [expected_uniform_code(int(top), recipe.diff, table.grid) for top in table.top] if table.has_unknown else []
    )
    if not table.has_unknown:
        return np.zeros(table.n_features, np.int64)
    nominal = [divide_rounded(mismatch * (int(v) - 1), int(v)) if v else 0 for v in table.n_values]
    return np.array(numeric + nominal, np.int64)
