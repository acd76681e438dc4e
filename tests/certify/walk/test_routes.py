"""Pipelines with paths of thresholds: their order, and the chance of a false certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from automl_admm.certify.bounds.differences import largest_difference
from automl_admm.certify.bounds.rates import Count, upper_rate
from automl_admm.certify.plan.power import most_events
from automl_admm.certify.walk.sequence import Contender, Route, Spot, order_routes

LIMIT, RISK = 0.1, 0.05
# True false positive rates along a path: the safest threshold is first.
PATH = np.linspace(0.005, 0.2, 60)
INSIDE = int(np.sum(PATH <= LIMIT))


def spots(*slacks_and_utilities: tuple[float, float]) -> tuple[Spot, ...]:
    pairs = enumerate(slacks_and_utilities)
    return tuple(Spot(place, slack, utility) for place, (slack, utility) in pairs)


def names(*routes: Route) -> list[str]:
    return [one.name for one in order_routes(routes)]


def test_where_thresholds_move_all_limits_the_best_pipeline_is_tested_alone() -> None:
    path = spots((2.5, 0.5), (1.5, 0.6), (0.5, 0.7), (-0.5, 0.8))
    safer = Route("safer", 0.8, math.inf, spots((9.0, 0.9), (1.0, 0.95)))
    best = Route("best", 0.9, math.inf, path)
    assert names(safer, best) == names(best, safer) == ["best#0", "best#1", "best#2"]


def test_a_path_begins_at_the_boldest_stop_that_is_sure() -> None:
    path = spots((9.0, 0.1), (5.0, 0.2), (3.5, 0.3), (2.0, 0.4))
    assert names(Route("a", 0.9, math.inf, path)) == ["a#2", "a#3"]


def test_a_path_ends_at_its_best_stop() -> None:
    path = spots((2.0, 0.5), (1.5, 0.4), (1.0, 0.6), (0.5, 0.6), (0.2, -math.inf))
    assert names(Route("a", 0.9, math.inf, path)) == ["a#0", "a#1", "a#2"]
    lost = spots((2.0, -math.inf), (1.5, -math.inf))
    assert names(Route("a", 0.9, math.inf, lost)) == ["a#0"]


def test_between_two_limits_a_path_goes_to_the_better_side_alone() -> None:
    """A false positive rate has a limit from above, and a recall one from below."""
    path = spots((-1.0, 0.1), (0.5, 0.2), (1.0, 0.3), (2.0, 0.4), (1.2, 0.5), (0.4, 0.6), (-1, 0.7))
    assert names(Route("a", 0.9, math.inf, path)) == ["a#3", "a#4", "a#5"]
    turned = tuple(Spot(one.place, one.slack, -one.utility) for one in path)
    assert names(Route("a", 0.9, math.inf, turned)) == ["a#3", "a#2", "a#1"]


def test_a_path_goes_on_until_it_is_no_safer_than_the_next_pipeline() -> None:
    """Limits that no threshold moves, such as a latency, decide how safe a pipeline is."""
    path = spots((3.0, 0.5), (2.0, 0.6), (1.0, 0.7))
    quick = Route("quick", 0.7, 2.5, path)
    slow = Route("slow", 0.8, 1.5, path)
    assert names(quick, slow) == ["quick#0", "quick#1", "slow#0", "slow#1", "slow#2"]
    slacks = [one.slack for one in order_routes([quick, slow])]
    assert slacks == [2.5, 2.0, 1.5, 1.5, 1.0]


def test_pipelines_without_thresholds_come_as_they_are() -> None:
    assert names(Route("a", 0.7, 3.0), Route("b", 0.8, 1.0), Route("c", 0.6, 0.5)) == ["a", "b"]
    assert names() == []


def test_without_a_stop_inside_the_safest_one_is_tried() -> None:
    outside = Route("a", 0.9, math.inf, spots((-2.0, 0.9), (-0.5, 0.5)))
    assert names(outside) == ["a#1"]
    assert names(outside, Route("b", 0.1, 1.0)) == ["b"]


def _false(ship: Callable[[np.random.Generator], int | None], first_outside: int) -> float:
    """The share of 1,000 runs in which a stop outside of the limit is shipped."""
    rng = np.random.default_rng(0)
    shipped = [ship(rng) for _ in range(1000)]
    return float(np.mean([one is not None and one >= first_outside for one in shipped]))


def _walked(order: list[Contender], passes: np.ndarray) -> int | None:
    last = None
    for one in order:
        assert one.place is not None
        if not passes[one.place]:
            break
        last = one.place
    return last


def _ordered(rng: np.random.Generator, truth: np.ndarray, rows: int) -> list[Contender]:
    """An order by search rows alone: rates and utilities of one sample, nested as on a path."""
    rates = np.searchsorted(np.sort(rng.random(rows)), truth) / rows
    width = upper_rate(LIMIT * rows, rows, RISK) - LIMIT
    pairs = zip((LIMIT - rates) / width, np.sqrt(rates), strict=True)
    return list(order_routes([Route("a", 0.9, math.inf, spots(*pairs))]))


def test_the_path_of_one_model_keeps_the_risk() -> None:
    rows, allowed = 400, most_events(400, LIMIT, RISK)
    recovered: list[float] = []

    def ship(rng: np.random.Generator) -> int | None:
        order = _ordered(rng, PATH, 600)
        passes = np.searchsorted(np.sort(rng.random(rows)), PATH) <= allowed
        last = _walked(order, passes)
        recovered.append(0.0 if last is None else PATH[last])
        return last

    assert _false(ship, INSIDE) <= RISK + 0.02
    # Three quarters of the limit are not within the reach of so few rows; most of it is.
    assert np.median(recovered) > 0.065


def test_a_path_that_is_just_outside_from_its_start_keeps_the_risk() -> None:
    """The worst case: every stop is false, and each has mistakes of its own."""
    rows, allowed = 400, most_events(400, LIMIT, RISK)
    truth = np.full(40, LIMIT + 1e-9)

    def ship(rng: np.random.Generator) -> int | None:
        order = _ordered(rng, np.linspace(0.01, 0.09, 40), 600)
        return _walked(order, rng.binomial(rows, truth) <= allowed)

    def boldest(rng: np.random.Generator) -> int | None:
        passes = np.flatnonzero(rng.binomial(rows, truth) <= allowed)
        return int(passes[-1]) if len(passes) else None

    assert _false(ship, 0) <= RISK + 0.02
    assert _false(boldest, 0) > 0.5


@cache
def _gap_passes(first: int, second: int, rows: tuple[int, int]) -> bool:
    counts = [Count(first, rows[0]), Count(second, rows[1])]
    return largest_difference(counts, RISK) <= LIMIT


def test_a_path_with_a_gap_of_groups_keeps_the_risk() -> None:
    """The gap grows along the path to beyond its limit; both groups have few rows."""
    rows, truth = (60, 120), np.linspace(0.005, 0.2, 12)
    rates = np.stack([2.0 * truth, truth])
    first_outside = int(np.sum(rates[0] - rates[1] <= LIMIT))

    def ship(rng: np.random.Generator) -> int | None:
        seen = [np.sort(rng.random(count)) for count in rows]
        counts = [np.searchsorted(own, rate) for own, rate in zip(seen, rates, strict=True)]
        last = None
        for place, (a, b) in enumerate(zip(*counts, strict=True)):
            if not _gap_passes(int(a), int(b), rows):
                break
            last = place
        return last

    assert _false(ship, first_outside) <= RISK + 0.02


def test_by_utility_pipelines_are_ranked_by_what_a_certificate_is_likely_to_leave() -> None:
    lower_loss = Route("loss", 0.9, math.inf, spots((3.0, 0.5), (1.0, 0.6), (0.2, 0.8)))
    trained = Route("trained", 0.8, math.inf, spots((3.0, 0.6), (1.0, 0.7), (0.2, 0.75)))
    pair = [lower_loss, trained]
    assert names(*pair) == ["loss#0", "loss#1", "loss#2"]
    found = [one.name for one in order_routes(pair, by_utility=True)]
    assert found == ["trained#0", "trained#1", "trained#2"]
    near = [
        Route(name, 0.5, math.inf, spots((0.4, u), (0.1, 0.9)))
        for name, u in (("a", 0.6), ("b", 0.5))
    ]
    assert order_routes(near, by_utility=True)[0].key == "a"
    assert [one.key for one in order_routes([Route("x", 0.5, 2.0)], by_utility=True)] == ["x"]


def test_by_utility_stops_come_safest_first_and_only_those_that_are_better() -> None:
    path = spots(
        (4.0, 0.5), (2.0, 0.55), (0.9, 0.4), (3.5, 0.6), (1.0, 0.7), (1.5, 0.65), (-1, 0.9)
    )
    ordered = order_routes([Route("a", 0.9, math.inf, path)], by_utility=True)
    assert [one.place for one in ordered] == [3, 5, 4]
    outside = spots((-0.5, 0.7), (-0.1, 0.6))
    assert [
        one.place for one in order_routes([Route("a", 0.9, math.inf, outside)], by_utility=True)
    ] == [1]
