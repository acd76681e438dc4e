"""Functions that are no scorers are refused with the line to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import (
    f1_score,
    log_loss,
    make_scorer,
    mean_pinball_loss,
    mean_squared_error,
    roc_auc_score,
)

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.metrics import resolve_metric
from automl_admm.pipelines.scorer_check import check_scorer
from automl_admm.plugins.loading import load_plugins


def cost(truth: Any, found: Any) -> float:
    return -float(np.sum(truth != found))


def cost_by_class(y_true: Any, y_pred: Any, classes: Any) -> float:
    return cost(y_true, y_pred)


def share(estimator: Any, X: Any, y: Any) -> float:
    return float(np.mean(estimator.predict(X) == y))


def share_by_class(estimator: Any, X: Any, y: Any, classes: Any) -> float:
    return share(estimator, X, y)


class Sharer:
    def __call__(self, estimator: Any, X: Any, y: Any = None, **more: Any) -> float:
        return share(estimator, X, y)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (f1_score, "f1_score is a metric of targets .+ Write scoring='f1', or make_scorer"),
        (roc_auc_score, "scoring='roc_auc', or make_scorer"),
        (mean_squared_error, "scoring='neg_mean_squared_error', or"),
        (log_loss, "scoring='neg_log_loss', or"),
        (mean_pinball_loss, r"scoring=make_scorer\(mean_pinball_loss, greater_is_better=False\)"),
        (cost, r"cost is a metric .+ Write scoring=make_scorer\(cost\), from sklearn"),
        (cost_by_class, r"Write scoring=make_scorer\(cost_by_class\)"),
        (lambda a, b: 1.0, "<lambda> is a metric"),
    ],
)
def test_a_metric_function_is_explained_in_one_line(function: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as told:
        check_scorer(function)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "scorer", [share, share_by_class, Sharer(), make_scorer(f1_score), make_scorer(cost)]
)
def test_a_scorer_is_taken(scorer: Callable[..., float]) -> None:
    check_scorer(scorer)


@pytest.mark.parametrize(
    ("setting", "instead"),
    [
        ("needs_proba", r"response_method='predict_proba'\)"),
        ("needs_threshold", r"response_method=\('decision_function', 'predict_proba'\)\)"),
    ],
)
def test_former_settings_of_make_scorer_are_named(setting: str, instead: str) -> None:
    says = rf"make_scorer has no {setting} any more. Write make_scorer\(roc_auc_score, {instead}"
    with pytest.raises(ConfigurationError, match=says):
        check_scorer(make_scorer(roc_auc_score, **{setting: True}))


@pytest.mark.parametrize("several", [["f1"], ("f1", "recall"), {"f1"}, {"a": "f1", "b": "recall"}])
def test_several_metrics_are_refused(several: Any) -> None:
    says = f"scoring takes one metric, not a {type(several).__name__} of them"
    with pytest.raises(ConfigurationError, match=says):
        resolve_metric(several, "classification", 2, load_plugins().metrics)
    with pytest.raises(ConfigurationError, match=says):
        AutoMLClassifier("tiny", scoring=several, cv=2, max_evaluations=1, executor="inline").fit(
            np.arange(20.0).reshape(-1, 1), [0, 1] * 10
        )
