"""Limits on labelled rows are measured with the weights of the rows, as the score beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score

ROWS = 300
SEARCH = (
    *("--target", "y", "--weight", "w", "--metric", "accuracy", "--grammar", "tiny", "--cv=2"),
    *("--max-evaluations", "2", "--executor", "inline", "--quiet", "--out", "out"),
)
LIMITS = ("recall >= 0.1", "accuracy >= 0.1", "accuracy_gap[s] <= 0.9")


@pytest.fixture
def later(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2 * ROWS)
    frame = pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=2 * ROWS) > 0, "yes", "no")})
    # What a model gets wrong weighs more: without the weights every value is another.
    frame["w"] = np.where((x > 0) == (frame["y"] == "yes"), 1.0, 6.0)
    frame["s"] = rng.choice(["u", "v"], 2 * ROWS)
    frame[:ROWS].to_csv(tmp_path / "train.csv", index=False)
    frame[ROWS:].to_csv(tmp_path / "later.csv", index=False)
    return frame[ROWS:].reset_index(drop=True)


def expected(rows: pd.DataFrame, decided: Any) -> dict[str, float]:
    known = {"y_true": rows["y"], "y_pred": decided, "sample_weight": rows["w"]}
    shares = [
        accuracy_score(rows["y"][part], decided[part], sample_weight=rows["w"][part])
        for part in (rows["s"] == "u", rows["s"] == "v")
    ]
    return {
        LIMITS[0]: recall_score(**known, pos_label="yes"),
        LIMITS[1]: accuracy_score(**known),
        LIMITS[2]: abs(shares[0] - shares[1]),
    }


def test_evaluate_and_report_weigh_the_rows(later: pd.DataFrame, run: Any) -> None:
    asked = [word for one in LIMITS for word in ("--constraint", one)]
    done = run("fit", "train.csv", *SEARCH, *asked)
    assert done.code == 0, done.err
    done = run("predict", "out", "later.csv", "-o", "predicted.csv")
    decided = pd.read_csv("predicted.csv")["prediction"]
    found = json.loads(run("evaluate", "out", "later.csv", "--json").out)
    values = expected(later, decided)
    assert found["score"] == pytest.approx(values[LIMITS[1]])
    assert {one["limit"]: one["value"] for one in found["constraints"]} == pytest.approx(values)
    done = run("report", "out", "--data", "later.csv", "--json")
    assert done.code == 0, done.err
    limits = json.loads(done.out)["rows"]["limits"]
    assert {one["limit"]: one["value"] for one in limits} == pytest.approx(values)
