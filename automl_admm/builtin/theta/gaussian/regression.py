"""A Gaussian process on the unit box: its kernel, the fit of its parameters, its posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from automl_admm.core.space import Array

ROOT5 = math.sqrt(5.0)
# Means and standard deviations of the normal priors on the logarithms, and bounds of their fit.
LENGTH_MEAN, LENGTH_SPREAD, SHARED_SPREAD = math.log(0.3), 0.5, 0.5
NOISE_MEAN, NOISE_SPREAD = math.log(1e-4), 2.0
AMPLITUDE_SPREAD = 1.0
LENGTH_BOUNDS = (math.log(0.03), math.log(30.0))
AMPLITUDE_BOUNDS = (math.log(0.05), math.log(30.0))
NOISE_BOUNDS = (math.log(1e-7), math.log(1.0))
# The loss of a kernel with a singular matrix.
WORST = 1e10


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """An ARD Matérn 5/2 kernel: a length for each axis, an amplitude and a noise variance."""

    lengths: Array
    amplitude: float
    noise: float

    @classmethod
    def of(cls, logs: Array) -> Kernel:
        """Return the kernel with these logarithms: lengths, amplitude, noise."""
        values = np.exp(logs)
        return cls(values[:-2], float(values[-2]), float(values[-1]))

    def distances(self, left: Array, right: Array) -> Array:
        """Return r = √(Σ_i (x_i − x'_i)² / ℓ_i²) for each pair."""
        a, b = left / self.lengths, right / self.lengths
        # |a|² + |b|² − 2ab needs no array of n × n × d; rounding may leave it just below 0.
        squares = (a * a).sum(axis=-1)[..., None] + (b * b).sum(axis=-1) - 2.0 * a @ b.T
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def covariance(self, r: Array) -> Array:
        """Return k(r) = s² (1 + √5 r + 5/3 r²) exp(−√5 r)."""
        scaled = ROOT5 * r
        return self.amplitude * (1.0 + scaled + scaled * scaled / 3.0) * np.exp(-scaled)

    def slope(self, r: Array) -> Array:
        """Return h(r) = s² 5/3 (1 + √5 r) exp(−√5 r): ∂k/∂x_i = −h (x_i − x'_i) / ℓ_i²."""
        scaled = ROOT5 * r
        return self.amplitude * (5.0 / 3.0) * (1.0 + scaled) * np.exp(-scaled)


def prior_mean(dimension: int) -> Array:
    """Return the start of the fit: lengths grow with √d, as distances in the box do."""
    length = LENGTH_MEAN + 0.5 * math.log(max(dimension, 1))
    return np.array([length] * dimension + [0.0, NOISE_MEAN])


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The logarithms of a kernel's parameters, and −log of their posterior density."""

    logs: Array
    surprise: float


def fit_kernel(points: Array, values: Array, start: Array, steps: int) -> Fit:
    """Return the parameters with the largest posterior density."""
    dimension = points.shape[1]
    bounds = [LENGTH_BOUNDS] * dimension + [AMPLITUDE_BOUNDS, NOISE_BOUNDS]
    found = minimize(
        negative_log_posterior,
        start,
        # Centred points lose fewer digits in the differences of squares.
        args=(points - points.mean(axis=0), values),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-4},
    )
    # A singular matrix at every step: fall back on the prior.
    logs = found.x if found.fun < WORST else prior_mean(dimension)
    return Fit(np.asarray(logs, dtype=float), float(found.fun))


def negative_log_posterior(logs: Array, points: Array, values: Array) -> tuple[float, Array]:
    """Return −log p(y | X, φ) − log p(φ) and its gradient in φ = log(ℓ, s², σ²).

    ½ yᵀ K⁻¹ y + Σ log L_ii, with ½ tr((K⁻¹ − α αᵀ) ∂K/∂φ), α = K⁻¹ y. The sum over pairs for ℓ_i,
    Σ_ab M_ab (x_ai − x_bi)² = 2 Σ_a x_ai² m_a − 2 Σ_a x_ai (M x_i)_a with m = M 1, needs no array
    of n × n × d.
    """
    kernel = Kernel.of(logs)
    r = kernel.distances(points, points)
    covariance = kernel.covariance(r)
    factor, inverse = factorise(covariance, kernel.noise)
    if inverse is None:
        return WORST, np.zeros_like(logs)
    alpha = inverse @ values
    likelihood = 0.5 * float(values @ alpha) + float(np.log(factor.diagonal()).sum())
    outer = inverse - np.outer(alpha, alpha)
    pairs = outer * kernel.slope(r)
    sums = (points * points).T @ pairs.sum(axis=1) - (points * (pairs @ points)).sum(axis=0)
    gradient = np.empty_like(logs)
    gradient[:-2] = sums / kernel.lengths**2
    gradient[-2] = 0.5 * float((outer * covariance).sum())
    gradient[-1] = 0.5 * kernel.noise * float(outer.trace())
    prior, prior_slope = _prior(logs)
    return likelihood + prior, gradient + prior_slope


def _prior(logs: Array) -> tuple[float, Array]:
    """Return normal priors on the logarithms: −log p(φ) and its gradient.

    The lengths have a part in common: log ℓ_i = m + c + u_i with c ~ N(0, σ_c²), u_i ~ N(0, σ_u²),
    so Σ⁻¹ g = (g − 1 Σ_i g_i / (d + σ_u²/σ_c²)) / σ_u² for the gaps g = log ℓ − m. A few values
    tell how rough a function is as a whole; it takes many to tell the axes that matter.
    """
    gaps = logs - prior_mean(len(logs) - 2)
    spreads = np.array([LENGTH_SPREAD] * (len(logs) - 2) + [AMPLITUDE_SPREAD, NOISE_SPREAD])
    slopes = gaps / spreads**2
    count = len(logs) - 2 + (LENGTH_SPREAD / SHARED_SPREAD) ** 2
    slopes[:-2] -= slopes[:-2].sum() / count
    return 0.5 * float(gaps @ slopes), slopes


def factorise(covariance: Array, noise: float) -> tuple[Array, Array | None]:
    """Return the Cholesky factor of K + σ² I and the inverse; None if it is singular."""
    matrix = covariance.copy()
    matrix.flat[:: len(matrix) + 1] += noise
    factor, problem = lapack.dpotrf(matrix, lower=1, clean=1)
    if problem:
        return factor, None
    lower, _ = lapack.dpotri(factor, lower=1)
    # dpotri fills the lower triangle only.
    return factor, np.asarray(lower + np.tril(lower, -1).T)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The belief about the function after its values at `points`."""

    kernel: Kernel
    points: Array
    values: Array
    alpha: Array
    inverse: Array

    @classmethod
    def of(cls, kernel: Kernel, points: Array, values: Array) -> Posterior:
        """Condition on values; raise the noise until the matrix can be inverted."""
        covariance = kernel.covariance(kernel.distances(points, points))
        noise, inverse = kernel.noise, None
        while inverse is None:
            _, inverse = factorise(covariance, noise)
            noise *= 10.0
        return cls(kernel, points, values, inverse @ values, inverse)

    def believing(self, points: Array) -> Posterior:
        """Return the posterior as if these untold points had their expected values."""
        # The kriging believer: the mean stays the same, the variance shrinks.
        expected, _ = self.moments(points)
        return Posterior.of(
            self.kernel,
            np.concatenate([self.points, points]),
            np.concatenate([self.values, expected]),
        )

    def moments(self, points: Array) -> tuple[Array, Array]:
        """Return the mean kᵀ α and the variance s² − kᵀ K⁻¹ k at each row."""
        cross = self.kernel.covariance(self.kernel.distances(points, self.points))
        return cross @ self.alpha, self._variance(cross, cross @ self.inverse)

    def moments_and_slopes(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Return the mean and the variance at each row, and their gradients."""
        r = self.kernel.distances(points, self.points)
        cross, slope = self.kernel.covariance(r), self.kernel.slope(r)
        solved = cross @ self.inverse
        mean_slope = self._slope_sum(points, slope * self.alpha)
        variance_slope = self._slope_sum(points, -2.0 * slope * solved)
        return cross @ self.alpha, self._variance(cross, solved), mean_slope, variance_slope

    def _variance(self, cross: Array, solved: Array) -> Array:
        explained = (cross * solved).sum(axis=1)
        # Rounding may leave a variance of 0 or less at a known point; its root is divided by.
        least = 1e-12 * self.kernel.amplitude
        return np.asarray(np.maximum(self.kernel.amplitude - explained, least))

    def _slope_sum(self, points: Array, weights: Array) -> Array:
        """Return −Σ_b w_ab (x_a − x_b) / ℓ²."""
        summed = weights.sum(axis=1)[:, None] * points - weights @ self.points
        return np.asarray(-summed / self.kernel.lengths**2)
