"""Rows set aside for a certificate reach no other search, by whatever way a run is used again."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.certify.walk.looks import take_look
from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.reuse import reuse_runs
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.verification import verify_run
from automl_admm.runs.session.session import open_session
from automl_admm.store.run_folder import RunFolder

SETTINGS: dict[str, Any] = {
    "grammar": "tiny",
    "cv": 2,
    "executor": "inline",
    "theta_solver": "random",
    "max_evaluations": 2,
    "racing": False,
    "ensemble": False,
    "n_jobs": 1,
    "random_state": 0,
}
CERTIFIED: dict[str, Any] = {"constraints": ("recall >= 0.4",), "certify": 0.8}


def table(rows: int = 400) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    return frame, pd.Series(np.where(frame["a"] > 0, "yes", "no"), name="y")


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "certified"
    AutoMLClassifier(**SETTINGS, **CERTIFIED, work_dir=folder, on_infeasible="closest").fit(
        *table()
    )
    assert (folder / "certification-rows.json").is_file()
    return folder


def prepared(**changes: Any) -> Preparation:
    return prepare(RunConfig(**{**SETTINGS, "on_infeasible": "closest", **changes}), *table())


def test_a_run_on_all_rows_takes_no_number_of_a_certified_one(certified: Path) -> None:
    found = reuse_runs(prepared(constraints=("recall >= 0.4",), reuse=(certified,)))
    assert found.reused.evaluations == ()
    assert 0 < len(found.starts) <= 2
    assert "the rows" in found.reused.lines[0]


def test_a_run_with_rows_held_out_takes_nothing_of_it(certified: Path) -> None:
    found = reuse_runs(prepared(test_size=0.2, reuse=(certified,)))
    assert (found.reused.evaluations, found.starts) == ((), ())
    assert "2 may know the rows held out here" in found.reused.lines[0]


def test_a_certified_run_is_refused_another_one_as_its_source(certified: Path) -> None:
    with pytest.raises(ConfigurationError, match="may have seen the rows set aside"):
        reuse_runs(prepared(**CERTIFIED, reuse=(certified,)))


@pytest.mark.parametrize("is_aside_same", [False, True], ids=["other rows aside", "same rows"])
def test_a_resumed_certified_run_begins_without_pipelines_that_know_the_rows_set_aside(
    certified: Path, tmp_path: Path, is_aside_same: bool, caplog: pytest.LogCaptureFixture
) -> None:
    run = tmp_path / "run"
    shutil.copytree(certified, run)
    changed = {"scoring": "average_precision"} if is_aside_same else {"certify_fraction": 0.3}
    again = prepared(**{**CERTIFIED, **changed}, work_dir=run, resumed=True, changes_allowed=True)
    with caplog.at_level(logging.WARNING), open_session(again) as session:
        assert not session.past.evaluations
        assert bool(session.prepared.starts) is is_aside_same
    assert ("begins without the pipelines" in caplog.text) is not is_aside_same


def resume_after(run: Path, looks: int, evaluations: int = 3) -> PipelineResult:
    """Resume a certified run whose rows others have looked at so often."""
    again = prepared(**CERTIFIED, work_dir=run, resumed=True, max_evaluations=evaluations)
    question = again.question
    assert question is not None
    for number in range(looks):
        take_look(question.ledger, question.data, f"another {number}", 0.2)
    return run_pipelines(again)


def test_a_certified_model_stays_if_a_later_walk_certifies_nothing(
    certified: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = tmp_path / "run"
    shutil.copytree(certified, run)
    files = [path for path in run.iterdir() if path.name.startswith(("model", "certificate"))]
    before = {path: path.read_bytes() for path in files if path.suffix != ".lock"}
    outcome = resume_after(run, looks=80)
    assert outcome.is_certified
    assert outcome.certificate is not None
    assert outcome.certificate.look == 1
    assert "that an earlier look (1) certified stays" in caplog.text
    kept = [path for path in before if path.name.endswith((".skops", "certificate.json"))]
    assert len(kept) == 2
    assert all(path.read_bytes() == before[path] for path in kept)
    frame, target = table()
    found = verify_run(RunFolder(run), GivenTable(frame.assign(y=target), "table.csv"))
    assert not found.differences
    assert not any("order" in one for one in found.unvouched)


def test_a_better_evaluation_that_was_not_certified_is_told(
    certified: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(certified, run)
    outcome = resume_after(run, looks=80, evaluations=12)
    assert outcome.is_certified
    best = min(outcome.result.evaluations, key=lambda one: one.loss)
    assert best.number > outcome.best.number
    (first, *_) = outcome.refit.passed_over
    assert (first.evaluation.number, first.is_better) == (best.number, True)
    manifest = json.loads((run / "model.json").read_text())
    assert manifest["evaluation"] == outcome.best.number
    assert f"#{best.number} is better than what ships: it was not certified" in str(manifest)


def test_a_certified_model_of_other_bytes_does_not_stay(certified: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(certified, run)
    model = next(run.glob("model.skops"))
    model.write_bytes(model.read_bytes() + b"x")
    outcome = resume_after(run, looks=80)
    assert not outcome.is_certified
