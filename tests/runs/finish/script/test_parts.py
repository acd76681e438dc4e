"""The parts of `pipeline.py`: a score is printed with its name."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score

from automl_admm.runs.finish.script.parts import predictions_of, score_of

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.where(X[:, 0] + 0.8 * X[:, 1] ** 2 > 0.5, "yes", "no")


def test_the_score_is_that_of_the_metric() -> None:
    model = LogisticRegression().fit(X, Y)
    expected = roc_auc_score(Y, model.predict_proba(X)[:, 1])
    assert score_of(model, X, Y, "roc_auc") == ("roc_auc", pytest.approx(expected))
    assert score_of(model, X, Y, None) == ("accuracy", model.score(X, Y))
    line = LinearRegression().fit(X, X[:, 0])
    assert score_of(line, X, X[:, 0], None) == ("r2", pytest.approx(1.0))


@pytest.mark.parametrize("metric", [None, "r2", "explained_variance"])
def test_a_constant_truth_is_scored_as_in_the_run(metric: str | None) -> None:
    """R² of many times 0.1 was −1e33."""
    line = LinearRegression().fit(X, X[:, 0])
    assert score_of(line, X, np.full(40, 0.1), metric) == (metric or "r2", 0.0)


@pytest.mark.parametrize(
    "labels", [[2**53 + 1, 2**53 + 2], [False, True], ["no", "yes"]], ids=["int", "bool", "text"]
)
def test_labels_beside_undecided_rows_are_those_of_the_model(
    labels: list[object], tmp_path: Path
) -> None:
    """As floats, large whole numbers in Parquet were labels that the model does not have."""
    told = np.array([labels[0], None, labels[1]], dtype=object)
    model = SimpleNamespace(
        classes_=np.array(labels), leaves_undecided=True, predict=lambda rows: told
    )
    predictions_of(model, None).to_parquet(tmp_path / "p.parquet", index=False)
    found = pd.read_parquet(tmp_path / "p.parquet")["prediction"]
    assert found.isna().tolist() == [False, True, False]
    assert found.dropna().tolist() == labels
    assert found.dtype != float
