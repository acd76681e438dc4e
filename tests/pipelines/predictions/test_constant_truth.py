"""R² and its like are 0 or 1 where the truth is constant, whatever the rounding of its mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score

from automl_admm import AutoMLRegressor, load
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.intervals import IntervalRegressor
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.constant_truth import OF_PROBABILITIES, PERFECT
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.plugins.registry import Registry

X = np.arange(70.0).reshape(-1, 1)
FITTED = LinearRegression().fit(X, X[:, 0])


def metric(name: str) -> Metric:
    """Return a metric of scikit-learn."""
    return resolve_metric(name, "regression", 0, Registry("metric"))


@pytest.mark.parametrize("name", list(PERFECT))
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1.0, 70)], ids=["plain", "weighted"])
@pytest.mark.parametrize("value", [0.1, 3.0, -1e12])
def test_a_constant_truth_explains_nothing(
    name: str, weights: np.ndarray | None, value: float
) -> None:
    """Errors that differ get 0, as of a truth of zeros."""
    rows = Table(X, np.full(70, value), roles=Roles(weights=weights))
    assert score_of(metric(name), FITTED, rows) == 0.0


@pytest.mark.parametrize("name", list(PERFECT))
def test_nothing_is_left_to_explain(name: str) -> None:
    """Predictions of the constant get 1."""
    truth = np.full(70, 0.1)
    exact = DummyRegressor(strategy="constant", constant=0.1).fit(X, truth)
    assert score_of(metric(name), exact, Table(X, truth)) == 1.0


@pytest.mark.parametrize("name", list(PERFECT))
def test_rounded_values_of_a_constant_explain_nothing(name: str) -> None:
    """0.3 and 0.1 + 0.2 are one value, of which D² was -1e16."""
    truth = np.where(X[:, 0] % 3, 0.3, 0.1 + 0.2)
    assert score_of(metric(name), FITTED, Table(X, truth)) == 0.0


def test_rows_without_weight_do_not_count() -> None:
    """One other value of weight 0 makes no variance."""
    truth, weights = np.full(70, 0.1), np.ones(70)
    truth[0], weights[0] = 9.0, 0.0
    assert score_of(metric("r2"), FITTED, Table(X, truth, roles=Roles(weights=weights))) == 0.0


@pytest.mark.parametrize("name", list(PERFECT))
@pytest.mark.parametrize("weights", [np.zeros(70), np.arange(70) == 1], ids=["none", "one"])
def test_fewer_than_two_rows_with_weight_have_no_score(name: str, weights: np.ndarray) -> None:
    """Rows whose weights are nothing beside those of other folds were predicted perfectly."""
    rows = Table(X, np.cos(X[:, 0]), roles=Roles(weights=weights.astype(float)))
    assert np.isnan(score_of(metric(name), FITTED, rows))


@pytest.mark.parametrize("name", list(PERFECT))
def test_a_single_row_has_no_score(name: str) -> None:
    """Its explained variance was 1."""
    assert np.isnan(score_of(metric(name), FITTED, Table(X[:1], X[:1, 0] + 1.0)))


CLASSIFIER = LogisticRegression().fit(X, np.where(X[:, 0] % 3, "b", "a"))


@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize("classes", [["a", "b"], ["b", "a"]], ids=["sorted", "turned"])
@pytest.mark.parametrize("one", [0, 1])
def test_rows_of_one_class_explain_nothing(name: str, classes: list[str], one: int) -> None:
    """It was minus infinity, or an error."""
    found = resolve_metric(name, "classification", 2, Registry("metric"))
    labels, truth = np.array(classes), np.full(70, one)
    assert score_of(found, CLASSIFIER, Table(X, truth, labels)) == 0.0
    exact = DummyClassifier(strategy="constant", constant=classes[one]).fit(X[:2], ["a", "b"])
    assert score_of(found, exact, Table(X, truth, labels)) == 1.0
    assert np.isnan(score_of(found, exact, Table(X[:1], truth[:1], labels)))
    assert score_of(found, exact, Table(X, np.arange(70) % 2, labels)) < 0


@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize("one", [1, 2])
def test_columns_of_other_classes_are_left_to_scikit_learn(name: str, one: int) -> None:
    """A fold without a class taught a model of two: its columns may stand for others."""
    found = resolve_metric(name, "classification", 3, Registry("metric"))
    with pytest.raises(ValueError, match="class"):
        score_of(found, CLASSIFIER, Table(X, np.full(70, one), np.array(["a", "b", "c"])))


@pytest.mark.parametrize("weights", [None, (np.arange(70) > 0).astype(float)], ids=["", "weighted"])
def test_rows_without_a_positive_one_have_no_average_precision(weights: np.ndarray | None) -> None:
    """It was 0, as of the worst model."""
    found = resolve_metric("average_precision", "classification", 2, Registry("metric"))
    truth, roles = np.zeros(70, dtype=int), Roles(weights=weights)
    truth[0] = 0 if weights is None else 1
    rows = Table(X, truth, np.array(["a", "b"]), roles=roles)
    assert np.isnan(score_of(found, CLASSIFIER, rows))
    other = Table(X, 1 - truth, np.array(["a", "b"]), roles=roles)
    assert score_of(found, CLASSIFIER, other) == pytest.approx(1.0)


def test_a_truth_with_a_variance_is_left_to_scikit_learn() -> None:
    """Small differences beyond rounding count."""
    truth = 0.1 + X[:, 0] * 1e-9
    assert score_of(metric("r2"), FITTED, Table(X, truth)) < -1e15


def test_a_constant_fold_does_not_decide_a_search() -> None:
    """A site that always reads 0.1 weighs as one that always reads 0."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(210, 3)), columns=["a", "b", "c"])
    site = np.repeat(["A", "B", "C"], 70)
    read = frame["a"] + rng.normal(size=210)

    def best(constant: float) -> float:
        search = AutoMLRegressor(
            max_evaluations=2, cv=3, executor="inline", random_state=0, ensemble=False
        )
        search.fit(frame, np.where(site == "A", constant, read), groups=site)
        return float(search.best_score_)

    assert -1 < best(0.1) < 1


