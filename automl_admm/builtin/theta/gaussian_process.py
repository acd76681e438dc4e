"""A Gaussian process with an ARD Matérn 5/2 kernel, fitted by its marginal likelihood.

Everything is in numpy and SciPy with analytic gradients: at the sizes of a sub-problem (tens of
points, up to fifteen parameters) a fit and a proposal take milliseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize

from automl_admm.problem import Array

SQRT5 = math.sqrt(5.0)
JITTER = 1e-8
LENGTH_BOUNDS = (math.log(0.03), math.log(20.0))
SIGNAL_BOUNDS = (math.log(0.05), math.log(20.0))
NOISE_BOUNDS = (math.log(1e-6), math.log(0.5))
FIT_STEPS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """The logarithms of the length scales, of the signal variance and of the noise variance."""

    lengths: Array
    signal: float
    noise: float

    def as_vector(self) -> Array:
        """All of them in a row."""
        return np.concatenate([self.lengths, [self.signal, self.noise]])


def prior_kernel(dimension: int) -> Kernel:
    """The middle of the weak priors; lengths grow with √d, as distances do."""
    length = math.log(0.5 * math.sqrt(max(dimension, 1)))
    return Kernel(np.full(dimension, length), 0.0, math.log(1e-3))


def _from_vector(vector: Array) -> Kernel:
    return Kernel(vector[:-2], float(vector[-2]), float(vector[-1]))


def covariance(kernel: Kernel, one: Array, other: Array) -> tuple[Array, Array]:
    """k(x, x') = σ² (1 + √5 r + 5/3 r²) e^{−√5 r}, r² = Σ_i (x_i − x'_i)² / ℓ_i²; and r."""
    scaled, others = one / np.exp(kernel.lengths), other / np.exp(kernel.lengths)
    squares = (scaled**2).sum(1)[:, None] + (others**2).sum(1) - 2.0 * scaled @ others.T
    distance = np.sqrt(np.maximum(squares, 0.0))
    return _matern(distance, math.exp(kernel.signal)), distance


def _matern(distance: Array, signal: float) -> Array:
    scaled = SQRT5 * distance
    return np.asarray(signal * (1.0 + scaled + scaled**2 / 3.0) * np.exp(-scaled), dtype=float)


def _matern_slope(distance: Array, signal: float) -> Array:
    """−(dk/dr)/r = σ² 5/3 (1 + √5 r) e^{−√5 r}; the factor that all gradients share."""
    scaled = SQRT5 * distance
    return np.asarray(signal * 5.0 / 3.0 * (1.0 + scaled) * np.exp(-scaled), dtype=float)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """A Gaussian process after its observations; targets are standardised by whoever fits it."""

    kernel: Kernel
    points: Array
    targets: Array
    factor: Array
    weights: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at each row."""
        cross, _ = covariance(self.kernel, points, self.points)
        mean = cross @ self.weights
        solved = solve_triangular(self.factor, cross.T, lower=True, check_finite=False)
        variance = math.exp(self.kernel.signal) - (solved**2).sum(0)
        return mean, np.sqrt(np.maximum(variance, 1e-12))

    def predict_with_gradient(self, point: Array) -> tuple[float, float, Array, Array]:
        """Mean and deviation at one point, and the gradients of both."""
        cross, distance = covariance(self.kernel, point[None, :], self.points)
        slope = _matern_slope(distance[0], math.exp(self.kernel.signal))
        ahead = (point - self.points) / np.exp(2.0 * self.kernel.lengths)
        jacobian = -slope[:, None] * ahead
        inverse = cho_solve((self.factor, True), cross[0], check_finite=False)
        variance = max(math.exp(self.kernel.signal) - float(cross[0] @ inverse), 1e-12)
        deviation = math.sqrt(variance)
        mean = float(cross[0] @ self.weights)
        return mean, deviation, self.weights @ jacobian, -(inverse @ jacobian) / deviation

    def believing(self, points: Array) -> Posterior:
        """The posterior if some points, which are pending, had returned their means."""
        mean, _ = self.predict(points)
        together = np.vstack([self.points, points])
        return condition(self.kernel, together, np.concatenate([self.targets, mean]))


def condition(kernel: Kernel, points: Array, targets: Array) -> Posterior:
    """Condition on observations: K = L Lᵀ, weights = K⁻¹ y."""
    matrix, _ = covariance(kernel, points, points)
    factor = _factorise(matrix, math.exp(kernel.noise))
    weights = cho_solve((factor, True), targets, check_finite=False)
    return Posterior(kernel, points, targets, factor, weights)


def _factorise(matrix: Array, noise: float) -> Array:
    """The Cholesky factor; near-equal points may need more on the diagonal."""
    diagonal = noise + JITTER
    while True:
        try:
            shifted = matrix + diagonal * np.eye(len(matrix))
            return np.asarray(cholesky(shifted, lower=True, check_finite=False), dtype=float)
        except np.linalg.LinAlgError:
            diagonal *= 10.0


def fit(points: Array, targets: Array, start: Kernel) -> Posterior:
    """Maximise the marginal likelihood times the priors from `start`, and condition on all."""
    prior = prior_kernel(points.shape[1]).as_vector()
    squares = (points.T[:, :, None] - points.T[:, None, :]) ** 2
    bounds = [*[LENGTH_BOUNDS] * points.shape[1], SIGNAL_BOUNDS, NOISE_BOUNDS]
    found = minimize(
        negative_log_posterior,
        start.as_vector(),
        args=(squares, targets, prior),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": FIT_STEPS},
    )
    return condition(_from_vector(np.asarray(found.x)), points, targets)


def negative_log_posterior(
    vector: Array, squares: Array, targets: Array, prior: Array
) -> tuple[float, Array]:
    """½ yᵀK⁻¹y + ½ log|K| − log prior, and its gradient ½ tr((K⁻¹ − ααᵀ) ∂K) with α = K⁻¹y.

    The priors are normal on the logarithms: lengths and signal within a factor of e, noise e².
    """
    kernel = _from_vector(vector)
    inverse_squares = np.exp(-2.0 * kernel.lengths)
    distance = np.sqrt(np.einsum("k,kij->ij", inverse_squares, squares))
    signal, noise = math.exp(kernel.signal), math.exp(kernel.noise)
    matrix = _matern(distance, signal)
    factor = _factorise(matrix, noise)
    inverse = cho_solve((factor, True), np.eye(len(targets)), check_finite=False)
    weights = inverse @ targets
    spare = inverse - np.outer(weights, weights)
    shared = spare * _matern_slope(distance, signal)
    gradient = np.empty_like(vector)
    gradient[:-2] = 0.5 * inverse_squares * np.einsum("ij,kij->k", shared, squares)
    gradient[-2] = 0.5 * float((spare * matrix).sum())
    gradient[-1] = 0.5 * noise * float(np.trace(spare))
    value = 0.5 * float(targets @ weights) + float(np.log(np.diag(factor)).sum())
    widths = np.ones_like(vector)
    widths[-1] = 2.0
    away = (vector - prior) / widths
    return value + 0.5 * float(away @ away), gradient + away / widths
