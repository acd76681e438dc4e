"""The parts of `pipeline.py`: a score is printed with its name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score

from automl_admm.runs.finish.script.parts import score_of

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.where(X[:, 0] + 0.8 * X[:, 1] ** 2 > 0.5, "yes", "no")


def test_the_score_is_that_of_the_metric() -> None:
    model = LogisticRegression().fit(X, Y)
    expected = roc_auc_score(Y, model.predict_proba(X)[:, 1])
    assert score_of(model, X, Y, "roc_auc") == ("roc_auc", pytest.approx(expected))
    assert score_of(model, X, Y, None) == ("accuracy", model.score(X, Y))
    line = LinearRegression().fit(X, X[:, 0])
    assert score_of(line, X, X[:, 0], None) == ("r2", pytest.approx(1.0))
