"""Probabilities made of scores are the same wherever the model goes, and so is every decision."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

from automl_admm import load

Run = Callable[..., Any]


def test_a_model_of_scores_tells_probabilities_in_every_form_it_ships_in(
    run: Run, tmp_path: Path
) -> None:
    """Fitted on labels that look like numbers, the positive one first; read as other types."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=list("abc"))
    frame["y"] = np.where(frame.sum(axis=1) + rng.normal(size=240) > 1, "01", "02")
    frame.to_csv("rows.csv", index=False)
    Path("g.lark").write_text("start: impute linear_svm\n%import components (impute, linear_svm)\n")
    asked = ("fit", "rows.csv", "--target", "y", "--positive", "01", "--grammar", "g.lark")
    few = ("--cv=2", "--max-evaluations=1", "--constraint", "fpr <= 0.1", "-q", "--out", "RUN")
    done = run(*asked, *few)
    assert done.code == 0, done.err
    manifest = json.loads(Path("RUN/model.json").read_text())
    assert manifest["calibration"]["response"] == "decision_function"

    frame.drop(columns="y").astype("float32").astype(object).to_parquet("new.parquet")
    done = run("predict", "RUN", "new.parquet", "-o", "told.csv")
    assert done.code == 0, done.err
    told = pd.read_csv("told.csv", dtype={"prediction": str})
    yes = told["probability_01"].to_numpy()
    assert ((yes >= manifest["threshold"]) == (told["prediction"] == "01")).all()
    assert yes.mean() == pytest.approx((frame["y"] == "01").mean(), abs=0.05)

    model = load("RUN")
    place = list(model.classes_).index("01")
    X = frame.drop(columns="y")
    assert model.predict_proba(X)[:, place] == pytest.approx(yes, abs=1e-4)

    assert run("predict", "RUN", "rows.csv", "-o", "again.csv").code == 0
    script = run_python("RUN/pipeline.py", "rows.csv", "rows.csv", "script.csv")
    assert script.returncode == 0, script.stderr
    ours, theirs = (pd.read_csv(name) for name in ("again.csv", "script.csv"))
    assert (ours["prediction"] == theirs["prediction"]).all()
    assert ours["probability_01"].to_numpy() == pytest.approx(theirs["probability_01"].to_numpy())
