from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from automl_admm.builtin.theta import GpOptions, build_gp
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian import surrogate
from automl_admm.builtin.theta.gaussian.acquisition import log_improvement
from automl_admm.builtin.theta.gaussian.regression import (
    Fit,
    Kernel,
    Posterior,
    fit_kernel,
    negative_log_posterior,
    prior_mean,
)
from automl_admm.builtin.theta.gaussian.surrogate import Surrogate
from automl_admm.builtin.theta.gaussian.training_set import Sample
from automl_admm.builtin.theta.gaussian.warping import Bend, taming, told_two_ways
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem

RNG = np.random.default_rng(0)
POINTS = RNG.random((20, 3))
VALUES = np.sin(6.0 * POINTS[:, 0]) + POINTS[:, 1] ** 2
VALUES = (VALUES - VALUES.mean()) / VALUES.std()
FLAT = Quadratic(np.zeros(3), np.zeros(3))
AXES = tuple(Parameter(f"x{i}", 0.0, 1.0) for i in range(3))
GRID = (Parameter("a", 0, 3, kind="int"), Parameter("b", 1, 2, kind="int"))


def posterior() -> Posterior:
    logs = fit_kernel(POINTS, VALUES, prior_mean(3), 30).logs
    return Posterior.of(Kernel.of(logs), POINTS, VALUES)


def box_of(
    parameters: tuple[Parameter, ...] = AXES,
    history: tuple[Observation[Array], ...] = (),
    known_cost: Quadratic | None = None,
    start: Array | None = None,
) -> ThetaSubproblem:
    size = len(parameters)
    return ThetaSubproblem(
        parameters,
        np.full(size, 0.5) if start is None else start,
        known_cost or Quadratic(np.zeros(size), np.zeros(size)),
        history,
    )


def run(subproblem: ThetaSubproblem, function: Callable[[Array], float], count: int) -> list[Array]:
    solver = build_gp(GpOptions())
    solver.begin(subproblem)
    asked: list[Array] = []
    for _ in range(count):
        for point in solver.ask(1, ()):
            asked.append(point)
            loss = function(point) + float(subproblem.known_cost(point)[0])
            solver.tell([Observation(point, loss)])
    return asked


@given(st.floats(-1e8, 10.0), st.floats(1e-3, 10.0))
def test_log_improvement_is_finite_and_grows(z: float, step: float) -> None:
    low, high = log_improvement(np.array([z, z + step]))
    assert math.isfinite(low)
    assert low <= high


@pytest.mark.parametrize("seam", [-1.0, -1e4])
def test_the_branches_of_log_improvement_meet(seam: float) -> None:
    below, above = log_improvement(np.array([seam * (1 + 1e-9), seam * (1 - 1e-9)]))
    assert below == pytest.approx(above, rel=1e-6)


def test_the_posterior_passes_through_what_it_saw_and_is_unsure_elsewhere() -> None:
    model = posterior()
    mean, variance = model.moments(POINTS)
    assert mean == pytest.approx(VALUES, abs=0.1)
    _, away = model.moments(np.ones((1, 3)) * 3.0)
    assert away[0] > 10 * variance.max()


def test_what_is_pending_narrows_the_variance_and_leaves_the_mean() -> None:
    model, place = posterior(), np.array([[0.9, 0.1, 0.9]])
    mean, variance = model.moments(place)
    mean_after, variance_after = model.believing(place).moments(place)
    assert mean_after == pytest.approx(mean, abs=1e-3)
    assert variance_after[0] < 0.1 * variance[0]


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30))
def test_taming_keeps_the_order_and_the_better_half(values: list[float]) -> None:
    given_values = np.array(values)
    tamed = taming(given_values)(given_values)
    better = given_values <= np.median(given_values)
    assert np.array_equal(tamed[better], given_values[better])
    order = np.argsort(given_values, kind="stable")
    assert (np.diff(tamed[order]) >= 0).all()


def test_taming_pulls_in_what_is_far_off_and_puts_failures_last() -> None:
    values = np.array([0.0, 1.0, 2.0, 1e9, np.inf])
    tamed = taming(values)(values)
    assert tamed[3] < 100.0
    assert np.isfinite(tamed[4])
    assert tamed[4] > tamed[3]
    assert not taming(np.full(2, np.inf))(np.full(2, np.inf)).any()


