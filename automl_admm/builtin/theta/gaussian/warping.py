"""Values made fit for a Gaussian process: squeeze distant ones, turn failures into bad ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.core.space import Array

# A failure lies this many standard deviations beyond the worst success.
FAILURE = 0.5
# Twenty widths away (log 21 ≈ 3) a value is squeezed a second time.
GIANT = 3.0


@dataclass(frozen=True, slots=True)
class Bend:
    """v for low ≤ v ≤ high; beyond, at a distance a, only w log(1 + a / w) further.

    If that logarithm t is above 3, it is 3 + log(1 + t − 3). Otherwise a user's penalty for a
    failure, perhaps 10⁹, would be all that a process explains.
    """

    low: float
    high: float
    width: float

    def __call__(self, values: Array) -> Array:
        """Bend values; failures, told as infinite, come somewhat beyond the worst success."""
        finite = np.isfinite(values)
        if not finite.any():
            return np.zeros_like(values)
        seen = values[finite]
        # The distance beyond [low, high], with its sign.
        away = self._away(seen)
        far, giant = self._distances(away)
        bent = seen - away + np.sign(away) * self.width * (far - giant + np.log1p(giant))
        beyond = max(float(bent.std()), 1e-3 * self.width)
        found = np.full_like(values, float(bent.max()) + FAILURE * beyond)
        found[finite] = bent
        return found

    def log_slopes(self, values: Array) -> float:
        """Return Σ log of the slope, 1 / (1 + a / w) / (1 + max(t − 3, 0)), over the successes."""
        far, giant = self._distances(self._away(values[np.isfinite(values)]))
        return -float(far.sum() + np.log1p(giant).sum())

    def _distances(self, away: Array) -> tuple[Array, Array]:
        """Return t = log(1 + a / w), and its part above 3."""
        far = np.log1p(np.abs(away) / self.width)
        return far, np.maximum(far - GIANT, 0.0)

    def _away(self, values: Array) -> Array:
        return np.asarray(values - np.clip(values, self.low, self.high))


def told_two_ways(values: Array) -> tuple[Bend, Bend]:
    """Return two bends, taming and none; the fit shows the one better explained by a process."""
    tamed = taming(values)
    return tamed, replace(tamed, low=-math.inf, high=math.inf)


def taming(values: Array, within: Mask | None = None) -> Bend:
    """Return a bend for values far above the median c: w is its distance to the best.

    The part below c, with the optimum in it, stays as it is. If only values `within` the limits
    count, c is at least their median, and values better than their best are squeezed, too: the
    optimum is not there, and outside the limits there may be giants.
    """
    seen = values[np.isfinite(values)]
    if not seen.size:
        return Bend(0.0, 0.0, 1.0)
    middle, best = float(np.median(seen)), float(seen.min())
    # The best points outside the limits may be far better than any within.
    if within is not None and within.any():
        spread = middle - float(np.percentile(seen, 25))
        middle = max(middle, float(np.median(values[within])))
        best = min(float(values[within].min()), middle - spread)
    return Bend(best, middle, middle - best if middle > best else float(seen.std()) or 1.0)
