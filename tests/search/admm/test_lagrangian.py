from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Parameter, Selection
from automl_admm.search.admm import lagrangian, projection
from automl_admm.search.admm.pricing import Prices, Scales

numbers = st.floats(-5, 5)
rhos = st.floats(0.01, 100)


def augmented(excess: float, slack: float, mu: float, rho: float) -> float:
    """L's terms for one constraint, written as in the papers: μ r + ρ/2 r²."""
    residual = excess + slack
    return mu * residual + 0.5 * rho * residual**2


@given(numbers, st.floats(0, 5), numbers, rhos)
def test_slack_in_closed_form_beats_a_grid(
    excess: float, room: float, mu: float, rho: float
) -> None:
    best = lagrangian.slack(np.array([excess]), np.array([room]), np.array([mu]), rho)[0]
    assert 0.0 <= best <= room
    for other in np.linspace(0.0, room, 41):
        assert augmented(excess, best, mu, rho) <= augmented(excess, other, mu, rho) + 1e-9


@given(numbers, st.floats(0, 5), numbers, rhos)
def test_constraint_cost_is_the_lagrangian_at_that_slack(
    excess: float, room: float, mu: float, rho: float
) -> None:
    args = np.array([excess]), np.array([room]), np.array([mu]), rho
    best = lagrangian.slack(*args)[0]
    assert lagrangian.constraint_cost(*args) == pytest.approx(
        augmented(excess, best, mu, rho), abs=1e-6 * (1 + mu**2 / rho + rho)
    )


@given(st.floats(0, 5), rhos)
def test_a_constraint_costs_nothing_at_its_bound_and_less_with_slack(mu: float, rho: float) -> None:
    spare = np.array([-mu / rho])
    for excess, cost in ((np.zeros(1), 0.0), (spare, -(mu**2) / (2.0 * rho))):
        found = lagrangian.constraint_cost(excess, np.array([np.inf]), np.array([mu]), rho)
        assert found == pytest.approx(cost, abs=1e-9)


def test_slack_to_spare_costs_nothing_once_its_dual_is_spent() -> None:
    excess, room, rho = np.array([-0.7]), np.array([1.0]), 1.0
    assert lagrangian.constraint_cost(excess, room, np.zeros(1), rho) == 0.0
    residuals = lagrangian.constraint_residuals(excess, room, np.array([0.3]), rho)
    duals = lagrangian.update_constraint_duals(np.array([0.3]), residuals, rho, 100.0)
    assert duals == pytest.approx([0.0])


def test_a_broken_constraint_raises_its_dual_up_to_the_cap() -> None:
    duals = np.zeros(1)
    for _ in range(50):
        residuals = lagrangian.constraint_residuals(np.array([0.5]), np.ones(1), duals, 2.0)
        duals = lagrangian.update_constraint_duals(duals, residuals, 2.0, 10.0)
    assert duals == pytest.approx([10.0])


def test_a_residual_that_is_not_known_changes_no_dual() -> None:
    duals = lagrangian.update_constraint_duals(np.array([0.4]), np.array([np.nan]), 1.0, 10.0)
    assert duals == pytest.approx([0.4])


@given(st.floats(0, 1), numbers, rhos)
def test_delta_minimises_the_distance_over_the_grid(theta: float, dual: float, rho: float) -> None:
    parameter = Parameter("n", 1, 7, kind="int")
    (delta,) = projection.nearest_integers([parameter], np.array([theta]), np.array([dual]), rho)
    target = min(max(theta + dual / rho, 0.0), 1.0)
    grid = np.linspace(0.0, 1.0, 7)
    assert abs(delta - target) == pytest.approx(np.abs(grid - target).min(), abs=1e-9)


def test_a_continuous_parameter_is_its_own_copy() -> None:
    parameters = [Parameter("x", 0, 1), Parameter("n", 0, 4, kind="int")]
    delta = projection.nearest_integers(parameters, np.array([0.3, 0.3]), np.zeros(2), 1.0)
    assert delta == pytest.approx([0.3, 0.25])
    assert projection.integer_mask(parameters) == pytest.approx([0.0, 1.0])


def test_dual_of_the_integers_pulls_theta_to_its_copy() -> None:
    delta, rho = np.array([0.5]), 2.0
    dual = lagrangian.update_dual(np.zeros(1), np.array([0.6]), delta, rho, 100.0)
    assert dual == pytest.approx([0.2])
    cost = lagrangian.integer_cost(delta, dual, rho, np.ones(1))
    assert cost.center == pytest.approx([0.4])
    assert cost(np.array([0.4]))[0] == 0.0


def test_inactive_integers_go_to_their_box_only() -> None:
    theta = projection.project_inactive(
        np.array([0.3, 0.3]), np.array([1.4, 0.9]), np.array([1.0, 0.0])
    )
    assert theta == pytest.approx([1.0, 0.3])


def test_what_could_not_be_measured_has_no_price() -> None:
    candidate = Candidate(Selection(()), ())
    prices = Prices((Limit("g", 1.0),), Scales(1.0, np.ones(1), True), np.zeros(1), 1.0)
    measured = Evaluation(1, "", candidate, Status.SUCCESS, 2.0, (0.5,))
    assert prices.cost(measured) == pytest.approx(2.0)
    assert prices.cost(replace(measured, constraints=(math.nan,))) == math.inf