@given(st.floats(-50.0, 50.0))
def test_the_log_slope_of_a_bend_is_that_of_its_values(value: float) -> None:
    bend, step = Bend(-1.0, 2.0, 0.5), 1e-5
    assume(min(abs(value + 1.0), abs(value - 2.0)) > step)
    near = bend(np.array([value - step, value + step]))
    slope = float(near[1] - near[0]) / (2.0 * step)
    assert bend.log_slopes(np.array([value, np.inf])) == pytest.approx(math.log(slope), abs=1e-3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_the_second_shape_is_what_was_told(values: list[float]) -> None:
    told = np.array(values)
    _, plain = told_two_ways(told)
    assert np.array_equal(plain(told), told)
    assert plain.log_slopes(told) == 0.0


def test_values_are_taken_in_the_shape_that_the_process_explains_best() -> None:
    """A plane is left as it is told, its exponential is tamed."""
    points = np.random.default_rng(5).random((40, 3))
    plane = points @ np.array([1.0, 2.0, 4.0])
    for values, chosen in ((plane, 1), (np.exp(2.0 * plane), 0)):
        sample = Sample(Box.of(AXES), FLAT)
        sample.add([Observation(p, float(value)) for p, value in zip(points, values, strict=True)])
        beliefs = Surrogate()
        beliefs.begin(("x",))
        shapes = sample.trainings(100)
        assert beliefs.condition(shapes, len(sample))[0] is shapes[chosen]


def test_shapes_are_compared_again_when_a_tenth_more_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel of the shape that was taken is fitted at every ask, the other one's seldom."""
    fits: list[int] = []

    def counting(points: Array, *rest: Any) -> Fit:
        fits.append(len(points))
        return fit_kernel(points, *rest)

    monkeypatch.setattr(surrogate, "fit_kernel", counting)
    points = np.random.default_rng(7).random((24, 3))
    beliefs, sample = Surrogate(), Sample(Box.of(AXES), FLAT)
    beliefs.begin(("x",))
    for place, point in enumerate(points):
        sample.add([Observation(point, float(np.exp(point.sum())))])
        if place >= 19:
            beliefs.condition(sample.trainings(100), len(sample))
    assert fits == [20, 20, 21, 22, 22, 23, 24]


def test_the_prior_lets_all_lengths_move_together() -> None:
    """A common step of all lengths costs less than the same step of every other one."""
    middle, points, nothing = prior_mean(6), np.zeros((1, 6)), np.zeros(1)
    together, apart = middle.copy(), middle.copy()
    together[:6] += 0.5
    apart[:6] += 0.5 * np.array([1, -1, 1, -1, 1, -1])
    surprises = [negative_log_posterior(logs, points, nothing)[0] for logs in (together, apart)]
    least, _ = negative_log_posterior(middle, points, nothing)
    assert surprises[0] - least < 0.5 * (surprises[1] - least)


def test_of_two_observations_of_one_point_the_cheaper_counts() -> None:
    sample = Sample(Box.of(GRID), Quadratic(np.zeros(2), np.ones(2)))
    points = [np.array([0.30, 0.0]), np.array([0.36, 0.0])]
    sample.add([Observation(point, 1.0 + 0.5 * float(point @ point)) for point in points])
    sample.add([Observation(points[1], math.nan, failed=True)])
    training = sample.training(100)
    assert len(training.points) == 1
    assert training.known[0] == pytest.approx(0.5 * 0.09)
    assert training.succeeded.all()


def test_with_a_history_there_is_no_new_design() -> None:
    rng = np.random.default_rng(3)
    history = tuple(Observation(p, float(((p - 0.4) ** 2).sum())) for p in rng.random((30, 3)))
    asked = run(box_of(history=history), lambda p: float(((p - 0.4) ** 2).sum()), 3)
    assert min(float(((point - 0.4) ** 2).sum()) for point in asked) < 2e-3


def test_the_known_cost_needs_no_learning() -> None:
    """Nothing but the known cost: all points after the design go where it is least."""
    cost = Quadratic(np.array([0.2, 0.7, 0.9]), np.full(3, 50.0))
    asked = run(box_of(known_cost=cost), lambda point: 1e-3 * float(point.sum()), 14)
    assert np.abs(np.mean(asked[-3:], axis=0) - cost.center).max() < 0.1


def test_integers_are_told_apart_by_their_grid() -> None:
    asked = run(box_of(GRID), lambda point: float(point.sum()), 12)
    places = {
        tuple(parameter.project(x) for parameter, x in zip(GRID, point, strict=True))
        for point in asked
    }
    assert len(asked) == len(places) == 8


def test_a_fit_starts_from_the_last_one_of_the_same_parameters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts: list[Array] = []
    ends: list[Array] = []

    def spy(points: Array, values: Array, start: Array, steps: int) -> Fit:
        found = fit_kernel(points, values, start, steps)
        starts.append(start)
        ends.append(found.logs)
        return found

    monkeypatch.setattr("automl_admm.builtin.theta.gaussian.surrogate.fit_kernel", spy)
    solver = build_gp(GpOptions())
    for parameters in (AXES, AXES[:2], AXES):
        solver.begin(box_of(parameters))
        solver.tell([Observation(p, float(p.sum())) for p in RNG.random((8, len(parameters)))])
        solver.ask(1, ())
    # Two shapes of the values are fitted each time: tamed, and as they were told.
    assert [len(start) for start in starts] == [5, 5, 4, 4, 5, 5]
    assert all(np.array_equal(starts[n], prior_mean(3)) for n in (0, 1))
    assert all(np.array_equal(starts[n], prior_mean(2)) for n in (2, 3))
    assert all(np.array_equal(starts[n + 4], ends[n]) for n in (0, 1))


def test_the_model_is_bounded() -> None:
    rng = np.random.default_rng(0)
    history = tuple(Observation(p, float(p.sum())) for p in rng.random((600, 3)))
    sample = Sample(Box.of(AXES), FLAT)
    sample.add(history)
    assert len(sample) == 600
    assert len(sample.training(GpOptions().points).points) == GpOptions().points


def test_failures_are_avoided() -> None:
    """The lower half of an axis fails: few of the later points lie there."""
    solver = build_gp(GpOptions())
    solver.begin(box_of(start=np.full(3, 0.8)))
    asked: list[Array] = []
    for _ in range(24):
        for point in solver.ask(1, ()):
            asked.append(point)
            failed = bool(point[0] < 0.5)
            loss = math.nan if failed else float(((point - 0.6) ** 2).sum())
            solver.tell([Observation(point, loss, failed=failed)])
    assert sum(point[0] < 0.5 for point in asked[-10:]) <= 3
