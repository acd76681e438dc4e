"""Weights of classes: within the limits where any are, else plain; and their classifier."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from installed import PLUGINS
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from skops.io import dumps, get_untrusted_types, loads

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of, with_classes
from automl_admm.core.errors import DataError
from automl_admm.core.limits import Limit
from automl_admm.pipelines.thresholds.by_class import (
    MOST_MEASURED,
    choose_class_weights,
    decide_by_weights,
)
from automl_admm.pipelines.thresholds.by_group import Thresholds, name_weights, thresholds_in
from automl_admm.pipelines.thresholds.single import Aimed
from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.model_file import trusted_types

LABELS = ("a", "b", "c")


def part(seed: int = 0, weights: Any = None) -> EvaluatedPipeline:
    """Rows whose third class is rare, and seldom the most probable."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, 400, p=[0.5, 0.4, 0.1])
    probable = rng.dirichlet([5, 4, 1], 400) + 0.3 * np.eye(3)[y]
    probable /= probable.sum(axis=1, keepdims=True)
    return EvaluatedPipeline(
        None, None, y, probable, 0.0, 0.0, probable.argmax(axis=1), weights=weights
    )


def aimed(text: str) -> Aimed:
    constraint = with_classes(constraint_of(read_text(text), PLUGINS.constraints), LABELS)
    return Aimed(constraint, constraint.limit)


def recall_of(rows: EvaluatedPipeline, weights: Any, place: int) -> float:
    decided = decide_by_weights(rows.predictions, weights)
    return float(np.mean(decided[rows.y == place] == place))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_weights_bring_a_rare_class_within_its_limit(is_weighted: bool) -> None:
    rows = part(weights=np.random.default_rng(1).random(400) + 0.5 if is_weighted else None)
    limits = [aimed("recall{class=c} >= 0.8"), aimed("max_fpr{class} <= 0.5")]
    assert recall_of(rows, (1, 1, 1), 2) < 0.8
    found = choose_class_weights([rows, part(1, rows.weights)], limits)
    assert found is not None
    assert found[2] > max(found[:2])
    decided = [decide_by_weights(one.predictions, found) for one in (rows, part(1))]
    means = []
    for limit in limits:
        pairs = zip((rows, part(1, rows.weights)), decided, strict=True)
        evaluated = [_decided(one, own) for one, own in pairs]
        means.append(np.mean([limit.constraint.function(one).value for one in evaluated]))
    assert means[0] >= 0.8
    assert means[1] <= 0.5


def _decided(rows: EvaluatedPipeline, decisions: Any) -> EvaluatedPipeline:
    return EvaluatedPipeline(
        None, None, rows.y, rows.predictions, 0.0, 0.0, decisions, weights=rows.weights
    )


def test_decisions_within_the_limits_stay_plain() -> None:
    assert choose_class_weights([part()], [aimed("macro_recall >= 0.1")]) is None


def test_a_limit_that_no_weights_move_leaves_them_plain() -> None:
    flat = part()
    flat = EvaluatedPipeline(
        None, None, flat.y, np.eye(3)[flat.decisions], 0.0, 0.0, flat.decisions
    )
    assert choose_class_weights([flat], [aimed("recall{class=c} >= 0.99")]) is None


def test_one_class_for_all_rows_is_no_way_to_keep_a_limit() -> None:
    found = choose_class_weights([part()], [aimed("fnr{class=c} <= 0")])
    assert found is not None
    assert len(np.unique(decide_by_weights(part().predictions, found))) > 1


def test_of_weights_within_the_limits_the_best_metric_decides() -> None:
    limits, rows = [aimed("recall{class=c} >= 0.6")], part()

    def accuracy(weights: Any) -> float:
        return float(np.mean(decide_by_weights(rows.predictions, weights) == rows.y))

    by_metric, plain = (choose_class_weights([rows], limits, one) for one in (accuracy, None))
    assert by_metric is not None
    assert plain is not None
    assert recall_of(rows, by_metric, 2) >= 0.6
    assert accuracy(by_metric) >= accuracy(plain)


def test_only_so_many_weights_are_measured() -> None:
    calls = []

    def counted(evaluated: EvaluatedPipeline) -> float:
        calls.append(evaluated)
        return 1.0 - np.mean(evaluated.decisions == evaluated.y)

    limit = Limit("wrong", 0.0)
    choose_class_weights([part()], [Aimed(Constraint(limit, counted, kind="statistical"), limit)])
    assert 10 < len(calls) <= MOST_MEASURED


def test_weights_are_written_and_said() -> None:
    details = Thresholds(float("nan"), by_class={"a": 1.0, "b": 0.51234}).as_details()
    assert details == {"class_weights": {"a": 1.0, "b": 0.51234}}
    assert thresholds_in(details)["class_weights"] == details["class_weights"]
    assert thresholds_in(details)["threshold"] is None
    assert name_weights(details) == "a by 1, b by 0.512"
    assert name_weights({}) == ""


def test_the_classifier_is_one_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = WeightedClassifier(LogisticRegression(max_iter=500), class_weights=[1.0, 9.0, 1.0])
    assert is_classifier(model)
    fitted = clone(model).fit(X, names)
    weighed = fitted.predict_proba(X) * [1.0, 9.0, 1.0]
    assert (fitted.predict(X) == np.array(["a", "b", "c"])[weighed.argmax(axis=1)]).all()
    plain = WeightedClassifier(LogisticRegression(max_iter=500)).fit(X, names)
    assert (plain.predict(X) == plain.estimator_.predict(X)).all()
    assert (fitted.predict(X) == "b").sum() > (plain.predict(X) == "b").sum()
    assert set(cross_val_predict(model, X, names, cv=2)) == {"a", "b", "c"}
    for again in (pickle.loads(pickle.dumps(fitted)), _through_skops(fitted)):
        assert (again.predict(X) == fitted.predict(X)).all()
    with pytest.raises(DataError, match="there are 3 weights of classes, and y has 2 classes"):
        model.fit(X[:100], names[:100])


def _through_skops(model: Any) -> Any:
    content = dumps(model)
    types = get_untrusted_types(data=content)
    assert set(types) <= trusted_types(PLUGINS)
    return loads(content, trusted=types)
