"""Log expected improvement with a part of the loss known exactly, and its maximisation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import erfcx, log_ndtr

from automl_admm.builtin.theta.gaussian_process import Posterior
from automl_admm.problem import Array, Quadratic

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
FAR = -1e4
LOCAL_SEARCHES = 4
LOCAL_STEPS = 25
AROUND = (0.02, 0.06, 0.2)


def log_improvement(z: Array) -> Array:
    """log(φ(z) + z Φ(z)), exact far into the tail, where the sum itself underflows."""
    z = np.asarray(z, dtype=float)
    near = np.maximum(z, -1.0)
    plain = np.log(np.exp(-0.5 * near**2 - LOG_SQRT_2PI) + near * np.exp(log_ndtr(near)))
    tail = np.clip(z, FAR, -1.0)
    ratio = math.sqrt(math.pi / 2.0) * erfcx(-tail / math.sqrt(2.0))
    log_density = -0.5 * z**2 - LOG_SQRT_2PI
    below = log_density + np.log1p(tail * ratio)
    far = log_density - 2.0 * np.log(np.maximum(-z, 1.0))
    return np.where(z > -1.0, plain, np.where(z > FAR, below, far))


def _slope(z: float) -> float:
    """d/dz log(φ(z) + z Φ(z)) = Φ(z) / (φ(z) + z Φ(z))."""
    return math.exp(float(log_ndtr(z)) - float(log_improvement(np.array(z))))


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedImprovement:
    """EI below `best` of a posterior in units of `scale`, plus the known part of the loss."""

    posterior: Posterior
    known_cost: Quadratic
    scale: float
    best: float

    def log_values(self, points: Array) -> Array:
        """log EI at each row."""
        mean, deviation = self.posterior.predict(points)
        total = mean + self.known_cost(points) / self.scale
        expected = log_improvement((self.best - total) / deviation)
        return np.asarray(np.log(deviation) + expected, dtype=float)

    def negative_with_gradient(self, point: Array) -> tuple[float, Array]:
        """−log EI at one point, and its gradient."""
        mean, deviation, mean_slope, deviation_slope = self.posterior.predict_with_gradient(point)
        total = mean + float(self.known_cost(point)[0]) / self.scale
        total_slope = mean_slope + self.known_cost.gradient(point) / self.scale
        z = (self.best - total) / deviation
        value = math.log(deviation) + float(log_improvement(np.array(z)))
        z_slope = -(total_slope + z * deviation_slope) / deviation
        return -value, -(deviation_slope / deviation + _slope(z) * z_slope)


def candidates_around(centers: Array, count: int, rng: np.random.Generator) -> Array:
    """Points near the best ones, near in several senses, inside the box."""
    rows = centers[rng.integers(len(centers), size=count)]
    widths = rng.choice(AROUND, size=(count, 1))
    # Moving only some coordinates finds improvements that moving all of them would miss.
    moved = rng.random(rows.shape) < max(0.5, 1.0 / rows.shape[1])
    return np.clip(rows + moved * widths * rng.normal(size=rows.shape), 0.0, 1.0)


def rank_candidates(
    improvement: ExpectedImprovement, candidates: Array, is_new: Callable[[Array], bool]
) -> Array | None:
    """The best point: candidates first, then local searches from the best of them."""
    values = improvement.log_values(candidates)
    order = np.argsort(-values, kind="stable")
    polished = [_polish(improvement, candidates[i]) for i in order[:LOCAL_SEARCHES]]
    for point in [p for _, p in sorted(polished, key=lambda pair: pair[0])]:
        if is_new(point):
            return point
    return next((candidates[i] for i in order if is_new(candidates[i])), None)


def _polish(improvement: ExpectedImprovement, start: Array) -> tuple[float, Array]:
    found = minimize(
        improvement.negative_with_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"maxiter": LOCAL_STEPS},
    )
    return float(found.fun), np.clip(np.asarray(found.x, dtype=float), 0.0, 1.0)
