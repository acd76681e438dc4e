"""A session under another seed, load or version marks what its run cannot give to another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from automl_admm import AutoMLClassifier, read_run
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare import basis
from automl_admm.runs.prepare.basis import basis_of
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.reuse import reuse_runs
from automl_admm.runs.session.changes import MIXED, mixed_parts

LIMIT = "latency_us <= 1e6"
SETTINGS: dict[str, Any] = {
    "grammar": "tiny",
    "cv": KFold(2),
    "executor": "inline",
    "theta_solver": "random",
    "scoring": "balanced_accuracy",
    "racing": False,
    "ensemble": False,
    "n_jobs": 1,
    "random_state": 0,
}


def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    people = np.where(frame["a"] + rng.normal(size=120) > 0.3, "yes", "no")
    return frame.assign(kind=rng.choice(["u", "v"], 120)), pd.Series(people, name="y")


def fit(folder: Path, evaluations: int, **changes: Any) -> AutoMLClassifier:
    given = {**SETTINGS, "constraints": (LIMIT,), **changes}
    search = AutoMLClassifier(**given, work_dir=folder, max_evaluations=evaluations)
    return search.fit(*table())


def reused(run: Path, **changes: Any) -> str:
    """Return what a run would take over from another one; nothing is searched."""
    given = {**SETTINGS, "constraints": (LIMIT,), "reuse": (run,), **changes}
    (told,) = reuse_runs(prepare(RunConfig(**given, max_evaluations=1), *table())).reused.lines
    return told.partition("': ")[2]


def mixed(run: Path) -> list[str]:
    return list(read_run(run).content.get(MIXED, ()))


@pytest.mark.parametrize(
    "limits",
    [(LIMIT,), ("fpr_gap[kind] <= 0.9", "recall >= 0.01"), ("latency_us <= 9 * baseline",)],
)
def test_a_run_that_goes_on_alike_mixes_nothing(limits: tuple[str, ...], tmp_path: Path) -> None:
    run = tmp_path / "run"
    fit(run, 2, constraints=limits)
    fit(run, 3, constraints=limits, warm_start=True)
    assert mixed(run) == []


def test_a_time_measured_beside_other_workers_is_of_no_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fit(run, 2, executor="local")
    fit(run, 4, executor="local", n_jobs=2, warm_start=True)
    assert mixed(run) == ["machine"]
    for workers in (1, 2):
        there = {"executor": "local", "n_jobs": workers}
        assert "4 without a value of latency_us measured here" in reused(run, **there)
        assert reused(run, constraints=(), **there) == "4 as measured"


def test_another_seed_leaves_numbers_of_neither(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fit(run, 2)
    fit(run, 3, random_state=7, warm_start=True)
    fit(run, 4, random_state=7, warm_start=True)
    assert mixed(run) == ["seed"]
    for seed in (0, 7):
        told = reused(run, random_state=seed)
        assert told.endswith("no results, because the seeds changed between its sessions")


def test_a_resume_does_not_renew_the_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with monkeypatch.context() as older:
        older.setattr(basis, "versions", lambda: {"scikit-learn": "0.24.0"})
        fit(run, 2)
    fit(run, 3, warm_start=True)
    told = reused(run, constraints=())
    assert "because the versions changed between its sessions" in told


def test_a_log_that_begins_anew_is_of_one_basis() -> None:
    config = RunConfig(**SETTINGS)
    prepared = prepare(config, *table())
    was = {"basis": dict.fromkeys(basis_of(prepared), "another"), MIXED: ["seed"]}
    one = Evaluation(1, "a", Candidate(Selection(()), ()), Status.SUCCESS, loss=0.5)
    failed = replace(one, status=Status.ERROR)
    assert mixed_parts(was, prepared, (), is_decided_anew=False) == ()
    assert mixed_parts(was, prepared, (failed,), is_decided_anew=False) == ()
    found = mixed_parts(was, prepared, (one,), is_decided_anew=True)
    assert found == tuple(sorted({*basis_of(prepared)} - {"thresholds"}))
