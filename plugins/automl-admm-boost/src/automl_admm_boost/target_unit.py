"""The unit in which a quantity is fitted, as the libraries hold targets in numbers of 32 bits."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# A target in these bounds is fitted as it is; XGBoost squares it in 32 bits.
SMALLEST_SPREAD, LARGEST_SPREAD = 0, 40  # as powers of 2
FARTHEST = 1024.0  # of the 24 bits of a number of 32, the rest tells targets apart
LARGEST = 2.0**62  # rows without weight alone are beyond it, and its square is finite
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
        y = y if weights is None else y[weights > 0]
        peak = int(np.frexp(np.abs(y).max(initial=0.0))[1])
        near_one = np.ldexp(y, -peak)  # differences of the largest numbers are infinite
        middle = float(np.median(near_one)) if len(y) else 0.0
        spread = float(np.abs(near_one - middle).mean()) if len(y) else 0.0
        kept = middle if abs(middle) > FARTHEST * spread else 0.0
        # A constant has its size for a spread.
        return cls(math.ldexp(kept, peak), _size(spread or abs(middle), peak))

    def within(self, y: Floats) -> Floats:
        """Return a target in this unit."""
        with np.errstate(over="ignore"):
            return np.clip(y / self.size - self.middle / self.size, -LARGEST, LARGEST)

    def back(self, found: Floats) -> Floats:
        """Return predictions in the target's own unit."""
        return found * self.size + self.middle


def _size(spread: float, peak: int) -> float:
    """Return the power of 2 by which a spread, times 2 to the `peak`, is between 1 and 2."""
    if spread == 0.0:
        return 1.0
    power = math.floor(math.log2(spread)) + peak
    if SMALLEST_SPREAD <= power < LARGEST_SPREAD:
        return 1.0
    return math.ldexp(1.0, max(min(power, LARGEST_POWER), -LARGEST_POWER))
