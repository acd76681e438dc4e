"""A portion of a frame that is too large for the budget, in Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.data import row_portions


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_a_portion_is_said_and_taken_again_by_a_warm_start(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = pd.Series(np.where(X[:, 0] > 1.0, "yes", "no"), name="bad")
    y.index = range(3000, 0, -1)
    rows = pd.DataFrame(X, columns=list("abcd"), index=y.index) if kind == "frame" else X
    settings = {
        "grammar": "tiny",
        "time_budget": 600,
        "executor": "inline",
        "random_state": 0,
        "work_dir": tmp_path / "run",
        "warm_start": True,
        "theta_solver": "random",
    }
    target = y if kind == "frame" else y.to_numpy()
    with monkeypatch.context() as slow:
        slow.setattr(row_portions, "FEW_CELLS", 0)
        slow.setattr(row_portions, "FEWEST_ROWS", 1000)
        slow.setattr(row_portions, "PREPARING", 0.0)
        with pytest.warns(UserWarning, match="1000 of 3000 rows were taken"):
            AutoMLClassifier(**settings, cv=2, max_evaluations=2).fit(rows, target)
    with pytest.warns(UserWarning, match="1000 of 3000 rows were taken"):
        again = AutoMLClassifier(**settings, cv=2, max_evaluations=3).fit(rows, target)
    assert again.n_evaluations_ == 3
    assert again.score(rows, target) > 0.9
