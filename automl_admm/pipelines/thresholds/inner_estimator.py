"""Parts of classifiers that decide by the scores of another estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

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


def positive_scores(classifier: Any, X: Any) -> tuple[Any, Any]:
    """Return the score of the positive class for each row, and both classes, that one last."""
    classes = classifier.classes_
    if classifier.pos_label is not None and classifier.pos_label == classes[0]:
        classes = classes[::-1]  # as in `turn`
    scores = turn(getattr(classifier.estimator_, classifier.response_method)(X), classes)
    return scores if scores.ndim == 1 else scores[:, -1], classes
