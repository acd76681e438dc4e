"""What Optuna is told: prices of failures, refusals, wide integers, huge losses, and how much."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import optuna
import pytest
from automl_admm_optuna import ParzenOptions, ProcessOptions, build_parzen, build_process
from automl_admm_optuna.samplers import Process, quiet
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from automl_admm.plugin_api import Limit, Observation, Parameter, ThetaSolver, ThetaSubproblem
from automl_admm.testing.contracts import box_problem, observed
from automl_admm.testing.problems import points_of

NEEDS_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="optuna-gp needs torch")
PLANE = (Parameter("x", 0, 1), Parameter("y", 0, 1))
LIMITS = (Limit("sum", 0.8), Limit("other", 0.9))
SUCCESSES = tuple(
    Observation(np.array([0.1 * k, 0.05]), 0.5, 0.5, (0.1 * k + 0.05, 0.1 * k)) for k in range(6)
)


def process(points: int = 128) -> ThetaSolver:
    return build_process(ProcessOptions(initial=4, points=points))


def trials_of(solver: Any) -> list[FrozenTrial]:
    """What Optuna was told of evaluations."""
    finished = (TrialState.COMPLETE, TrialState.PRUNED)
    found: list[FrozenTrial] = solver._trials._study.get_trials(states=finished)
    return found


def told_one_by_one(solver: ThetaSolver, rows: Sequence[tuple[float, float, bool]]) -> None:
    start = np.array([rows[0][0], 0.5])
    solver.begin(replace(box_problem(PLANE), start=start))
    for place, loss, failed in rows:
        solver.tell([observed(np.array([place, 0.5]), loss, failed=failed)])
        solver.ask(1, [])


@NEEDS_TORCH
def test_a_failure_stays_worse_than_every_success() -> None:
    solver = process()
    told_one_by_one(solver, [(0.9, 0.0, False), (0.2, 9.0, True), (0.8, 40.0, False)])
    assert [trial.value for trial in trials_of(solver)] == [0.0, 80.0, 40.0]


@NEEDS_TORCH
def test_a_failure_stays_as_far_outside_of_limits_as_every_success() -> None:
    solver, far = process(), replace(SUCCESSES[5], constraints=(3.2, 0.5))
    solver.begin(replace(box_problem(PLANE), limits=LIMITS, start=SUCCESSES[0].point))
    for told in (SUCCESSES[0], observed(np.array([0.9, 0.9]), 9.0, failed=True), far):
        solver.tell([told])
        solver.ask(1, [])
    assert trials_of(solver)[1].constraints["limit000"] == pytest.approx(3.0)


@NEEDS_TORCH
def test_a_price_that_has_hardly_risen_changes_nothing() -> None:
    solver = process()
    told_one_by_one(solver, [(0.9, 0.0, False), (0.8, 40.0, False), (0.2, 9.0, True)])
    study = solver._trials  # type: ignore[attr-defined]
    solver.tell([observed(np.array([0.7, 0.5]), 41.0)])
    solver.ask(1, [])
    assert solver._trials is study  # type: ignore[attr-defined]
    assert [trial.value for trial in trials_of(solver)] == [0.0, 40.0, 80.0, 41.0]


@NEEDS_TORCH
def test_the_model_is_told_no_more_than_twice_its_points() -> None:
    solver, rng = process(points=8), np.random.default_rng(0)
    told_one_by_one(solver, [(float(x), float(x), False) for x in rng.random(40)])
    assert len(trials_of(solver)) <= 16
    told = {trial.value for trial in trials_of(solver)}
    known = [r.value for r in solver._known.values()]  # type: ignore[attr-defined]
    assert {min(known), known[-1]} <= told


@NEEDS_TORCH
def test_a_model_of_few_points_does_not_wait_for_more() -> None:
    sampler: Any = Process(initial=50, points=8).sampler(seed=0, budget=None, is_conditional=False)
    assert sampler._n_startup_trials == 8


@NEEDS_TORCH
def test_a_refused_point_keeps_what_is_known_of_its_limits() -> None:
    refused = Observation(
        np.array([0.9, 0.9]), 2.0, constraints=(1.8, np.nan), failed=True, refused=True
    )
    solver = process()
    problem = replace(box_problem(PLANE, [*SUCCESSES, refused]), limits=LIMITS)
    solver.begin(replace(problem, start=SUCCESSES[0].point))
    solver.ask(1, [])
    told = trials_of(solver)[-1].constraints
    assert told["limit000"] == pytest.approx(1.25)
    assert told["limit001"] == pytest.approx((0.5 - 0.9) / 0.9)  # that of the worst success


def wide_problem() -> ThetaSubproblem:
    """Three integers: 4096 places are few, one more is wide."""
    wide = [Parameter(name, 1, high, kind="int") for name, high in (("a", 4096), ("b", 4097))]
    problem = box_problem([*wide, Parameter("c", 1, 10**9, kind="int", log=True)])
    rows = np.random.default_rng(0).random((6, 3))
    history = tuple(observed(row, float(row.sum())) for row in rows)
    return replace(problem, history=history, start=rows[0])


@NEEDS_TORCH
def test_wide_integers_are_real_numbers_to_the_model() -> None:
    solver, problem = process(), wide_problem()
    solver.begin(problem)
    (point,) = points_of(solver.ask(1, []))
    kinds = [type(kind) for kind in trials_of(solver)[-1].distributions.values()]
    assert kinds == [IntDistribution, FloatDistribution, FloatDistribution]
    assert [p.project(u) for p, u in zip(problem.parameters, point, strict=True)] == list(point)


def test_wide_integers_are_integers_to_the_estimators() -> None:
    solver = build_parzen(ParzenOptions())
    solver.begin(wide_problem())
    solver.ask(1, [])
    kinds = {type(kind) for kind in trials_of(solver)[-1].distributions.values()}
    assert kinds == {IntDistribution}


@NEEDS_TORCH
def test_losses_whose_range_is_no_number_are_searched() -> None:
    solver, rng = process(), np.random.default_rng(0)
    losses = (1.7e308, -1.7e308)
    history = [observed(row, losses[k % 2]) for k, row in enumerate(rng.random((12, 2)))]
    history.append(observed(np.array([0.2, 0.2]), 1.0, failed=True))
    solver.begin(box_problem(PLANE, history))
    for _ in range(3):
        (point,) = points_of(solver.ask(1, []))
        solver.tell([observed(point, 1.7e308)])
    assert np.isfinite([trial.value for trial in trials_of(solver)]).all()


def test_the_last_of_several_threads_puts_back_what_the_first_found() -> None:
    before = (optuna.logging.get_verbosity(), list(warnings.filters))
    is_inside, may_leave = threading.Event(), threading.Event()

    def stay() -> None:
        with quiet():
            is_inside.set()
            may_leave.wait(60)

    with quiet():
        other = threading.Thread(target=stay)
        other.start()
        is_inside.wait(60)
    assert optuna.logging.get_verbosity() == optuna.logging.ERROR  # the other is still inside
    may_leave.set()
    other.join()
    assert (optuna.logging.get_verbosity(), list(warnings.filters)) == before
