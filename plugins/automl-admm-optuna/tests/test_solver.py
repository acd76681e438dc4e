"""What is particular to Optuna: constraints, conditions, failures, and its log."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from automl_admm_optuna import (
    ParzenOptions,
    ProcessOptions,
    TorchMissingError,
    build_parzen,
    build_process,
)

from automl_admm.plugin_api import (
    Array,
    Choice,
    Condition,
    Limit,
    Observation,
    Parameter,
    Quadratic,
    SearchSpace,
    ThetaSolver,
)
from automl_admm.testing.contracts import box_problem, observed
from automl_admm.testing.problems import points_of
from automl_admm.testing.searches import minimize

NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="optuna-gp needs torch")
KINDS = ("optuna", pytest.param("optuna-gp", marks=NEEDS_TORCH))
MODEL = Parameter("model", 0, 2, kind="category", values=("tree", "line", "none"))
DEPTH = Parameter("depth", 1, 5, kind="int", when=Condition("model", ("tree", "line")))
SLOPE = Parameter("slope", 0.1, 10, log=True, when=Condition("model", ("line",)))
AXES = (MODEL, DEPTH, SLOPE)


def make(name: str) -> ThetaSolver:
    if name == "optuna":
        return build_parzen(ParzenOptions())
    return build_process(ProcessOptions(initial=4))


def loss_at(point: Array) -> float:
    """Best at the line of depth 1, with the smallest slope."""
    return float(abs(point[0] - 0.5) + point[1] + point[2])


def search(solver: ThetaSolver, rounds: int, seed: int = 0) -> list[Array]:
    solver.begin(box_problem(AXES, seed=seed, evaluations=rounds))
    found: list[Array] = []
    for _ in range(rounds):
        for point in points_of(solver.ask(1, [])):
            solver.tell([observed(point, loss_at(point))])
            found.append(point)
    return found


@NEEDS_TORCH
def test_the_gaussian_process_searches_a_whole_space_with_a_limit() -> None:
    def measured(values: dict[str, Any]) -> dict[str, float]:
        loss = (values["width"] - 6.0) ** 2 + float(values["wood"] != "ash")
        return {"loss": loss, "weight": values["width"]}

    result = minimize(
        measured,
        SearchSpace((Choice("wood", ("oak", "ash")),), (Parameter("width", 1, 10),)),
        constraints=["weight <= 4"],
        strategy="joint",
        theta_solver="optuna-gp:initial=4",
        max_evaluations=9,
        random_state=0,
    )
    assert result.feasible
    assert len(result.evaluations) == 9


def test_what_does_not_count_stands_at_its_default() -> None:
    for point in search(make("optuna"), 30)[1:]:
        if MODEL.value(point[0]) == "none":
            assert point[1] == DEPTH.default_unit()
        if MODEL.value(point[0]) != "line":
            assert point[2] == SLOPE.default_unit()


def limited(point: Array) -> Observation[Array]:
    """The loss falls away from the limit: the best point is far outside of it."""
    x, y = (float(place) for place in point)
    return replace(observed(point, -x - y), constraints=(1000.0 * (x + y), 1.0 - abs(x - y)))


LIMITS = (Limit("weight", 700.0), Limit("balance", 0.7, at_least=True))


def inside(name: str, limits: tuple[Limit, ...], rounds: int) -> int:
    """How many proposals are within the limits, if the solver is told of them."""
    solver, found = make(name), 0
    problem = box_problem((Parameter("x", 0, 1), Parameter("y", 0, 1)), evaluations=rounds)
    solver.begin(replace(problem, limits=limits))
    for _ in range(rounds):
        for point in points_of(solver.ask(1, [])):
            told = limited(point)
            found += all(m.holds(g) for m, g in zip(LIMITS, told.constraints, strict=True))
            solver.tell([told if limits else replace(told, constraints=())])
    return found


@pytest.mark.parametrize(
    ("name", "rounds"), [("optuna", 50), pytest.param("optuna-gp", 12, marks=NEEDS_TORCH)]
)
def test_limits_are_constraints(name: str, rounds: int) -> None:
    assert inside(name, LIMITS, rounds) > 1.5 * inside(name, (), rounds)


@pytest.mark.parametrize("name", KINDS)
def test_the_price_of_a_limit_is_not_counted_twice(name: str) -> None:
    solver = make(name)
    problem = box_problem((Parameter("x", 0, 1), Parameter("y", 0, 1)))
    cost = Quadratic(np.array([0.5, 0.5]), np.array([2.0, 0.0]))
    problem = replace(problem, limits=LIMITS, objective_unit=2.0, known_cost=cost)
    priced = replace(limited(np.array([0.25, 0.5])), loss=99.0)
    solver.begin(replace(problem, history=(priced,)))
    (known,) = solver._known.values()  # type: ignore[attr-defined]
    assert known.value == pytest.approx(-0.75 / 2.0 + 0.0625)
    assert known.excess == pytest.approx((50.0 / 700.0, -0.05 / 0.7))


@pytest.mark.parametrize("limits", [(), LIMITS])
@pytest.mark.parametrize("name", KINDS)
def test_failures_are_searched_away_from(name: str, limits: tuple[Limit, ...]) -> None:
    solver, rng = make(name), np.random.default_rng(1)
    problem = box_problem((Parameter("x", 0, 1), Parameter("y", 0, 0.001)), evaluations=40)
    bad = [observed(p, 9.0, failed=True) for p in rng.uniform((0.5, 0.0), (1.0, 1.0), (12, 2))]
    good = [limited(p) for p in rng.uniform((0.0, 0.0), (0.5, 1.0), (12, 2))]
    solver.begin(replace(problem, limits=limits, history=(*bad, *good)))
    points = points_of(solver.ask(5, []))[1:]
    assert np.median([point[0] for point in points]) < 0.6


def test_pending_points_are_kept_away_from() -> None:
    solver = make("optuna")
    known = [observed(np.array([x]), abs(x - 0.5)) for x in np.linspace(0.0, 1.0, 21)]
    solver.begin(box_problem([Parameter("x", 0, 1)], known))
    alone = points_of(solver.ask(1, []))[0][0]
    crowd = [np.array([x]) for x in np.linspace(alone - 0.05, alone + 0.05, 30)]
    solver.begin(box_problem([Parameter("x", 0, 1)], known))
    assert abs(points_of(solver.ask(1, crowd))[0][0] - alone) > 0.01


@pytest.mark.parametrize("name", KINDS)
def test_the_log_of_optuna_is_left_as_it_was(name: str) -> None:
    import optuna

    level = optuna.logging.get_verbosity()
    search(make(name), 8)
    assert optuna.logging.get_verbosity() == level


def test_without_torch_there_is_a_word_on_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("automl_admm_optuna.find_spec", lambda name: None)
    with pytest.raises(TorchMissingError, match="pip install torch"):
        build_process(ProcessOptions(initial=4))


@pytest.mark.parametrize("wrong", [{"initial": 0}, {"candidates": 0}])
def test_options_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ParzenOptions(**wrong)
