"""Curves of scores: ROC, precision and recall, calibration; on arrays alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.certify.bounds.rates import lower_rate, upper_rate
from automl_admm.report.rows.bins import part_by

MOST_POINTS = 150
# Two-sided, at 95 %.
RISK = 0.025
DIGITS = 5
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows of similar predicted probability: the mean of it, and the share that was of the class.

    `weight` is the sum of their weights, the number of rows if they have none. The exact interval
    at 95 % is missing if rows have weights or belong together.
    """

    rows: int
    weight: float
    predicted: float
    observed: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class ClassCurves:
    """The curves of one class against the others; None where the rows have only one of the two.

    Points of `roc` are false and true positive rates, those of `precision` recall and precision.
    """

    name: str
    rows: int
    area: float | None
    average_precision: float | None
    roc: Points
    precision: Points
    calibration: tuple[Bin, ...]
    calibration_error: float | None
    brier: float | None


def curves_of(
    name: str,
    is_class: Any,
    scores: Any,
    weights: Any,
    *,
    are_probabilities: bool,
    are_trials: bool,
) -> ClassCurves:
    """Measure the scores of one class; bins have an interval if the rows `are_trials`."""
    from sklearn import metrics

    rows, more = int(is_class.sum()), {"sample_weight": weights}
    area = average = None
    roc: Points = ()
    precision: Points = ()
    if 0 < rows < len(is_class):
        false, true, _ = metrics.roc_curve(is_class, scores, **more)
        share, recall, _ = metrics.precision_recall_curve(is_class, scores, **more)
        area = float(metrics.auc(false, true))
        average = float(metrics.average_precision_score(is_class, scores, **more))
        roc, precision = _points(false, true), _points(recall[::-1], share[::-1])
    bins: tuple[Bin, ...] = ()
    if are_probabilities:
        bins = calibrate(is_class, scores, weights, are_trials=are_trials)
    error = brier = None
    if bins:
        apart = [abs(one.predicted - one.observed) for one in bins]
        error = float(np.average(apart, weights=[one.weight for one in bins]))
        brier = float(np.average((scores - is_class) ** 2, weights=weights))
    return ClassCurves(name, rows, area, average, roc, precision, bins, error, brier)


def rate_interval(events: int, rows: int) -> tuple[float, float]:
    """Return the exact interval of a rate."""
    return lower_rate(events, rows, RISK), upper_rate(events, rows, RISK)


def _points(across: Any, up: Any) -> Points:
    """Return at most so many points, evenly along the curve, its ends among them."""
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(across)) + np.abs(np.diff(up)))])
    wanted = np.linspace(0.0, along[-1], MOST_POINTS)
    places = np.unique([0, *np.searchsorted(along, wanted), len(along) - 1])
    places = places[places < len(along)]
    return tuple((_round(across[place]), _round(up[place])) for place in places)


def _round(value: float) -> float:
    return round(float(value), DIGITS)


def calibrate(is_class: Any, scores: Any, weights: Any, *, are_trials: bool) -> tuple[Bin, ...]:
    """Part the rows by their scores into bins of as many rows; equal scores stay together."""
    return tuple(
        _bin(
            is_class[inside],
            scores[inside],
            None if weights is None else weights[inside],
            are_trials=are_trials,
        )
        for inside in part_by(scores)
    )


def _bin(is_class: Any, scores: Any, weights: Any, *, are_trials: bool) -> Bin:
    rows, events = len(scores), int(is_class.sum())
    bounds: tuple[float | None, float | None] = (None, None)
    if are_trials:
        low, high = rate_interval(events, rows)
        bounds = (_round(low), _round(high))
    predicted, observed = (np.average(v, weights=weights) for v in (scores, is_class))
    weight = float(rows if weights is None else weights.sum())
    return Bin(rows, weight, _round(predicted), _round(observed), *bounds)
