"""A classifier of two classes that leaves rows undecided whose score lies in a band."""

from __future__ import annotations

from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.pipelines.labels import accuracy_of_decided, label_decided
from automl_admm.pipelines.thresholds.cuts import Band, cut_scores
from automl_admm.pipelines.thresholds.inner_estimator import (
    OfTwoClasses,
    check_two_classes,
    fit_inner,
)


class AbstainingClassifier(OfTwoClasses):
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
        scores, classes = self.positive_scores(X)
        band = Band(self.lower_threshold, self.threshold)
        return label_decided(cut_scores(scores, band), classes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the decided rows; NaN if there are none."""
        return accuracy_of_decided(self.predict(X), y, sample_weight)
