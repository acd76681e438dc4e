"""The unit in which a quantity is fitted, as the libraries hold targets in numbers of 32 bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A target below is fitted as it is: CatBoost cannot write a model whose values are beyond 2^54.
LARGEST_REACH = 52  # as a power of 2
FARTHEST = 1024.0  # of the 24 bits of a number of 32, the rest tells targets apart
LARGEST = 2.0**62  # rows without weight alone are beyond it, and its square is finite
ROUNDING = 1e-9  # sums of weights may be off by this share
LARGEST_POWER = 1000  # a larger one is no number of 64 bits


class TargetUnit(NamedTuple):
    """A middle, and a power of 2; a fitted target is `(y - middle) / size`.

    >>> TargetUnit.of(np.array([2e9, 2e9 + 4.0]))
    TargetUnit(middle=2000000002.0, size=1.0)
    """

    middle: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, y: Floats, weights: Any = None) -> TargetUnit:
        """Return the unit of a target: its own, unless it is too small, too large or too far."""
        weights = np.ones(len(y)) if weights is None else weights
        y, weights = y[weights > 0], weights[weights > 0]
        peak = int(np.frexp(np.abs(y).max(initial=0.0))[1])
        near_one = np.ldexp(y, -peak)  # differences of the largest numbers are infinite
        middle = _median(near_one, weights)
        spread = _spread(near_one - middle, weights)
        kept = middle if abs(middle) > FARTHEST * spread else 0.0
        farthest = float(np.abs(near_one - kept).max(initial=0.0))
        # A constant has its size for a spread.
        size = _size(spread or abs(middle), farthest, peak)
        return cls(math.ldexp(kept, peak), size)

    def within(self, y: Floats) -> Floats:
        """Return a target in this unit."""
        with np.errstate(over="ignore"):
            return np.clip(y / self.size - self.middle / self.size, -LARGEST, LARGEST)

    def back(self, found: Floats) -> Floats:
        """Return predictions in the target's own unit."""
        return found * self.size + self.middle


def _median(values: Floats, weights: Floats) -> float:
    """Return the median of values with weights, in the midst of two where they have half each."""
    if not len(values):
        return 0.0
    order = np.argsort(values, kind="stable")
    reach = np.cumsum(weights[order] / weights.max())
    half = reach[-1] / 2 * np.array([1 - ROUNDING, 1 + ROUNDING])
    return float(values[order][np.searchsorted(reach, half)].mean())


def _spread(offsets: Floats, weights: Floats) -> float:
    """Return the usual distance from the middle; few rows that are far off do not move it."""
    distances = np.abs(offsets)
    apart = distances > 0  # more than half of the rows may have the same value
    return _median(distances[apart], weights[apart])


def _size(spread: float, farthest: float, peak: int) -> float:
    """Return the power of 2 that makes a small spread at least 1, unless the farthest is too far.

    Both are given in units of 2 to the `peak`. A larger size than the farthest row needs would
    make all others too small.
    """
    if spread == 0.0:
        return 1.0
    power = min(math.floor(math.log2(spread)) + peak, 0)
    power = max(power, math.frexp(farthest)[1] + peak - LARGEST_REACH)
    return math.ldexp(1.0, max(min(power, LARGEST_POWER), -LARGEST_POWER))
