"""Parts of classifiers that decide by the scores of another estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import DataError
from automl_admm.pipelines.predictions.checks import turn


def estimator_has(method: str) -> Any:
    """Return a check for `available_if`: the estimator, fitted or not, has this method."""

    def check(classifier: Any) -> bool:
        # `available_if` takes an AttributeError as no.
        getattr(getattr(classifier, "estimator_", classifier.estimator), method)
        return True

    return check


def fit_inner(classifier: Any, X: Any, y: Any) -> None:
    """Fit a clone of the estimator, and take its classes and features over."""
    classifier.estimator_ = clone(classifier.estimator).fit(X, y)
    classifier.classes_ = classifier.estimator_.classes_
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(classifier.estimator_, name):
            setattr(classifier, name, getattr(classifier.estimator_, name))


def check_two_classes(y: Any, pos_label: Any) -> None:
    """Raise unless the labels are of two classes, the positive one among them."""
    labels = np.unique(y)
    if len(labels) != 2:
        raise DataError(f"thresholds part two classes, and y has {len(labels)}.")
    if pos_label is not None and pos_label not in list(labels):
        raise DataError(f"there is no class '{pos_label}' in y to be the positive one.")


class OfTwoClasses(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of two classes by thresholds on the scores of its estimator.

    Its `response_method` gives them, and `pos_label` names the positive class if it is the first.
    """

    estimator: Any
    response_method: str
    pos_label: Any

    def positive_scores(self, X: Any) -> tuple[Any, Any]:
        """Return the score of the positive class for each row, and both classes, that one last."""
        check_is_fitted(self, "estimator_")
        classes = self.classes_
        if self.pos_label is not None and self.pos_label == classes[0]:
            classes = classes[::-1]  # as in `turn`
        scores = turn(getattr(self.estimator_, self.response_method)(X), classes)
        return scores if scores.ndim == 1 else scores[:, -1], classes

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
        # scikit-learn's checks would try three classes otherwise.
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
