"""The augmented Lagrangian, term by term, and the updates of its multipliers.

Everything is in units of the constraints' scales, with g turned so that smaller is better; `room`
is the width ε − lowest of the interval in which a constraint holds, so that u lies in [0, room].
"""

from __future__ import annotations

import numpy as np

from automl_admm.core.problem import Quadratic
from automl_admm.core.space import Array


def slack(excess: Array, room: Array, constraint_duals: Array, rho: float) -> Array:
    """u_m = clip(ε_m − g_m − μ_m/ρ, 0, room_m), the minimiser in closed form.

    `excess` is g − ε.
    """
    return np.clip(-excess - constraint_duals / rho, 0.0, room)


def constraint_residuals(excess: Array, room: Array, constraint_duals: Array, rho: float) -> Array:
    """r_m = g_m − ε_m + u_m with u at its minimiser."""
    return np.asarray(excess + slack(excess, room, constraint_duals, rho), dtype=float)


def constraint_cost(excess: Array, room: Array, constraint_duals: Array, rho: float) -> float:
    """ρ/2 Σ_m (r_m + μ_m/ρ)² − μ_m²/(2ρ), with u minimised out.

    The constant −μ²/(2ρ) makes a constraint with slack to spare cost nothing, whatever μ is.
    """
    shifted = constraint_residuals(excess, room, constraint_duals, rho) + constraint_duals / rho
    return float(np.sum(0.5 * rho * shifted**2 - constraint_duals**2 / (2.0 * rho)))


def anchor(delta: Array, dual: Array, rho: float) -> Array:
    """b = δ − λ/ρ, what θ̃ᵈ is drawn to."""
    return np.asarray(delta - dual / rho, dtype=float)


def integer_cost(delta: Array, dual: Array, rho: float, is_integer: Array) -> Quadratic:
    """ρ/2 ‖θ̃ᵈ − b‖² over the integer parameters."""
    return Quadratic(center=anchor(delta, dual, rho), weight=rho * is_integer)


def update_dual(dual: Array, theta: Array, delta: Array, rho: float, cap: float) -> Array:
    """λ ← clip(λ + ρ(θ̃ᵈ − δ)); clipped, because the problem is not convex."""
    return np.clip(dual + rho * (theta - delta), -cap, cap)


def update_constraint_duals(duals: Array, residuals: Array, rho: float, cap: float) -> Array:
    """μ_m ← clip(μ_m + ρ r_m); a residual that could not be measured changes nothing."""
    return np.clip(duals + rho * np.nan_to_num(residuals), -cap, cap)
