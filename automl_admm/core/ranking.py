"""The order of evaluations, their violation of limits, and the unit of losses."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit

# Two values in each quarter: with fewer a quartile is an accident.
ENOUGH_TO_MEASURE = 8


def rank(evaluations: Iterable[Evaluation], limits: Sequence[Limit]) -> list[Evaluation]:
    """Return the successes, best first: those within the limits by loss, then others by violation.

    Evaluations that decide one class for all rows come last: they are near no limit, though they
    may break none. An evaluation on fewer rows or folds is left out.
    """
    succeeded = [evaluation for evaluation in evaluations if evaluation.is_ranked]

    def place(evaluation: Evaluation) -> tuple[bool, bool, float, float]:
        feasible, is_one_class = is_feasible(evaluation, limits), evaluation.one_class is not None
        excess = 0.0 if feasible else violation(evaluation.constraints, limits)
        # False sorts before True.
        return (is_one_class, not feasible, excess, evaluation.loss)

    return sorted(succeeded, key=place)


def best_of(evaluations: Iterable[Evaluation], limits: Sequence[Limit]) -> Evaluation | None:
    """Return the best evaluation within the limits, else the one with the least violation."""
    return next(iter(rank(evaluations, limits)), None)


def also_by_loss(
    ranked: Sequence[Evaluation],
    first: int,
    limits: Sequence[Limit],
    together: Collection[Limit],
) -> list[Evaluation]:
    """Return those that keep the other limits: so many as ranked, then by loss; the rest is last.

    With a pipeline outside of a limit that members keep `together` the mean of several may be
    better, and within it. Outside of another limit it would take a place and bring nothing.
    """
    told = [(one, keeps_others(one, limits, together)) for one in ranked]
    helpful, rest = [one for one, keeps in told if keeps], [one for one, keeps in told if not keeps]
    return [*helpful[:first], *sorted(helpful[first:], key=lambda one: one.loss), *rest]


def keeps_others(
    evaluation: Evaluation, limits: Sequence[Limit], together: Collection[Limit]
) -> bool:
    """Tell if an evaluation keeps all limits but those that members keep `together`."""
    pairs = zip(limits, evaluation.constraints, strict=True)
    return all(limit in together or limit.holds(value) for limit, value in pairs)


def violation(constraints: Sequence[float], limits: Sequence[Limit]) -> float:
    """Return Σ_m max(0, g_m − ε_m) / scale_m with scale |ε_m|, or 1 if that is 0."""
    excess = 0.0
    for limit, value in zip(limits, constraints, strict=True):
        share = limit.excess(value) / (abs(limit.bound) or 1.0)
        # An unmeasured limit must not look kept.
        excess += math.inf if math.isnan(share) else share
    return excess


def price_of_failure(losses: Sequence[float]) -> float:
    """Return the cost of a failure for learners of numbers: worst loss plus the range of all.

    Without a success any price will do.

    >>> price_of_failure([1.0, 3.0])
    5.0
    """
    if not losses:
        return 1.0
    worst = max(losses)
    # With equal losses a small share of their size keeps a failure the dearest.
    return worst + max(worst - min(losses), 1e-3 * (1.0 + abs(worst)))


def spread(values: Iterable[float]) -> float:
    """Return the unit of measured values: their interquartile range.

    Fewer than eight values give a tenth of their size instead, because their range would be an
    accident.
    """
    finite = np.array([value for value in values if math.isfinite(value)], dtype=float)
    if finite.size >= ENOUGH_TO_MEASURE:
        low, high = np.percentile(finite, [25, 75])
        # Most values may be equal although a few differ.
        width = float(high - low) or float(finite.std())
        if width > 0:
            return width
    return (0.1 * float(np.abs(np.median(finite))) if finite.size else 1.0) or 1.0
