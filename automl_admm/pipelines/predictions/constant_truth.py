"""Scores that divide by a spread of the truth, where the truth has none.

scikit-learn answers 0 there, and 1 for predictions that leave nothing to explain. But it asks if
the computed variance is 0. That of equal numbers such as 0.1 may be a tiny number, as their mean is
rounded; divided by it R² is huge and negative. Of rows of one class its D² of probabilities is
minus infinity. Its average precision of rows without a positive one is 0, though there is no
recall, as there is no area under the ROC curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.explained_variance import is_constant
from automl_admm.core.space import Array
from automl_admm.pipelines.metrics import Metric


def _all_right(errors: Array) -> bool:
    return not errors.any()


# By the name of a scorer of scikit-learn: do such errors leave nothing to explain?
PERFECT: Mapping[str, Callable[[Array], bool]] = MappingProxyType(
    {
        "r2": _all_right,
        "explained_variance": is_constant,
        "d2_absolute_error_score": _all_right,
    }
)
# Those of classes: an error is the probability of all classes but the true one.
OF_PROBABILITIES = ("d2_brier_score", "d2_log_loss_score")


def has_no_spread(name: str, truth: Array, weights: Any) -> bool:
    """Return True if a scorer divides by a spread of the truth and its rows with weight have none.

    A single row has none, and no rows have none.
    """
    return name in PERFECT and is_constant(with_weight(truth, weights))


def constant_score(name: str, predictions: Any, truth: Array, weights: Any) -> float:
    """Return 0 or 1 where a truth has no spread; NaN of fewer than two rows with weight."""
    errors = with_weight(np.reshape(np.asarray(predictions), truth.shape) - truth, weights)
    return _score_of_errors(PERFECT[name], errors)


def _score_of_errors(is_perfect: Callable[[Array], bool], errors: Array) -> float:
    return float(is_perfect(errors)) if len(errors) > 1 else math.nan


def with_weight(values: Array, weights: Any) -> Array:
    """Return the values of rows with weight."""
    return values if weights is None else values[np.asarray(weights) > 0]


def score_of_constant(
    metric: Metric, pipeline: Any, X: Any, truth: Any, weights: Any
) -> float | None:
    """Return a metric's score if it divides by a spread and the truth has none; else None.

    NaN is that of average precision without a positive row.

    Classes are numbered, as the columns of probabilities are: without a column for each class
    scikit-learn says what it is.
    """
    if metric.sees_labels:
        return None
    if metric.name in OF_PROBABILITIES and is_constant(with_weight(truth, weights)):
        found = pipeline.predict_proba(X)
        if np.shape(found) != (len(truth), len(pipeline.classes_)):
            return None
        chances = found[np.arange(len(truth)), truth]
        return _score_of_errors(_all_right, with_weight(1.0 - chances, weights))
    if metric.name == "average_precision" and np.size(getattr(pipeline, "classes_", ())) == 2:
        return None if with_weight(truth, weights).any() else math.nan
    if not has_no_spread(metric.name, truth, weights):
        return None
    return constant_score(metric.name, pipeline.predict(X), truth, weights)
