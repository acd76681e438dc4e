from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from automl_admm.builtin.theta import CtpeOptions, TpeOptions, build_ctpe, build_tpe
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.ctpe import ConstrainedRule, ranked_by
from automl_admm.builtin.theta.parzen import Cells, Parzen, Split, bandwidths
from automl_admm.builtin.theta.tpe import LossRule, Memory, Told, first_ranked, group_size
from automl_admm.problem import Limit, Observation, Quadratic, ThetaSubproblem
from automl_admm.space import Parameter

REAL = Parameter("x", 0, 1)
SWITCH = Parameter("s", 0, 1, kind="int")
COUNT = Parameter("n", 1, 40, kind="int", log=True)
FIXED = Parameter("c", 3, 3, kind="int")
LOG = Parameter("y", 1e-3, 10, log=True)
RNG = np.random.default_rng(0)


def places(parameter: Parameter) -> list[float]:
    whole = range(int(parameter.low), int(parameter.high) + 1)
    return [parameter.to_unit(float(number)) for number in whole]


def task(parameters: tuple[Parameter, ...] = (REAL, REAL), **changes: object) -> ThetaSubproblem:
    nothing = np.zeros(len(parameters))
    named = tuple(
        Parameter(f"p{i}", p.low, p.high, kind=p.kind, log=p.log) for i, p in enumerate(parameters)
    )
    known = {"start": nothing + 0.5, "known_cost": Quadratic(nothing, nothing), "evaluations": 40}
    return ThetaSubproblem(**{"parameters": named, **known, **changes})


def told(objectives: list[float], excess: list[list[float]]) -> Told:
    values = np.array(objectives)
    points = RNG.random((len(values), 2))
    return Told(points, values, values, np.zeros(len(values)), np.array(excess))


def test_the_density_of_a_real_axis_integrates_to_one() -> None:
    estimator = Parzen.of(np.array([[0.02], [0.4], [0.95]]), Cells.of((REAL,)))
    grid = np.linspace(0, 1, 20001)[:, None]
    density = np.exp(estimator.log_density(grid))
    assert np.trapezoid(density, grid[:, 0]) == pytest.approx(1.0, abs=1e-3)


def test_the_density_of_a_mixed_grid_sums_to_one() -> None:
    parameters = (COUNT, SWITCH, FIXED)
    grid = np.array(list(itertools.product(*map(places, parameters))))
    estimator = Parzen.of(grid[[3, 17, 60]], Cells.of(parameters))
    assert np.exp(estimator.log_density(grid)).sum() == pytest.approx(1.0)


def test_cells_tile_their_axis() -> None:
    cells = Cells.of((COUNT,))
    below, above = cells.edges(np.array(places(COUNT))[:, None])
    assert above[:-1] == pytest.approx(below[1:])
    assert (cells.bottom, cells.top) == (below[0], above[-1])


def test_samples_follow_the_density() -> None:
    parameters = (SWITCH, COUNT)
    grid = np.array(list(itertools.product(places(SWITCH), places(COUNT))))
    estimator = Parzen.of(grid[[5, 5, 70]], Cells.of(parameters))
    drawn = Box.of(parameters).project(estimator.sample(np.random.default_rng(1), 40_000))
    seen = [np.isclose(drawn, place, atol=1e-9).all(axis=1).mean() for place in grid]
    assert seen == pytest.approx(np.exp(estimator.log_density(grid)), abs=0.02)


def test_a_sharp_kernel_on_a_switch_stays_with_most_of_its_mass() -> None:
    cells = Cells.of((SWITCH,))
    estimator = Parzen.of(np.ones((30, 1)), cells)
    off, on = np.exp(estimator.log_density(np.array([[0.0], [1.0]])))
    assert on > 0.8
    assert off > 0.03


def test_bandwidths_are_scotts_within_their_bounds() -> None:
    points = RNG.random((60, 1))
    low, high = np.percentile(points, [25, 75])
    scott = 1.059 * min(points.std(ddof=1), (high - low) / 1.34) * 60**-0.2
    assert bandwidths(points, np.array([0.01])) == pytest.approx(scott)
    assert bandwidths(np.full((60, 1), 0.3), np.array([0.01])) == pytest.approx(0.01)
    assert bandwidths(np.full((2, 1), 0.3), np.array([0.01])) == pytest.approx(1 / 16)
    assert bandwidths(np.full((1, 1), 0.3), np.array([0.39])) == pytest.approx(0.39)


@pytest.mark.parametrize(("count", "size"), [(1, 1), (16, 1), (17, 2), (65, 3), (200, 4)])
def test_the_size_of_a_good_group(count: int, size: int) -> None:
    assert group_size(count) == size


def test_the_objective_is_split_at_the_wanted_feasible_point() -> None:
    values = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    feasible = np.array([True, False, True, False, False])
    assert first_ranked(values, feasible, 1).tolist() == [False, True, True, True, False]
    assert first_ranked(values, feasible, 2).all()
    assert first_ranked(values, np.zeros(5, dtype=bool), 1).all()
    everything = np.ones(5, dtype=bool)
    assert first_ranked(values, everything, 2).tolist() == [False, True, False, True, False]


def test_the_relative_ratio_is_its_formula_and_vanishes_with_its_constraint() -> None:
    cells, points = Cells.of((REAL, REAL)), RNG.random((9, 2))
    split = Split.of(points[:3], points[3:], cells)
    r = np.exp(split.log_ratio(points))
    expected = 1 / (1 / 3 + (2 / 3) / r)
    assert np.exp(split.log_relative_ratio(points)) == pytest.approx(expected)
    satisfied = Split.of(points, points[:0], cells)
    assert not satisfied.log_relative_ratio(points).any()
    assert satisfied.log_ratio(points).any()


