from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from automl_admm.builtin.theta import GpOptions
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian.acquisition import (
    ExpectedImprovement,
    climb,
    log_improvement,
)
from automl_admm.builtin.theta.gaussian.gp import GaussianProcessTheta
from automl_admm.builtin.theta.gaussian.regression import (
    Kernel,
    Posterior,
    fit_kernel,
    negative_log_posterior,
    prior_mean,
)
from automl_admm.builtin.theta.gaussian.training_set import choose
from automl_admm.builtin.theta.gaussian.warping import taming
from automl_admm.core.space import Parameter
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem

RNG = np.random.default_rng(0)
POINTS = RNG.random((14, 3))
VALUES = np.sin(5 * POINTS[:, 0]) + POINTS[:, 1] - POINTS[:, 1].mean()
NOTHING = Quadratic(np.zeros(3), np.zeros(3))


def slope_of(function, point: np.ndarray, step: float = 1e-6) -> np.ndarray:
    axes = np.eye(len(point))
    return np.array(
        [(function(point + step * a) - function(point - step * a)) / (2 * step) for a in axes]
    )


@given(st.lists(st.floats(-2, 2), min_size=5, max_size=5))
def test_gradient_of_the_likelihood_is_its_slope(shift: list[float]) -> None:
    logs = prior_mean(3) + 0.5 * np.array(shift)
    _, gradient = negative_log_posterior(logs, POINTS, VALUES)
    numeric = slope_of(lambda x: negative_log_posterior(x, POINTS, VALUES)[0], logs)
    assert gradient == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_a_fit_is_likelier_than_its_start_and_interpolates() -> None:
    logs = fit_kernel(POINTS, VALUES, prior_mean(3), 60).logs
    before = negative_log_posterior(prior_mean(3), POINTS, VALUES)[0]
    assert negative_log_posterior(logs, POINTS, VALUES)[0] < before
    posterior = Posterior.of(Kernel.of(logs), POINTS, VALUES)
    mean, variance = posterior.moments(POINTS)
    assert mean == pytest.approx(VALUES, abs=0.05)
    assert variance.max() < 0.05
    far_mean, far_variance = posterior.moments(np.full((1, 3), 60.0))
    assert far_mean == pytest.approx([0.0], abs=1e-3)
    assert far_variance == pytest.approx([posterior.kernel.amplitude], rel=1e-3)


def test_equal_points_do_not_break_it() -> None:
    twice = np.vstack([POINTS, POINTS])
    posterior = Posterior.of(Kernel.of(prior_mean(3)), twice, np.concatenate([VALUES, VALUES]))
    assert np.isfinite(posterior.moments(POINTS)[0]).all()


@pytest.mark.parametrize("z", [3.0, 0.5, 0.0, -0.5, -0.999, -1.001, -3.0])
def test_log_improvement_is_the_integral(z: float) -> None:
    def density(t: float) -> float:
        return max(z - t, 0.0) * math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)

    expected = quad(density, -12, z, epsabs=1e-16)[0]
    assert log_improvement(np.array([z]))[0] == pytest.approx(math.log(expected), rel=1e-5)


def test_log_improvement_falls_smoothly_far_into_the_tail() -> None:
    z = -np.logspace(-2, 6, 400)
    values = log_improvement(z)
    assert np.isfinite(values).all()
    assert (np.diff(values) < 0).all()


def acquisition(known: Quadratic = NOTHING) -> ExpectedImprovement:
    posterior = Posterior.of(Kernel.of(prior_mean(3)), POINTS, VALUES)
    return ExpectedImprovement(posterior, known, 2.0, float(VALUES.min()))


