"""The time that a search leaves to its final fits, by the records of its log."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from automl_admm.cli.commands import resume
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.evidence import Rate
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, SearchSpace, Selection
from automl_admm.plugins.records import Constraint
from automl_admm.runs.driving.budget import Budget
from automl_admm.runs.driving.cost_model import CostModel, Foresight
from automl_admm.runs.finish.effort import Effort, expected_seconds
from automl_admm.runs.finish.reserve import EnsembleReserve, FitReserve, WalkReserve
from automl_admm.runs.prepare.set_aside import Aside

FPR = Constraint(Limit("fpr", 0.10, extreme=0.0), lambda _: 0.0, kind="statistical")


def evaluation(number: int, fit: float, loss: float = 0.1, fpr: float = 0.0) -> Evaluation:
    """An evaluation on two folds; half as long as its fits it takes for all the rest."""
    details = {"scores": [0.5, 0.5], "fit_seconds": fit, "work_seconds": 2 * fit, "slowdown": 1.0}
    return Evaluation(
        number,
        f"k{number}",
        Candidate(Selection(()), ()),
        Status.SUCCESS,
        loss,
        (fpr,),
        seconds=3.0 * fit,
        details=details,
    )


def expect(found: Evaluation | None) -> float:
    return expected_seconds(Effort(rows=2.0), found)


def slower(found: Evaluation, slowdown: float) -> Evaluation:
    return replace(found, details={**found.details, "slowdown": slowdown})


def test_what_ends_in_time_can_be_fitted_in_time() -> None:
    reserve = FitReserve(expect)
    assert reserve.longest(20.0) == 20.0
    for number, fit in enumerate((0.2, 1.0, 3.0)):
        reserve.learn(evaluation(number, fit))
    longest = reserve.longest(20.0)
    late = evaluation(9, longest / 3.0)
    assert late.seconds + expect(late) == pytest.approx(20.0)


def test_near_the_end_nothing_begins_that_could_not_ship() -> None:
    """The best is quick, so that only little time was reserved; what is slow has to have more."""
    quick, now = evaluation(1, 0.2), [0.0]
    budget = Budget(deadline=100.0, reserve=FitReserve(expect), clock=lambda: now[0])
    foresight = Foresight(CostModel(SearchSpace()), budget)
    for number in range(6):
        foresight.learn(evaluation(number, 2.0))
    now[0] = 90.0
    ten, until_deadline = budget.limit_of_next(quick)
    assert until_deadline
    assert ten is not None
    seconds_left = budget.seconds_left(quick)
    assert seconds_left is not None
    assert ten < seconds_left / 1.5
    now[0] = 93.0  # an evaluation of six seconds ends at 99, and its final fit at 105
    said = foresight.reason_to_skip(evaluation(7, 2.0).candidate, quick)
    assert said is not None
    assert "s are left" in said


def test_what_may_ship_by_the_models_of_its_folds_needs_no_time_for_a_fit() -> None:
    reserve, whole = FitReserve(expect, lambda _: 0.8), FitReserve(expect)
    for one in (evaluation(1, 2.0), evaluation(2, 1.0)):
        reserve.learn(one)
        whole.learn(one)
    assert reserve.longest(20.0) == pytest.approx(19.2)
    assert whole.longest(20.0) < 10.0
    assert reserve.seconds(evaluation(1, 2.0)) == expect(evaluation(1, 2.0))


def test_failures_and_rough_answers_tell_no_cost() -> None:
    reserve = FitReserve(expect)
    reserve.learn(replace(evaluation(1, 9.0), status=Status.TIMEOUT))
    reserve.learn(replace(evaluation(2, 9.0), details={}))
    assert reserve.longest(20.0) == 20.0


def test_a_session_on_a_busier_machine_reserves_more_for_the_same_pipeline() -> None:
    best = evaluation(1, 2.0)
    reserve = FitReserve(expect)
    reserve.learn(best)
    alone = reserve.seconds(best)
    assert alone == expect(best)
    for number in range(2, 8):
        reserve.learn(slower(evaluation(number, 0.1), 3.0))
    assert reserve.seconds(best) == pytest.approx(3.0 * alone)
    for number in range(8, 14):
        reserve.learn(slower(evaluation(number, 0.1), 100.0))
    assert reserve.seconds(best) == pytest.approx(5.0 * alone)
    # An idler one has no better promise to give: its load may come back.
    assert reserve.seconds(slower(best, 200.0)) == expect(slower(best, 200.0))


def test_evaluations_of_another_run_tell_nothing_of_this_machine() -> None:
    best, reserve = evaluation(1, 2.0), FitReserve(expect)
    for number in range(2, 8):
        found = slower(evaluation(number, 0.1), 4.0)
        reserve.learn(replace(found, details={**found.details, "reused": "other"}))
    assert reserve.seconds(best) == expect(best)


@pytest.mark.parametrize(
    ("budget", "one", "expected"),
    [(None, 2.0, 12.0), (600.0, 2.0, 12.0), (60.0, 2.0, 6.0), (5.0, 2.0, 2.0)],
)
def test_the_reserve_is_a_tenth_of_the_budget_at_most(
    budget: float | None, one: float, expected: float
) -> None:
    assert EnsembleReserve(lambda _: one, lambda _: one, budget).seconds(None) == expected
    assert math.isfinite(expected)


# The safest takes the longest; the best is quick, and only it was known to the reserve before.
LOG = (
    evaluation(1, 1.0, loss=0.3, fpr=0.02),
    evaluation(2, 0.8, loss=0.2, fpr=0.04),
    evaluation(3, 0.1, loss=0.1, fpr=0.06),
    evaluation(4, 9.0, loss=0.5, fpr=0.05),  # no contender: worse and less safe than another
)
ALL = sum(expect(one) for one in LOG[:3])


@pytest.mark.parametrize(
    ("budget", "used", "expected"),
    [
        (None, 0.0, ALL),
        (600.0, 0.0, ALL),
        (24.0, 0.0, 6.0),  # a quarter
        (24.0, 100.0, ALL),  # which is of all sessions, where one goes on for a short time
        (12.0, 100.0, 6.0),  # and half of this one
        (4.0, 0.0, expect(LOG[0])),  # the safest has to be fitted for anything to be tested
    ],
)
def test_a_walk_is_reserved_for_by_all_that_it_will_fit(
    budget: float | None, used: float, expected: float
) -> None:
    aside = Aside(0.95, 0.25, (Rate(200, 2000, "negative rows"),))
    reserve = WalkReserve(expect, expect, (FPR,), aside, budget, used)
    for one in LOG:
        reserve.learn(one)
    assert reserve.seconds(LOG[2]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fit", "left", "expected"), [(0.5, 2.0, 10.0), (0.5, 25.0, 25.0), (5.0, 2.0, 34.0)]
)
def test_a_run_killed_just_before_its_end_has_time_to_fit_its_best(
    fit: float, left: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    worse = evaluation(2, 60.0, loss=0.9)
    log = SimpleNamespace(evaluations=(worse, evaluation(1, fit)), limits=(FPR.limit,))
    monkeypatch.setattr(resume, "read_log", lambda folder: log)
    folder: Any = Path("RUN")
    assert resume._seconds(60.0, 60.0 - left, None, folder) == expected
    assert resume._seconds(60.0, 60.0 - left, (5.0, False), folder) == 5.0
