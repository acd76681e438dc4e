"""The trade-off between each two limits, read from the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.runs.finish.limit_conflicts import deciding


@dataclass(frozen=True, slots=True)
class TradeOff:
    """The evaluations with no other that is better by one of two limits and no worse by the other.

    `places` are those of the limits among all; the evaluations go from the best value of the first
    limit to the best one of the second.
    """

    places: tuple[int, int]
    limits: tuple[Limit, Limit]
    front: tuple[Evaluation, ...]


def trade_offs(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> tuple[TradeOff, ...]:
    """Return the trade-off of each pair of limits, of evaluations on all rows and folds."""
    several = deciding(evaluations)
    return tuple(_trade_off(several, limits, *pair) for pair in _pairs(limits))


def _pairs(limits: Sequence[Limit]) -> Iterator[tuple[int, int]]:
    for one, other in combinations(range(len(limits)), 2):
        # A band of one measure, such as 0.1 to 0.2, trades it for itself.
        if limits[one].name != limits[other].name:
            yield one, other


def _trade_off(
    several: Sequence[Evaluation], limits: Sequence[Limit], one: int, other: int
) -> TradeOff:
    pair = limits[one], limits[other]

    def place(found: Evaluation) -> tuple[float, float]:
        return pair[0].turned(found.constraints[one]), pair[1].turned(found.constraints[other])

    measured = [found for found in several if all(map(math.isfinite, place(found)))]
    front, best = [], math.inf
    for found in sorted(measured, key=lambda found: (*place(found), found.loss)):
        value = place(found)[1]
        if value < best:
            front.append(found)
            best = value
    return TradeOff((one, other), pair, tuple(front))