def test_a_constraint_that_nothing_satisfies_has_its_nearest_point() -> None:
    known = told([1.0, 2.0, 3.0], [[0.3, -1.0], [0.1, math.inf], [0.2, 2.0]])
    objective, first, second = ConstrainedRule(by_feasible=True, relative=True).part(known)
    assert objective.all()
    assert first.tolist() == [False, True, False]
    assert second.tolist() == [True, False, False]
    objective, first, _ = ConstrainedRule(by_feasible=False, relative=False).part(known)
    assert objective.tolist() == [True, False, False]
    assert not first.any()


def test_failures_are_never_good() -> None:
    known = told([math.inf, 2.0], [[math.inf], [0.5]])
    for mask in ConstrainedRule(by_feasible=True, relative=True).part(known):
        assert mask.tolist() == [False, True]
    assert LossRule().part(known)[0].tolist() == [False, True]


def test_the_memory_turns_limits_and_counts_what_was_not_measured_as_outside() -> None:
    limits = (Limit("latency", 5.0), Limit("recall", 0.8, at_least=True, extreme=1.0))
    subproblem = task(limits=limits)
    memory = Memory(Box.of(subproblem.parameters), subproblem)
    memory.add(
        [
            Observation(np.array([0.1, 0.1]), 1.0, 1.0, (4.0, 0.7)),
            Observation(np.array([0.2, 0.2]), 2.0, 2.0, (math.nan, 0.9)),
            Observation(np.array([0.3, 0.3]), 9.0, math.nan, (), failed=True),
        ]
    )
    known = memory.told()
    assert known.excess == pytest.approx(
        np.array([[-1.0, 0.1], [math.inf, -0.1], [math.inf, math.inf]])
    )
    assert known.losses.tolist() == known.objectives.tolist() == [1.0, 2.0, math.inf]


def test_the_known_cost_is_added_in_units_of_the_spread() -> None:
    values = np.array([2.0, 4.0, math.inf])
    known = Told(np.zeros((3, 1)), values, values, np.array([5.0, 0.0, 0.0]), np.zeros((3, 1)))
    assert ranked_by(known) == pytest.approx([2 / 0.3 + 5.0, 4 / 0.3, math.inf])
    assert ranked_by(told([1.0, 2.0], [[], []])).tolist() == [1.0, 2.0]


def search(solver, subproblem: ThetaSubproblem, observe, count: int) -> list[np.ndarray]:
    solver.begin(subproblem)
    points = []
    for _ in range(count):
        for point in solver.ask(1, []):
            points.append(point)
            solver.tell([observe(point)])
    return points


def test_without_limits_ctpe_is_tpe() -> None:
    def observe(point: np.ndarray) -> Observation[np.ndarray]:
        return Observation(point, float(point.sum()), 0.0)

    ours = search(build_ctpe(CtpeOptions()), task((REAL, COUNT)), observe, 30)
    theirs = search(build_tpe(TpeOptions()), task((REAL, COUNT)), observe, 30)
    assert np.array_equal(ours, theirs)


def test_ctpe_looks_at_the_raw_objective_within_the_limits() -> None:
    def observe(point: np.ndarray) -> Observation[np.ndarray]:
        return Observation(point, float(-point[0]), float(point[0]), (float(point[1]),))

    limits = (Limit("second", 0.1),)
    points = search(build_ctpe(CtpeOptions()), task(limits=limits), observe, 40)
    late = np.array(points[-15:])
    assert np.median(late[:, 0]) < 0.2
    assert (late[:, 1] <= 0.1).mean() > 0.5


def test_the_start_comes_first_and_known_points_replace_the_design() -> None:
    solver = build_tpe(TpeOptions(initial=4))
    solver.begin(task())
    assert np.array_equal(solver.ask(1, [])[0], [0.5, 0.5])
    losses = {0.3: 1.0, 0.4: 2.0, 0.5: 3.0, 0.02: -5.0}
    known = [Observation(np.array([x, 0.3]), loss, loss) for x, loss in losses.items()]
    solver.begin(task(history=tuple(known)))
    drawn = [solver.ask(1, [])[0][0] for _ in range(12)]
    assert np.median(drawn) < 0.25


def test_no_point_of_a_finite_box_is_proposed_twice() -> None:
    solver = build_ctpe(CtpeOptions())
    solver.begin(task((SWITCH, Parameter("m", 1, 7, kind="int"))))
    seen = []
    while points := solver.ask(1, []):
        seen.append(tuple(np.round(points[0], 6)))
        solver.tell([Observation(points[0], float(points[0].sum()), 0.0)])
    # The start lies between two places of each grid and stands for one of them.
    assert len(seen) == len(set(seen)) == 14


def test_a_real_log_axis_needs_no_grid() -> None:
    def observe(point: np.ndarray) -> Observation[np.ndarray]:
        return Observation(point, float(point[0]), 0.0)

    points = search(build_tpe(TpeOptions()), task((LOG,)), observe, 30)
    assert min(point[0] for point in points) < 0.02


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(TpeOptions, {"initial": 0}), (TpeOptions, {"candidates": 0}), (CtpeOptions, {"split": "x"})],
)
def test_senseless_options_are_refused(kind: type, wrong: dict) -> None:
    with pytest.raises(ValueError, match="must be"):
        kind(**wrong)
