"""A fitted classifier that gives probabilities of classes that its own rows lacked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from automl_admm.pipelines.thresholds.inner_estimator import estimator_has


def knowing_all(model: Any, classes: Any | None) -> Any:
    """Return a fitted model with all classes of the target; as it is, if it knows them.

    The columns of its answers are read by the places of these classes.
    """
    if classes is None:
        return model
    labels = np.unique(np.asarray(classes))
    is_whole = np.array_equal(model.classes_, labels)
    return model if is_whole else AllClasses.around(model, labels)


class AllClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gives a probability to every class, 0 to those unknown to its estimator.

    So classifiers that were fitted on different rows can be averaged, and measured alike. Fitted
    anew, it knows the classes of its rows.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @classmethod
    def around(cls, fitted: Any, classes: Any) -> AllClasses:
        """Return a fitted classifier with these classes, sorted, in place of its own."""
        made = cls(clone(fitted))
        made.estimator_, made.classes_ = fitted, np.asarray(classes)
        return made

    def fit(self, X: Any, y: Any) -> AllClasses:
        """Fit the estimator."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = np.unique(y)
        return self

    @available_if(estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of all classes, in their order."""
        known = self.estimator_.predict_proba(X)
        found = np.zeros((len(known), len(self.classes_)))
        # Of one class some estimators have two columns, and all of it is certain.
        found[:, self._places()] = known if len(self.estimator_.classes_) > 1 else 1.0
        return found

    @available_if(estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the scores of all classes, in their order; unknown ones come last in each row."""
        known = np.asarray(self.estimator_.decision_function(X))
        if known.ndim == 1:
            known = np.column_stack([-known, known])
        least = known.min(axis=1, keepdims=True) - 1.0
        found = np.repeat(least, len(self.classes_), axis=1)
        found[:, self._places()] = known
        return found

    def predict(self, X: Any) -> Any:
        """Return the labels of the estimator."""
        return self.estimator_.predict(X)

    def _places(self) -> Any:
        return np.searchsorted(self.classes_, self.estimator_.classes_)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """The names of the columns, if they have names."""
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        return get_tags(self.estimator)
