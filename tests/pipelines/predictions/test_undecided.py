"""Models that leave rows undecided: labels, numbers and scores of the decided rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from automl_admm.core.errors import DataError, InvalidOutcome
from automl_admm.pipelines.labels import UNDECIDED, accuracy_of_decided
from automl_admm.pipelines.metrics import resolve_metric
from automl_admm.pipelines.predictions.decisions import decisions_of, only_class, rates_of
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered
from automl_admm.pipelines.score_interval import score_interval
from automl_admm.pipelines.thresholds.abstaining_classifier import AbstainingClassifier
from automl_admm.pipelines.thresholds.by_group import Thresholds
from automl_admm.pipelines.thresholds.fixed import fix
from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier
from automl_admm.plugins.loading import load_plugins

SCORES = np.array([0.1, 0.45, 0.55, 0.9, 0.2, 0.5, 0.8, 0.3])
Y = np.array([0, 0, 1, 1, 1, 0, 0, 1])
DECIDED = np.array([0, -1, -1, 1, 0, -1, 1, 0])  # for scores from 0.4 to 0.6


class Column(DummyClassifier):  # type: ignore[misc]
    """The probability of its last class is the first column."""

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def metric_of(scoring: Any) -> Any:
    return resolve_metric(scoring, "classification", 2, load_plugins(quietly=True).metrics)


def model(classes: Any) -> Any:
    fitted = Column().fit(np.zeros((2, 1)), np.sort(classes))
    return fix(fitted, Thresholds(0.6, lower=0.4), classes, None, None)


@pytest.mark.parametrize("labels", [["a", "long one"], [3, 7], [False, True], [1.5, 2.5]])
@pytest.mark.parametrize("turned", [False, True])
def test_labels_are_those_of_the_decided_rows(labels: Any, turned: bool) -> None:
    classes = np.array(labels)[:: -1 if turned else 1]
    # Scores are of the last sorted label: those of the positive class, if it is the other, fall.
    X = (1 - SCORES if turned else SCORES)[:, None]
    told = model(classes).predict(X)
    expected = [None if one < 0 else labels[one ^ turned] for one in DECIDED]
    assert told.tolist() == expected
    assert [type(one) for one in told] == [type(one) for one in expected]
    numbered = Numbered(model(classes), classes).predict(X)
    assert numbered.tolist() == decisions_of(model(classes), table(X, classes)).tolist()
    # In a band that is open above, 1 - 0.6 and 1 - 0.4 are cut like 0.4 and 0.6.
    assert numbered.tolist() == DECIDED.tolist()


def table(X: Any, classes: Any) -> Table:
    return Table(X, Y, np.asarray(classes))


def test_a_model_that_decides_all_rows_may_not_say_none() -> None:
    class Silent:
        def predict(self, X: Any) -> Any:
            return np.array([None] * len(X), dtype=object)

    with pytest.raises(InvalidOutcome):
        decisions_of(Silent(), table(SCORES[:, None], ["a", "b"]))


def test_scores_of_decisions_are_of_the_decided_rows_and_others_of_all() -> None:
    rows, fitted = table(SCORES[:, None], ["a", "b"]), model(np.array(["a", "b"]))
    left = DECIDED != UNDECIDED
    asked = Remembered(fitted)
    by_decisions = metric_of("balanced_accuracy")
    expected = balanced_accuracy_score(Y[left], DECIDED[left])
    assert score_of(by_decisions, asked, rows) == pytest.approx(expected)
    by_scores = metric_of("roc_auc")
    assert score_of(by_scores, asked, rows) == pytest.approx(roc_auc_score(Y, SCORES))
    assert fitted.score(rows.X, rows.labels()) == pytest.approx(np.mean((DECIDED == Y)[left]))


def test_a_scorer_of_the_user_sees_decided_rows_and_may_ask_about_others() -> None:
    rows, fitted = table(SCORES[:, None], ["a", "b"]), model(np.array(["a", "b"]))
    seen: list[Any] = []

    def mine(estimator: Any, X: Any, y: Any) -> float:
        told = estimator.predict(X)
        seen.append((X[:, 0].tolist(), told.tolist(), estimator.predict(X + 0.35).tolist()))
        return float(np.mean(told == y))

    metric = metric_of(mine)
    assert score_of(metric, Remembered(fitted), rows) == pytest.approx(2 / 5)
    X, told, others = seen[-1]
    assert X == [0.1, 0.9, 0.2, 0.8, 0.3]
    assert told == ["a", "b", "a", "b", "a"]
    assert others == [None, "b", None, "b", "b"]


def test_the_interval_of_a_score_is_of_decided_rows_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((200, 1))
    y = (rng.random(200) < X[:, 0]).astype(int)
    rows, asked = Table(X, y, np.array(["a", "b"])), Remembered(model(np.array(["a", "b"])))
    metric = metric_of("accuracy")
    score = score_of(metric, asked, rows)
    lower, upper = score_interval(metric, asked, rows, score) or (math.nan, math.nan)
    assert lower < score < upper


def test_rates_and_single_classes_count_the_decided_rows() -> None:
    assert rates_of(Y, DECIDED) == {
        "recall": 1 / 3,
        "selection_rate": 2 / 5,
        "undecided": 3 / 8,
        "undecided_positives": 1 / 4,
    }
    assert rates_of(Y, np.abs(DECIDED)).keys() == {"recall", "selection_rate"}
    rows = table(SCORES[:, None], ["a", "b"])
    assert only_class(rows, np.where(DECIDED == 1, UNDECIDED, DECIDED)) == "a"
    assert only_class(rows, np.full(8, UNDECIDED)) is None
    assert math.isnan(accuracy_of_decided(np.array([None, None], dtype=object), [1, 2]))


def test_of_several_classes_the_least_share_leaves_rows() -> None:
    class Three(DummyClassifier):  # type: ignore[misc]
        def predict_proba(self, X: Any) -> Any:
            return np.asarray(X)

    y = np.array([4, 5, 6])
    X = np.array([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.1, 0.1, 0.8]])
    weighed = WeightedClassifier(Three(), class_weights=[1.0, 1.0, 1.0], least_share=0.45)
    assert weighed.fit(X, y).predict(X).tolist() == [4, None, 6]
    assert weighed.score(X, [4, 4, 4]) == 0.5
    assert WeightedClassifier(Three()).fit(X, y).predict(X).tolist() == [4, 4, 6]
    with pytest.raises(DataError, match="costs decide"):
        weighed.set_params(costs=[[0, 1, 1], [1, 0, 1], [1, 1, 0]]).fit(X, y)


def test_wrong_thresholds_are_refused() -> None:
    X, y = np.zeros((3, 1)), np.array([0, 1, 1])
    with pytest.raises(DataError, match="no score would lie between"):
        AbstainingClassifier(Column(), lower_threshold=0.7).fit(X, y)
    with pytest.raises(DataError, match="y has 1"):
        AbstainingClassifier(Column()).fit(X[1:], y[1:])
    with pytest.raises(DataError, match="no class '2'"):
        AbstainingClassifier(Column(), pos_label=2).fit(X, y)
