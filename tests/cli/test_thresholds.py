"""A limit on decisions from the command line: the model that is saved decides within it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import LimitWarning


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    """Mostly paid loans: a model that is asked for the likelier class says yes too often."""
    rng = np.random.default_rng(0)
    paid = rng.random(400) < 0.7
    frame = pd.DataFrame({"income": rng.normal(size=400) + 1.5 * paid, "age": rng.normal(size=400)})
    frame["paid"] = np.where(paid, "yes", "no")
    path = tmp_path / "loans.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_fit_and_predict_within_a_false_positive_rate(
    run: Any, spawn: Any, loans: Path, tmp_path: Path, executor: str
) -> None:
    quick = (
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "3"),
        *("--theta-solver", "random", "-q"),
    )
    wanted = ("--constraint", "fpr <= 0.05", "--executor", executor, "--out", "out")
    done = spawn("fit", loans, "--target", "paid", *quick, *wanted)
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert manifest["feasible"]
    assert 0.0 < manifest["constraints"]["fpr <= 0.05"] <= 0.05

    done = run("predict", "out", loans, "-o", "new.csv")
    assert done.code == 0, done.err
    found, known = pd.read_csv(tmp_path / "new.csv"), pd.read_csv(loans)["paid"]
    called = found["prediction"] == "yes"
    assert called[known == "no"].mean() < 0.1
    assert found["probability_yes"][called].min() > found["probability_yes"][~called].max()
    assert found["probability_yes"][called].min() > 0.6


def test_limits_that_leave_hardly_a_positive_row_found_are_told(
    run: Any, loans: Path, tmp_path: Path
) -> None:
    quick = ("--grammar=tiny", "--cv=2", "--max-evaluations=1", "--executor=inline")
    limits = ("--constraint", "fpr <= 1 %", "--constraint", "recall >= 0.5 %")
    swapped = ("--target", "paid", "--positive", "no", "--out", "out")
    frame = pd.read_csv(loans)
    frame["income"] += 3.0 * np.random.default_rng(1).normal(size=len(frame))
    frame.to_csv("weak.csv", index=False)
    done = run("fit", "weak.csv", *swapped, *quick, *limits, "--on-infeasible=closest")
    assert done.code == 0, done.err
    said = "the limit fpr <= 0.01 left a recall of 0"
    (line,) = [one for one in done.out.splitlines() if one.startswith("WARNING")]
    assert said in line
    assert line.endswith("(on validation and held out rows): loosen it.")
    assert said in json.loads((tmp_path / "out" / "model.json").read_text())["few_found"]
    assert run("report", "out").code == 0
    warned = json.loads((tmp_path / "out" / "report.json").read_text())["verdict"]["warnings"]
    assert any(one.startswith("The limit fpr <= 0.01 left") for one in warned)
    model = AutoMLClassifier(
        "tiny",
        constraints=["fpr <= 3 %"],
        positive="no",
        random_state=0,
        max_evaluations=1,
        cv=2,
        executor="inline",
        on_infeasible="closest",
    )
    with pytest.warns(LimitWarning, match="the limit fpr <= 0.03 left a recall of 0"):
        model.fit(frame[["income", "age"]], frame["paid"])
