"""Results that are none: of a black box, of a work, of a limit that is another each time."""

from __future__ import annotations

import numpy as np
import pytest
from faulty import Faulty

from automl_admm import Choice, Constraint, Limit, SearchSpace, minimize
from automl_admm.builtin.executors import build_local
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.plugins.records import ExecutorSetting, NoOptions
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare

RETURNS = {
    "one": 1.0,
    "NaN": float("nan"),
    "inf": float("inf"),
    "None": None,
    "complex": 1j,
    "text": "small",
    "two values": (0.5, 0.5),
    "no loss": {"value": 1.0},
    "an object": object(),
}


@pytest.mark.fault(
    "F09",
    injected="an objective returns NaN, inf, None, complex, text, two values, no loss, an object",
    expected="invalid with a reason, the healthy one wins",
)
def test_a_black_box_that_returns_no_number(seen):
    space = SearchSpace((Choice("what", tuple(RETURNS)),))
    found = minimize(
        lambda values: RETURNS[values["what"]],
        space,
        max_evaluations=len(RETURNS),
        z_solver="exhaustive",
        executor="local",
        n_jobs=2,
        random_state=0,
    )
    rows = {space.values(row.candidate)["what"]: row for row in found.evaluations}
    assert found.best == {"what": "one"}
    assert set(rows) == set(RETURNS)
    bad = [row for what, row in rows.items() if what != "one"]
    assert {row.status for row in bad} == {Status.INVALID}
    assert all(row.message for row in bad)
    seen(f"{len(bad)} × invalid: {rows['text'].message}")


@pytest.fixture(scope="module")
def work():
    return Faulty()


@pytest.mark.fault(
    "F10",
    injected="a result that holds an object, bytes, itself; one of 20 MB",
    expected="invalid, nothing blocks",
)
def test_a_result_that_cannot_be_handed_over(work, tmp_path, seen):
    faults = [
        *(("give", {"what": what}, Status.INVALID) for what in ("object", "bytes", "huge")),
        ("give_cycle", {}, Status.INVALID),
    ]
    executor = build_local(work, ExecutorSetting(1, None, tmp_path), NoOptions())
    said = []
    try:
        for number, (method, arguments, status) in enumerate(faults):
            executor.submit(Task(number, method, arguments, 2.0))
            (finished,) = executor.wait(60.0)
            assert finished.status is status, finished
            said.append(finished.message[:50])
    finally:
        executor.close()
    assert not list(tmp_path.glob("task-*"))
    seen("; ".join(said))


def fickle(evaluated):
    """Another value at every call, of every process."""
    return float(np.random.default_rng().uniform(0.0, 1.0))


@pytest.mark.fault(
    "F17",
    injected="a limit gives another value each time",
    expected="the logged value decides; what the shipped model has is told beside",
)
def test_a_limit_that_disagrees_with_itself(seen):
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    config = RunConfig(
        grammar="tiny",
        max_evaluations=3,
        theta_solver="random",
        executor="inline",
        test_size=0.25,
        constraints=(Constraint(Limit("fickle", 2.0), fickle),),
    )
    outcome = run_pipelines(prepare(config, X, y))
    (logged,), (held_out,) = outcome.best.constraints, outcome.refit.measured.held_out_constraints
    assert logged != held_out
    assert outcome.result.feasible
    assert outcome.best in outcome.result.evaluations
    seen(f"{logged:.2f} in the log, {held_out:.2f} on rows held out")
