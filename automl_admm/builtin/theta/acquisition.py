"""Log expected improvement: its stable form, its gradient, and where it is largest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import erfcx, log_ndtr, ndtr

from automl_admm.builtin.theta.regression import Posterior
from automl_admm.problem import Quadratic
from automl_admm.space import Array

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
HALF_LOG_HALF_PI = 0.5 * math.log(0.5 * math.pi)
FAR = -1e4


def log_improvement(z: Array) -> Array:
    """log(φ(z) + z Φ(z)), without underflow.

    For z ≤ −1 it is −z²/2 − ½ log 2π + log(1 − exp(log(erfcx(−z/√2) |z|) + ½ log(π/2))), and far
    out the last term is −2 log |z|.
    """
    near = np.maximum(z, -1.0)
    direct = np.log(np.exp(-0.5 * near * near - HALF_LOG_2PI) + near * ndtr(near))
    low = np.clip(z, FAR, -1.0)
    inner = np.log(erfcx(-low / math.sqrt(2.0)) * -low) + HALF_LOG_HALF_PI
    tail = np.log(-np.expm1(np.minimum(inner, -1e-300)))
    tail = np.where(z < FAR, -2.0 * np.log(np.maximum(-z, 1.0)), tail)
    return np.where(z > -1.0, direct, tail - 0.5 * z * z - HALF_LOG_2PI)


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
        """The value at each row; the function sees integers on their grid, q does not."""
        mean, variance = self.posterior.moments(projected)
        deviation = np.sqrt(variance)
        z = (self.best - mean - self.known_cost(points) / self.unit) / deviation
        return np.asarray(np.log(deviation) + log_improvement(z))

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """The value at each row and its gradient, integers taken as real.

        ∇ log EI = −h'/σ ∇m + (1 − z h') ∇σ/σ, with h' = Φ(z) / (φ(z) + z Φ(z)).
        """
        mean, variance, mean_slope, variance_slope = self.posterior.moments_and_slopes(points)
        deviation = np.sqrt(variance)
        z = (self.best - mean - self.known_cost(points) / self.unit) / deviation
        logged = log_improvement(z)
        rate = np.exp(np.minimum(log_ndtr(z) - logged, 700.0))
        pull = self.known_cost.weight * (points - self.known_cost.center) / self.unit
        total_slope = mean_slope + pull
        spread_slope = variance_slope / (2.0 * variance)[:, None]
        slope = -(rate / deviation)[:, None] * total_slope
        return np.log(deviation) + logged, slope + (1.0 - z * rate)[:, None] * spread_slope


def climb(acquisition: ExpectedImprovement, starts: Array, steps: int) -> Array:
    """Improve all starts together: one L-BFGS-B on the sum, which separates into the starts."""
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
