"""Common metrics of many predictions of the same rows at once, without weights of rows.

They are those of scikit-learn, for class numbers and probabilities in their order. A selection
asks for hundreds of scores, and scikit-learn checks its arguments each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.explained_variance import is_constant
from automl_admm.core.space import Array

# The scores of several predictions, given the targets of the rows.
Scores = Callable[[Any, Array], Array]


def roc_auc(y: Any, probabilities: Array) -> Array:
    """Return P(s⁺ > s⁻) + P(s⁺ = s⁻) / 2 for a positive and a negative row."""
    positive = y == 1
    if positive.all() or not positive.any():
        return np.full(len(probabilities), np.nan)
    return np.array(
        [_area(scores[positive], scores[~positive]) for scores in probabilities[..., 1]]
    )


def _area(positive: Array, negative: Array) -> float:
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    up_to = np.searchsorted(ordered, positive, side="right")
    return float((below + up_to).mean() / (2 * len(ordered)))


def neg_log_loss(y: Any, probabilities: Array) -> Array:
    """Return the mean logarithm of the probability of the true class."""
    least = np.finfo(probabilities.dtype).eps
    sure = np.clip(probabilities, least, 1 - least)
    return _mean(np.log(sure[:, np.arange(len(y)), y]))


def r2(y: Any, predictions: Array) -> Array:
    """Return 1 − Σ (y − ŷ)² / Σ (y − ȳ)²; of a constant target 0, or 1 without any error."""
    if len(y) < 2:
        return np.full(len(predictions), np.nan)
    errors: Array = predictions - y
    left, spread = (errors**2).sum(axis=1), float(((y - y.mean()) ** 2).sum())
    found: Array
    if is_constant(y):
        found = np.where(errors.any(axis=1), 0.0, 1.0)
    elif spread:
        found = 1.0 - left / spread
    else:  # of values below 1e-160 the squares are 0
        found = np.where(left > 0, 0.0, 1.0)
    return found


def neg_mean_squared_error(y: Any, predictions: Array) -> Array:
    """Return −mean (y − ŷ)²."""
    return -_mean((predictions - y) ** 2)


def neg_root_mean_squared_error(y: Any, predictions: Array) -> Array:
    """Return −√ mean (y − ŷ)²."""
    return -np.sqrt(_mean((predictions - y) ** 2))


def neg_mean_absolute_error(y: Any, predictions: Array) -> Array:
    """Return −mean |y − ŷ|."""
    return -_mean(np.abs(predictions - y))


def _mean(values: Any) -> Array:
    found: Array = np.mean(values, axis=1)
    return found


# By the name of the scorer; roc_auc of more than two classes is another metric.
BY_NAME: Mapping[str, Scores] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            roc_auc,
            neg_log_loss,
            r2,
            neg_mean_squared_error,
            neg_root_mean_squared_error,
            neg_mean_absolute_error,
        )
    }
)
