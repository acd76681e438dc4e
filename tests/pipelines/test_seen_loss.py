"""A fit that went wrong shows on rows that were validated, scored as they were out of fold."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import TargetEncoder
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


class Stepping(TransformerMixin, BaseEstimator):
    """A transformer of somebody's own, whose parameters are called as the parts of others are."""

    def __init__(self, steps: Any = 3) -> None:
        self.steps = steps

    def fit(self, X: Any, y: Any = None) -> Any:
        # One that holds itself, as a callback does.
        self.n_features_in_, self.transformers_, self.me = X.shape[1], self.steps, self
        return self

    def transform(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize("steps", [3, None, "ab", ((),), [("a",)], {"a": 1}], ids=str)
def test_parameters_of_any_kind_may_have_the_names_of_parts(steps: Any) -> None:
    model = make_pipeline(Stepping(steps), DecisionTreeClassifier())
    assert asked(rare(300, 60), StratifiedKFold(3), "f1", model) == 0.0


class LeaveOneOutEncoder(TargetEncoder):
    """One of another library."""


def tree() -> Any:
    return make_pipeline(TargetEncoder(), DecisionTreeClassifier(max_depth=3))


@pytest.mark.parametrize(
    "build",
    [
        tree,
        lambda: CalibratedClassifierCV(tree()),
        lambda: StackingClassifier([("a", tree())]),
        lambda: make_pipeline(FeatureUnion([("a", TargetEncoder())]), GaussianNB()),
        lambda: GridSearchCV(tree(), {}),
        lambda: TunedThresholdClassifierCV(tree()),
        lambda: VotingClassifier([("a", tree())]),
        lambda: make_pipeline(LeaveOneOutEncoder(), GaussianNB()),
    ],
    ids=["steps", "calibrated", "stack", "union", "search", "threshold", "votes", "other library"],
)
def test_a_target_encoder_is_found_wherever_it_is(build: Callable[[], Any]) -> None:
    table = rare(200, 60)
    table.X[:] = table.X.round()
    assert math.isnan(asked(table, StratifiedKFold(3), "f1", build()))


def test_one_in_a_model_of_a_transformed_target_is_found_too() -> None:
    X, y = np.arange(200.0).reshape(-1, 1) % 5, np.arange(200.0)
    inner = make_pipeline(TargetEncoder(target_type="continuous"), Ridge())
    metric = resolve_metric("r2", "regression", 0, Registry("metric"))
    splits = tuple(KFold(2).split(X))
    work: Any = SimpleNamespace(table=Table(X, y), splits=splits, metric=metric)
    for regressor, has_loss in ((inner, False), (Ridge(), True)):
        model = TransformedTargetRegressor(regressor).fit(X, y)
        assert math.isnan(seen_loss(work, model, 60.0)) != has_loss
