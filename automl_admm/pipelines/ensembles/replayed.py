"""Predictions of unseen rows, shown to metrics and limits as a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import sorted_order
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Table


class _Replayed(BaseEstimator):  # type: ignore[misc]
    """A model that knows its answers for the rows X, and for no others."""

    def __init__(self, X: Any, answers: Array) -> None:
        self.X = X
        self.answers = answers

    def fit(self, X: Any, y: Any) -> _Replayed:
        """Change nothing: scikit-learn asks any model for this method."""
        del X, y
        return self

    def _recall(self, X: Any) -> Array:
        if X is not self.X:
            raise InvalidOutcome("an ensemble is measured on the rows of its members alone")
        return self.answers

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ReplayedClassifier(ClassifierMixin, _Replayed):  # type: ignore[misc]
    """A classifier with known probabilities, in the order of its sorted labels."""

    def __init__(self, X: Any, answers: Array, classes: Any) -> None:
        super().__init__(X, answers)
        self.classes = classes

    @property
    def classes_(self) -> Any:
        """The labels, sorted."""
        return self.classes

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the rows."""
        return self._recall(X)

    def predict(self, X: Any) -> Any:
        """Return the most probable labels, the first of equals."""
        return self.classes_[np.argmax(self._recall(X), axis=1)]


class ReplayedRegressor(RegressorMixin, _Replayed):  # type: ignore[misc]
    """A regressor with known predictions."""

    def predict(self, X: Any) -> Array:
        """Return the predictions of the rows."""
        return self._recall(X)


class ReplayedScorer(ReplayedClassifier):
    """A classifier with known scores beside its probabilities; none if nobody asked for them."""

    def __init__(self, X: Any, answers: Array, classes: Any, scores: Array) -> None:
        super().__init__(X, answers, classes)
        self.scores = scores

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows; raise if they are not known."""
        self._recall(X)
        if len(self.scores) != len(self.answers):
            raise InvalidOutcome("the scores of its decision function were not kept")
        return self.scores


def replay(rows: Table, answers: Array, scores: Array | None = None) -> Any:
    """Return a model that gives these answers for all the rows.

    Probabilities come in the order of the classes, the positive one of two last. The `scores` of a
    model with a decision function are those of its labels, sorted.
    """
    if rows.classes is None:
        return ReplayedRegressor(rows.X, answers)
    labels = np.asarray(rows.classes)[sorted_order(rows.classes)]
    turned = turn(answers, rows.classes)
    if scores is not None:
        return ReplayedScorer(rows.X, turned, labels, scores)
    return ReplayedClassifier(rows.X, turned, labels)
