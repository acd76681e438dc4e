"""Log expected improvement within limits: a stable form, its gradient, and its maximum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import erfcx, log_ndtr, ndtr

from automl_admm.builtin.theta.gaussian.regression import Posterior
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Quadratic

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
HALF_LOG_HALF_PI = 0.5 * math.log(0.5 * math.pi)
# Beyond this z the difference under the logarithm has no digits left; its limit is exact enough.
FAR = -1e4


def log_improvement(z: Array) -> Array:
    """Return log(φ(z) + z Φ(z)), without underflow.

    For z ≤ −1 it is −z²/2 − ½ log 2π + log(1 − exp(log(erfcx(−z/√2) |z|) + ½ log(π/2))); for very
    negative z the last term is −2 log |z|.
    """
    near = np.maximum(z, -1.0)
    direct = np.log(np.exp(-0.5 * near * near - HALF_LOG_2PI) + near * ndtr(near))
    low = np.clip(z, FAR, -1.0)
    inner = np.log(erfcx(-low / math.sqrt(2.0)) * -low) + HALF_LOG_HALF_PI
    tail = np.log(-np.expm1(np.minimum(inner, -1e-300)))
    tail = np.where(z < FAR, -2.0 * np.log(np.maximum(-z, 1.0)), tail)
    return np.where(z > -1.0, direct, tail - 0.5 * z * z - HALF_LOG_2PI)


class Acquisition(Protocol):
    """A score of points; the largest wins."""

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row; a model sees projected integers, a known cost does not."""

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient, integers taken as real."""


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedImprovement:
    """log EI of the total m(x) = μ(x) + q(x) below `best`, with the known part q exact.

    log EI = log σ + h(z) with z = (best − m) / σ and h(z) = log(φ(z) + z Φ(z)).
    """

    posterior: Posterior
    known_cost: Quadratic
    unit: float
    best: float

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row; the model sees integers on their grid, q does not."""
        mean, variance = self.posterior.moments(projected)
        deviation = np.sqrt(variance)
        z = (self.best - mean - self.known_cost(points) / self.unit) / deviation
        return np.asarray(np.log(deviation) + log_improvement(z))

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient, integers taken as real.

        ∇ log EI = −h'/σ ∇m + (1 − z h') ∇σ/σ, with h' = Φ(z) / (φ(z) + z Φ(z)).
        """
        mean, variance, mean_slope, variance_slope = self.posterior.moments_and_slopes(points)
        deviation = np.sqrt(variance)
        z = (self.best - mean - self.known_cost(points) / self.unit) / deviation
        logged = log_improvement(z)
        # h' in logarithms; far off their difference has no digits left, and h' is |z|.
        rate = np.where(z < FAR, -z, np.exp(np.minimum(log_ndtr(z) - logged, 700.0)))
        pull = self.known_cost.weight * (points - self.known_cost.center) / self.unit
        total_slope = mean_slope + pull
        spread_slope = variance_slope / (2.0 * variance)[:, None]
        slope = -(rate / deviation)[:, None] * total_slope
        return np.log(deviation) + logged, slope + (1.0 - z * rate)[:, None] * spread_slope


@dataclass(frozen=True, slots=True, eq=False)
class WithinLimit:
    """log P(g(x) ≤ ε) = log Φ(z) with z = (ε − μ(x)) / σ(x)."""

    posterior: Posterior
    bound: float

    def __call__(self, points: Array, projected: Array) -> Array:  # noqa: ARG002 - of the protocol
        """Return the value at each row."""
        mean, variance = self.posterior.moments(projected)
        return np.asarray(log_ndtr((self.bound - mean) / np.sqrt(variance)))

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient.

        ∇ log Φ(z) = φ(z)/Φ(z) ∇z with ∇z = −(∇μ + z ∇σ) / σ.
        """
        mean, variance, mean_slope, variance_slope = self.posterior.moments_and_slopes(points)
        deviation = np.sqrt(variance)
        z = (self.bound - mean) / deviation
        logged = np.asarray(log_ndtr(z))
        # φ/Φ in logarithms; far off their difference has no digits left, and the quotient is |z|.
        near = np.exp(np.minimum(-0.5 * z * z - HALF_LOG_2PI - logged, 700.0))
        rate = np.where(z < FAR, -z, near)
        spread_slope = variance_slope / (2.0 * variance)[:, None]
        slope = mean_slope / deviation[:, None] + z[:, None] * spread_slope
        return logged, -rate[:, None] * slope


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """−κ (μ(x) + q(x)), to prefer the better of points equally likely to be within the limits."""

    posterior: Posterior
    known_cost: Quadratic
    unit: float
    strength: float

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row."""
        mean, _ = self.posterior.moments(projected)
        return np.asarray(-self.strength * (mean + self.known_cost(points) / self.unit))

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient."""
        mean, _, mean_slope, _ = self.posterior.moments_and_slopes(points)
        pull = self.known_cost.weight * (points - self.known_cost.center) / self.unit
        value = -self.strength * (mean + self.known_cost(points) / self.unit)
        return np.asarray(value), -self.strength * (mean_slope + pull)


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """The sum of several scores: log EI and log P(g_m ≤ ε_m) give the constrained log EI."""

    parts: Sequence[Acquisition]

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row."""
        return np.asarray(np.sum([part(points, projected) for part in self.parts], axis=0))

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient."""
        values, slopes = zip(*(part.with_slopes(points) for part in self.parts), strict=True)
        return np.asarray(np.sum(values, axis=0)), np.asarray(np.sum(slopes, axis=0))


def climb(acquisition: Acquisition, starts: Array, steps: int) -> Array:
    """Improve all starts together by one L-BFGS-B on the sum of their values.

    The sum has no terms with two starts, so its gradient moves each start on its own.
    """
    shape = starts.shape

    def negative(flat: Array) -> tuple[float, Array]:
        values, slopes = acquisition.with_slopes(flat.reshape(shape))
        return -float(values.sum()), -slopes.ravel()

    found = minimize(
        negative,
        starts.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * starts.size,
        options={"maxiter": steps, "ftol": 1e-6},
    )
    return np.asarray(found.x, dtype=float).reshape(shape)
