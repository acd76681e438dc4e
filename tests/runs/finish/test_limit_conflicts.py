"""The limits that conflict are found exactly, and what is told to be met is met."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from automl_admm.core.evaluations import FOLDS_LEFT, ONE_CLASS, Evaluation, Status, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import best_of
from automl_admm.core.space import Candidate
from automl_admm.runs.finish.limit_conflicts import find_conflict, say_conflict
from automl_admm.runs.finish.limit_tradeoffs import trade_offs

FPR, RECALL = Limit("fpr", 0.10), Limit("recall", 0.50, at_least=True)


def evaluation(number: int, *values: float, **changes: object) -> Evaluation:
    given = {"status": Status.SUCCESS, "loss": number / 100, "constraints": values, **changes}
    return Evaluation(number, f"key-{number}", Candidate((), ()), **given)


def a_log(seed: int, limits: int, size: int) -> tuple[list[Evaluation], list[Limit]]:
    """Return evaluations that each break something."""
    rng = np.random.default_rng(seed)
    log = []
    for number in range(size):
        values = rng.random(limits).round(1)
        values[rng.integers(limits)] = 0.9
        log.append(evaluation(number, *values))
    return log, [Limit(f"g{place}", 0.45) for place in range(limits)]


@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_conflict_is_that_of_all_subsets(seed: int) -> None:
    log, limits = a_log(seed, limits=6, size=[3, 20, 200][seed % 3])

    def is_kept(some: tuple[int, ...]) -> bool:
        return any(all(limits[p].holds(one.constraints[p]) for p in some) for one in log)

    by_size = (
        [
            tuple(limits[p] for p in some)
            for some in combinations(range(6), size)
            if not is_kept(some)
        ]
        for size in range(1, 7)
    )
    assert find_conflict(log, limits).smallest == tuple(next(found for found in by_size if found))


def test_all_conflicts_of_twenty_limits_are_found() -> None:
    log, limits = a_log(0, limits=20, size=1000)
    found = find_conflict(log, limits)
    assert {len(one) for one in found.smallest} == {6}
    assert len(set(found.smallest)) == len(found.smallest) == 42
    assert len(found.closest) == 8


@pytest.mark.parametrize("seed", range(6))
def test_the_closest_would_be_within_what_is_told_and_no_other_asks_for_less(seed: int) -> None:
    log, limits = a_log(seed, limits=3, size=60)
    # Values of many digits: a bound rounded inwards would be broken.
    log = [evaluation(one.number, *(v * math.pi / 3 for v in one.constraints)) for one in log]
    found = find_conflict(log, limits)
    best = best_of(log, limits)
    assert best is not None
    assert found.closest[0].evaluation.number == best.number
    for close in found.closest:
        wider = {one.name: one for one in close.relaxed}
        assert wider
        assert is_feasible(close.evaluation, [wider.get(one.name, one) for one in limits])
        asked = [
            limit.excess(v) for limit, v in zip(limits, close.evaluation.constraints, strict=True)
        ]
        for other in log:
            less = [limit.excess(v) for limit, v in zip(limits, other.constraints, strict=True)]
            assert less == asked or any(a > b for a, b in zip(less, asked, strict=True))


def test_two_limits_that_hold_alone_conflict() -> None:
    log = [evaluation(1, 0.05, 0.4), evaluation(2, 0.2, 0.9), evaluation(3, 0.12345678, 0.6)]
    found = find_conflict(log, [FPR, RECALL])
    assert found.smallest == ((FPR, RECALL),)
    assert say_conflict(found) == (
        "nothing keeps fpr <= 0.1 and recall >= 0.5 together, while each of them alone can be kept"
    )
    told = [[str(one) for one in close.relaxed] for close in found.closest]
    assert told == [["recall >= 0.4"], ["fpr <= 0.1235"], ["fpr <= 0.2"]][: len(told)]


def test_a_limit_that_nothing_keeps_is_told_with_the_best_value() -> None:
    log = [evaluation(1, 0.3, 0.9), evaluation(2, 0.2, math.nan)]
    found = find_conflict(log, [FPR, RECALL])
    assert say_conflict(found) == "fpr <= 0.1 is never met: the best value seen is 0.2 (#2)"
    assert [one.evaluation.number for one in found.closest] == [1], "#2 lacks a value"
    # The threshold of plain decisions among calibrated probabilities was not chosen.
    plain = evaluation(2, 0.2, 0.9, details={"threshold": 0.3, "by_default": True})
    assert say_conflict(find_conflict([plain], [FPR, RECALL])) == say_conflict(found)
    unmeasured = find_conflict([evaluation(1, math.nan, 0.9)], [FPR, RECALL])
    assert say_conflict(unmeasured) == "fpr <= 0.1 has no value in any evaluation"
    assert unmeasured.closest == ()


def test_a_better_value_of_one_that_was_stopped_is_not_hidden() -> None:
    log = [evaluation(1, 40.0), evaluation(2, 5.0, details={FOLDS_LEFT: 3})]
    found = find_conflict(log, [Limit("trees", 10)])
    assert say_conflict(found) == (
        "trees <= 10 is never met on all folds: the best value seen is 5 (#2, stopped early)"
    )
    assert [one.evaluation.number for one in found.closest] == [1], "a stopped one cannot ship"


def test_a_limit_kept_at_another_threshold_is_not_never_met() -> None:
    elsewhere = {"threshold": 0.2, "values": [0.6, 0.9], "loss": 0.25}
    chosen = {"threshold": 0.7}
    log = [evaluation(3, 0.05, 0.19, details={**chosen, "other_thresholds": [elsewhere]})]
    found = find_conflict(log, [FPR, RECALL])
    assert (found.considered, found.never_met) == (1, ())
    assert found.smallest == ((FPR, RECALL),)
    told = [(str(one), *map(str, one.relaxed)) for one in found.closest]
    assert told == [("#3", "recall >= 0.19"), ("#3 at threshold 0.2", "fpr <= 0.6")]
    # A log without them says at which thresholds it saw the limits.
    alone = [evaluation(3, 0.05, 0.19, details=chosen)]
    said = say_conflict(find_conflict(alone, [FPR, RECALL], {"fpr", "recall"}))
    assert said is not None
    assert "never met at the thresholds that were tried" in said
    # What no threshold moves is never met, whatever was tried.
    said = say_conflict(find_conflict(alone, [FPR, RECALL], {"fpr"}))
    assert said is not None
    assert "is never met: the best value" in said
    # A search with tightened limits leaves out a threshold within those of the user.
    inside = {**chosen, "other_thresholds": [{**elsewhere, "values": [0.05, 0.9]}]}
    open_log = [evaluation(3, 0.05, 0.19, details=inside)]
    assert find_conflict(open_log, [FPR, RECALL]).smallest == ((RECALL,),)


def test_what_ships_never_and_what_decides_nothing_does_not_count() -> None:
    inside = (0.05, 0.9)
    one_class = evaluation(1, *inside, details={ONE_CLASS: "no"})
    stopped = evaluation(2, *inside, details={"folds_left": 1})
    failed = evaluation(3, status=Status.CRASHED)
    found = find_conflict([one_class, stopped, failed, evaluation(4, 0.2, 0.9)], [FPR, RECALL])
    assert (found.considered, found.one_class, found.feasible) == (1, 1, 0)
    assert found.smallest == ((FPR,),)
    nothing = find_conflict([one_class, stopped, failed], [FPR, RECALL])
    assert (say_conflict(nothing), nothing.smallest, nothing.closest) == (None, (), ())


def test_nothing_conflicts_where_something_is_within() -> None:
    found = find_conflict([evaluation(1, 0.05, 0.9), evaluation(2, 0.2, 0.9)], [FPR, RECALL])
    assert (found.feasible, found.smallest, found.closest, found.never_met) == (1, (), (), ())
    assert say_conflict(found) is None


@pytest.mark.parametrize("seed", range(4))
def test_a_trade_off_has_what_nothing_beats_in_both(seed: int) -> None:
    rng = np.random.default_rng(seed)
    log = [evaluation(n, *rng.random(2).round(1)) for n in range(50)]
    log.append(evaluation(50, math.nan, 1.0))
    (found,) = trade_offs(log, [FPR, RECALL])
    places = {(one.constraints[0], one.constraints[1]) for one in log[:-1]}
    front = {
        (f, r)
        for f, r in places
        if not any(f2 <= f and r2 >= r and (f2, r2) != (f, r) for f2, r2 in places)
    }
    assert [tuple(one.constraints) for one in found.front] == sorted(front)


def test_a_band_of_one_measure_is_no_trade_off() -> None:
    band = [Limit("fpr", 0.1), Limit("fpr", 0.05, at_least=True)]
    assert trade_offs([evaluation(1, 0.2, 0.2)], band) == ()
