"""A classifier that weighs the probability of each class before the largest one decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import DataError
from automl_admm.pipelines.thresholds.by_class import decide_by_weights


class WeightedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides for the class with the largest weight times probability.

    `class_weights` are in the sorted order of the labels. Weights that are all alike leave the
    decisions of the probabilities. For costs c of missing a class, its weight is c.
    """

    def __init__(self, estimator: Any, *, class_weights: Sequence[float] | None = None) -> None:
        self.estimator = estimator
        self.class_weights = class_weights

    def fit(self, X: Any, y: Any) -> WeightedClassifier:
        """Fit the estimator; the weights stay."""
        found = len(np.unique(y))
        if self.class_weights is not None and len(self.class_weights) != found:
            said = f"there are {len(self.class_weights)} weights of classes, and y has {found}"
            raise DataError(f"{said} classes.")
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Any:
        """Decide each row for the class with the largest weighted probability."""
        check_is_fitted(self, "estimator_")
        weights = np.ones(len(self.classes_)) if self.class_weights is None else self.class_weights
        return self.classes_[decide_by_weights(self.predict_proba(X), weights)]

    def predict_proba(self, X: Any) -> Any:
        """Probabilities by class; the weights do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
