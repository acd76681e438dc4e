from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from automl_admm.builtin.theta import RbfOptions
from automl_admm.builtin.theta.rbf import RadialBasisTheta, shares, surrogate, tame
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Quadratic
from automl_admm.testing.contracts import box_problem, observed

RNG = np.random.default_rng(0)


def search(function: object, dimension: int, rounds: int, seed: int = 0) -> list[Array]:
    solver = RadialBasisTheta(RbfOptions())
    axes = [Parameter(f"x{axis}", 0, 1) for axis in range(dimension)]
    solver.begin(box_problem(axes, seed=seed, evaluations=rounds))
    found: list[Array] = []
    for _ in range(rounds):
        (point,) = solver.ask(1, [])
        solver.tell([observed(point, function(point))])  # type: ignore[operator]
        found.append(point)
    return found


def bowl(point: Array) -> float:
    return float(((point - 0.7) ** 2).sum())


def test_the_surrogate_goes_through_what_is_known_and_a_line_stays_a_line() -> None:
    points, slope = RNG.random((12, 3)), np.array([1.0, -2.0, 0.5])
    known = RNG.random(12)
    assert surrogate(points, known, points) == pytest.approx(known, abs=1e-4)
    far = RNG.random((5, 3))
    assert surrogate(points, points @ slope, far) == pytest.approx(far @ slope, abs=1e-4)


def test_points_that_span_no_box_or_coincide_have_a_surrogate_all_the_same() -> None:
    flat = np.column_stack([RNG.random(6), np.full(6, 0.5)])
    assert np.isfinite(surrogate(flat, RNG.random(6), RNG.random((4, 2)))).all()
    one = np.full((2, 2), 0.3)
    assert surrogate(one, np.array([1.0, 3.0]), RNG.random((4, 2))).tolist() == [2.0] * 4
    twins = np.concatenate([RNG.random((5, 2)), np.full((2, 2), 0.4)])
    twins[-1] += 1e-14
    assert np.isfinite(surrogate(twins, RNG.random(7), RNG.random((4, 2)))).all()


def test_huge_losses_are_cut_at_the_median_and_failures_lie_above() -> None:
    told = tame(np.array([1.0, 2.0, 3.0, 1e300, np.inf]))
    assert told[0] == 0.0
    assert told[3] == 1.0
    assert told[4] > 1.0
    assert tame(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert shares(np.array([3.0, 3.0])).tolist() == [0.0, 0.0]


def test_it_is_far_closer_to_a_minimum_than_chance() -> None:
    best = [min(map(bowl, search(bowl, 4, 40, seed))) for seed in range(3)]
    chance = [min(map(bowl, RNG.random((40, 4)))) for _ in range(3)]
    assert max(best) < 0.25 * min(chance)


def test_the_known_cost_is_added_exactly() -> None:
    solver = RadialBasisTheta(RbfOptions(initial=4))
    problem = box_problem([Parameter("x", 0, 1)], evaluations=20)
    cost = Quadratic(np.array([0.2]), np.array([200.0]))
    # f̃ is flat: all that speaks for a place is the known cost.
    points = np.linspace(0.05, 0.95, 9)[:, None]
    history = tuple(observed(point, 1.0 + float(cost(point)[0])) for point in points)
    solver.begin(replace(problem, known_cost=cost, history=history))
    asked = []
    for _ in range(4):
        (point,) = solver.ask(1, [])
        solver.tell([observed(point, 1.0 + float(cost(point)[0]))])
        asked.append(float(point[0]))
    assert min(abs(place - 0.2) for place in asked) < 0.05


def test_options_are_checked() -> None:
    for wrong in ({"initial": 0}, {"candidates": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            RbfOptions(**wrong)
