"""STIR: a t-test of miss diffs against hit diffs, without permutations (Le, Urbanowicz, Moore and McKinney 2019).

    t = (M - H) / (S * sqrt(1/|M| + 1/|H|))        S^2 the pooled variance, |M| + |H| - 2 degrees of freedom

M and H are the means of a feature's diffs over all pairs of a target row with its nearest misses and hits. The test takes
these pairs for independent, which they are not: each row is in many of them. docs/significance.md has measured what
that costs. With more than two classes misses weigh as in the score, and |M| is what as many alike would tell.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from nearhit.engines import choose_engine
from nearhit.fitting import Options, threads_that_fit
from nearhit.recipes import EqualWeights, Recipe
from nearhit.score import add_by_size, class_coefficients, hits_among_groups
from nearhit.settings import choose_kernel, get_config
from nearhit.significance.adjustment import Significance
from nearhit.significance.null import ROWS_OF_A_BLOCK, PermutedSums
from nearhit.sweep import fraction_bits, make_plan
from nearhit.table import Classes, Table

FloatArray = npt.NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
HOW = "STIR's t-test of miss diffs against hit diffs"


def refuse_stir(recipe: Recipe, table: Table) -> None:
    """Say why a fit has no such test."""
    target = table.targets[0]
    if not isinstance(target, Classes) or recipe.radius or not recipe.hits:
        raise ValueError(
            f'p_values="stir" compares the nearest misses with the nearest hits of classes, which {recipe.name} does not '
            'look for. Use p_values="permutation".'
        )
    if not isinstance(recipe.weights, EqualWeights):
        raise ValueError('p_values="stir" counts pairs of rows alike: only with weights="equal".')
    if table.weights is not None:
        raise ValueError(
            'p_values="stir" counts pairs of rows and has no meaning for sample weights. Use p_values="permutation".'
        )


def stir_test(recipe: Recipe, table: Table, targets: npt.NDArray[np.intp] | None, options: Options) -> Significance:
    """One p-value for each feature; `refuse_stir` has been asked before."""
    rows = np.arange(table.n_rows) if targets is None else np.sort(targets)
    first, second = (_moments(recipe, table, rows, options, squares) for squares in (False, True))
    misses_less_hits, error, freedom = _t_test(first, second, recipe, table)
    known = error > 0
    t = np.divide(misses_less_hits, error, out=np.zeros_like(error), where=known)
    p_values = np.where(known, stdtr(freedom, -t), 1.0)
    return Significance(table.in_column_order(p_values), None, 0.0, HOW)


def _moments(recipe: Recipe, table: Table, rows: npt.NDArray[np.intp], options: Options, squares: bool):
    """Sums of diffs or of their squares, and of the weights of the pairs: (classes, groups, features)."""
    kernel, threads = choose_kernel(), threads_that_fit(table, options.n_jobs)
    handle = kernel.load_distances(table, recipe, choose_engine(threads, threads), by_class=True)
    own = table.targets[0].codes[:, None]
    bytes_of_one = get_config()["pair_memory"] // threads
    blocks = make_plan(table, rows, ROWS_OF_A_BLOCK).blocks
    engine = choose_engine(threads, len(blocks))
    sums = PermutedSums()
    for block, parts in zip(
        blocks, engine.map(lambda b: handle.permuted(b, own, bytes_of_one, squares), blocks), strict=True
    ):
        sums.add(len(block), *parts)
    found, factor = sums.of(0), 2.0 ** -fraction_bits(recipe, table)
    weight = (
        found.weight[:, :, 0].scaled(factor)[:, :, None] if found.known is None else found.known[:, :, 0].scaled(factor)
    )
    return found.diffs[:, :, 0].scaled(factor), weight


def _t_test(first, second, recipe: Recipe, table: Table) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The difference of means, its standard error and the degrees of freedom."""
    is_hit = hits_among_groups(recipe, table)
    importance = class_coefficients(recipe, table, is_hit)[:, :, None]
    (sums, weight), squares = first, second[0]

    def moments(which):
        """Mean, variance and number of the pairs that count."""
        all_weight = add_by_size((importance * weight)[which])
        number = all_weight**2 / np.maximum(add_by_size((importance**2 * weight)[which]), TINY)
        mean = add_by_size((importance * sums)[which]) / np.maximum(all_weight, TINY)
        square = add_by_size((importance * squares)[which]) / np.maximum(all_weight, TINY)
        return mean, np.maximum(square - mean**2, 0), number

    (miss, miss_variance, n_misses), (hit, hit_variance, n_hits) = moments(~is_hit), moments(is_hit)
    freedom = n_misses + n_hits - 2
    pooled = (n_misses * miss_variance + n_hits * hit_variance) / np.maximum(freedom, TINY)
    both = (n_misses > 0) & (n_hits > 0) & (freedom > 0)
    error = np.sqrt(pooled * (1 / np.maximum(n_misses, TINY) + 1 / np.maximum(n_hits, TINY)))
    return miss - hit, np.where(both, error, 0.0), freedom
