from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.runs.driving.budget import Budget
from automl_admm.runs.driving.cost_model import CostModel, Foresight, cannot_finish

SPACE = SearchSpace(
    (
        Choice("scaler", ("none", "standard")),
        Choice("estimator", ("forest", "linear", "network")),
        Order("order", ("a", "b")),
    ),
    (
        Parameter("trees", 10, 1000, "int", log=True, when=Condition("estimator", ("forest",))),
        Parameter("layers", 1, 9, "int", when=Condition("estimator", ("network",))),
    ),
)
PER_TREE = 0.01
LINEAR = 0.1


def candidate(estimator: str, unit: float = 0.5, fidelity: float = 1.0) -> Candidate:
    picks = {"estimator": estimator, "scaler": "none", "order": ("a", "b")}
    theta = () if estimator == "linear" else (unit,)
    return Candidate(SPACE.complete(picks), theta, fidelity)


def seconds_of(taken: Candidate) -> float:
    if taken.selection.get("estimator") == "linear":
        return LINEAR * taken.fidelity
    return PER_TREE * 10 ** (1 + 2 * taken.theta[0]) * taken.fidelity


def ended(
    taken: Candidate, seconds: float | None = None, status: Status = Status.SUCCESS
) -> Evaluation:
    spent = seconds_of(taken) if seconds is None else seconds
    return Evaluation(1, "key", taken, status, 0.5, seconds=spent)


def taught(*evaluations: Evaluation, space: SearchSpace = SPACE) -> CostModel:
    model = CostModel(space)
    for evaluation in evaluations:
        model.learn(evaluation)
    return model


def test_it_has_no_opinion_of_what_it_never_saw() -> None:
    assert taught().expect(candidate("linear")) is None
    model = taught(ended(candidate("linear")))
    assert model.expect(candidate("forest")) is None
    assert model.forecast(candidate("forest")) is None
    assert model.expect(candidate("linear")) is not None


def test_it_learns_what_a_component_costs_and_what_its_parameters_do() -> None:
    rng = np.random.default_rng(0)
    seen = [candidate("forest", unit) for unit in rng.random(30)]
    model = taught(*map(ended, seen), *[ended(candidate("linear")) for _ in range(5)])
    for unit in (0.1, 0.5, 0.9):
        asked = candidate("forest", unit)
        assert model.expect(asked) == pytest.approx(seconds_of(asked), rel=0.3)
    assert model.expect(candidate("linear")) == pytest.approx(LINEAR, rel=0.3)


def test_fewer_rows_cost_less_before_any_share_was_seen_and_as_seen_later() -> None:
    model = taught(*[ended(candidate("linear"))] * 5)
    whole, tenth = candidate("linear"), candidate("linear", fidelity=0.1)
    before = model.expect(tenth)
    assert before is not None
    assert before < 0.5 * (model.expect(whole) or 0.0)
    for _ in range(20):
        model.learn(ended(tenth, seconds_of(whole)))
    assert model.expect(tenth) == pytest.approx(LINEAR, rel=0.2)


def test_a_forecast_is_wide_where_little_is_known_and_narrows() -> None:
    few = taught(ended(candidate("forest", 0.1))).forecast(candidate("forest", 0.9))
    many = taught(*[ended(candidate("forest", u)) for u in np.linspace(0, 1, 40)]).forecast(
        candidate("forest", 0.9)
    )
    assert few is not None
    assert many is not None
    for one in (few, many):
        assert 0.0 < one.low < one.middle < one.high
    assert many.high / many.low < 2.5 < few.high / few.low


def test_a_single_slow_evaluation_excludes_no_neighbour() -> None:
    model = taught(ended(candidate("forest", 0.9), 60.0))
    forecast = model.forecast(candidate("forest", 0.1))
    assert forecast is not None
    assert forecast.low < 30.0


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.CANCELLED, Status.MEMOUT])
def test_what_was_cut_short_took_at_least_that(status: Status) -> None:
    quick = [ended(candidate("forest", unit), 0.1) for unit in (0.2, 0.4, 0.6)]
    model = taught(*quick)
    before = model.expect(candidate("forest", 0.9))
    assert before is not None
    for _ in range(6):
        model.learn(ended(candidate("forest", 0.9), 30.0, status))
    assert (model.expect(candidate("forest", 0.9)) or 0.0) > 100.0 * before


def test_a_bound_far_below_what_is_expected_teaches_nothing() -> None:
    model = taught(*[ended(candidate("linear"), 20.0)] * 5)
    before = model.expect(candidate("linear"))
    model.learn(ended(candidate("linear"), 0.2, Status.CANCELLED))
    assert model.expect(candidate("linear")) == pytest.approx(before, rel=1e-3)


