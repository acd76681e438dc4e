"""`smac` with cheaper evaluations does as BOHB does: Hyperband's brackets, filled by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from automl_admm_smac import ForestOptions, build_forest
from automl_admm_smac.solver import SmacTheta

from automl_admm.plugin_api import Array, Observation, Parameter, ThetaSolver, unwrap
from automl_admm.testing.contracts import box_problem, observed

LINE = (Parameter("x", 0, 1),)
MIXED = (
    Parameter("x", 0, 1),
    Parameter("depth", 1, 50, kind="int"),
    Parameter("model", 0, 2, kind="category", values=("tree", "line", "net")),
)
NINTH, THIRD, WHOLE = 0.11, 0.33, 1.0
# One round of Hyperband down to a ninth; each bracket costs about three whole evaluations.
BRACKETS = (
    ((NINTH, 9), (THIRD, 3), (WHOLE, 1)),
    ((THIRD, 5), (WHOLE, 1)),
    ((WHOLE, 3),),
)
ROUND = [fidelity for bracket in BRACKETS for fidelity, count in bracket for _ in range(count)]


def loss_of(point: Array) -> float:
    """Least at x = 0.3, whatever the other axes are."""
    return float(np.sum(np.abs(point[:1] - 0.3))) + 1e-3 * float(np.sum(point[1:]))


def begun(
    options: ForestOptions, parameters: Sequence[Parameter] = LINE, *, seed: int = 0
) -> ThetaSolver:
    """A solver at the start of a sub-problem down to a ninth, whose start has been told."""
    solver = build_forest(options)
    problem = replace(box_problem(tuple(parameters), seed=seed), lowest_fidelity=1 / 9)
    solver.begin(problem)
    ((start, fidelity),) = map(unwrap, solver.ask(1, []))
    assert fidelity == WHOLE
    solver.tell([observed(start, loss_of(start))])
    return solver


def climb(solver: ThetaSolver, count: int) -> list[Observation[Array]]:
    """Ask and tell one by one."""
    told = []
    for _ in range(count):
        ((point, fidelity),) = map(unwrap, solver.ask(1, []))
        told.append(replace(observed(point, loss_of(point)), fidelity=fidelity))
        solver.tell(told[-1:])
    return told


@pytest.mark.parametrize("random", [0.2, 1.0])
def test_every_bracket_of_two_rounds_follows_eta(random: float) -> None:
    told = climb(begun(ForestOptions(random=random), MIXED), 2 * len(ROUND))
    assert [round(one.fidelity, 2) for one in told] == 2 * ROUND


def test_only_the_best_third_of_a_rung_climbs() -> None:
    told = iter(climb(begun(ForestOptions(), MIXED), 2 * len(ROUND)))
    for bracket in 2 * BRACKETS:
        rungs = [[next(told) for _ in range(count)] for _, count in bracket]
        for below, above in pairwise(rungs):
            best = sorted(below, key=lambda one: one.loss)[: len(below) // 3]
            assert {one.point.tobytes() for one in above} == {one.point.tobytes() for one in best}


def test_a_new_bracket_has_new_configurations() -> None:
    told = climb(begun(ForestOptions(), MIXED), len(ROUND))
    entered = [told[place].point.tobytes() for place in (*range(9), *range(13, 18), 19, 20, 21)]
    assert len(set(entered)) == len(entered)


def drawn(solver: ThetaSolver, count: int) -> float:
    """Return the share of new configurations that SMAC says it drew."""
    assert isinstance(solver, SmacTheta)
    assert solver._trials is not None
    before = len(solver._trials._asked)
    climb(solver, count)
    found = list(solver._trials._asked.values())[before:]
    return float(np.mean([one.origin == "Random Search" for one in found]))


@pytest.mark.parametrize(("random", "low", "high"), [(0.0, 0, 0), (1 / 3, 0.2, 0.5), (1.0, 1, 1)])
def test_so_many_configurations_are_drawn(random: float, low: float, high: float) -> None:
    solver = begun(ForestOptions(initial=1, random=random), MIXED, seed=3)
    # What comes before the model is drawn in any case.
    climb(solver, len(ROUND))
    assert low <= drawn(solver, 2 * len(ROUND)) <= high


@pytest.mark.parametrize("lowest", [1 / 9, 1 / 3])
def test_the_second_bracket_has_a_model_in_a_space_of_many_axes(lowest: float) -> None:
    wide = tuple(Parameter(f"x{place}", 0, 1) for place in range(20))
    solver = build_forest(ForestOptions(initial=1, random=0.0))
    solver.begin(replace(box_problem(wide), lowest_fidelity=lowest))
    first = 1 + 9 + 3 + 1 if lowest < THIRD else 1 + 3 + 1
    climb(solver, first)
    assert drawn(solver, 1) == 0.0
    assert isinstance(solver, SmacTheta)
    assert solver._trials is not None
    origins = [one.origin for one in solver._trials._asked.values()]
    assert str(origins[-1]).startswith("Acquisition Function Maximizer")


def test_what_is_drawn_does_not_hang_on_losses() -> None:
    def entered(random: float, sign: float) -> list[float]:
        solver = begun(ForestOptions(initial=1, random=random), LINE)
        for x in np.linspace(0.0, 1.0, 12):
            solver.tell([observed(np.array([x]), sign * float(x))])
        return [float(unwrap(each)[0][0]) for each in solver.ask(6, [])]

    assert entered(1.0, 1.0) == entered(1.0, -1.0)
    assert np.median(entered(0.0, 1.0)) < 0.3
    assert np.median(entered(0.0, -1.0)) > 0.7


@pytest.mark.parametrize(("whole", "is_near"), [(1, 0.1), (8, 0.9)])
def test_the_model_is_of_the_highest_fidelity_with_enough(whole: int, is_near: float) -> None:
    """Rough answers are best at 0.1, whole ones at 0.9; two of an axis and one more are enough."""
    solver = build_forest(ForestOptions(initial=1, random=0.0))
    problem = replace(box_problem(LINE), start=np.array([0.5]), lowest_fidelity=1 / 9)
    solver.begin(problem)
    for x in np.linspace(0.0, 1.0, 21):
        solver.tell([replace(observed(np.array([x]), abs(x - 0.1)), fidelity=1 / 9)])
    for x in np.linspace(0.02, 0.98, whole):
        solver.tell([observed(np.array([x]), abs(x - 0.9))])
    assert [unwrap(each)[1] for each in solver.ask(1, [])] == [WHOLE]
    entered = [float(unwrap(each)[0][0]) for each in solver.ask(8, [np.array([0.5])])]
    assert abs(np.median(entered) - is_near) < 0.15


def test_a_refused_point_never_climbs() -> None:
    solver = begun(ForestOptions(), MIXED)
    climbed: list[float] = []
    for _ in range(12):
        ((point, fidelity),) = map(unwrap, solver.ask(1, []))
        is_refused = bool(point[0] < 0.5)
        told = observed(point, 1.0 - float(point[0]), failed=is_refused)
        solver.tell([replace(told, fidelity=fidelity, refused=is_refused)])
        if round(fidelity, 2) == THIRD:
            climbed.append(float(point[0]))
    assert len(climbed) == 3
    assert min(climbed) >= 0.5


def test_a_result_that_never_comes_holds_up_its_own_bracket_only() -> None:
    solver = begun(ForestOptions(), MIXED)
    rung = [unwrap(each)[0] for each in solver.ask(9, [])]
    solver.tell([replace(observed(point, loss_of(point)), fidelity=1 / 9) for point in rung[1:]])
    entered = [unwrap(each) for each in solver.ask(5, rung[:1])]
    assert [round(fidelity, 2) for _, fidelity in entered] == [THIRD] * 5
    assert not {point.tobytes() for point, _ in entered} & {point.tobytes() for point in rung}


def test_a_point_that_nobody_asked_for_is_learnt_and_moves_no_rung() -> None:
    solver = begun(ForestOptions(), MIXED)
    for x in (0.29, 0.31):
        stranger = np.array([x, 0.0, 0.0])
        solver.tell([replace(observed(stranger, loss_of(stranger)), fidelity=1 / 9)])
    assert [round(one.fidelity, 2) for one in climb(solver, len(ROUND))] == ROUND


def test_a_box_without_an_axis_has_nothing_but_its_start() -> None:
    assert begun(ForestOptions(), ()).ask(2, []) == []
