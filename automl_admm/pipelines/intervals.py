"""Prediction intervals around any fitted regressor, by split conformal prediction.

A new row is as likely as any of n calibration rows to have the largest error, the second largest,
and so on. So its error is at most the k-th smallest of theirs with probability at least k / (n + 1)
for data drawn alike, whatever the model and the distribution (Vovk et al. 2005; Lei et al. 2018).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from automl_admm.core.errors import ConfigurationError, DataError


class IntervalRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted regressor with intervals that hold a share of new rows, its `coverage`.

    `fit` does not train the `estimator`: it measures its errors on rows that the estimator has
    not seen. All intervals are as wide, twice `half_width_`; with too few rows they are infinite.
    """

    def __init__(self, estimator: Any, coverage: float = 0.9) -> None:
        self.estimator = estimator
        self.coverage = coverage

    def fit(self, X: Any, y: Any) -> IntervalRegressor:
        """Calibrate the width on rows that the estimator has not seen."""
        self.half_width_ = half_width(np.asarray(self.predict(X)) - np.asarray(y), self.coverage)
        return self

    def predict(self, X: Any) -> Any:
        """Predict rows as the estimator does."""
        return self.estimator.predict(X)

    def predict_interval(self, X: Any) -> Any:
        """Return the lower and the upper end for each row, two columns."""
        check_is_fitted(self, "half_width_")
        predicted = np.asarray(self.predict(X), dtype=float)
        return np.column_stack([predicted - self.half_width_, predicted + self.half_width_])


def half_width(errors: Any, coverage: float) -> float:
    """Return the ⌈(n + 1) coverage⌉-th smallest absolute error; infinite if there is none.

    >>> half_width(np.array([-3.0, 1.0, 2.0]), 0.75)
    3.0
    """
    if not isinstance(coverage, float) or not 0.0 < coverage < 1.0:
        raise ConfigurationError(f"the coverage of intervals lies between 0 and 1, not {coverage}.")
    sizes = np.sort(np.abs(np.asarray(errors, dtype=float)))
    if sizes.ndim != 1 or not np.isfinite(sizes).all():
        raise DataError("a row to calibrate with has no finite error.")
    # Of 9 rows and a coverage of 0.9 the place is 9, and not 10 by rounding.
    place = math.ceil((len(sizes) + 1) * coverage - 1e-9)
    return float(sizes[place - 1]) if place <= len(sizes) else math.inf
