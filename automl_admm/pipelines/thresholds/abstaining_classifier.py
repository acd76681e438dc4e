"""A classifier of two classes that leaves rows undecided whose score lies in a band."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import DataError
from automl_admm.pipelines.labels import accuracy_of_decided, label_decided
from automl_admm.pipelines.thresholds.cuts import Band, cut_scores
from automl_admm.pipelines.thresholds.inner_estimator import (
    check_two_classes,
    estimator_has,
    fit_inner,
    positive_scores,
)


class AbstainingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes that leaves a row undecided whose score lies between two others.

    A row is of the positive class (`pos_label`, or the last class) if `response_method` returns at
    least the `threshold`, of the other one below `lower_threshold`, and has None in between. Labels
    are objects, whether or not one of them is None. Probabilities are those of the estimator.
    """

    leaves_undecided = True

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float = 0.5,
        lower_threshold: float = 0.5,
        response_method: str = "predict_proba",
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.lower_threshold = lower_threshold
        self.response_method = response_method
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> AbstainingClassifier:
        """Fit the estimator; the thresholds stay."""
        check_two_classes(y, self.pos_label)
        if self.lower_threshold > self.threshold:
            said = f"the lower threshold {self.lower_threshold:g} is above {self.threshold:g}"
            raise DataError(f"{said}: no score would lie between them.")
        fit_inner(self, X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return a label for each row, None for one that is left undecided."""
        check_is_fitted(self, "estimator_")
        scores, classes = positive_scores(self, X)
        band = Band(self.lower_threshold, self.threshold)
        return label_decided(cut_scores(scores, band), classes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the decided rows; NaN if there are none."""
        return accuracy_of_decided(self.predict(X), y, sample_weight)

    @available_if(estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities by class; the thresholds do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Scores; the thresholds do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
