"""What is particular to Hyperopt: conditions, grids and pending points."""

from __future__ import annotations

import numpy as np
import pytest
from automl_admm_hyperopt import ParzenOptions, build_annealing, build_parzen

from automl_admm.plugin_api import Array, Condition, NoOptions, Parameter, ThetaSolver
from automl_admm.testing.contracts import box_problem, observed
from automl_admm.testing.problems import points_of

KINDS = ("hyperopt", "hyperopt-anneal")
MODEL = Parameter("model", 0, 2, kind="category", values=("tree", "line", "none"))
DEPTH = Parameter("depth", 1, 5, kind="int", when=Condition("model", ("tree", "line")))
SLOPE = Parameter("slope", 0.1, 10, log=True, when=Condition("model", ("line",)))
AXES = (MODEL, DEPTH, SLOPE)


def make(name: str) -> ThetaSolver:
    return build_parzen(ParzenOptions()) if name == "hyperopt" else build_annealing(NoOptions())


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


@pytest.mark.parametrize("name", KINDS)
def test_what_does_not_count_stands_at_its_default(name: str) -> None:
    for point in search(make(name), 30)[1:]:
        if MODEL.value(point[0]) == "none":
            assert point[1] == DEPTH.default_unit()
        if MODEL.value(point[0]) != "line":
            assert point[2] == SLOPE.default_unit()


@pytest.mark.parametrize("name", KINDS)
def test_failures_and_what_is_no_number_are_searched_away_from(name: str) -> None:
    solver, rng = make(name), np.random.default_rng(1)
    bad = [observed(np.array([x]), -9.0, failed=True) for x in rng.uniform(0.0, 0.5, 20)]
    bad += [observed(np.array([x]), np.nan) for x in rng.uniform(0.0, 0.5, 20)]
    good = [observed(np.array([x]), 1.0 - x) for x in rng.uniform(0.5, 1.0, 20)]
    solver.begin(box_problem([Parameter("x", 0, 1)], [*bad, *good]))
    points = points_of(solver.ask(21, []))
    assert np.median(points) > 0.5


def test_pending_points_are_kept_away_from() -> None:
    solver = make("hyperopt")
    known = [observed(np.array([x]), abs(x - 0.5)) for x in np.linspace(0.0, 1.0, 21)]
    solver.begin(box_problem([Parameter("x", 0, 1)], known))
    alone = points_of(solver.ask(1, []))[0][0]
    crowd = [np.array([x]) for x in np.linspace(alone - 0.05, alone + 0.05, 30)]
    solver.begin(box_problem([Parameter("x", 0, 1)], known))
    assert abs(points_of(solver.ask(1, crowd))[0][0] - alone) > 0.01


@pytest.mark.parametrize("wrong", [{"initial": 0}, {"candidates": 0}])
def test_options_are_checked(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ParzenOptions(**wrong)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", KINDS)
def test_a_wide_integer_with_a_log_scale_is_searched_without_a_warning(name: str) -> None:
    solver = make(name)
    solver.begin(box_problem([Parameter("n", 1, 10**15, kind="int", log=True)], evaluations=60))
    for _ in range(40):
        for point in points_of(solver.ask(1, [])):
            solver.tell([observed(point, float((point[0] - 0.3) ** 2))])
