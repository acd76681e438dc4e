"""A metric that sees no mistakes is refused; one that asks for the labels is given them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import adjusted_rand_score, make_scorer, mean_absolute_error, roc_auc_score

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.metric_trial import check_metric
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.registry import Registry

Y = np.resize([0, 1, 1], 60)
X = pd.DataFrame({"a": np.arange(60.0)}, index=np.arange(60)[::-1])


def cost(y_true: Any, y_pred: Any) -> float:
    """Written for 0 and 1."""
    wrong = np.sum((y_pred == 1) & (y_true == 0)) + 5 * np.sum((y_pred == 0) & (y_true == 1))
    return -float(wrong)


def cost_of(y_true: Any, y_pred: Any, classes: Any) -> float:
    return cost(y_true == classes[-1], y_pred == classes[-1])


def cost_of_pipeline(pipeline: Any, X: Any, y: Any, classes: Any = None) -> float:
    return cost_of(y, pipeline.predict(X), classes)


def metric(scoring: Any, classes: Any, task: Any = "classification") -> Metric:
    count = 0 if classes is None else len(classes)
    return resolve_metric(scoring, task, count, Registry("metric")).knowing(classes)


def rows(classes: Any) -> Table:
    return Table(X, Y, None if classes is None else np.array(classes))


@pytest.mark.parametrize("labels", [("bad", "good"), (2, 3)])
def test_a_metric_for_other_labels_is_refused(labels: Any) -> None:
    table = rows(labels)
    with pytest.raises(ConfigurationError, match=r"cannot tell them apart.*'classes'") as problem:
        check_metric(metric(make_scorer(cost), table.classes), table)
    assert "\n" not in str(problem.value)
    assert repr(labels[0]) in str(problem.value)


@pytest.mark.parametrize("scoring", [make_scorer(cost_of), cost_of_pipeline])
@pytest.mark.parametrize("labels", [("bad", "good"), (1, 2), (True, False), ("good", "bad")])
def test_the_labels_come_with_the_positive_one_last(scoring: Any, labels: Any) -> None:
    table = rows(labels)
    found = metric(scoring, table.classes)
    check_metric(found, table)

    class Never(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.sort(table.classes)

        def predict(self, given: Any) -> Any:
            return np.resize(table.classes[:1], len(given))

    assert found.scorer(Never(), table.X, table.labels()) == -5.0 * np.sum(Y == 1)


def test_a_cost_that_is_to_be_small_is_told_to_change_its_sign() -> None:
    def mistakes(y_true: Any, y_pred: Any) -> float:
        return float(np.sum(y_true != y_pred))

    table = rows(("bad", "good"))
    with pytest.raises(ConfigurationError, match=r"greater_is_better=False") as problem:
        check_metric(metric(make_scorer(mistakes), table.classes), table)
    assert "which is better, for wrong ones" in str(problem.value)
    check_metric(metric(make_scorer(mistakes, greater_is_better=False), table.classes), table)


def test_metrics_that_see_mistakes_in_their_own_way_pass() -> None:
    table = rows(("bad", "good"))
    fine = (
        make_scorer(adjusted_rand_score),  # all wrong is a name for each class, too
        make_scorer(roc_auc_score, response_method="predict_proba"),
        lambda pipeline, X, y: -float(len(pipeline.steps)),  # there is no pipeline to look at
        lambda pipeline, X, y: float(np.mean(pipeline.predict(X[X.a > 5]) == y[X.a > 5])),
    )
    for scoring in fine:
        check_metric(metric(scoring, table.classes), table)
    three = Table(X, np.resize([0, 1, 2], 60), np.array(["x", "y", "z"]))
    check_metric(metric(make_scorer(cost_of), three.classes), three)
    numbers = Table(X, np.linspace(0.0, 9.0, 60))
    error = make_scorer(mean_absolute_error, greater_is_better=False)
    check_metric(metric(error, None, "regression"), numbers)
    with pytest.raises(ConfigurationError, match="which is better"):
        check_metric(metric(make_scorer(mean_absolute_error), None, "regression"), numbers)


def test_the_metric_of_a_plugin_is_tried_as_well() -> None:
    registry: Registry[MetricPlugin] = Registry("metric")
    plugin = MetricPlugin(name="cost", summary="for 0 and 1", factory=lambda: make_scorer(cost))
    registry.add(plugin, "tests")
    table = rows(("bad", "good"))
    found = resolve_metric("cost", "classification", 2, registry).knowing(table.classes)
    with pytest.raises(ConfigurationError, match="metric 'cost'"):
        check_metric(found, table)


@pytest.mark.fault(
    "F70",
    injected="a cost metric written for 0 and 1 on labels 'bad' and 'good'",
    expected="refused before the search with a remedy; with `classes` it is what it should be",
)
def test_a_run_begins_with_no_blind_metric(seen: Callable[[str], None]) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(120) < 0.5, "good", "bad")
    table = pd.DataFrame({"a": rng.normal(size=120) + 1.5 * (y == "good")})
    settings = {
        "grammar": "tiny",
        "cv": 2,
        "max_evaluations": 2,
        "executor": "inline",
        "random_state": 0,
    }
    with pytest.raises(ConfigurationError) as problem:
        AutoMLClassifier(scoring=make_scorer(cost), **settings).fit(table, y)
    assert problem.value.exit_code == 2
    found = AutoMLClassifier(scoring=make_scorer(cost_of), **settings).fit(table, y)
    assert found.best_score_ < 0.0
    first = AutoMLClassifier(scoring=make_scorer(cost_of), positive="bad", **settings)
    assert first.fit(table, y).best_score_ < 0.0
    seen(f"refused: {problem.value}")
