"""The augmented Lagrangian, term by term, and the updates of its multipliers.

All quantities are in units of the constraints' scales, with g turned so that smaller is better.
`room` is the width ε − lowest of the interval allowed by a constraint, so u lies in [0, room].
Equation numbers are those of Ram et al. 2020.
"""

from __future__ import annotations

import numpy as np

from automl_admm.core.space import Array
from automl_admm.core.subproblems import Quadratic


def slack(excess: Array, room: Array, constraint_duals: Array, rho: float) -> Array:
    """u_m = clip(ε_m − g_m − μ_m/ρ, 0, room_m), the minimiser in closed form.

    `excess` is g − ε.
    """
    # Equation (27) is a parabola in each u_m, so clipping its vertex to the interval is exact.
    return np.clip(-excess - constraint_duals / rho, 0.0, room)


def constraint_residuals(excess: Array, room: Array, constraint_duals: Array, rho: float) -> Array:
    """Return r_m = g_m − ε_m + u_m with u at its minimiser."""
    return np.asarray(excess + slack(excess, room, constraint_duals, rho), dtype=float)


def constraint_cost(excess: Array, room: Array, constraint_duals: Array, rho: float) -> float:
    """ρ/2 Σ_m (r_m + μ_m/ρ)² − μ_m²/(2ρ), with u minimised out.

    For μ ≥ 0 the constant −μ²/(2ρ) makes a constraint cost nothing at its bound. With slack to
    spare it costs this constant alone: less than nothing, until μ is spent.
    """
    # The square of equation (27); its sign of μ makes a breach dearer as μ grows.
    shifted = constraint_residuals(excess, room, constraint_duals, rho) + constraint_duals / rho
    return float(np.sum(0.5 * rho * shifted**2 - constraint_duals**2 / (2.0 * rho)))


def anchor(delta: Array, dual: Array, rho: float) -> Array:
    """Return b = δ − λ/ρ, the centre of the proximal term of θ-min (equation 16)."""
    return np.asarray(delta - dual / rho, dtype=float)


def integer_cost(delta: Array, dual: Array, rho: float, is_integer: Array) -> Quadratic:
    """Return ρ/2 ‖θ̃ᵈ − b‖² over the integer parameters."""
    return Quadratic(center=anchor(delta, dual, rho), weight=rho * is_integer)


def update_dual(dual: Array, theta: Array, delta: Array, rho: float, cap: float) -> Array:
    """Return λ ← clip(λ + ρ(θ̃ᵈ − δ)), equation (25); clipped, because the problem is not convex."""
    return np.clip(dual + rho * (theta - delta), -cap, cap)


def update_constraint_duals(duals: Array, residuals: Array, rho: float, cap: float) -> Array:
    """Return μ_m ← clip(μ_m + ρ r_m), equation (26); an unmeasured residual changes nothing."""
    return np.clip(duals + rho * np.nan_to_num(residuals), -cap, cap)
