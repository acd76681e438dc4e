"""The built-in limit on the association of scores with a column of numbers, such as an age."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.evidence import Estimate, Evidence, RankCorrelation
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin

SEVERAL = "of several classes there is no one score; compare rates of one class by groups"


def score_correlation(evaluated: EvaluatedPipeline, numbers: NDArray[np.float64]) -> Evidence:
    """Return Kendall's τ = (C − D) / (n (n − 1) / 2) of C pairs in one order, D in the other.

    Pairs that are equal in the score or in the column count as neither. Rows without a number in
    the column do not count.
    """
    predictions = np.asarray(evaluated.predictions, dtype=float)
    if predictions.ndim == 2 and predictions.shape[1] != 2:
        return Estimate(math.nan, SEVERAL)
    scores = predictions[:, -1] if predictions.ndim == 2 else predictions
    known = np.isfinite(numbers)
    return RankCorrelation(_tau(scores[known], numbers[known]), int(known.sum()))


def _tau(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return τ from SciPy's variant c, 2 (C − D) / (n² (m − 1) / m), m distinct values."""
    from scipy.stats import kendalltau

    rows = len(first)
    distinct = min(len(np.unique(first)), len(np.unique(second)))
    if distinct < 2:  # all pairs are equal
        return 0.0
    variant = float(kendalltau(first, second, variant="c").statistic)
    return variant * rows * (distinct - 1) / (distinct * (rows - 1))


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limit."""
    yield ConstraintPlugin(
        name="score_correlation",
        summary="rank correlation of scores with a column of numbers, |Kendall's tau|",
        columned=score_correlation,
        highest=1.0,
        kind="statistical",
        better="smaller",
        uses_decisions=False,
    )
