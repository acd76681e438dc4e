"""A model that calls all given rows the same is within no limit there, in all that is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.testing.saved_runs import change_manifest


@pytest.fixture
def later(run: Any, tmp_path: Path) -> pd.DataFrame:
    """Return labelled rows for the model in `out`."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(160, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + 0.3 * frame["b"] > 0, "yes", "no")
    frame[:120].to_csv(tmp_path / "train.csv", index=False)
    (tmp_path / "one.lark").write_text("%import components (gaussian_nb)\nstart: gaussian_nb\n")
    search = ("--target", "y", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")
    more = ("--grammar", "one.lark", "--constraint", "fpr <= 0.9", "--out", "out")
    done = run("fit", "train.csv", *search, *more)
    assert done.code == 0, done.err
    return frame[120:]


def report_on(run: Any, rows: pd.DataFrame) -> Any:
    rows.to_csv("rows.csv", index=False)
    done = run("report", "out", "--data", "rows.csv", "-o", "page.html")
    assert done.code == 0, done.err
    return json.loads(Path("page.json").read_text(encoding="utf-8"))


def holds_at_its_own(thresholds: Any) -> bool:
    (found,) = (one for one in thresholds["places"] if one["threshold"] == thresholds["shipped"])
    return bool(found["holds"])


def test_rows_of_one_call_are_within_no_limit(run: Any, later: pd.DataFrame) -> None:
    found = report_on(run, later.assign(a=-3.0, b=0.0))
    assert found["rows"]["limits"][0]["value"] == 0
    assert found["rows"]["limits"][0]["holds"] is False
    assert found["rows"]["one_class"] == "no"
    assert not holds_at_its_own(found["thresholds"])
    told = run("evaluate", "out", "rows.csv").out
    assert "does not count, as the model calls every row 'no'" in told


def test_a_model_of_one_class_in_its_run_is_within_none_at_its_threshold(
    run: Any, later: pd.DataFrame
) -> None:
    found = report_on(run, later)
    assert found["rows"]["limits"][0]["holds"] is True
    assert holds_at_its_own(found["thresholds"])
    change_manifest(Path("out"), one_class="no")
    found = report_on(run, later)
    assert found["rows"]["limits"][0]["holds"] is False
    assert not holds_at_its_own(found["thresholds"])
