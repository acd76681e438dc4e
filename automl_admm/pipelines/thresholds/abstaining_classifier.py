"""A classifier of two classes that leaves rows undecided whose score lies in a band."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import DataError
from automl_admm.pipelines.labels import accuracy_of_decided, label_decided
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.thresholds.cuts import Band, cut_scores


def _estimator_has(method: str) -> Any:
    def check(classifier: AbstainingClassifier) -> bool:
        # `available_if` takes an AttributeError as no.
        getattr(getattr(classifier, "estimator_", classifier.estimator), method)
        return True

    return check


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
        if len(np.unique(y)) != 2:
            raise DataError(f"thresholds part two classes, and y has {len(np.unique(y))}.")
        if self.lower_threshold > self.threshold:
            said = f"the lower threshold {self.lower_threshold:g} is above {self.threshold:g}"
            raise DataError(f"{said}: no score would lie between them.")
        if self.pos_label is not None and self.pos_label not in list(np.unique(y)):
            raise DataError(f"there is no class '{self.pos_label}' in y to be the positive one.")
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Any:
        """Return a label for each row, None for one that is left undecided."""
        check_is_fitted(self, "estimator_")
        classes = self.classes_
        if self.pos_label is not None and self.pos_label == classes[0]:
            classes = classes[::-1]  # the positive class comes last, as in `turn`
        scores = turn(getattr(self.estimator_, self.response_method)(X), classes)
        sure = scores if scores.ndim == 1 else scores[:, -1]
        return label_decided(cut_scores(sure, Band(self.lower_threshold, self.threshold)), classes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the decided rows; NaN if there are none."""
        return accuracy_of_decided(self.predict(X), y, sample_weight)

    @available_if(_estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities by class; the thresholds do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Scores; the thresholds do not change them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
