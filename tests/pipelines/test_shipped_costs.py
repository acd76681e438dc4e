"""The rows on which the limits of a model as it ships are measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, Constraint, Limit

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(200, 3)), columns=list("abc"))
Y = np.where(X["a"] + RNG.normal(size=200) > 0, "yes", "no")
GRAMMAR = "%import components (decision_tree)\n\nstart: decision_tree\n"


def wrong(evaluated: Any) -> float:
    return float(np.mean(evaluated.decisions != evaluated.y))


@pytest.mark.parametrize(
    ("cv", "time"), [(4, np.arange(200)), (0.3, None)], ids=["in time", "holdout"]
)
def test_the_model_of_one_fold_is_asked_about_rows_that_it_did_not_learn_from(
    cv: Any, time: Any, tmp_path: Path
) -> None:
    """A tree knows the rows that it learned from by heart."""
    (tmp_path / "tree.lark").write_text(GRAMMAR)
    automl = AutoMLClassifier(
        tmp_path / "tree.lark",
        max_evaluations=1,
        executor="inline",
        constraints=[Constraint(Limit("wrong", 0.9), wrong)],
        refit="folds",
        cv=cv,
        work_dir=tmp_path / "run",
    )
    automl.fit(X, Y, time=time)
    manifest = json.loads((tmp_path / "run" / "model.json").read_text())
    assert manifest["of_folds"]["models"] == 1
    assert manifest["constraints"]["wrong <= 0.9"] > 0.2
