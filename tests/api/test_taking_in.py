"""Warnings of `fit` stand at the line of the user that called it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import LimitWarning


def test_every_warning_names_the_line_that_calls_fit() -> None:
    noise = np.random.default_rng(0).normal(size=(60, 2))
    X = pd.DataFrame(noise, columns=["a", "a"])
    X["told"] = X.iloc[:, 0] > 0
    search = AutoMLClassifier("tiny", executor="inline", cv=2, max_evaluations=1)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        search.fit(X, X["told"].to_numpy())
    texts = [str(one.message) for one in heard]
    assert any("'a'" in text for text in texts), texts
    assert any("told" in text for text in texts), texts
    assert {one.filename for one in heard} == {__file__}


def test_a_metric_that_does_not_see_the_limited_decisions_is_told() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "sex": ["f", "m"] * 40})
    y = X["a"] + rng.normal(size=80) > 0
    given = {"executor": "inline", "cv": 2, "max_evaluations": 1, "portfolio": False}
    search = AutoMLClassifier("tiny", constraints=["selection_rate_gap[sex] <= 0.9"], **given)
    with pytest.warns(LimitWarning, match=r"roc_auc does not see.*scoring='balanced_accuracy'"):
        search.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_params(scoring="balanced_accuracy").fit(X, y)
