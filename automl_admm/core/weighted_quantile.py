"""Quantiles of values with weights."""

from __future__ import annotations

import math

import numpy as np

from automl_admm.core.space import Array

ROUNDING = 1e-12  # sums of weights may be off by this share


def weighted_quantile(values: Array, weights: Array, quantile: float) -> float:
    """Return the smallest value with so large a share of the weight at or below it.

    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), np.array([8.0, 1.0, 1.0]), 0.5)
    3.0
    """
    kept = weights > 0
    if not kept.any():
        return math.nan
    order = np.argsort(values[kept], kind="stable")
    ordered, reach = values[kept][order], np.cumsum(weights[kept][order])
    place = int(np.searchsorted(reach, quantile * reach[-1] * (1 - ROUNDING)))
    return float(ordered[min(place, len(ordered) - 1)])
