"""Decisions told from probabilities and scores are those of scikit-learn's `predict`, at ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier

from automl_admm.pipelines.ensembles.rated import Rated
from automl_admm.pipelines.labels import number_classes
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.checks import number_labels, turn
from automl_admm.pipelines.predictions.measured import Seen, Table
from automl_admm.pipelines.predictions.plain_decisions import decide_plainly, told_decisions
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

X = np.arange(12.0)[:, None]


def in_two(seed: int, labels: str) -> Any:
    return np.array(list(labels))[np.random.default_rng(seed).permutation(12) % len(labels)]


@pytest.mark.parametrize("positive", [None, "a", "b"])
@pytest.mark.parametrize("neighbours", [1, 2, 4])
def test_ties_of_probabilities_go_to_the_first_sorted_label(
    neighbours: int, positive: str | None
) -> None:
    y = in_two(neighbours, "ab")
    model = KNeighborsClassifier(neighbours).fit(X, y)
    classes, _ = number_classes(y, positive)
    predictions = turn(model.predict_proba(X), classes)
    assert (predictions[:, 1] == 0.5).any() == (neighbours > 1)
    expected = number_labels(model.predict(X), classes)
    assert decide_plainly(predictions, classes).tolist() == expected.tolist()


@pytest.mark.parametrize("positive", [None, "a", "b"])
def test_ties_of_scores_go_to_the_first_sorted_label(positive: str | None) -> None:
    y = in_two(0, "ab")
    model = RidgeClassifier().fit(X, y)
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([-6.0])
    classes, _ = number_classes(y, positive)
    scores = turn(model.decision_function(X), classes)
    assert (scores == 0.0).any()
    expected = number_labels(model.predict(X), classes)
    assert decide_plainly(scores, classes).tolist() == expected.tolist()


def test_of_several_classes_the_first_of_the_largest_is_told() -> None:
    y = in_two(1, "abc")
    model = KNeighborsClassifier(3).fit(X, y)
    classes, _ = number_classes(y)
    told = decide_plainly(model.predict_proba(X), classes)
    assert told.tolist() == number_labels(model.predict(X), classes).tolist()


def test_known_decisions_are_not_told_anew() -> None:
    rows = Table(X[:2], np.array([0, 1]), np.array(["no", "yes"]))
    chances = np.full((2, 2), 0.5)
    part = EvaluatedPipeline(None, X[:2], rows.y, chances, 0.0, 0.0, np.array([1, 1]))
    seen = Seen(None, Remembered(LinearRegression()), rows, part, 0.0, by_decisions=True)
    assert told_decisions(seen).tolist() == [1, 1]


def test_an_ensemble_is_rated_by_the_same_rule() -> None:
    classes, numbers = number_classes(np.resize(["a", "b", "b"], 60), "a")
    rows = Table(np.zeros((60, 1)), numbers, classes)
    rated = Rated.of(Metric("accuracy", get_scorer("accuracy"), 1.0), rows, [(0, np.arange(60))])
    loss = rated.losses(rated.parts)(np.full((1, 60, 2), 0.5))
    assert loss == pytest.approx(2 / 3)
