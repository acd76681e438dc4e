"""Limits that hang on what is measured where the search begins."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError, NoSuccessError, StoreError
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.baseline import _limit
from automl_admm.runs.prepare.preparation import prepare

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = (X[:, 0] + RNG.normal(size=100) > 0).astype(int)


def run(*limits: Any, **more: Any) -> PipelineResult:
    given = {
        "grammar": "tiny",
        "cv": 2,
        "max_evaluations": 3,
        "executor": "inline",
        "theta_solver": "random",
    }
    return run_pipelines(prepare(RunConfig(constraints=limits, **given | more), X, Y))


def test_the_bound_is_so_many_times_what_the_first_pipeline_has(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    outcome = run("fpr <= 0.9 * baseline", "recall >= 0.1", work_dir=folder)
    relative, plain = outcome.result.limits
    first = outcome.result.evaluations[0]
    assert relative.bound == pytest.approx(0.9 * first.constraints[0])
    assert plain.bound == 0.1
    limits = json.loads((folder / "run.json").read_text())["settings"]["limits"]
    assert limits[0]["bound"] == relative.bound
    assert outcome.result.feasible == all(
        limit.holds(value)
        for limit, value in zip(outcome.result.limits, outcome.best.constraints, strict=True)
    )


def test_without_a_relative_limit_nothing_more_is_evaluated() -> None:
    calls: list[int] = []

    def count(evaluated: Any) -> float:
        calls.append(1)
        return 0.0

    counted = Constraint(Limit("count", 1.0), count)
    run(counted, max_evaluations=1)
    plain = len(calls)
    run(counted, "fpr <= 1 * baseline", max_evaluations=1)
    # The baseline is measured once more, on every fold.
    assert len(calls) == 3 * plain


def test_a_baseline_that_fails_is_told() -> None:
    def broken(evaluated: Any) -> float:
        raise ValueError("not today")

    with pytest.raises(NoSuccessError, match=r"no baseline: 'impute.*not today"):
        run(Constraint(Limit("own", 1.0), broken), "fpr <= 0.5 * baseline")


def test_a_baseline_without_a_value_of_each_limit_is_told(monkeypatch: Any) -> None:
    whole = InlineExecutor.wait

    def wait(self: InlineExecutor, timeout: float | None = None) -> Sequence[Finished]:
        found = whole(self, timeout)
        return [replace(one, result={**one.result, "constraints": [0.1]}) for one in found]

    monkeypatch.setattr(InlineExecutor, "wait", wait)
    with pytest.raises(NoSuccessError, match="ended with invalid 1 constraint value for 2 limits"):
        run("fpr <= 0.9 * baseline", "recall >= 0.1")


@pytest.mark.parametrize("limits", [("own", "fpr"), ("fpr", "own")])
def test_a_baseline_without_a_number_for_any_limit_is_told(limits: tuple[str, str]) -> None:
    """Its own limit may have one: the search would begin at a pipeline that is measured in part."""
    known = {
        "own": Constraint(Limit("own", 1.0), lambda _: float("nan")),
        "fpr": "fpr <= 0.5 * baseline",
    }
    with pytest.raises(NoSuccessError, match=r"no baseline: 'impute.+ 'own'"):
        run(*(known[name] for name in limits))


def test_a_baseline_that_leaves_no_room_is_told() -> None:
    with pytest.raises(ConfigurationError, match="can never hold"):
        run("recall >= 9 * baseline")


@pytest.mark.fault(
    "F65", injected="no time is left to measure a baseline", expected="one clear line, in time"
)
def test_a_baseline_without_the_time_for_it_is_told(seen: Any) -> None:
    begun = time.monotonic() - 5.0
    limit = "fpr <= 0.5 * baseline"
    with pytest.raises(
        NoSuccessError, match=r"there was no time to evaluate .*longer time_budget"
    ) as it:
        run(limit, time_budget=5.0, max_evaluations=None, begun=begun, executor="local")
    assert time.monotonic() - begun < 200.0  # the machine may be busy; waiting was for ever
    seen(it.value)


def test_a_baseline_may_take_more_than_any_other_evaluation() -> None:
    config = RunConfig(time_budget=100.0)
    assert config.limit_of_one == 12.5
    assert 40.0 < _limit(config) <= 50.0
    assert _limit(RunConfig(time_budget=100.0, eval_time_limit=3.0)) == 3.0


def test_resume_with_another_factor_has_another_number_of_the_same_baseline(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (first,) = run("fpr <= 0.9 * baseline", work_dir=folder).result.limits
    more = {"work_dir": folder, "max_evaluations": 4, "resumed": True}
    (same,) = run("fpr <= 0.9 * baseline", **more).result.limits
    assert same.bound == first.bound
    with pytest.raises(StoreError, match="limits: fpr <= "):
        run("fpr <= 1.8 * baseline", **more)
    (other,) = run("fpr <= 1.8 * baseline", **more, changes_allowed=True).result.limits
    assert other.bound == pytest.approx(2 * first.bound)


def test_resume_of_a_number_as_relative_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("fpr <= 0.9", work_dir=folder)
    with pytest.raises(ConfigurationError, match="the baseline of 'fpr' is not known"):
        run("fpr <= 0.9 * baseline", work_dir=folder, max_evaluations=4, resumed=True)
