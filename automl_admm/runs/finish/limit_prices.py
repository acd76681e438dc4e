"""Prices of limits, read from the log: the binding one, and the gain of a looser one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank, spread
from automl_admm.pipelines.thresholds.elsewhere import at_other_thresholds

STEP = 0.1


@dataclass(frozen=True, slots=True)
class Price:
    """One limit over a whole run.

    `broken` of `measured` evaluations were outside of it, each at the best for the limits of the
    thresholds tried: its own is chosen for what the search aims at. With the limit at `relaxed`,
    and all others as they are, the best evaluation within the limits would have had a loss lower by
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
    known = [one for one in evaluations if one.is_ranked]
    everywhere = [[one, *at_other_thresholds(one)] for one in known]
    return tuple(_price(everywhere, limits, place) for place in range(len(limits)))


def _price(
    everywhere: Sequence[Sequence[Evaluation]], limits: Sequence[Limit], place: int
) -> Price:
    limit, nearest = limits[place], [rank(one, limits)[0] for one in everywhere]
    values = [evaluation.constraints[place] for evaluation in nearest]
    step = STEP * (abs(limit.bound) or spread(values))
    relaxed = replace(limit, bound=limit.bound + (-step if limit.at_least else step))
    others = [*limits[:place], relaxed, *limits[place + 1 :]]
    now, then = _best(everywhere, limits), _best(everywhere, others)
    gain = None if now is None or then is None else now - then
    broken = sum(not limit.holds(value) for value in values)
    return Price(limit, broken, len(nearest), relaxed, gain)


def _best(everywhere: Sequence[Sequence[Evaluation]], limits: Sequence[Limit]) -> float | None:
    several = chain.from_iterable(everywhere)
    return min((one.loss for one in several if is_feasible(one, limits)), default=None)


def binding(prices: Sequence[Price]) -> Price | None:
    """Return the most expensive limit: by its gain, or without gains by its broken evaluations."""
    tight = [price for price in prices if price.broken]
    return max(tight, key=lambda price: (price.gain or 0.0, price.broken), default=None)
