"""The walk: pipelines are tested in a fixed order, and the best of those that pass is shipped.

The order is *safest first*, every pipeline is tested at the full risk, and the walk stops at the
first failure. A false certificate then needs the first truly infeasible pipeline in this order to
pass its own test, with probability at most the risk (fixed-sequence testing; Angelopoulos et al.
2021, Learn then Test). The order must be fixed on the search's rows alone.

*Best first*, stopping at the first success, would not do at the full risk: every failure gives
another pipeline a chance, and the risks add up. The risk would have to be split among the
candidates (risk / 2, risk / 4, … or a tenth each). `benchmarks/certificates.py` compares these. A
split certifies more often if the pipelines' mistakes are independent, and less often if they are
alike, as on shared test rows.

A pipeline with decision thresholds stands in the order many times, once for every stop on its path
of thresholds, from the safest to the boldest (see `order_routes`). The argument above needs no
word about how many hypotheses there are or how they hang together: a stop is one more hypothesis,
"this model at this threshold is outside of a limit", in a sequence fixed beforehand. All stops of a
model are measured on the same predictions and cost no further fit. The walk thereby goes as near to
the limit as the rows allow, instead of stopping at a margin chosen before. And since *all* tests
before the first failure have passed at a family-wise risk, any of them may be shipped by any rule:
it is the best on the search's rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.certify.walk.findings import Finding, all_certified

MOST_CONTENDERS = 10
# Half-widths inside of a limit; farther inside nothing fails by chance.
SURE = 3.0
# Half-widths inside of a limit from where a test is expected to pass.
LIKELY = 1.0


@dataclass(frozen=True, slots=True)
class Contender:
    """A candidate for a certificate, as seen on the search's rows.

    `score` is better if larger. `slack` measures safety: the smallest distance to a limit, in
    half-widths (see `slack_of`). With a `place` it is the pipeline at this stop of its path.
    """

    key: str
    score: float
    slack: float
    place: int | None = None

    @property
    def name(self) -> str:
        """Return its name in the order: the pipeline's key, and the stop."""
        return self.key if self.place is None else f"{self.key}#{self.place}"


@dataclass(frozen=True, slots=True)
class Spot:
    """A stop of a pipeline's path: its slack in the limits that move, and its utility."""

    place: int
    slack: float
    utility: float


