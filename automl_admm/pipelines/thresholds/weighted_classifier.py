"""A classifier that weighs the probability of each class before the largest one decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import DataError
from automl_admm.pipelines.labels import accuracy_of_decided, label_decided
from automl_admm.pipelines.thresholds.by_class import decide_by_weights
from automl_admm.pipelines.thresholds.class_costs import ClassCosts
from automl_admm.pipelines.thresholds.inner_estimator import fit_inner


class WeightedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that decides for the class with the largest weight times probability.

    `class_weights` are in the sorted order of the labels. Weights that are all alike leave the
    decisions of the probabilities. With `costs`, a row for each true class and in it the cost of
    each decision, the class with the smallest expected cost is decided for; the probabilities p are
    then max(p, 0.001) ^ (1 / `temperature`). With a `least_share`, and without costs, a row has the
    label None if the largest share of its weighted probabilities is below that; labels then are
    objects.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        class_weights: Sequence[float] | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        temperature: float = 1.0,
        least_share: float = 0.0,
    ) -> None:
        self.estimator = estimator
        self.class_weights = class_weights
        self.costs = costs
        self.temperature = temperature
        self.least_share = least_share

    @property
    def leaves_undecided(self) -> bool:
        """True if a row may have no label."""
        return self.least_share > 0.0

    def fit(self, X: Any, y: Any) -> WeightedClassifier:
        """Fit the estimator; the weights and the costs stay."""
        found = len(np.unique(y))
        if self.costs is not None and np.shape(self.costs) != (found, found):
            said = f"the costs have the shape {np.shape(self.costs)}, and y has {found} classes"
            raise DataError(f"{said}: give a row and a column for each class.")
        if self.costs is not None and self.least_share > 0.0:
            raise DataError("a row that costs decide cannot be left undecided by a least share.")
        if self.class_weights is not None and len(self.class_weights) != found:
            said = f"there are {len(self.class_weights)} weights of classes, and y has {found}"
            raise DataError(f"{said} classes.")
        fit_inner(self, X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Decide each row by its weighted probabilities, and by the costs if there are any."""
        check_is_fitted(self, "estimator_")
        weights = np.ones(len(self.classes_)) if self.class_weights is None else self.class_weights
        cost = None if self.costs is None else ClassCosts(self.costs, self.temperature)
        decided = decide_by_weights(self.predict_proba(X), weights, cost, self.least_share)
        if self.leaves_undecided:
            return label_decided(decided, self.classes_)
        return self.classes_[decided]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the decided rows; NaN if there are none."""
        return accuracy_of_decided(self.predict(X), y, sample_weight)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities by class; the weights do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
