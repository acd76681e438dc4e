"""Warnings of `fit` stand at the user's line, and a refused `fit` leaves the earlier model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from quick_classifier import fitted

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError, LimitWarning
from automl_admm.pipelines import shipping

COLUMNS = ["a", "b", "c"]
OTHER_ORDER = ["c", "a", "b"]
ROWS = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=COLUMNS)
LABELS = np.where(ROWS["a"] > 0, "yes", "no")


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


def test_a_fit_that_went_wrong_is_told_if_nothing_sound_can_ship(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shipping, "seen_loss", lambda *_: 9.0)
    X = np.random.default_rng(0).normal(size=(80, 2))
    search = AutoMLClassifier("tiny", executor="inline", cv=2, max_evaluations=1)
    with pytest.warns(UserWarning, match="no sound model could be fitted; of the one that ships"):
        search.fit(X, X[:, 0] > 0)


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


@pytest.mark.parametrize("again", [ROWS[OTHER_ORDER], ROWS.to_numpy()[:, :2]])
def test_a_refused_fit_leaves_the_earlier_model_with_its_columns(
    tmp_path: Path, again: Any
) -> None:
    search = fitted(ROWS, LABELS, work_dir=tmp_path / "run")
    expected = search.predict(ROWS)
    with pytest.raises(ConfigurationError, match="is not empty"):
        search.fit(again, LABELS)
    assert list(search.feature_names_in_) == COLUMNS
    np.testing.assert_array_equal(search.predict(ROWS), expected)
    with pytest.raises(ValueError, match="must be in the same order"):
        search.predict(ROWS[OTHER_ORDER])


def test_a_refused_first_fit_leaves_no_columns() -> None:
    search = AutoMLClassifier("tiny", constraints="none_such <= 1")
    with pytest.raises(ConfigurationError):
        search.fit(ROWS, LABELS)
    assert not hasattr(search, "n_features_in_")


def test_a_warning_made_an_error_leaves_the_columns_of_its_own_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(outcome: Any) -> None:
        raise LimitWarning("as an error")

    search = fitted(ROWS, LABELS)
    monkeypatch.setattr("automl_admm.api.estimators.warn_of_outcome", refuse)
    with pytest.raises(LimitWarning):
        search.fit(ROWS[OTHER_ORDER], LABELS)
    expected = search.best_pipeline_.predict(ROWS[OTHER_ORDER])
    np.testing.assert_array_equal(search.predict(ROWS[OTHER_ORDER]), expected)
