"""Values made fit for a Gaussian process: what is far off is squeezed, a failure is a bad value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.core.space import Array

FAILURE = 0.5
GIANT = 3.0


@dataclass(frozen=True, slots=True)
class Bend:
    """v where low ≤ v ≤ high; beyond, at a distance a, only w log(1 + a / w) further.

    Where that logarithm t is above 3, it is 3 + log(1 + t − 3): the penalty that somebody gives for
    a failure, of 10⁹ perhaps, would else be all that a process explains.
    """

    low: float
    high: float
    width: float

    def __call__(self, values: Array) -> Array:
        """Bend values; failures, which are infinite, come somewhat beyond the worst success."""
        finite = np.isfinite(values)
        if not finite.any():
            return np.zeros_like(values)
        seen = values[finite]
        away = self._away(seen)
        far, giant = self._distances(away)
        bent = seen - away + np.sign(away) * self.width * (far - giant + np.log1p(giant))
        beyond = max(float(bent.std()), 1e-3 * self.width)
        found = np.full_like(values, float(bent.max()) + FAILURE * beyond)
        found[finite] = bent
        return found

    def log_slopes(self, values: Array) -> float:
        """Σ log of the slope, 1 / (1 + a / w) / (1 + max(t − 3, 0)), over what did not fail."""
        far, giant = self._distances(self._away(values[np.isfinite(values)]))
        return -float(far.sum() + np.log1p(giant).sum())

    def _distances(self, away: Array) -> tuple[Array, Array]:
        """t = log(1 + a / w), and how much of it is above 3."""
        far = np.log1p(np.abs(away) / self.width)
        return far, np.maximum(far - GIANT, 0.0)

    def _away(self, values: Array) -> Array:
        return np.asarray(values - np.clip(values, self.low, self.high))


def told_two_ways(values: Array) -> tuple[Bend, Bend]:
    """Tamed, and as they were told: which of both a process explains better, the fit shows."""
    tamed = taming(values)
    return tamed, replace(tamed, low=-math.inf, high=math.inf)


def taming(values: Array, within: Mask | None = None) -> Bend:
    """Squeezes what is far above the median c: w is its distance to the best.

    The part below c, where the optimum is, stays as it is. If only what is `within` limits
    counts, c is not below its median, and what is better than the best of it is squeezed, too:
    the optimum is not there, and outside the limits there may be giants.
    """
    seen = values[np.isfinite(values)]
    if not seen.size:
        return Bend(0.0, 0.0, 1.0)
    middle, best = float(np.median(seen)), float(seen.min())
    if within is not None and within.any():
        spread = middle - float(np.percentile(seen, 25))
        middle = max(middle, float(np.median(values[within])))
        best = min(float(values[within].min()), middle - spread)
    return Bend(best, middle, middle - best if middle > best else float(seen.std()) or 1.0)