@dataclass(frozen=True, slots=True)
class Route:
    """A pipeline and its path; `slack` is that of the limits that stay the same along it.

    Without `spots` the pipeline decides in one way only, and `slack` is that of all limits.
    """

    key: str
    score: float
    slack: float
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A tested contender and its findings, limit by limit."""

    contender: Contender
    findings: tuple[Finding, ...]

    @property
    def is_certified(self) -> bool:
        """True if it may be claimed to be within all limits."""
        return all_certified(self.findings)


@dataclass(frozen=True, slots=True)
class Walk:
    """All tested contenders in order, and the best of those that passed, if any."""

    steps: tuple[Step, ...]
    chosen: Step | None


def order(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """At most ten contenders, safest first, each with a better score than those before it.

    Dominated contenders (less safe and no better than another) are left out (Pareto testing). Of
    the rest those within the limits are thinned evenly, with both ends kept; without any, only the
    safest is tried.
    """
    front: list[Contender] = []
    # The key breaks ties, so that verifying finds the same order.
    for one in sorted(contenders, key=lambda one: (-one.slack, -one.score, one.key)):
        if not front or one.score > front[-1].score:
            front.append(one)
    inside = [one for one in front if one.slack > 0] or front[:1]
    places = np.linspace(0, len(inside) - 1, min(len(inside), MOST_CONTENDERS))
    return tuple(inside[place] for place in np.round(places).astype(int))


def order_routes(routes: Sequence[Route], *, by_utility: bool = False) -> tuple[Contender, ...]:
    """Order the stops of all pipelines in one sequence, from the safest to the best.

    Where limits compare groups, that order is `by_utility`: pipelines are ranked by the utility
    that a certificate is likely to leave, and of the stops each has more utility than those before
    it. Along such a path the slack rises and falls, and every stop more may end the walk.

    A pipeline is as safe as its limits that no threshold moves, and `SURE` is safe enough: where
    all limits are moved there is one pipeline, the best. Of several, each goes on along its path
    until it would be no safer than the next one's start. The last goes up to its best utility
    within the limits. A path begins at the boldest stop that is sure.
    """
    routes = _rank_by_utility(routes) if by_utility else routes
    by_key = {route.key: route for route in routes}
    ordered = order(
        [Contender(one.key, one.score, min(one.slack, SURE)) for one in _fit_to_walk(routes)]
    )
    found: list[Contender] = []
    for place, one in enumerate(ordered):
        is_last = place == len(ordered) - 1
        least = 0.0 if is_last else ordered[place + 1].slack
        route = by_key[one.key]
        found += _rising(route, least) if by_utility else _along(route, least)
    return tuple(found)


def _rank_by_utility(routes: Sequence[Route]) -> list[Route]:
    """Score pipelines by the utility that a certificate is likely to leave."""
    need = _likely([spot for one in routes for spot in one.spots])
    return [replace(one, score=_utility_left(one.spots, need)) for one in routes]


def _likely(spots: Sequence[Spot]) -> float:
    """Return the slack of stops that are likely to pass; if none is, that of the safest."""
    return min(max((spot.slack for spot in spots), default=LIKELY), LIKELY)


def _utility_left(spots: Sequence[Spot], need: float) -> float:
    """Return the best utility of stops with this slack."""
    return max((spot.utility for spot in spots if spot.slack >= need), default=-math.inf)


def _fit_to_walk(routes: Sequence[Route]) -> list[Route]:
    """Leave out pipelines outside of a limit at every stop, unless all are."""
    inside = [one for one in routes if not one.spots or any(spot.slack > 0 for spot in one.spots)]
    return inside or list(routes)


def _along(route: Route, least: float) -> list[Contender]:
    """Return the stops of a path from a sure one to the best one with more than this slack.

    In between nothing is left out for its utility: from one stop to the next that is mostly noise.
    """
    if not route.spots:
        return [Contender(route.key, route.score, route.slack)]
    slacks = {spot.place: min(spot.slack, route.slack) for spot in route.spots}
    safest = max(route.spots, key=lambda one: (one.slack, one.utility))
    inside = [spot for spot in route.spots if slacks[spot.place] > least] or [safest]
    best = max(inside, key=lambda one: (one.utility, one.slack))
    sure = [spot for spot in inside if slacks[spot.place] >= SURE] or [safest]
    start = min(sure, key=lambda one: abs(one.place - best.place))
    low, high = sorted((start.place, best.place))
    kept = [spot for spot in inside if low <= spot.place <= high]
    kept.sort(key=lambda one: abs(one.place - start.place))
    return [Contender(route.key, route.score, slacks[one.place], one.place) for one in kept]


def _rising(route: Route, least: float) -> list[Contender]:
    """Return stops with more than this slack, safest first, each with more utility than before."""
    if not route.spots:
        return [Contender(route.key, route.score, route.slack)]
    slacks = {spot.place: min(spot.slack, route.slack) for spot in route.spots}
    safest = max(route.spots, key=lambda one: (one.slack, one.utility))
    inside = [spot for spot in route.spots if slacks[spot.place] > least] or [safest]
    inside.sort(key=lambda one: (-min(slacks[one.place], SURE), -one.utility))
    kept: list[Spot] = []
    for spot in inside:
        if not kept or spot.utility > kept[-1].utility:
            kept.append(spot)
    return [Contender(route.key, route.score, slacks[one.place], one.place) for one in kept]


def walk(
    ordered: Sequence[Contender], test: Callable[[Contender], Sequence[Finding] | None]
) -> Walk:
    """Test in order until one fails, and choose the best of those that passed, of equals the last.

    A contender without a test (None) is passed over. This is sound only if the decision to skip it
    does not use the certification rows.
    """
    steps: list[Step] = []
    for contender in ordered:
        findings = test(contender)
        if findings is None:
            continue
        steps.append(Step(contender, tuple(findings)))
        # A test after a failure would need a share of the risk of its own.
        if not steps[-1].is_certified:
            break
    passed = [step for step in steps if step.is_certified]
    # Stops of one pipeline share its score, and come in rising utility.
    best = max(reversed(passed), key=lambda step: step.contender.score, default=None)
    return Walk(tuple(steps), best)
