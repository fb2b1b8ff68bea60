"""Null weights: what the same fit finds once the target has been shuffled.

`Refits` fits again for every permutation, whatever the member of the family. `SharedDistances` measures the distances
once and lets only the labels move: the same integers, as the tests show, for a fraction of the cost. It serves where
distances do not depend on the target (docs/decisions/0009-permuted-targets.md).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nearhit.engines import Report, choose_engine
from nearhit.fitting import Options, fit_one_against_rest, fit_recipe, threads_that_fit
from nearhit.progress import progress
from nearhit.recipes import Recipe
from nearhit.score import add_by_size, score
from nearhit.settings import choose_kernel, get_config
from nearhit.significance.adjustment import Significance, Tally
from nearhit.significance.permutations import Exchange
from nearhit.sweep import LIMB_BITS, IntArray, Sums, Wide, bytes_of_sums
from nearhit.table import Classes, Table, make_target

FloatArray = npt.NDArray[np.float64]
Orders = npt.NDArray[np.int32]
#: null weights that are held at a time
MOST_WEIGHTS_HELD = 2**24
#: what sums and targets of permutations may take at a time, over all threads
MOST_BYTES_OF_SUMS = 2**28
#: its place in an order, and its code twice
BYTES_OF_A_TARGET = 12
#: target rows of a block: enough to be worth adding its sums up, few enough for Ctrl-C
ROWS_OF_A_BLOCK = 128
#: sums of so many target rows stay in 64 bits: four blocks of LARGEST_BLOCK, less one row (`fraction_bits`)
ROWS_OF_64_BITS = 2000
#: weights that differ so much between classes are not drawn without regard to y
MEANS_THAT_DIFFER = 1.5
#: the first permutations are timed, to know whether a progress bar is worth it
PROBES = 4


class NullSource(Protocol):
    """Where null weights come from."""

    how: str
    at_a_time: int

    def weights(self, orders: Orders, report: Report | None = None) -> FloatArray:
        """The weights of all features, one line for each permutation."""
        ...


@dataclass(frozen=True)
class PermutationTest:
    """So many permutations, drawn from a seed, of what may change places."""

    n_permutations: int
    seed: int
    exchange: Exchange

    def run(self, weights: FloatArray, source: NullSource, title: str, verbose: int) -> Significance:
        """Compare weights with those of permuted targets."""
        tally = Tally(weights)
        begin = time.perf_counter()
        self._compare(tally, source, range(min(PROBES, self.n_permutations)), None)
        seconds = (time.perf_counter() - begin) * self.n_permutations / tally.n
        with progress(f"{title}, permutations", self.n_permutations, seconds, verbose) as report:
            if report:
                report(tally.n)
            at_a_time = max(1, min(source.at_a_time, MOST_WEIGHTS_HELD // len(weights)))
            for first in range(tally.n, self.n_permutations, at_a_time):
                self._compare(tally, source, range(first, min(first + at_a_time, self.n_permutations)), report)
        return tally.finish(f"{self.n_permutations} permutations {self.exchange.describe()}; {source.how}")

    def _compare(self, tally: Tally, source: NullSource, numbers: Sequence[int], report: Report | None) -> None:
        tally.add(source.weights(self.exchange.draw(self.seed, numbers), report))


def permute_target(table: Table, order: npt.NDArray[np.integer]) -> Table:
    """The table with the targets in another order; row weights stay with their rows, unless they are those of classes."""
    rows, weights = order.astype(np.intp), table.weights
    if weights is not None and weights_are_of_classes(table):
        weights = replace(weights, units=weights.units[rows])
    units = table.units() if weights is None else weights.units
    return replace(table, weights=weights, targets=tuple(target.take(rows, units) for target in table.targets))


def weights_are_of_classes(table: Table) -> bool:
    """Whether each class has one weight, and not all the same: what is known of y comes with it then, to be permuted too."""
    target, units = table.targets[0], table.units()
    if not isinstance(target, Classes):
        return False
    of_class = np.zeros(target.n_classes, np.int64)
    of_class[target.codes] = units
    return bool((of_class[target.codes] == units).all() and (units != units[0]).any())


def mean_weights_differ(table: Table) -> bool:
    """Whether rows of one class weigh much more than those of another on average, though not all alike."""
    target = table.targets[0]
    if not isinstance(target, Classes) or table.weights is None or weights_are_of_classes(table):
        return False
    mean = target.weight / np.bincount(target.codes, minlength=target.n_classes)
    return bool(mean.max() > MEANS_THAT_DIFFER * mean.min())


class Refits:
    """A fit for every permutation."""

    how = "a fit for each"
    at_a_time = 64

    def __init__(self, fit_weights: Callable[[Table, int], FloatArray], table: Table, options: Options) -> None:
        """`fit_weights(table, n)` returns weights, in one thread, while n of its kind run beside each other."""
        self._fit_weights = fit_weights
        self._table = table
        self._threads = threads_that_fit(table, options.n_jobs)

    def weights(self, orders: Orders, report: Report | None = None) -> FloatArray:
        threads = min(self._threads, len(orders))
        engine = choose_engine(threads, len(orders), report)

        def fit(order: npt.NDArray[np.int32]) -> FloatArray:
            return self._fit_weights(permute_target(self._table, order), threads)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the table may be warned of was said by the fit itself
            return np.stack(list(engine.map(fit, list(orders))))


class SharedDistances:
    """Distances once for a batch of permutations; the neighbours follow the labels."""

    how = "distances measured once"

    def __init__(
        self,
        recipe: Recipe,
        table: Table,
        rows: npt.NDArray[np.intp],
        kernel: Any,
        options: Options,
    ) -> None:
        self._recipe, self._table, self._rows = recipe, table, rows
        self._threads = threads_that_fit(table, options.n_jobs)
        self._pair_bytes = get_config()["pair_memory"] // self._threads
        self._handle = kernel.load_distances(table, recipe, choose_engine(self._threads, self._threads))
        bytes_of_one = bytes_of_sums(recipe, table) * (self._threads + 2) + table.n_rows * BYTES_OF_A_TARGET
        self.at_a_time = max(1, MOST_BYTES_OF_SUMS // bytes_of_one)

    def weights(self, orders: Orders, report: Report | None = None) -> FloatArray:
        codes = self._table.targets[0].codes[orders.T]
        n_blocks = max(self._threads * 2 if self._threads > 1 else 1, -(-len(self._rows) // ROWS_OF_A_BLOCK))
        blocks = np.array_split(self._rows, min(n_blocks, len(self._rows)))
        engine = choose_engine(self._threads, len(blocks))
        sums = PermutedSums()
        found = engine.map(lambda rows: self._handle.permuted(rows, codes, self._pair_bytes), blocks)
        for rows, parts in zip(blocks, found, strict=True):
            sums.add(len(rows), *parts)
        if report:
            report(len(orders))
        weight = float(self._table.units_of(self._rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.stack([score(sums.of(b), self._recipe, self._table, weight) for b in range(len(orders))])


class PermutedSums:
    """Sums of blocks of target rows, each with an axis of permutations before the others of `Sums`."""

    def __init__(self) -> None:
        self._narrow: list[IntArray] = []
        self._wide: list[Wide] = []
        self._rows = 0  # in the narrow sums

    def add(self, n_rows: int, *parts: IntArray | None) -> None:
        """Add a block of so many rows; it may be written to."""
        there = [part for part in parts if part is not None]
        if self._rows + n_rows > ROWS_OF_64_BITS:
            self._widen()
        self._rows += n_rows
        if not self._narrow:
            self._narrow = there
            return
        for sums, part in zip(self._narrow, there, strict=True):
            sums += part

    def _widen(self) -> None:
        if not self._wide:
            self._wide = [Wide.zeros(*sums.shape) for sums in self._narrow]
        for wide, sums in zip(self._wide, self._narrow, strict=True):
            wide.add_to(..., Wide(sums >> LIMB_BITS, sums & (2**LIMB_BITS - 1)))
        self._narrow, self._rows = [], 0

    def of(self, b: int) -> Sums:
        """The sums under one permutation."""
        if self._wide and self._narrow:
            self._widen()
        parts = [wide[b] for wide in self._wide] or [Wide(np.zeros_like(sums[b]), sums[b]) for sums in self._narrow]
        diffs, *known, weight = parts
        return Sums(diffs, known[0] if known else None, weight, np.zeros(weight.low.shape[:2], np.int64))


class OneAgainstRest:
    """The mean over classes, weighted by their shares, of null weights for each class against the rest."""

    def __init__(self, sources: Sequence[NullSource], shares: npt.NDArray[np.float64]) -> None:
        self._sources, self._shares = sources, shares
        self.how = sources[0].how
        self.at_a_time = min(source.at_a_time for source in sources)

    def weights(self, orders: Orders, report: Report | None = None) -> FloatArray:
        parts = [s.weights(orders) * share for s, share in zip(self._sources, self._shares, strict=True)]
        if report:
            report(len(orders))
        return add_by_size(np.stack(parts))


def null_of(recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options) -> NullSource:
    """For a member that is one sweep with one recipe."""
    kernel = choose_kernel()
    if kernel.shares_distances(table, recipe):
        rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
        return SharedDistances(recipe, table, rows, kernel, options)

    def fit_weights(permuted: Table, beside: int) -> FloatArray:
        return fit_recipe(recipe, permuted, targets, replace(options, n_jobs=1, verbose=-1, beside=beside)).weights

    return Refits(fit_weights, table, options)


def null_of_one_against_rest(
    recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options
) -> NullSource:
    """For `fit_one_against_rest`."""
    classes = table.targets[0]
    assert isinstance(classes, Classes)
    if classes.n_classes == 2:
        return null_of(recipe, table, targets, options)

    if choose_kernel().shares_distances(table, recipe):
        units, codes = table.units(), range(classes.n_classes)
        binary = [make_target((classes.codes == c).astype(np.int32), units) for c in codes]
        sources = [null_of(recipe, replace(table, targets=(target,)), targets, options) for target in binary]
        return OneAgainstRest(sources, classes.weight / classes.weight.sum())

    def fit_weights(permuted: Table, beside: int) -> FloatArray:
        alone = replace(options, n_jobs=1, verbose=-1, beside=beside)
        return fit_one_against_rest(recipe, permuted, targets, alone).weights

    return Refits(fit_weights, table, options)
