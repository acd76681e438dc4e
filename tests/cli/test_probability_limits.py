"""Limits on probabilities and on the worst group, from one process and file format to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.evidence import Calibration

LIMITS = ("calibration_error <= 0.35", "brier <= 0.4", "min_recall[region] >= 0.05")


def people(rows: int) -> pd.DataFrame:
    """Rows whose label hangs on one feature, with a group named by numbers."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows)})
    frame["region"] = rng.integers(1, 3, rows)
    frame["buys"] = np.where(frame["x"] + 0.5 * rng.normal(size=rows) > 0, "yes", "no")
    return frame


def test_certified_here_verified_elsewhere_from_other_types(
    run: Any, spawn: Any, tmp_path: Path
) -> None:
    frame = people(900)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    limits = [word for limit in LIMITS for word in ("--constraint", limit)]
    ended = run(
        *("fit", "rows.csv", "--target", "buys", "--grammar", "tiny", "--out", "here", "--json"),
        *("--sensitive", "region", "--cv=2", "--max-evaluations", "2", "--executor", "inline"),
        *("--certify", "0.8", *limits),
    )
    assert ended.code == 0, ended.err
    typed = frame.astype({"buys": "category", "region": "int8", "x": "float64"})
    typed.to_parquet(tmp_path / "typed.parquet")
    for words in (
        ("verify", "here", "typed.parquet"),
        ("predict", "here", "typed.parquet", "-o", "out.csv"),
    ):
        done = spawn(*words)
        assert done.code == 0, done.err
    findings = json.loads((tmp_path / "here" / "certificate.json").read_text())["findings"]
    assert [one["limit"] for one in findings] == list(LIMITS)
    aside = json.loads((tmp_path / "here" / "certification-rows.json").read_text())["places"]
    out = pd.read_csv(tmp_path / "out.csv").iloc[aside]
    told = out["probability_yes"].to_numpy()
    truth = (frame["buys"] == "yes").to_numpy(dtype=float)[aside]
    held_out = json.loads((tmp_path / "here" / "model.json").read_text())["held_out_constraints"]
    assert held_out[LIMITS[0]] == pytest.approx(Calibration(told, truth).value)
    assert held_out[LIMITS[1]] == pytest.approx(np.mean((told - truth) ** 2))
    found = out["prediction"].eq("yes")[truth == 1.0]
    recalls = found.groupby(frame["region"].iloc[aside][truth == 1.0]).mean()
    assert held_out[LIMITS[2]] == pytest.approx(recalls.min())