@given(st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3))
def test_gradient_of_the_acquisition_is_its_slope(place: list[float]) -> None:
    known = Quadratic(np.array([0.2, 0.5, 0.7]), np.array([1.0, 0.0, 3.0]))
    improvement, point = acquisition(known), np.array(place)
    value, gradient = improvement.with_slopes(point[None])
    assert value == pytest.approx(improvement(point[None], point[None]))
    numeric = slope_of(lambda x: float(improvement(x[None], x[None])[0]), point)
    assert gradient[0] == pytest.approx(numeric, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("weight", [1e8, 1e20])
def test_the_gradient_is_the_slope_far_into_the_tail(weight: float) -> None:
    known = Quadratic(np.full(3, 5.0), np.full(3, weight))
    improvement, point = acquisition(known), np.full(3, 0.5)
    gradient = improvement.with_slopes(point[None])[1]
    numeric = slope_of(lambda x: float(improvement(x[None], x[None])[0]), point)
    assert gradient[0] == pytest.approx(numeric, rel=1e-3)


def test_climbing_improves_every_start() -> None:
    improvement, starts = acquisition(), RNG.random((4, 3))
    climbed = climb(improvement, starts, 40)
    assert (improvement(climbed, climbed) >= improvement(starts, starts) - 1e-9).all()
    assert ((climbed >= 0) & (climbed <= 1)).all()


PARAMETERS = (
    Parameter("a", 0, 1),
    Parameter("b", 1, 900, kind="int", log=True),
    Parameter("c", 3, 3, kind="int"),
    Parameter("d", -4, 4, kind="int"),
)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_the_box_projects_as_the_parameters_do(place: list[float]) -> None:
    (ours,) = Box.of(PARAMETERS).project(np.array([place]))
    theirs = [p.project(unit) for p, unit in zip(PARAMETERS, place, strict=True)]
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_a_finite_box_is_drawn_to_its_last_point() -> None:
    box = Box.of((Parameter("n", 1, 4, kind="int"), Parameter("s", 0, 1, kind="int")))
    known: set[bytes] = set()
    while (point := box.draw(RNG, known)) is not None:
        known |= set(box.keys(point[None]))
    assert len(known) == box.size == 8


def test_what_is_far_above_the_middle_is_tamed_and_the_order_stays() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4, 1e6, np.inf])
    tamed = taming(values)(values)
    assert (np.diff(tamed) > 0).all()
    assert tamed[:3] == pytest.approx(values[:3])
    assert tamed.max() < 10.0
    assert (taming(np.full(2, np.inf))(np.full(2, np.inf)) == 0.0).all()


def test_of_too_many_points_the_best_and_the_latest_are_kept() -> None:
    totals = RNG.random(900)
    kept = choose(totals, 100)
    assert len(kept) == len(set(kept.tolist())) == 100
    assert set(np.argsort(totals)[:50].tolist()) <= set(kept.tolist())
    assert set(range(875, 900)) <= set(kept.tolist())


def task(**changes: object) -> ThetaSubproblem:
    known = {"parameters": PARAMETERS[:2], "start": np.array([0.3, 0.6])}
    return ThetaSubproblem(
        **{**known, "known_cost": Quadratic(np.zeros(2), np.zeros(2)), **changes}
    )


def test_the_start_comes_first_and_not_again_where_it_is_known() -> None:
    solver = GaussianProcessTheta(GpOptions())
    solver.begin(task())
    (first,) = solver.ask(1, [])
    assert first == pytest.approx([0.3, 0.6])
    solver.begin(task(history=(Observation(first, 1.0, 1.0),)))
    (second,) = solver.ask(1, [])
    assert second != pytest.approx(first)


def test_the_known_cost_draws_it_even_where_the_function_is_flat() -> None:
    solver = GaussianProcessTheta(GpOptions())
    known = Quadratic(np.array([0.8, 0.2]), np.array([50.0, 50.0]))
    solver.begin(task(known_cost=known))
    for _ in range(20):
        for point in solver.ask(1, []):
            solver.tell([Observation(point, 1.0 + float(known(point)[0]), 1.0)])
    (last,) = solver.ask(1, [])
    assert last == pytest.approx([0.8, 0.2], abs=0.1)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_those_that_are_pending_together_are_apart(seed: int) -> None:
    points = np.random.default_rng(seed).random((12, 2))
    losses = np.sin(9 * points[:, 0]) + np.cos(7 * points[:, 1])
    rows = zip(points, losses, strict=True)
    solver = GaussianProcessTheta(GpOptions())
    solver.begin(task(history=tuple(Observation(point, float(loss), 0.0) for point, loss in rows)))
    proposed = solver.ask(5, [])
    gaps = [np.linalg.norm(a - b) for a, b in itertools.combinations(proposed, 2)]
    assert min(gaps) > 0.01


def test_no_point_is_proposed_twice() -> None:
    solver = GaussianProcessTheta(GpOptions())
    solver.begin(
        task(
            parameters=(Parameter("n", 1, 5, kind="int"),),
            start=np.zeros(1),
            known_cost=Quadratic(np.zeros(1), np.zeros(1)),
        )
    )
    seen = set()
    while points := solver.ask(1, []):
        seen.add(round(4 * float(points[0][0])))
        solver.tell([Observation(points[0], float(points[0][0]), 0.0)])
    assert seen == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("wrong", [{"initial": 0}, {"points": 3}])
def test_senseless_options_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="at least"):
        GpOptions(**wrong)
