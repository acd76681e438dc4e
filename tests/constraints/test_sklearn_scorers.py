"""scikit-learn's scorers as limits: decisions that they look at, and rows that have no value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from automl_admm.constraints.sklearn_scorers import OF_CLASSES, Scored, score_measure
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.unknown_values import why_unknown
from automl_admm.pipelines.metrics import OF_ALL_CLASSES, resolve_metric
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.registry import Registry


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "precision", "jaccard"])
def test_these_look_at_decisions(name: str) -> None:
    assert score_measure(name).uses_decisions


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "neg_log_loss"])
def test_these_look_at_scores_alone(name: str) -> None:
    assert not score_measure(name).uses_decisions


@pytest.mark.parametrize("name", ["r2", "f1_samples", "rand_score"])
def test_one_that_is_no_metric_of_two_classes_does_no_harm(name: str) -> None:
    assert score_measure(name).uses_decisions


X = np.arange(70.0).reshape(-1, 1)


def seen(truth: np.ndarray, weights: np.ndarray | None = None) -> EvaluatedPipeline:
    """Return a regressor as limits see it on these rows."""
    rows, model = X[: len(truth)], LinearRegression().fit(X, np.sin(X[:, 0]))
    found = model.predict(rows)
    return EvaluatedPipeline(model, rows, truth, found, 0.0, 0.0, found, weights=weights)


ALONE = np.where(np.arange(70) == 1, 1.0, 0.0)


@pytest.mark.parametrize("name", ["explained_variance", "d2_absolute_error_score"])
@pytest.mark.parametrize(
    ("truth", "weights"),
    [(np.full(70, 0.1), None), (X[:, 0], ALONE), (np.array([3.0]), None)],
    ids=["constant", "one weight", "one row"],
)
def test_a_truth_without_a_spread_has_no_share_of_it(
    name: str, truth: np.ndarray, weights: np.ndarray | None
) -> None:
    """It was -1e33, or 1 of a single row, and the model was chosen by it."""
    found = as_evidence(Scored(name)(seen(truth, weights)))
    assert math.isnan(found.value)
    assert why_unknown(found) == "gives no number: it has no two different true values"


def test_another_score_of_a_constant_truth_is_that_of_scikit_learn() -> None:
    """An error needs no spread."""
    assert Scored("neg_max_error")(seen(np.full(70, 0.1))).value < 0
    assert Scored("explained_variance")(seen(X[:, 0])).value < 1


def seen_classes(
    truth: np.ndarray, classes: int = 2, weights: np.ndarray | None = None
) -> EvaluatedPipeline:
    """Return a classifier as limits see it on these rows."""
    model = LogisticRegression().fit(X, np.arange(70) % classes)
    found = model.predict_proba(X)
    return EvaluatedPipeline(model, X, truth, found, 0.0, 0.0, model.predict(X), weights=weights)


@pytest.mark.parametrize(
    ("name", "said"),
    [("average_precision", "it has no positive rows"), ("d2_brier_score", "its rows are of one")],
)
def test_rows_of_the_negative_class_have_no_such_score(name: str, said: str) -> None:
    """scikit-learn puts 0 and minus infinity, and a gap of groups counted them."""
    found = as_evidence(Scored(name)(seen_classes(np.zeros(70, dtype=int))))
    assert math.isnan(found.value)
    assert said in why_unknown(found)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", OF_ALL_CLASSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_rows_that_lack_a_class_have_a_score_or_none_but_no_error(name: str, classes: int) -> None:
    """An error of a limit took the other measurements of later rows with it."""
    for truth in (np.zeros(70, dtype=int), np.arange(70) % 2 * (classes - 1)):
        found = as_evidence(Scored(name)(seen_classes(truth, classes)))
        assert math.isfinite(found.value) or "roc_auc" in name or name.startswith("d2_")


def test_a_score_of_rows_that_lack_a_class_is_that_of_all_classes() -> None:
    rows, chances = seen_classes(np.arange(70) % 2 * 2, classes=3), 0.0
    for row, one in enumerate(rows.y):
        chances += math.log(rows.predictions[row, one])
    assert Scored("neg_log_loss")(rows).value == pytest.approx(chances / 70)
    metric = resolve_metric("neg_brier_score", "classification", 3, Registry("metric"))
    brier = metric.knowing(np.arange(3)).scorer(rows.pipeline, rows.X, rows.y)
    assert brier == Scored("neg_brier_score")(rows).value
    found = as_evidence(Scored("average_precision")(rows))
    assert why_unknown(found) == "gives no number: it has no rows of a class"


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("one", [0, 1])
def test_rows_of_one_class_have_no_score_of_several(name: str, one: int) -> None:
    """The recall of a class without rows was 0, and a gap of groups counted it."""
    found = as_evidence(Scored(name)(seen_classes(np.full(70, one))))
    assert math.isnan(found.value)
    assert why_unknown(found) == "gives no number: its rows are of one class"
    assert math.isfinite(Scored(name)(seen_classes(np.arange(70) % 2)).value)


@pytest.mark.parametrize("name", OF_CLASSES)
def test_rows_of_another_class_without_weight_do_not_count(name: str) -> None:
    """Their class had a recall of 0, and the mean of both half of what it is."""
    truth = np.arange(70) % 2
    found = as_evidence(Scored(name)(seen_classes(truth, weights=truth.astype(float))))
    assert why_unknown(found) == "gives no number: its rows are of one class"


def test_rows_with_a_positive_one_have_an_average_precision() -> None:
    """All may be positive; of three classes none is the positive one."""
    assert Scored("average_precision")(seen_classes(np.ones(70, dtype=int))).value > 0.99
    assert Scored("d2_brier_score")(seen_classes(np.arange(70) % 2)).value < 1
    several = seen_classes(np.arange(70) % 3, classes=3)
    assert 0 < Scored("average_precision")(several).value < 1
