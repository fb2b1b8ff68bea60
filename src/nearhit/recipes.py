"""The Relief family as data: who is a neighbour, how much it weighs, what an unknown value does, how sums become a score.

    W[A] = sum_i sum_j  w_ij * diff(A, i, j)                                                SPEC.md section 3

A member of the family is a `Recipe`; the letters of the 1994 paper and the other classical members are constants at
the end of this file. Recipes print readably, compare equal by value and travel to workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

Grouping = Literal["each class", "hits and misses", "everyone"]
Unknown = Literal["uniform", "skip", "expected"]
Ties = Literal["share", "first"]
DiffKind = Literal["linear", "squared", "ramp"]
Metric = Literal["manhattan", "euclidean"]
Miss = Literal["prior over others", "prior as printed", "equal"]
Radius = Literal["mean", "own mean"]


@dataclass(frozen=True)
class Diff:
    """The diff of two numbers, as a function of their distance in ranges."""

    kind: DiffKind = "linear"
    equal: float = 0.04
    different: float = 0.10

    def __post_init__(self) -> None:
        if self.kind == "ramp" and not 0 <= self.equal < self.different <= 1:
            raise ValueError(
                "ramp must be two shares of a column's range (equal, different) with 0 <= equal < different <= 1; "
                f"got ({self.equal}, {self.different})."
            )


@dataclass(frozen=True)
class EqualWeights:
    """Each of the k neighbours weighs 1/k."""


@dataclass(frozen=True)
class RankWeights:
    """The neighbour of rank r (0 = nearest) weighs e^-(r/sigma)^2, normalised over the k."""

    sigma: float = 20.0

    def __post_init__(self) -> None:
        if not self.sigma > 0:
            raise ValueError(f"sigma must be greater than 0; got {self.sigma}.")


@dataclass(frozen=True)
class DistanceWeights:
    """A neighbour at distance D weighs 1/D**power, normalised over the k; neighbours at distance 0 outweigh all others."""

    power: Literal[1, 2] = 1


@dataclass(frozen=True)
class SigmoidWeights:
    """A row at distance D weighs |2 / (1 + e^-z) - 1|, z = 4 (T - D) / sigma: the more, the farther it is from T.

    T and sigma are the mean and the standard deviation of the distances that the radius of the recipe is about. Rows
    with D < T are near, those with D > T are far.
    """


Weights = EqualWeights | RankWeights | DistanceWeights | SigmoidWeights


@dataclass(frozen=True)
class Recipe:
    """One member of the family.

    Attributes
    ----------
    grouping
        Among whom the k nearest are looked for: in each class apart, among the hits and among all misses together, or
        among everyone (numeric target).
    k
        How many of each group; None means all of them.
    miss
        How much the misses of a class weigh: P(C)/(1 - P(class of the target)), P(C) as printed in 1994, or all alike.
    hits
        False leaves the hits out of the score (contextual merit).
    radius
        Instead of the k nearest, all rows that are nearer than the mean distance of all pairs (SURF), or than the
        target's own mean less half a standard deviation (MultiSURF). Each class that has rows there speaks with their
        mean, the misses of class C by P(C) among the classes present. With a numeric target (grouping "hits and
        misses") a pair is a hit whose targets differ by less than one standard deviation.
    far
        The rows beyond the radius, or beyond the own mean and half a standard deviation, count as well, with the
        opposite sign (SURF*, MultiSURF*).
    """

    name: str
    grouping: Grouping = "each class"
    k: int | None = 10
    weights: Weights = field(default_factory=EqualWeights)
    diff: Diff = field(default_factory=Diff)
    metric: Metric = "manhattan"
    unknown: Unknown = "expected"
    ties: Ties = "share"
    miss: Miss = "prior over others"
    hits: bool = True
    radius: Radius | None = None
    far: bool = False

    def __post_init__(self) -> None:
        if self.radius:
            self._check_radius()
        elif self.far or isinstance(self.weights, SigmoidWeights):
            raise ValueError(f"{self.name}: far={self.far} and {self.weights} are about a radius, and there is none.")
        if self.k is not None and self.k < 1:
            raise ValueError(f'n_neighbors must be an integer of at least 1 or "all"; got {self.k}.')
        if self.grouping == "everyone" and not self.hits:
            raise ValueError(
                f"{self.name}: a numeric target has no hits to leave out (grouping 'everyone', hits=False)."
            )

    def of_near_rows(self) -> Recipe:
        """The same without far rows, for those who ask who the neighbours are: all within the radius, alike."""
        return replace(self, far=False, weights=EqualWeights()) if self.radius else self

    def _check_radius(self) -> None:
        if (
            self.k is not None
            or not isinstance(self.weights, EqualWeights | SigmoidWeights)
            or self.grouping == "everyone"
        ):
            raise ValueError(
                f'{self.name}: radius "{self.radius}" takes all rows within it, alike or by a sigmoid of their distance: '
                f"not with k={self.k}, {self.weights} or grouping '{self.grouping}'."
            )
        if self.metric != "manhattan":
            raise ValueError(
                f"{self.name}: a radius is a mean of distances, and means of roots are not exact; "
                f'got metric="{self.metric}", use "manhattan".'
            )


RELIEFF = Recipe("ReliefF")
SURF = Recipe("SURF", k=None, radius="mean")
SURF_STAR = replace(SURF, name="SURF*", far=True)
MULTISURF = Recipe("MultiSURF", k=None, radius="own mean")
MULTISURF_STAR = replace(MULTISURF, name="MultiSURF*", far=True)
#: Stokes and Visweswaran 2012: all rows, by a sigmoid of their distance
SWRF_STAR = replace(SURF_STAR, name="SWRF*", weights=SigmoidWeights())
MULTI_SWRF_STAR = replace(MULTISURF_STAR, name="MultiSWRF*", weights=SigmoidWeights())
RRELIEFF = Recipe("RReliefF", grouping="everyone", k=70, weights=RankWeights(20.0))

#: Kira and Rendell 1992: nearest hit, nearest miss, squared diff. Two classes.
RELIEF = Recipe("Relief", grouping="hits and misses", k=1, diff=Diff("squared"), miss="equal")

#: Kononenko 1994, sections 2 and 3: k hits and k misses; unknown values by rule B, C, D. Two classes.
RELIEF_A = Recipe("RELIEF-A", grouping="hits and misses", miss="equal", unknown="uniform")
RELIEF_B = replace(RELIEF_A, name="RELIEF-B", unknown="uniform")
RELIEF_C = replace(RELIEF_A, name="RELIEF-C", unknown="skip")
RELIEF_D = replace(RELIEF_A, name="RELIEF-D", unknown="expected")
#: section 4: the k nearest misses of any other class
RELIEF_E = replace(RELIEF_D, name="RELIEF-E")
#: section 4, as printed: the misses of class C weigh P(C), which pushes every weight down (SPEC.md section 3)
RELIEF_F = Recipe("RELIEF-F", miss="prior as printed")

#: Hong 1994: the nearest misses alone, each by the inverse square of its distance
CONTEXTUAL_MERIT = Recipe(
    "contextual merit", grouping="hits and misses", weights=DistanceWeights(2), miss="equal", hits=False
)
