"""A limit on decisions from the command line: the model that is saved decides within it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest


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
    run: Any, loans: Path, tmp_path: Path, executor: str
) -> None:
    quick = (
        *("--grammar", "tiny", "--cv=2", "--max-evaluations", "6"),
        *("--theta-solver", "random", "-q"),
    )
    wanted = ("--constraint", "fpr <= 0.05", "--executor", executor, "--out", "out")
    done = run("fit", loans, "--target", "paid", *quick, *wanted)
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