def test_a_bound_very_far_above_what_is_expected_is_followed_and_stays_finite() -> None:
    model = taught(*[ended(candidate("linear"), 1e-3)] * 200)
    model.learn(ended(candidate("linear"), 1e5, Status.TIMEOUT))
    found = model.forecast(candidate("linear"))
    assert found is not None
    assert all(math.isfinite(each) for each in (found.low, found.middle, found.high))
    assert found.middle > 1e-3


@pytest.mark.parametrize(
    "status", [Status.ERROR, Status.CRASHED, Status.INVALID, Status.SKIPPED, Status.LOST]
)
def test_what_failed_by_itself_teaches_nothing(status: Status) -> None:
    assert taught(ended(candidate("linear"), 5.0, status)).expect(candidate("linear")) is None


def test_what_was_cancelled_makes_nothing_known() -> None:
    model = taught(ended(candidate("forest"), 0.01, Status.CANCELLED))
    assert model.expect(candidate("forest")) is None


def test_the_order_of_modules_does_not_count() -> None:
    model = taught(ended(candidate("linear")))
    turned = Selection(
        tuple((n, ("b", "a") if n == "order" else p) for n, p in candidate("linear").selection)
    )
    asked = replace(candidate("linear"), selection=turned)
    assert model.expect(asked) == model.expect(candidate("linear"))


def test_a_space_without_decisions_is_learned_too() -> None:
    space = SearchSpace((), (Parameter("x", 0.0, 1.0),))
    model = taught(space=space)
    assert model.expect(Candidate(Selection(()), (0.5,))) is None
    for unit in np.linspace(0, 1, 20):
        taken = Candidate(Selection(()), (unit,))
        model.learn(Evaluation(1, "k", taken, Status.SUCCESS, 0.5, seconds=math.exp(2 * unit)))
    found = model.expect(Candidate(Selection(()), (0.5,)))
    assert found == pytest.approx(math.e, rel=0.2)


def test_only_the_newest_of_a_long_log_are_learned() -> None:
    model = taught(*[ended(candidate("linear"), 50.0)] * 2000, *[ended(candidate("linear"))] * 1000)
    assert model.expect(candidate("linear")) == pytest.approx(LINEAR, rel=0.1)


def test_forecasts_stay_sound_after_thousands_of_evaluations() -> None:
    model, rng = taught(), np.random.default_rng(1)
    for _ in range(4000):
        asked = candidate("forest", float(rng.random()))
        model.learn(ended(asked, seconds_of(asked) * math.exp(0.2 * rng.normal())))
        found = model.forecast(asked)
        assert found is not None
        assert found.low < found.high
    assert found.middle == pytest.approx(seconds_of(asked), rel=0.1)


def test_only_what_even_the_optimist_thinks_too_long_cannot_finish() -> None:
    assert cannot_finish(20.0, 12.0)
    assert not cannot_finish(8.0, 12.0)
    assert not cannot_finish(None, 12.0)
    assert not cannot_finish(20.0, None)


def foresight(clock: float, deadline: float | None = 100.0) -> Foresight:
    model = taught(*[ended(candidate("linear"), 20.0)] * 5)
    return Foresight(model, Budget(deadline=deadline, clock=lambda: clock))


BEST = ended(candidate("linear"))


def test_a_candidate_that_cannot_finish_is_skipped_with_a_reason() -> None:
    assert foresight(50.0).reason_to_skip(candidate("linear"), BEST) is None
    reason = foresight(92.0).reason_to_skip(candidate("linear"), BEST)
    assert reason is not None
    assert re.fullmatch(r"takes about (19|20)\S* s, 8 s are left", reason)


def test_nothing_is_skipped_without_a_success_an_opinion_a_deadline_or_a_model() -> None:
    assert foresight(92.0).reason_to_skip(candidate("linear"), None) is None
    assert foresight(92.0).reason_to_skip(candidate("forest"), BEST) is None
    assert foresight(92.0, deadline=None).reason_to_skip(candidate("linear"), BEST) is None
    assert Foresight().reason_to_skip(candidate("linear"), BEST) is None


def test_what_would_be_killed_at_its_limit_is_skipped_and_is_no_reason_to_give_up() -> None:
    model = taught(*[ended(candidate("linear"), 20.0)] * 5)
    budget = Budget(deadline=1000.0, evaluation_seconds=5.0, clock=lambda: 0.0)
    limited = Foresight(model, budget)
    for _ in range(20):
        reason = limited.reason_to_skip(candidate("linear"), BEST)
    assert reason is not None
    assert reason.endswith(" s, 5 s are allowed")
    assert not limited.has_given_up
    assert limited.reason_to_skip(candidate("forest"), BEST) is None


def test_it_gives_up_after_many_in_a_row() -> None:
    late = foresight(92.0)
    for _ in range(15):
        late.reason_to_skip(candidate("linear"), BEST)
    assert not late.has_given_up
    late.reason_to_skip(candidate("linear"), BEST)
    assert late.has_given_up
    late.reason_to_skip(candidate("forest"), BEST)
    assert not late.has_given_up
