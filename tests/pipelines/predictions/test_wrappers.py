"""Rows are transformed once for all kinds of predictions of a fitted pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
RESPONSES = ("predict", "predict_proba", "decision_function")


class Counting(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Adds 1, and counts its calls."""

    calls = 0

    def fit(self, X: Any, y: Any = None) -> Any:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        type(self).calls += 1
        return np.asarray(X) + 1


class Contrary(Pipeline):  # type: ignore[misc]
    """A pipeline that predicts in its own way."""

    def predict(self, X: Any, **more: Any) -> Any:
        return 1 - super().predict(X, **more)


@pytest.fixture(autouse=True)
def _count_anew() -> None:
    Counting.calls = 0


@pytest.mark.parametrize(
    "last",
    [LogisticRegression(), make_pipeline(StandardScaler(), Counting(), LogisticRegression())],
    ids=["estimator", "pipeline"],
)
def test_rows_are_transformed_once_for_all_responses(last: Any) -> None:
    pipeline = make_pipeline(Counting(), last).fit(X, Y)
    expected = {name: getattr(pipeline, name)(X) for name in RESPONSES}
    steps, Counting.calls = Counting.calls // (1 + len(RESPONSES)), 0
    remembered = Remembered(pipeline)
    for name in RESPONSES * 2:
        assert (getattr(remembered, name)(X) == expected[name]).all()
    assert Counting.calls == steps


class Stateless(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps nothing of its fit."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * 2


@pytest.mark.parametrize("response", RESPONSES)
def test_a_step_without_a_state_transforms_as_in_the_whole_pipeline(response: str) -> None:
    pipeline = make_pipeline(StandardScaler(), Stateless(), LogisticRegression()).fit(X, Y)
    found = getattr(Remembered(pipeline), response)(X)
    assert (found == getattr(pipeline, response)(X)).all()


def test_other_rows_are_transformed_anew() -> None:
    pipeline = make_pipeline(Counting(), LogisticRegression()).fit(X, Y)
    remembered, others = Remembered(pipeline), X[::-1].copy()
    remembered.predict(X)
    assert (remembered.predict_proba(others) == pipeline.predict_proba(others)).all()
    assert (remembered.predict(others) == pipeline.predict(others)).all()
    assert (remembered.predict_proba(X) == pipeline.predict_proba(X)).all()


def test_forgotten_rows_are_transformed_again_and_predictions_stay() -> None:
    remembered = Remembered(make_pipeline(Counting(), LogisticRegression()).fit(X, Y))
    first = remembered.predict_proba(X)
    remembered.forget_rows()
    before = Counting.calls
    assert (remembered.predict_proba(X) == first).all()
    assert Counting.calls == before
    remembered.predict(X)
    assert Counting.calls == before + 1


def test_who_writes_to_an_answer_writes_to_a_copy() -> None:
    remembered = Remembered(make_pipeline(LogisticRegression()).fit(X, Y))
    first = remembered.predict_proba(X)
    expected = first.copy()
    first[:] = 0.5
    assert (remembered.predict_proba(X) == expected).all()
    assert (remembered.answer("predict_proba") == expected).all()


def test_a_pipeline_of_another_class_predicts_in_its_own_way() -> None:
    pipeline = Contrary([("add", Counting()), ("last", LogisticRegression())]).fit(X, Y)
    assert (Remembered(pipeline).predict(X) == pipeline.predict(X)).all()


def test_what_a_pipeline_lacks_is_lacking() -> None:
    pipeline = make_pipeline(Counting(), StandardScaler()).fit(X)
    assert not hasattr(Remembered(pipeline), "predict")


class Doubling(LogisticRegression):  # type: ignore[misc]
    """Doubles the rows that it is given in place."""

    def predict_proba(self, X: Any) -> Any:
        X.iloc[:, :] = X.to_numpy() * 2
        return super().predict_proba(X)


@pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="no copies on write before")
def test_a_model_that_changes_its_rows_has_a_frame_of_its_own() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    model = Doubling().fit(X, [0, 0, 1, 1])
    seen = Remembered(Pipeline([("mine", model)]))
    seen.predict_proba(X)
    assert X["a"].tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    "wrap", [Remembered, lambda one: Numbered(Remembered(one), np.array([0, 1]))]
)
def test_steps_of_a_wrapped_pipeline_are_those_of_the_pipeline(wrap: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    seen = wrap(pipeline)
    assert seen[-1] is pipeline[-1]
    assert seen["standardscaler"] is pipeline[0]
    assert np.array_equal(seen[:-1].transform(X), pipeline[:-1].transform(X))
