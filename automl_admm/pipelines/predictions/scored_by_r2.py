"""The `score` of regressors, R²."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from automl_admm.data.exact_arrays import without_mask
from automl_admm.pipelines.predictions.constant_truth import constant_score, has_no_spread


class ScoredByR2(RegressorMixin):  # type: ignore[misc]
    """A regressor whose `score` is R², of a constant truth 0, or 1 without any error."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² on these rows: 1 − Σ (y − ŷ)² / Σ (y − ȳ)², by the weights of the rows.

        Of a constant truth it is 0, or 1 if all predictions are right, as scikit-learn has it.
        """
        from sklearn.metrics import r2_score

        predictions, y, sample_weight = (
            self.predict(X),
            without_mask(y),
            without_mask(sample_weight),
        )
        found = float(r2_score(y, predictions, sample_weight=sample_weight))  # it checks them
        truth = np.asarray(y)
        if truth.size != len(truth):  # of several quantities
            return found
        truth = (truth.astype(float) if truth.dtype == object else truth).reshape(-1)
        if not has_no_spread("r2", truth, sample_weight):
            return found
        return constant_score("r2", predictions, truth, sample_weight)
