"""Prices of limits, read from the log: the binding one, and the gain of a looser one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import spread

STEP = 0.1


@dataclass(frozen=True, slots=True)
class Price:
    """One limit over a whole run.

    `broken` of `measured` evaluations were outside of it. With the limit at `relaxed`, and all
    others as they are, the best evaluation within the limits would have had a loss lower by
    `gain`: 0 if none was better, None if nothing is within the limits either way.
    """

    limit: Limit
    broken: int
    measured: int
    relaxed: Limit
    gain: float | None


def price_limits(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> tuple[Price, ...]:
    """Price every limit by evaluations made anyway: no more than a hint.

    A step is a tenth of the limit, or, for a limit of 0, of the spread of the measured values.
    """
    measured = [evaluation for evaluation in evaluations if evaluation.is_ranked]
    return tuple(_price(measured, limits, place) for place in range(len(limits)))


def _price(measured: Sequence[Evaluation], limits: Sequence[Limit], place: int) -> Price:
    limit = limits[place]
    values = [evaluation.constraints[place] for evaluation in measured]
    step = STEP * (abs(limit.bound) or spread(values))
    relaxed = replace(limit, bound=limit.bound + (-step if limit.at_least else step))
    others = [*limits[:place], relaxed, *limits[place + 1 :]]
    now, then = _best(measured, limits), _best(measured, others)
    gain = None if now is None or then is None else now - then
    broken = sum(not limit.holds(value) for value in values)
    return Price(limit, broken, len(measured), relaxed, gain)


def _best(measured: Sequence[Evaluation], limits: Sequence[Limit]) -> float | None:
    return min((e.loss for e in measured if is_feasible(e, limits)), default=None)


def binding(prices: Sequence[Price]) -> Price | None:
    """Return the most expensive limit: by its gain, or without gains by its broken evaluations."""
    tight = [price for price in prices if price.broken]
    return max(tight, key=lambda price: (price.gain or 0.0, price.broken), default=None)
