"""`admmbo`: the dual update, the scores of both sub-problems, and a problem with a known answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from automl_admm.builtin.theta import AdmmboOptions, GpOptions
from automl_admm.builtin.theta.admmbo import AdmmboTheta
from automl_admm.builtin.theta.gaussian.acquisition import WithinLimit
from automl_admm.builtin.theta.gaussian.gp import GaussianProcessTheta
from automl_admm.builtin.theta.gaussian.regression import Kernel, Posterior, prior_mean
from automl_admm.builtin.theta.gaussian.splitting import (
    FeasibilityImprovement,
    Splitting,
    together,
)
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Quadratic
from automl_admm.testing.contracts import box_problem, observed

RNG = np.random.default_rng(0)
AXES = (Parameter("a", 0, 1), Parameter("b", 0, 1))
MODEL = Posterior.of(Kernel.of(prior_mean(2)), RNG.random((8, 2)), np.linspace(-1.0, 1.0, 8))
LIMITS = (Limit("g", 0.0), Limit("h", 0.0))


def test_the_dual_update_and_the_balance_of_residuals() -> None:
    state = Splitting.at(np.array([0.5, 0.5]), 2, rho=2.0).moved(0, np.array([0.25, 0.5]))
    # r = 0.125; the copies have moved as far as they are apart: s = 2 · 0.125.
    even = state.updated(np.full((2, 2), 0.5))
    assert even.duals.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert even.rho == 2.0
    assert even.target(0).tolist() == [0.75, 0.5]
    # No copy has moved: s = 0, so ρ doubles, up to 16 times the first.
    stuck = even
    for _ in range(9):
        stuck = stuck.updated(stuck.copies)
    assert stuck.rho == 32.0
    together_again = state.moved(0, state.x).updated(state.copies)
    assert together_again.rho == 1.0


def test_the_pull_is_the_sum_of_the_squares_less_a_constant() -> None:
    state = replace(
        Splitting.at(np.zeros(2), 3, rho=1.5), copies=RNG.random((3, 2)), duals=RNG.random((3, 2))
    )
    points = RNG.random((5, 2))
    apart = points[:, None] - state.copies + state.duals / 1.5
    gap = 0.75 * (apart**2).sum(axis=(1, 2)) - state.pull()(points)
    assert gap == pytest.approx(np.full(5, gap[0]))


def test_the_sum_of_two_quadratics_is_exact() -> None:
    one = Quadratic(np.array([0.2, 0.9]), np.array([3.0, 0.0]))
    other = Quadratic(np.array([0.6, 0.1]), np.array([1.0, 0.0]))
    whole, constant = together(one, other)
    points = RNG.random((4, 2))
    assert whole(points) + constant == pytest.approx(one(points) + other(points))


@pytest.mark.parametrize("best", [0.7, 1.3])
def test_the_feasibility_score_is_the_improvement_of_a_bernoulli_variable(best: float) -> None:
    target, points = np.array([0.4, 0.6]), RNG.random((6, 2))
    score = FeasibilityImprovement(WithinLimit(MODEL, 0.2), target, 0.1, best)
    mean, variance = MODEL.moments(points)
    chance = norm.cdf(0.2, mean, np.sqrt(variance))
    away = 0.1 * ((points - target) ** 2).sum(axis=1)
    # The two outcomes of the indicator, by hand.
    expected = chance * np.maximum(best - away, 0.0)
    expected += (1.0 - chance) * np.maximum(best - away - 1.0, 0.0)
    assert np.exp(score(points, points)) == pytest.approx(expected)


@pytest.mark.parametrize("best", [0.002, 0.7, 1.3])
def test_its_gradient_is_its_slope_also_where_no_room_is_left(best: float) -> None:
    score = FeasibilityImprovement(WithinLimit(MODEL, 0.2), np.array([0.4, 0.6]), 0.1, best)
    point = np.array([0.45, 0.9])
    value, gradient = score.with_slopes(point[None])
    assert value == pytest.approx(score(point[None], point[None]))
    steps = 1e-6 * np.eye(2)
    rises = [score((point + s)[None], (point + s)[None])[0] for s in steps]
    falls = [score((point - s)[None], (point - s)[None])[0] for s in steps]
    assert gradient[0] == pytest.approx((np.array(rises) - falls) / 2e-6, rel=1e-3)


def test_without_limits_it_is_gp() -> None:
    ours, theirs = (
        propose(solver, 12)
        for solver in (AdmmboTheta(AdmmboOptions()), GaussianProcessTheta(GpOptions()))
    )
    assert np.array_equal(ours, theirs)


def propose(solver: ThetaSolver, rounds: int) -> Array:
    solver.begin(box_problem(AXES, evaluations=rounds))
    found = []
    for _ in range(rounds):
        (point,) = solver.ask(1, [])
        solver.tell([observed(np.asarray(point), float(((np.asarray(point) - 0.3) ** 2).sum()))])
        found.append(point)
    return np.array(found)


def gramacy(point: Array) -> tuple[float, float]:
    """The two constraints of Gramacy et al. (2016); the objective is the sum of the axes."""
    a, b = map(float, point)
    wave = 0.5 * math.sin(2.0 * math.pi * (a * a - 2.0 * b))
    return 1.5 - a - 2.0 * b - wave, a * a + b * b - 1.5


def test_it_reaches_the_optimum_of_the_toy_problem_of_gramacy() -> None:
    for seed in range(2):
        solver, best = AdmmboTheta(AdmmboOptions()), math.inf
        solver.begin(replace(box_problem(AXES, seed=seed, evaluations=40), limits=LIMITS))
        for _ in range(40):
            (point,) = solver.ask(1, [])
            values, total = gramacy(point), float(point.sum())
            solver.tell([observed(point, total, constraints=values)])
            best = min(best, total) if max(values) <= 0.0 else best
        assert 0.599 < best < 0.62  # the optimum is 0.5998


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="initial must be at least 1"):
        AdmmboOptions(initial=0)
    for value in (0.0, 1e-300, 1e308, math.inf, math.nan):
        for name in ("rho", "penalty"):
            with pytest.raises(
                ValueError, match=rf"^{name} must be a number from 1e-20 to 1e\+20$"
            ):
                AdmmboOptions(**{name: value})
    with pytest.raises(ValueError, match="optimality and feasibility must be at least 1"):
        AdmmboOptions(feasibility=0)
