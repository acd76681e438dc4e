"""δ-min and the projections, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.core.space import Array, Parameter


def integer_mask(parameters: Sequence[Parameter]) -> Array:
    """Return 1 for each integer parameter, 0 for each continuous one."""
    return np.array([float(parameter.is_integer) for parameter in parameters], dtype=float)


def nearest_integers(
    parameters: Sequence[Parameter], theta: Array, dual: Array, rho: float
) -> Array:
    """Return δ = argmin ‖a − δ‖² over the grid, a = θ̃ᵈ + λ/ρ; continuous parameters stay."""
    # Equation (19). The grid is a product of intervals, so each coordinate rounds alone.
    target = theta + dual / rho
    return np.array(
        [
            parameter.project(place) if parameter.is_integer else float(own)
            for parameter, place, own in zip(parameters, target, theta, strict=True)
        ],
        dtype=float,
    )


def project_inactive(theta: Array, drawn_to: Array, is_inactive_integer: Array) -> Array:
    """Return θ̃ᵈ = clip(b, 0, 1) for the integers not used by the selection."""
    # f̃ does not depend on them, so θ-min over them is the projection of b onto the box.
    return np.where(is_inactive_integer > 0, np.clip(drawn_to, 0.0, 1.0), theta)
