"""What is better: the order of evaluations, how far outside limits they are, the unit of losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from automl_admm.core.problem import Evaluation, Limit, is_feasible

ENOUGH_TO_MEASURE = 8


def rank(evaluations: Iterable[Evaluation], limits: Sequence[Limit]) -> list[Evaluation]:
    """The successes, best first: those within the limits by loss, then the others by violation.

    Those that decide one class for all rows come last: they are near to no limit, though they may
    break none. An evaluation that was not whole has no place among them.
    """
    succeeded = [evaluation for evaluation in evaluations if evaluation.ok and evaluation.is_whole]

    def place(evaluation: Evaluation) -> tuple[bool, bool, float, float]:
        feasible, is_one_class = is_feasible(evaluation, limits), evaluation.one_class is not None
        excess = 0.0 if feasible else violation(evaluation.constraints, limits)
        return (is_one_class, not feasible, excess, evaluation.loss)

    return sorted(succeeded, key=place)


def best_of(evaluations: Iterable[Evaluation], limits: Sequence[Limit]) -> Evaluation | None:
    """The best evaluation within the limits; with none, the one with the least violation."""
    return next(iter(rank(evaluations, limits)), None)


def violation(constraints: Sequence[float], limits: Sequence[Limit]) -> float:
    """Σ_m max(0, g_m − ε_m) / scale_m with scale |ε_m|, or 1 where that is 0."""
    excess = 0.0
    for limit, value in zip(limits, constraints, strict=True):
        over = limit.turned(value) - limit.turned(limit.bound)
        share = max(over, 0.0) / (abs(limit.bound) or 1.0)
        excess += math.inf if math.isnan(share) else share
    return excess


def price_of_failure(losses: Sequence[float]) -> float:
    """What a failure costs who learns from numbers only: the worst loss and the range of all.

    Where nothing succeeded any price will do.
    """
    if not losses:
        return 1.0
    worst = max(losses)
    return worst + max(worst - min(losses), 1e-3 * (1.0 + abs(worst)))


def spread(values: Iterable[float]) -> float:
    """The unit of measured values: their interquartile range.

    Of fewer than eight values it would be an accident; then it is a tenth of their size.
    """
    finite = np.array([value for value in values if math.isfinite(value)], dtype=float)
    if finite.size >= ENOUGH_TO_MEASURE:
        low, high = np.percentile(finite, [25, 75])
        width = float(high - low) or float(finite.std())
        if width > 0:
            return width
    return (0.1 * float(np.abs(np.median(finite))) if finite.size else 1.0) or 1.0
