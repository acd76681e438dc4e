"""A fit that went wrong shows on rows that were validated, scored as they were out of fold."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from automl_admm.pipelines import seen_loss as module
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.seen_loss import seen_loss
from automl_admm.plugins.records import MetricPlugin
from automl_admm.plugins.registry import Registry

CLASSES = np.array(["no", "yes"])
ROWS, RARE = 9_000, 40


def rare(rows: int = ROWS, count: int = RARE) -> Table:
    rng = np.random.default_rng(0)
    y = np.zeros(rows, dtype=int)
    y[rng.permutation(rows)[:count]] = 1
    return Table(np.column_stack([y + rng.normal(scale=0.1, size=rows)]), y, CLASSES)


def asked(table: Table, cv: Any, scoring: Any, model: Any, seconds: float = 60.0) -> float:
    registry: Registry[MetricPlugin] = Registry("metric")
    metric: Metric = resolve_metric(scoring, "classification", 2, registry)
    splits = tuple(cv.split(table.X, table.y))
    work: Any = SimpleNamespace(table=table, splits=splits, metric=metric)
    return seen_loss(work, model.fit(table.X, table.labels()), seconds)


@pytest.mark.parametrize("scoring", ["f1", "recall", "roc_auc", "average_precision"])
@pytest.mark.parametrize(
    "cv",
    [
        StratifiedKFold(10),
        RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0),
        StratifiedKFold(40),
    ],
    ids=["ten", "repeated", "forty"],
)
def test_a_rare_class_is_in_what_is_asked_as_in_what_was_validated(scoring: str, cv: Any) -> None:
    assert asked(rare(), cv, scoring, DecisionTreeClassifier()) == pytest.approx(0.0)


def test_the_loss_is_that_of_the_parts_with_their_share_of_each_class() -> None:
    cv, model = StratifiedKFold(3), DecisionTreeClassifier(max_depth=1, random_state=0)
    table = rare(count=200)
    table.X[::3] = 0.0
    for scoring in ("neg_log_loss", "accuracy", "f1", own_f1):
        found = asked(table, cv, scoring, model)
        registry: Registry[MetricPlugin] = Registry("metric")
        metric = resolve_metric(scoring, "classification", 2, registry)
        y = table.labels() if metric.sees_labels else table.y
        told = model.fit(table.X, y)
        scores = [metric.scorer(told, table.X[v], y[v]) for _, v in cv.split(table.X, table.y)]
        assert found == pytest.approx(np.mean([metric.loss(one) for one in scores]))


def own_f1(model: Any, X: Any, y: Any) -> float:
    # One that asks about other rows, too.
    assert len(model.predict(X[:5])) == 5
    return float(f1_score(y, model.predict(X), pos_label="yes"))


def test_a_target_with_one_outlier_is_asked_whole() -> None:
    X = np.zeros((8_000, 1))
    y = np.random.default_rng(0).normal(size=len(X))
    y[4_000] = 1e6
    splits = tuple(KFold(2).split(X))
    metric = resolve_metric("r2", "regression", 0, Registry("metric"))
    work: Any = SimpleNamespace(table=Table(X, y), splits=splits, metric=metric)
    model: Any = DummyRegressor(strategy="constant", constant=5.0).fit(X, y)
    scores = [metric.scorer(model, X[valid], y[valid]) for _, valid in splits]
    assert seen_loss(work, model, 60.0) == pytest.approx(1.0 - np.mean(scores))


class Counting(DecisionTreeClassifier):
    """Counts the rows that it is asked about, and takes its time for each call."""

    rows, seconds = 0, 0.0

    def predict(self, X: Any) -> Any:
        self.rows += len(X)
        time.sleep(self.seconds)
        return super().predict(X)


def test_each_row_is_asked_for_once_however_often_it_was_validated() -> None:
    table, model = rare(300, 60), Counting()
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
    assert asked(table, cv, "f1", model) == 0.0
    assert model.rows == len(table.y)
    model = Counting()
    assert asked(table, LeaveOneOut(), "accuracy", model) == 0.0
    assert model.rows == len(table.y)


def test_what_takes_long_beside_the_fit_is_not_asked_to_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LEAST_SECONDS", 0.0)
    model = Counting()
    model.seconds = 0.02
    assert math.isnan(asked(rare(), StratifiedKFold(3), "f1", model, seconds=0.0))
    assert model.rows < ROWS
