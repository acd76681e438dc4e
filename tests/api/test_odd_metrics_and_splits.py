"""A metric that fails for good, and row numbers in cv= of rows that the search does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError, NoSuccessError

X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)})
Y = (X["a"] > 0).to_numpy()
QUICK: dict[str, Any] = {"cv": 2, "executor": "inline", "max_evaluations": 1, "random_state": 0}


def failing(model: Any, X: Any, y: Any) -> float:
    """Fail for every pipeline, the constant one as well; what it is tried on is none."""
    if hasattr(model, "steps"):
        raise ValueError("the data base is gone")
    return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))


def test_a_metric_that_fails_for_the_constant_model_too_is_told_in_a_line() -> None:
    search = AutoMLClassifier("tiny", scoring=failing, time_budget=40, **QUICK)
    with pytest.raises(
        NoSuccessError, match=r"constant model .*: ValueError: the data base is gone"
    ):
        search.fit(X, Y)


@pytest.mark.parametrize("given", ["weights", "certificate"])
def test_row_numbers_of_x_are_never_taken_for_those_of_the_rows_that_remain(given: str) -> None:
    pairs, weights = [(np.arange(10, 30), np.arange(30, 50))], np.ones(60)
    more: dict[str, Any] = QUICK | {"cv": pairs}
    if given == "weights":
        weights[:10] = 0.0
    else:
        more |= {"certify": 0.9, "constraints": ["fpr <= 0.5"]}
    with pytest.raises(ConfigurationError, match="cv names rows by their numbers, but"):
        AutoMLClassifier("tiny", **more).fit(X, Y, sample_weight=weights)
