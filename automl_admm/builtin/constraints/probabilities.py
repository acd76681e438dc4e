"""The built-in limits on probabilities and scores of two classes, whatever the threshold.

A model without probabilities, such as a linear SVM, has no value of those about probabilities, and
is within no limit on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.builtin.constraints.prediction_errors import average
from automl_admm.core.equal_bins import bins_of, edges_of
from automl_admm.core.evidence import Calibration, Estimate, Evidence, Mean, Weighted
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    Better,
    ConstraintFunction,
    ConstraintPlugin,
    NumberedConstraint,
)

ROUNDING = 1e-12  # sums of weights may be off by this share
NO_PROBABILITIES = "the model has no probabilities, only scores or decisions"
CHOSEN_HERE = (
    "its threshold is chosen on the same rows that measure it; limit 'precision' and 'recall', at "
    "the threshold that ships, for a proof"
)


def brier(evaluated: EvaluatedPipeline) -> Evidence:
    """Return the mean of (p − y)², with y 1 for positive rows and 0 for others."""
    found = _probabilities(evaluated)
    if found is None:
        return Estimate(math.nan, NO_PROBABILITIES)
    squares = (found - _truth(evaluated)) ** 2
    if evaluated.weights is None:
        return Mean(squares, 0.0, 1.0)
    return Weighted(average(squares, evaluated.weights))


def calibration_error(evaluated: EvaluatedPipeline) -> Evidence:
    """Return Σ_b n_b / n |mean p − mean y in b| over bins b of equally many rows."""
    found = _probabilities(evaluated)
    if found is None or not np.isfinite(found).all():
        return Estimate(math.nan, NO_PROBABILITIES)
    truth, weights = _truth(evaluated), evaluated.weights
    if weights is None:
        return Calibration(found, truth)
    bins, total = bins_of(found, edges_of(found)), float(np.sum(weights))
    excess = np.abs(np.bincount(bins, weights=weights * (found - truth))).sum()
    return Weighted(float(excess) / total if total > 0 else math.nan)


@dataclass(frozen=True, slots=True)
class BestAt:
    """The largest recall at any threshold with so large a precision, or the reverse."""

    share: float
    is_recall: bool

    def __call__(self, evaluated: EvaluatedPipeline) -> Evidence:
        """Measure these rows; 0 if no threshold has so large a precision."""
        from sklearn.metrics import precision_recall_curve

        truth, weights = _truth(evaluated), evaluated.weights
        counted = np.ones(len(truth)) if weights is None else weights
        if not np.any(counted[truth == 1] > 0):
            return Weighted(math.nan, "positive rows")
        scores = np.asarray(evaluated.scores, dtype=float)
        curve = precision_recall_curve(truth, scores, sample_weight=weights)
        # The last point is none of a threshold: no row is called positive there.
        precision, recall = (values[:-1] for values in curve[:2])
        wanted, held = (recall, precision) if self.is_recall else (precision, recall)
        reached = wanted[held >= self.share * (1 - ROUNDING)]
        return Estimate(float(np.max(reached, initial=0.0)), CHOSEN_HERE)


def _probabilities(evaluated: EvaluatedPipeline) -> Any:
    """Return the probabilities of the positive class; None for a model without them."""
    predictions = np.asarray(evaluated.predictions, dtype=float)
    return predictions[:, -1] if predictions.ndim == 2 else None


def _truth(evaluated: EvaluatedPipeline) -> Any:
    return (np.asarray(evaluated.y) == 1).astype(float)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits on probabilities; each has a gap, a ratio and a worst group."""
    yield _plugin("brier", "mean of (probability - truth) squared", brier)
    words = "probability less truth, mean distance in 10 bins of equally many rows"
    yield _plugin("calibration_error", words, calibration_error)
    words = "best recall at a threshold with N % precision or more"
    yield _plugin("recall_at_precision", words, numbered=_recall_at, better="")
    words = "best precision at a threshold with N % recall or more"
    yield _plugin("precision_at_recall", words, numbered=_precision_at, better="")


def _recall_at(number: float) -> ConstraintPlugin:
    function = BestAt(_share(number), is_recall=True)
    return _plugin("recall_at_precision", "best recall", function, better="larger")


def _precision_at(number: float) -> ConstraintPlugin:
    function = BestAt(_share(number), is_recall=False)
    return _plugin("precision_at_recall", "best precision", function, better="larger")


def _share(number: float) -> float:
    if not 0 < number <= 100:
        raise ValueError("the number is a percentage above 0 and up to 100, as in 90 or 99.5")
    return number / 100


def _plugin(
    name: str,
    summary: str,
    function: ConstraintFunction | None = None,
    *,
    numbered: NumberedConstraint | None = None,
    better: Better = "smaller",
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        numbered=numbered,
        highest=1.0,
        kind="statistical",
        better=better,
        target="two classes",
        uses_decisions=False,
        takes_weights=True,
    )
