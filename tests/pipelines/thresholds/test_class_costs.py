"""Decisions between several classes by their cost, and the temperature for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from skops.io import dumps, loads

from automl_admm.core.errors import DataError
from automl_admm.pipelines.thresholds.by_class import choose_class_weights, decide_by_weights
from automl_admm.pipelines.thresholds.class_costs import ClassCosts, choose_temperature
from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.finish.model_file import trusted_types

TABLE = ((0.0, 1.0, 20.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
RIGHT = ClassCosts(TABLE)


def rows(power: float, weights: Any = None, count: int = 4000) -> EvaluatedPipeline:
    """Rows whose probabilities are right, but for their power."""
    rng = np.random.default_rng(0)
    right = rng.dirichlet([0.8, 0.8, 0.8], count)
    y = (rng.random(count)[:, None] > right.cumsum(axis=1)).sum(axis=1)
    told = right**power
    told /= told.sum(axis=1, keepdims=True)
    return EvaluatedPipeline(None, None, y, told, 0.0, 0.0, told.argmax(axis=1), weights=weights)


def test_the_expected_cost_decides_and_not_the_largest_probability() -> None:
    probable = np.array([[0.1, 0.2, 0.7], [0.0, 0.1, 0.9], [0.5, 0.4, 0.1]])
    # By hand: 0.1 · 20 + 0.2 · 1 for the third class, 0.1 + 0.7 for the second, 0.9 for the first.
    assert decide_by_weights(probable, (1, 1, 1), RIGHT).tolist() == [1, 2, 0]
    assert decide_by_weights(probable, (1, 1, 1)).tolist() == [2, 2, 0]
    assert decide_by_weights(probable, (0.1, 1, 1), RIGHT).tolist() == [2, 2, 1]


@pytest.mark.parametrize("power", [0.25, 1.0, 2.0])
def test_the_temperature_undoes_a_power_of_the_probabilities(power: float) -> None:
    assert choose_temperature([rows(power)]) == pytest.approx(power)
    seen = rows(power)
    cost = np.array(TABLE)
    plain, mended = (
        cost[seen.y, decide_by_weights(seen.predictions, (1, 1, 1), ClassCosts(TABLE, t))].mean()
        for t in (1.0, power)
    )
    assert mended <= plain
    if power != 1.0:
        assert mended < 0.97 * plain


def test_rows_without_weight_have_no_say_in_the_temperature() -> None:
    other = rows(0.25)
    both = [rows(2.0, np.ones(4000)), rows(0.25, np.zeros(4000))]
    assert choose_temperature(both) == choose_temperature([rows(2.0)])
    assert choose_temperature(both) != choose_temperature([other])


def test_within_all_limits_the_costs_alone_decide() -> None:
    assert choose_class_weights([rows(1.0)], [], None, RIGHT) is None


def test_the_classifier_is_saved_with_its_costs() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB(var_smoothing=0.3).fit(X, y)
    costs = [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [9.0, 9.0, 0.0]]
    made = WeightedClassifier(FrozenEstimator(fitted), costs=costs, temperature=0.5).fit(X, y)
    expected = decide_by_weights(fitted.predict_proba(X), (1, 1, 1), ClassCosts(costs, 0.5))
    assert np.array_equal(made.predict(X), expected)
    assert not np.array_equal(made.predict(X), fitted.predict(X))
    again = loads(dumps(made), trusted=sorted(trusted_types(load_plugins())))
    assert np.array_equal(again.predict(X), expected)


def test_costs_of_another_number_of_classes_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    model = WeightedClassifier(GaussianNB(), costs=[[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(DataError, match="3 classes"):
        model.fit(X, y)
