"""`gp` with limits: the parts of its acquisition, what they are learnt from, what it proposes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from automl_admm.builtin.theta import GpOptions, build_gp
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian.acquisition import (
    ExpectedImprovement,
    Pull,
    Together,
    WithinLimit,
    climb,
)
from automl_admm.builtin.theta.gaussian.regression import Kernel, Posterior, prior_mean
from automl_admm.builtin.theta.gaussian.training_set import Sample, measured
from automl_admm.builtin.theta.gaussian.warping import taming
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem

RNG = np.random.default_rng(0)
POINTS = RNG.random((14, 2))
AXES = (Parameter("a", 0, 1), Parameter("b", 0, 1))
NOTHING = Quadratic(np.zeros(2), np.zeros(2))
PULLED = Quadratic(np.array([0.2, 0.5]), np.array([1.0, 3.0]))
LATENCY = Limit("latency", 0.3)
RECALL = Limit("recall", 0.8, at_least=True, extreme=1.0)


def posterior(values: Array) -> Posterior:
    return Posterior.of(Kernel.of(prior_mean(2)), POINTS, values)


def acquisition() -> Together:
    objective = posterior(np.sin(5 * POINTS[:, 0]) - 0.5)
    limit = WithinLimit(posterior(POINTS[:, 1] - 0.5), -0.1)
    improvement = ExpectedImprovement(objective, PULLED, 2.0, -0.8)
    return Together([improvement, limit, Pull(objective, PULLED, 2.0, 0.3)])


@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=2), st.integers(0, 2))
def test_gradients_are_slopes(place: list[float], number: int) -> None:
    whole, point = acquisition(), np.array(place)
    for part in (whole, whole.parts[number]):
        value, gradient = part.with_slopes(point[None])
        assert value == pytest.approx(part(point[None], point[None]))
        steps = 1e-6 * np.eye(2)
        numeric = [
            float(part((point + s)[None], (point + s)[None])[0])
            - float(part((point - s)[None], (point - s)[None])[0])
            for s in steps
        ]
        assert gradient[0] == pytest.approx(np.array(numeric) / 2e-6, rel=1e-3, abs=1e-3)


def test_the_probability_is_that_of_a_normal_variable_also_far_outside() -> None:
    model = posterior(POINTS[:, 1])
    places = RNG.random((5, 2))
    mean, variance = model.moments(places)
    logged = WithinLimit(model, 0.4)(places, places)
    assert np.exp(logged) == pytest.approx(norm.cdf(0.4, mean, np.sqrt(variance)))
    values, slopes = WithinLimit(model, -1e6).with_slopes(places)
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()


@dataclass(frozen=True)
class Straight:
    """A model whose mean is x and whose deviation is 1 everywhere."""

    def moments_and_slopes(self, points: Array) -> tuple[Array, Array, Array, Array]:
        return points[:, 0], np.ones(len(points)), np.ones_like(points), np.zeros_like(points)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e8, 1e9, 1e150])
def test_the_gradient_keeps_its_digits_however_far_outside(far: float) -> None:
    """There log Φ(z) is −z²/2, and its slope is −z."""
    limit = WithinLimit(cast("Posterior", Straight()), 0.0)
    _, slopes = limit.with_slopes(np.array([[far]]))
    assert slopes[0, 0] == pytest.approx(-far, rel=1e-5)


def test_climbing_goes_where_the_limit_holds() -> None:
    limit = WithinLimit(posterior(4 * POINTS[:, 1] - 2), -1.0)
    starts = np.full((1, 2), 0.6)
    assert climb(limit, starts, 40)[0, 1] < 0.3


@given(
    st.lists(
        st.one_of(
            st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-6), st.just(math.inf)
        ),
        min_size=2,
        max_size=20,
    )
)
def test_a_constraint_is_modelled_with_its_order_and_its_sides(given_excess: list[float]) -> None:
    excess = np.array(given_excess)
    found = measured(excess)
    assert np.isfinite(found.values).all()
    order = np.argsort(excess, kind="stable")
    assert (np.diff(found.values[order]) >= -1e-9).all()
    inside = excess <= 0
    assert (found.values[inside] <= found.bound + 1e-6).all()
    assert (found.values[~inside] >= found.bound - 1e-6).all()


def test_a_constraint_near_its_limit_stays_straight() -> None:
    excess = np.array([-0.2, -0.1, 0.1, 0.2, 0.3, -0.3, 1e6])
    found = measured(excess)
    steps = found.values[:4] - found.bound
    assert steps[[0, 1, 3]] == pytest.approx(steps[2] * np.array([-2, -1, 2]))
    assert np.ptp(found.values) < 12


def test_a_constraint_that_never_moves_is_surely_met_or_surely_not() -> None:
    assert measured(np.full(5, -3e-6)).bound == pytest.approx(1.0)
    assert measured(np.full(5, 2e6)).bound == pytest.approx(-1.0)


def test_giants_outside_the_limits_do_not_blur_what_is_within() -> None:
    values = np.array([1.0, 1.1, 1.2, 1.3, 1e6, 1e6, -1e6, 0.5, np.inf])
    within = np.array([True] * 4 + [False] * 5)
    tamed = taming(values, within)(values)
    assert np.array_equal(np.argsort(tamed), np.argsort(values))
    assert np.ptp(tamed[:4]) > 0.01 * np.ptp(tamed)


def sample(limits: tuple[Limit, ...], unit: float = 1.0) -> Sample:
    made = Sample(Box.of(AXES), PULLED, limits, unit)
    made.add(
        [
            Observation(np.array([0.1, 0.1]), 50.0, 6.0, (0.2, 0.9)),
            Observation(np.array([0.2, 0.2]), 60.0, 2.0, (0.4, 0.9)),
            Observation(np.array([0.3, 0.3]), 70.0, 4.0, (0.2, 0.7)),
            Observation(np.array([0.4, 0.4]), 80.0, 8.0, (math.nan, 0.9)),
            Observation(np.array([0.5, 0.5]), 90.0, math.nan, (), failed=True),
        ]
    )
    return made


def test_with_limits_what_was_measured_is_learnt_and_not_its_price() -> None:
    training = sample((LATENCY, RECALL), unit=2.0).training(100)
    assert training.feasible.tolist() == [True, False, False, False, False]
    assert training.succeeded.tolist() == [True, True, True, True, False]
    assert np.argsort(training.values).tolist() == [1, 2, 0, 3, 4]
    latency, recall = training.measured
    assert (latency.values <= latency.bound).tolist() == [True, False, True, False, False]
    assert (recall.values <= recall.bound).tolist() == [True, True, False, True, False]
    # Near the best within the limits distances stay nearly as they are, and so does what the
    # known cost is worth beside them.
    gap = (training.values[0] - training.values[2]) * training.unit
    assert gap == pytest.approx((6.0 - 4.0) / 2.0, rel=0.05)
    assert training.known * training.unit == pytest.approx(PULLED(training.points))


def test_of_what_a_limit_refused_the_cheap_values_are_learnt() -> None:
    known = Sample(Box.of(AXES), NOTHING, (LATENCY, RECALL))
    known.add(
        [
            Observation(POINTS[0], 9.0, constraints=(0.5, math.nan), failed=True, refused=True),
            Observation(POINTS[1], 1.0, 1.0, (0.1, 0.9)),
            Observation(POINTS[2], 2.0, 2.0, (0.7, 0.7)),
        ]
    )
    latency, recall = known.training(10).measured
    assert np.argsort(latency.values).tolist() == [1, 0, 2]
    assert int(recall.values.argmax()) == 0  # not known: as of a failure


def test_penalties_whose_squares_are_no_numbers_are_learnt_as_giants() -> None:
    for limits in ((), (LATENCY,)):
        known = Sample(Box.of(AXES), NOTHING, limits)
        for place, value in enumerate([1e300, 1.0, 2.0, -1e300]):
            told = Observation(POINTS[place], value, value, (value,) * len(limits))
            known.add([told])
        training = known.training(10)
        assert np.isfinite(training.values).all()
        assert all(np.isfinite(limit.values).all() for limit in training.measured)


def test_without_limits_the_loss_is_learnt() -> None:
    training = sample(()).training(100)
    assert training.measured == ()
    assert training.feasible.tolist() == training.succeeded.tolist()
    assert np.argsort(training.values).tolist() == [0, 1, 2, 3, 4]


def test_of_too_many_points_the_feasible_come_before_the_cheap() -> None:
    made = Sample(Box.of(AXES), NOTHING, (LATENCY,))
    for place, point in enumerate(RNG.random((60, 2))):
        good = place < 10
        made.add([Observation(point, 0.0, 1.0 if good else 0.0, (0.2 if good else 900.0 + place,))])
    assert made.training(20).feasible.sum() == 10


def search(
    options: GpOptions, *, feasible_below: float = 0.4, evaluations: int = 26, **changes: object
) -> list[tuple[Array, float, float]]:
    """Minimise the sum of squares around a corner that the limit cuts off; losses are 1 / f."""
    solver = build_gp(options)
    known = {"start": np.array([0.9, 0.9]), "known_cost": NOTHING, "limits": (LATENCY,)}
    solver.begin(ThetaSubproblem(AXES, **{**known, **changes}))
    seen = []
    for _ in range(evaluations):
        for point in solver.ask(1, []):
            objective = float(((point - 0.9) ** 2).sum())
            g = float(point.sum()) - feasible_below + LATENCY.bound
            seen.append((point, objective, g))
            solver.tell([Observation(point, 1.0 / (objective + 0.1), objective, (g,))])
    return seen


def test_it_finds_the_best_on_the_edge_of_the_limit_whatever_the_losses_are() -> None:
    seen = search(GpOptions())
    best = min(objective for _, objective, g in seen if g <= LATENCY.bound)
    assert best == pytest.approx(2 * 0.7**2, abs=0.01)


def test_priced_it_looks_at_nothing_but_losses() -> None:
    seen = search(GpOptions(limits="priced"))
    far = max(float(((point - 0.9) ** 2).sum()) for point, _, _ in seen)
    assert far == pytest.approx(2 * 0.9**2, abs=0.05)


def test_with_nothing_feasible_it_goes_where_that_is_likeliest() -> None:
    seen = search(GpOptions(), feasible_below=0.0, evaluations=16)
    assert min(g for _, _, g in seen) < LATENCY.bound + 0.05


def test_the_known_cost_decides_among_the_feasible() -> None:
    """It pulls so strongly that the objective does not matter; the limit does."""
    cost = Quadratic(np.array([0.7, 0.05]), np.array([90.0, 90.0]))
    seen = search(GpOptions(), known_cost=cost, objective_unit=10.0)
    late = [point for point, _, g in seen[-6:] if g <= LATENCY.bound + 0.05]
    # The nearest place to (0.7, 0.05) whose coordinates sum to 0.4, with the second not below 0.
    assert np.median(late, axis=0) == pytest.approx([0.4, 0.0], abs=0.08)


def test_several_at_a_time_within_limits_differ() -> None:
    solver = build_gp(GpOptions())
    history = tuple(Observation(p, 0.0, float(p.sum()), (float(p[0]),)) for p in POINTS)
    solver.begin(ThetaSubproblem(AXES, np.full(2, 0.5), NOTHING, history, (LATENCY,)))
    first = solver.ask(3, [])
    second = solver.ask(2, first)
    assert len({tuple(np.round(point, 6)) for point in first + second}) == 5


def test_a_constraint_that_is_never_measured_stops_nothing() -> None:
    solver = build_gp(GpOptions())
    solver.begin(ThetaSubproblem(AXES, np.full(2, 0.5), NOTHING, limits=(LATENCY,)))
    for _ in range(8):
        for point in solver.ask(1, []):
            solver.tell([Observation(point, 1.0, float(point.sum()), (math.nan,))])
    assert len(solver.ask(1, [])) == 1


def test_one_success_among_failures_is_enough() -> None:
    made = Sample(Box.of(AXES), NOTHING, (LATENCY,))
    made.add([Observation(point, 0.0, failed=True) for point in POINTS])
    made.add([Observation(np.full(2, 0.5), 2.0, 2.0, (0.1,))])
    training = made.training(8)
    assert training.feasible.sum() == 1
    assert np.isfinite(training.values).all()
    assert np.isfinite(training.measured[0].values).all()


def test_a_strange_word_for_limits_is_refused() -> None:
    with pytest.raises(ValueError, match="probability"):
        GpOptions(limits="hard")
