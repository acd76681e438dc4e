"""Quick scores are those of scikit-learn's scorers, on any part of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, roc_auc_score

from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.pipelines.quick_scores import FORMS, OF_NUMBERS, area_under_roc, quick_score


class Answering(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answer with the given probabilities, a row each, for labels that the fit has sorted."""

    def __init__(self, labels: Any, kind: type = float) -> None:
        self.labels = labels
        self.kind = kind
        self.classes_ = np.sort(labels)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X, dtype=self.kind)

    def predict(self, X: Any) -> Any:
        return self.classes_[np.asarray(X).argmax(axis=1)]


class Deciding(Answering):
    """Answer with decision scores too, some of them infinite."""

    def decision_function(self, X: Any) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(X)[:, 1]).round(1)


class Numbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Answer with the first column."""

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


def rows_of(labels: Any, weights: Any = None, rows: int = 60) -> Table:
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(len(labels)), rows).round(1)
    X /= X.sum(axis=1, keepdims=True)
    roles = Roles(weights=weights)
    return Table(X, rng.integers(len(labels), size=rows), labels, roles=roles)


def both(name: str, pipeline: Any, rows: Table) -> None:
    metric = Metric(name, get_scorer(name)).knowing(rows.classes)
    quick = quick_score(metric, Remembered(pipeline), rows)
    assert quick is not None
    for some in (np.arange(60), np.random.default_rng(1).integers(60, size=40)):
        part = Table(rows.X[some], rows.y[some], rows.classes, roles=rows.roles.part(some))
        expected = score_of(metric, Remembered(pipeline), part)
        assert math.isclose(quick(some), expected, rel_tol=1e-6), name  # float32 rounds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", [["no", "yes"], ["yes", "no"], ["a", "b", "c"]])
@pytest.mark.parametrize("name", sorted(FORMS))
def test_they_are_those_of_the_scorer(name: str, labels: list[str], weighted: bool) -> None:
    if name == "roc_auc" and len(labels) > 2:
        pytest.skip("scikit-learn has no such score of several classes")
    weights = np.random.default_rng(2).random(60) * 3 if weighted else None
    rows = rows_of(np.array(labels), weights)
    for kind in (float, np.float32):
        both(name, Answering(np.array(labels), kind), rows)


def test_decision_scores_come_first_and_may_be_infinite() -> None:
    labels = np.array(["no", "yes"])
    rows = rows_of(labels)
    rows.X[:7] = [1.0, 0.0]
    assert (rows.X[:, 1] == 0).sum() > 6
    both_scores = Remembered(Deciding(labels))
    quick = quick_score(Metric("roc_auc", get_scorer("roc_auc")), both_scores, rows)
    assert quick is not None
    scores = np.where(rows.X[:, 1] == 0, -99.0, Deciding(labels).decision_function(rows.X))
    assert math.isclose(quick(np.arange(60)), roc_auc_score(rows.y, scores))


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.integers(0, 4)), min_size=1))
def test_the_area_is_that_of_scikit_learn(drawn: list[tuple[bool, int, int]]) -> None:
    positive, scores, weights = (np.array(part) for part in zip(*drawn, strict=True))
    found = area_under_roc(positive, scores.astype(float), weights.astype(float))
    if len({bool(one) for one, weight in zip(positive, weights, strict=True) if weight}) < 2:
        assert math.isnan(found)
    else:
        assert math.isclose(found, roc_auc_score(positive, scores, sample_weight=weights))


def test_rows_without_weight_have_no_score() -> None:
    labels = np.array(["no", "yes"])
    weights = np.r_[np.zeros(30), np.ones(30)]
    for name in FORMS:
        metric = Metric(name, get_scorer(name))
        quick = quick_score(metric, Remembered(Answering(labels)), rows_of(labels, weights))
        assert quick is not None
        assert math.isnan(quick(np.arange(30)))


def test_other_metrics_and_scorers_of_ones_own_have_no_quick_form() -> None:
    labels = np.array(["no", "yes"])
    answers, rows = Remembered(Answering(labels)), rows_of(labels)
    assert quick_score(Metric("f1", get_scorer("f1")), answers, rows) is None
    own = Metric("accuracy", get_scorer("accuracy"), sees_labels=True)
    assert quick_score(own, answers, rows) is None
    metric = Metric("roc_auc", get_scorer("roc_auc"))
    several = np.array(["a", "b", "c"])
    assert quick_score(metric, Remembered(Answering(several)), rows_of(several)) is None


def test_one_class_alone_has_no_area() -> None:
    labels = np.array(["no", "yes"])
    rows = rows_of(labels)
    rows.y[:] = 1
    metric = Metric("roc_auc", get_scorer("roc_auc"))
    quick = quick_score(metric, Remembered(Answering(labels)), rows)
    assert quick is not None
    assert math.isnan(quick(np.arange(60)))
    with pytest.warns(UndefinedMetricWarning):
        assert math.isnan(score_of(metric, Remembered(Answering(labels)), rows))


def test_rows_left_undecided_are_for_the_scorer_itself() -> None:
    class Undecided(Answering):
        leaves_undecided = True

    labels = np.array(["no", "yes"])
    metric = Metric("accuracy", get_scorer("accuracy"))
    assert quick_score(metric, Remembered(Answering(labels)), rows_of(labels)) is not None
    assert quick_score(metric, Remembered(Undecided(labels)), rows_of(labels)) is None


@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("name", sorted(OF_NUMBERS))
def test_those_of_numbers_are_those_of_the_scorer(name: str, kind: type) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)).astype(kind)
    both(name, Numbers(), Table(X, X[:, 0] + rng.normal(size=60)))
    both(name, Numbers(), Table(X, np.full(60, 0.1)))


def test_numbers_of_weighted_rows_have_no_quick_form() -> None:
    metric, X = Metric("r2", get_scorer("r2")), np.arange(60.0)[:, None]
    for weights in (None, np.ones(60)):
        rows = Table(X, X[:, 0], roles=Roles(weights=weights))
        quick = quick_score(metric, Remembered(Numbers()), rows)
        assert (quick is None) == (weights is not None)
