"""A fitted classifier that gives probabilities of classes that its own rows lacked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone


class AllClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gives a probability to every class, 0 to those unknown to its estimator.

    So classifiers that were fitted on different rows can be averaged. Fitted anew, it knows the
    classes of its rows.
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

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of all classes, in their order."""
        known = self.estimator_.predict_proba(X)
        found = np.zeros((len(known), len(self.classes_)))
        found[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = known
        return found

    def predict(self, X: Any) -> Any:
        """Return the most probable labels, the first of equals."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

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
