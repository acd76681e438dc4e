"""A run that ships fold models says so wherever it is told, and its files are of what ships."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

from automl_admm import load
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.ranking import rank
from automl_admm.runs import pipelines
from automl_admm.runs.finish.final_fit import Refit, refit_best
from automl_admm.search.protocol import SearchProblem

Run = Callable[..., Any]
FEW = ("--grammar", "tiny", "--cv=2", "--max-evaluations=2", "--executor", "inline", "-q")
SAID = "the mean of 2 fold models: its final fit was expected to take up to 1000000.0 s, and "


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    wants = table.sum(axis=1) + rng.normal(size=150) > 0
    table["wants"] = np.where(wants, "yes", "no")
    table["w"] = 1.0 + 3.0 * (rng.random(150) > 0.5)
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    return path


def with_a_slow_best(
    problem: SearchProblem, evaluations: Sequence[Evaluation], *given: Any
) -> tuple[Refit, Any]:
    """Make the final fit of a run that forecasts an age for that of the best evaluation."""
    best = rank(evaluations, problem.limits)[0]
    dispatch, _, closing, folds = given
    return refit_best(
        problem, evaluations, dispatch, lambda one: 1e6 if one is best else 0.0, closing, folds
    )


def test_for_lack_of_time_they_ship_until_there_is_time(
    run: Run, rows: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = ("fit", rows, "--target", "wants", "--weight", "w", *FEW, "--budget", "600s")
    with monkeypatch.context() as patched:
        patched.setattr(pipelines, "refit_best", with_a_slow_best)
        done = run(*asked, "--out", "RUN")
    assert done.code == 0, done.err
    assert done.out.startswith("best pipeline")
    (line,) = (one for one in done.out.splitlines() if one.startswith("what ships"))
    assert SAID in line
    assert line.endswith("Give a longer --budget, or go on: automl-admm resume RUN")
    manifest = json.loads(Path("RUN/model.json").read_text())
    assert (manifest["of_folds"]["models"], manifest["passed_over"]) == (2, None)
    assert f"what shipped is {SAID}" in run("leaderboard", "RUN").out
    assert run("report", "RUN").code == 0
    report = json.loads(Path("RUN/report.json").read_text())
    assert any(SAID in one for one in report["verdict"]["warnings"])
    new = pd.read_csv(rows).drop(columns=["wants", "w"])
    new.to_csv("new.csv", index=False)
    made = run_python("RUN/pipeline.py", rows, "new.csv", "out.csv")
    assert made.returncode == 0, made.stderr
    found = load("RUN").predict_proba(new)[:, 1]
    assert pd.read_csv("out.csv")["probability_yes"].to_numpy() == pytest.approx(found)
    pd.read_csv(rows)[:-9].to_csv("other.csv", index=False)
    told = run_python("RUN/pipeline.py", "other.csv", "new.csv")
    assert told.returncode == 2
    assert told.stderr.startswith("error: the folds are of ")
    done = run("resume", "RUN", "--budget", "600s", "--max-evaluations", "2", "-q")
    assert done.code == 0, done.err
    assert "what ships" not in done.out
    assert json.loads(Path("RUN/model.json").read_text())["of_folds"] is None


def test_asked_for_they_ship_with_a_certificate_of_their_own(
    run: Run, rows: Path, tmp_path: Path
) -> None:
    limits = ("--constraint", "fpr <= 0.9", "--certify", "0.9")
    done = run("fit", rows, "--target", "wants", *FEW, "--refit", "folds", *limits, "--out", "RUN")
    assert done.code == 0, done.err
    assert "the mean of 2 fold models, as asked" in done.out
    manifest = json.loads(Path("RUN/model.json").read_text())
    certificate = json.loads(Path("RUN/certificate.json").read_text())
    assert manifest["certified"]
    assert certificate["model_sha256"] == manifest["sha256"]
    model = load("RUN").pipeline
    assert len(model.estimator.estimator.estimators_) == 2
