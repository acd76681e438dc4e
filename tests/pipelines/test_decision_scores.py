"""Quick scores of decisions are those of scikit-learn, on any rows and with any weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from installed import PLUGINS

from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.decision_scores import FORMS, FORMS_OF_TWO, decision_score
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Decided

LABELS = np.array(["no", "maybe", "yes", "never"])


def metric(name: str, classes: int) -> Metric:
    return resolve_metric(name, "classification", classes, PLUGINS.metrics)


def by_scorer(of: Metric, rows: Table, decided: Any) -> float:
    class Model:
        classes_ = rows.classes
        _estimator_type = "classifier"

        def predict(self, X: Any) -> Any:
            return rows.classes[decided]

        def fit(self, X: Any, y: Any) -> Model:
            return self

        def __sklearn_tags__(self) -> Any:
            from sklearn.dummy import DummyClassifier

            return DummyClassifier().__sklearn_tags__()

        def __sklearn_is_fitted__(self) -> bool:
            return True

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score_of(of, Decided(Model(), lambda _: rows.classes[decided]), rows)


@pytest.mark.parametrize("name", sorted(FORMS_OF_TWO))
@settings(max_examples=25)
@given(data=st.data())
def test_it_is_the_score_of_scikit_learn(name: str, data: st.DataObject) -> None:
    classes = data.draw(st.integers(2, 4)) if name in FORMS else 2
    count = data.draw(st.integers(1, 12))
    numbers = st.lists(st.integers(0, classes - 1), min_size=count, max_size=count)
    y, decided = (np.array(data.draw(numbers)) for _ in range(2))
    weights = None
    if data.draw(st.booleans()):
        some = st.lists(st.sampled_from([0.5, 1.0, 2.25]), min_size=count, max_size=count)
        weights = np.array(data.draw(some))
    X = np.zeros((count, 1))
    rows = Table(X, y, np.sort(LABELS[:classes]), roles=Roles(weights=weights))
    quick = decision_score(metric(name, classes), rows)
    assert quick is not None
    found = quick(decided)
    expected = by_scorer(metric(name, classes), rows, decided)
    if weights is None:
        assert found == expected, "without weights bit by bit: nothing chosen may change"
    else:
        assert found == pytest.approx(expected, abs=1e-12)


def test_other_metrics_and_metrics_of_labels_have_none() -> None:
    rows = Table(np.zeros((3, 1)), np.array([0, 1, 1]), LABELS[:2])
    assert decision_score(metric("roc_auc", 2), rows) is None
    own = Metric("accuracy", lambda *_: 0.5, sees_labels=True)
    assert decision_score(own, rows) is None
    quantities = Table(np.zeros((3, 1)), np.array([0.5, 1.0, 1.0]))
    assert decision_score(metric("accuracy", 2), quantities) is None
    three = Table(np.zeros((3, 1)), np.array([0, 1, 2]), LABELS[:3])
    assert decision_score(metric("f1", 2), three) is None
