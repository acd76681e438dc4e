"""Approximate bounds for means of values without known ends, corrected for their skewness.

Student's t misses too often above where a few values are large, as errors are. Hall (1992): with
T = (x̄ − μ) / s and the skewness γ of n values,

    g(T) = T + γ T² / 3 + γ² T³ / 27 + γ / (6 n),

√n g(T) is nearly normal, and g has the inverse 3 / γ ((1 + γ (y − γ / (6 n)))^⅓ − 1). No bound
without known ends can be exact for all distributions: a huge value may be too rare to be seen.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from automl_admm.core.space import Array

FEWEST = 20  # fewer values tell no skewness


def skewed_bounds(values: Array, risk: float) -> tuple[float, float] | None:
    """Return a lower and an upper bound; None for few values, or for values without a spread."""
    rows, unit = len(values), float(np.max(np.abs(values), initial=0.0))
    if rows < FEWEST or not 0 < unit < math.inf:
        return None
    shares = values / unit  # squares of large values would overflow
    mean, spread = float(np.mean(shares)), float(np.std(shares, ddof=1))
    if spread <= 0:
        return None
    skewness = float(np.mean(((shares - mean) / spread) ** 3))
    # Student's quantile instead of the normal one: the spread is only estimated.
    reach = float(special.stdtrit(rows - 1, 1 - risk)) / math.sqrt(rows)
    lower = mean - spread * _statistic(reach, skewness, rows)
    upper = mean - spread * _statistic(-reach, skewness, rows)
    return unit * min(lower, mean), unit * max(upper, mean)


def _statistic(transformed: float, skewness: float, rows: int) -> float:
    """Return T of g(T), the inverse of Hall's transformation."""
    if abs(skewness) < 1e-6:  # the limit of the formula below, without 0 / 0
        return transformed
    inner = 1 + skewness * (transformed - skewness / (6 * rows))
    return 3 / skewness * (math.cbrt(inner) - 1)