def test_the_score_of_each_regressor_is_that_of_a_run(tmp_path: Path) -> None:
    """A search, the model in its folder and one with intervals said −1e33."""
    rows, constant = np.random.default_rng(0).normal(size=(70, 2)), np.full(70, 0.1)
    search = AutoMLRegressor(
        "tiny", max_evaluations=1, executor="inline", random_state=0, work_dir=tmp_path
    ).fit(rows, np.sin(rows[:, 0]) + rows[:, 1])
    models = (search, load(tmp_path), IntervalRegressor(search))
    assert [one.score(rows, constant) for one in models] == [0.0, 0.0, 0.0]
    assert {one.score(rows, rows[:, 1]) for one in models} == {
        r2_score(rows[:, 1], search.predict(rows))
    }


@pytest.mark.parametrize("kind", [list, pd.Series, lambda y: y.reshape(-1, 1)])
def test_a_constant_truth_may_have_any_form(kind: type) -> None:
    """Lists, columns and weights are taken as scikit-learn takes them."""
    model, weights = IntervalRegressor(FITTED), np.linspace(0.0, 1.0, 70)
    assert model.score(X, kind(np.full(70, 0.1)), sample_weight=list(weights)) == 0.0
    assert model.score(X, kind(X[:, 0])) == pytest.approx(1.0)


def test_several_quantities_are_scored_as_before() -> None:
    """The mean R² of two, by scikit-learn."""
    both = np.column_stack([X[:, 0], np.sin(X[:, 0])])
    model = LinearRegression().fit(X, both)
    assert IntervalRegressor(model).score(X, both) == model.score(X, both)
