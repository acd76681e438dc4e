"""The price of failures for a model of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from automl_admm.plugin_api import price_of_failure
from automl_admm_optuna.trials import Result

# What a model is told may be squared and summed, and still has to be a number.
LARGEST = 1e100
RISE = 0.1


@dataclass(frozen=True, slots=True)
class Price:
    """A failure is a little worse than the worst success in everything.

    `value` and `excess` are what it is told to have; the ranges are those of the successes.
    """

    value: float
    excess: tuple[float, ...]
    ranges: tuple[float, ...]

    def has_risen(self, before: Price) -> bool:
        """Return True if it is clearly more than before: earlier failures look too good by now."""
        now, then = (self.value, *self.excess), (before.value, *before.excess)
        return any(n - t > RISE * r for n, t, r in zip(now, then, self.ranges, strict=True))

    def told(self, result: Result) -> Result:
        """Return a result for a model; known constraints of a failure are kept."""
        if result.value is not None:
            excess = tuple(map(bounded, result.excess))
            return Result(result.point, bounded(result.value), excess)
        known = result.excess or self.excess
        excess = tuple(
            bounded(g) if math.isfinite(g) else worst
            for g, worst in zip(known, self.excess, strict=True)
        )
        return Result(result.point, self.value, excess)


def price_of(results: Sequence[Result]) -> Price:
    """Return the price by the successes among the results: at least one is needed."""
    values = [bounded(result.value) for result in results if result.value is not None]
    rows = [result.excess for result in results if result.value is not None]
    limits = [list(map(bounded, column)) for column in zip(*rows, strict=True)]
    value = price_of_failure(values)
    ranges = (value - max(values), *(max(column) - min(column) for column in limits))
    return Price(value, tuple(map(max, limits)), ranges)


def bounded(number: float) -> float:
    """Return the nearest number within a model's range."""
    return min(max(number, -LARGEST), LARGEST)
