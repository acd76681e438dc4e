"""Weights, groups and targets from Python, read again from a file by later commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

from automl_admm import AutoMLClassifier, monitor

SEARCH = {"grammar": "tiny", "executor": "inline", "random_state": 0, "cv": 2, "ensemble": False}


def buyers(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"amount": rng.exponential(50, rows), "b": rng.normal(size=rows)})
    signal = np.log(frame["amount"]) + frame["b"] + rng.normal(size=rows)
    return frame.assign(ok=np.where(signal > 3.5, "yes", "no"))


def split(frame: pd.DataFrame) -> tuple[Any, Any]:
    return frame[["amount", "b"]], frame["ok"]


def test_weights_computed_from_a_feature_are_not_read_from_it(run: Any, tmp_path: Path) -> None:
    X, y = split(buyers(300, 0))
    search = AutoMLClassifier(
        max_evaluations=2, scoring="accuracy", work_dir=tmp_path / "run", **SEARCH
    )
    search.fit(X, y, sample_weight=1 / (1 + X["amount"]))
    later = buyers(300, 1)
    later.to_csv(tmp_path / "bare.csv", index=False)
    assert (
        "no column 'sample_weight'" in run("evaluate", tmp_path / "run", tmp_path / "bare.csv").err
    )
    weights = 1 / (1 + later["amount"])
    later.assign(sample_weight=weights).to_parquet(tmp_path / "later.parquet")
    found = json.loads(run("evaluate", tmp_path / "run", tmp_path / "later.parquet", "--json").out)
    own = accuracy_score(later["ok"], search.predict(split(later)[0]), sample_weight=weights)
    assert found["score"] == pytest.approx(own, abs=1e-12)


def test_groups_computed_from_a_feature_are_those_that_verify_parts_by(
    run: Any, tmp_path: Path
) -> None:
    table = buyers(900, 0)
    X, y = split(table)
    groups = (10 * X["amount"]).astype(int)
    search = AutoMLClassifier(
        max_evaluations=2, certify=0.9, constraints=["fpr <= 0.9"], work_dir=tmp_path / "run",
        **SEARCH,
    )  # fmt: skip
    search.fit(X, y, groups=groups)
    table.assign(groups=groups).to_csv(tmp_path / "table.csv", index=False)
    assert "the data agree" in run("verify", tmp_path / "run", tmp_path / "table.csv").out


def test_a_sensitive_column_left_in_x_is_told() -> None:
    X, y = split(buyers(200, 0))
    X = X.assign(sex=np.resize(["f", "m"], len(X)))
    search = AutoMLClassifier(
        max_evaluations=1, constraints=["recall_gap[sex] <= 0.9"], scoring="accuracy", **SEARCH
    )
    with pytest.warns(UserWarning, match="has 'sex', as X has: pipelines learn from all"):
        search.fit(X, y, sensitive_features=X["sex"])


def test_a_target_without_a_name_is_the_column_target(tmp_path: Path) -> None:
    X, y = split(buyers(300, 0))
    search = AutoMLClassifier(
        max_evaluations=1, constraints=["recall >= 0.6"], work_dir=tmp_path / "run",
        scoring="accuracy", **SEARCH,
    )  # fmt: skip
    search.fit(X, y.to_numpy())
    turned = buyers(300, 1).rename(columns={"ok": "target"})
    turned["target"] = np.where(turned["target"] == "yes", "no", "yes")
    assert [one.state for one in monitor(tmp_path / "run", turned).limits] == ["broken"]
