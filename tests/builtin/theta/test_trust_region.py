from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.builtin.theta import TrustRegionOptions, build_trust_region, trust_region
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.trust_region import Answers
from automl_admm.core.space import Parameter
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem

PARAMETERS = (Parameter("a", 0, 1), Parameter("b", 0, 1), Parameter("c", 0, 1))
GRID = (Parameter("n", 1, 5, kind="int"), Parameter("m", 1, 4, kind="int"))
OPTIONS = TrustRegionOptions()


def task(parameters: tuple[Parameter, ...] = PARAMETERS, **changes: object) -> ThetaSubproblem:
    nothing = np.zeros(len(parameters))
    known = {"start": nothing + 0.5, "known_cost": Quadratic(nothing, nothing), "evaluations": 32}
    return ThetaSubproblem(**{"parameters": parameters, **known, **changes})


def valley(point: np.ndarray) -> float:
    x, y, z = point
    return float((x - 0.2) ** 2 + 2 * (y - 0.8) ** 2 + (z - x) ** 2)


def seen(point: np.ndarray, loss: float) -> Observation[np.ndarray]:
    return Observation(point, loss, loss)


def advance(solver, count: int) -> list[float]:
    losses = []
    for _ in range(count):
        for point in solver.ask(1, []):
            losses.append(valley(point))
            solver.tell([seen(point, losses[-1])])
    return losses


def test_a_quadratic_is_solved_by_few_evaluations_more_than_its_model_needs() -> None:
    solver = build_trust_region(OPTIONS)
    solver.begin(task())
    assert min(advance(solver, 32)) < 1e-3


def test_the_start_comes_first_and_the_design_is_as_large_as_was_said() -> None:
    solver = build_trust_region(TrustRegionOptions(design=4))
    solver.begin(task())
    points = [solver.ask(1, [])[0]]
    assert np.array_equal(points[0], [0.5, 0.5, 0.5])
    for _ in range(4):
        solver.tell([seen(points[-1], valley(points[-1]))])
        points += solver.ask(1, [])
    best = min(points[:4], key=valley)
    # COBYQA first goes along an axis by its radius.
    assert np.count_nonzero(~np.isclose(points[4], best)) == 1


def test_asking_again_is_asking_for_the_same() -> None:
    solver = build_trust_region(OPTIONS)
    solver.begin(task())
    advance(solver, 20)
    assert np.array_equal(solver.ask(1, [])[0], solver.ask(1, [])[0])


def test_what_was_never_asked_for_leaves_the_run_on_its_track() -> None:
    ours, theirs = build_trust_region(OPTIONS), build_trust_region(OPTIONS)
    for solver in (ours, theirs):
        solver.begin(task())
        advance(solver, 16)
    ours.tell([seen(np.array([0.123, 0.456, 0.789]), 0.0)])
    assert np.array_equal(ours.ask(1, [])[0], theirs.ask(1, [])[0])


def test_two_solvers_take_turns() -> None:
    alone, one, other = (build_trust_region(OPTIONS) for _ in range(3))
    for solver in (alone, one, other):
        solver.begin(task())
    losses = advance(alone, 24)
    turns = [(advance(one, 1)[0], advance(other, 1)[0]) for _ in range(24)]
    assert turns == [(loss, loss) for loss in losses]


def test_after_a_run_has_ended_another_begins_elsewhere() -> None:
    solver = build_trust_region(OPTIONS)
    solver.begin(task(PARAMETERS[:1]))
    points = []
    for _ in range(60):
        (point,) = solver.ask(1, [])
        points.append(float(point[0]))
        solver.tell([seen(point, (points[-1] - 0.3) ** 2)])
    assert len(set(np.round(points, 6))) == 60
    assert min(abs(np.array(points) - 0.3)) < 1e-3
    assert np.ptp(points[-30:]) > 0.3


def test_no_point_of_a_grid_is_proposed_twice() -> None:
    solver = build_trust_region(OPTIONS)
    solver.begin(task(GRID))
    box, keys = Box.of(GRID), []
    while points := solver.ask(1, []):
        keys += box.keys(points[0][None])
        solver.tell([seen(points[0], float(box.project(points[0][None]).sum()))])
    assert len(keys) == len(set(keys)) == 20


def test_within_a_cell_only_the_known_cost_moves() -> None:
    cost = Quadratic(np.array([0.2, 0.0]), np.array([4.0, 0.0]))
    answers = Answers(Box.of(GRID), cost)
    answers.add([seen(np.array([0.3, 0.0]), 7.0 + 0.5 * 4.0 * 0.1**2)])
    assert answers(np.array([0.2, 0.1])) == pytest.approx(7.0)
    assert answers(np.array([0.3, 0.1])) == pytest.approx(7.02)


def test_a_failure_is_worse_than_the_worst_and_stays_what_it_is_during_a_run() -> None:
    answers = Answers(Box.of(PARAMETERS), Quadratic(np.zeros(3), np.zeros(3)))
    first, later = np.full(3, 0.1), np.full(3, 0.2)
    answers.add([Observation(first, 4.0, failed=True), seen(np.zeros(3), 10.0)])
    assert answers(first) < 10.0
    answers.settle()
    before = answers(first)
    assert before > 10.0
    answers.add([seen(np.ones(3), 30.0), seen(later, math.nan), seen(first, 0.0)])
    assert answers(first) == before
    assert answers(later) == 50.0
    answers.settle()
    assert answers(first) == answers(later) == 50.0


def test_a_run_does_not_begin_at_a_failure() -> None:
    solver = build_trust_region(TrustRegionOptions(design=3))
    solver.begin(task())
    told = [solver.ask(1, [])[0]]
    solver.tell([Observation(told[0], 1.0, failed=True)])
    for _ in range(2):
        told += solver.ask(1, [])
        solver.tell([seen(told[-1], 100.0 + valley(told[-1]))])
    (first,) = solver.ask(1, [])
    near = min(told, key=lambda point: float(((point - first) ** 2).sum()))
    assert not np.array_equal(near, told[0])


def test_pending_points_are_believed_until_they_are_told() -> None:
    solver = build_trust_region(OPTIONS)
    solver.begin(task())
    advance(solver, 10)
    first = solver.ask(3, [])
    assert len({tuple(point) for point in first}) == 3
    for point in first[::-1]:
        solver.tell([seen(point, valley(point))])
    assert min(advance(solver, 22)) < 1e-3


@pytest.mark.parametrize("wrong", [{"design": 0}, {"radius": 0.0}, {"radius": 0.6}])
def test_senseless_options_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="must"):
        TrustRegionOptions(**wrong)


def test_with_more_dimensions_than_half_its_calls_it_gets_beyond_its_first_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a hundred and more, each replay of which takes long."""
    monkeypatch.setattr(trust_region, "CALLS_A_RUN", 20)
    solver = build_trust_region(OPTIONS)
    dimension = 12
    solver.begin(task(tuple(Parameter(f"x{i}", 0, 1) for i in range(dimension)), evaluations=None))
    best = math.inf
    for _ in range(2 * dimension + 24):
        (point,) = solver.ask(1, [])
        loss = float(((point - 0.3) ** 2).sum())
        best = min(best, loss)
        solver.tell([seen(point, loss)])
    assert best < 0.1
