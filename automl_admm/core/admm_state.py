"""The state of ADMM after an outer iteration, with the papers' symbols."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Array, Selection


@dataclass(frozen=True, slots=True, eq=False)
class AdmmState:
    """The result of one outer iteration; arrays follow the space's parameters.

    `rho` is the penalty of the constraints, `integer_rho` that of ‖θ̃ᵈ − δ‖². The unit of u and r is
    `scales`, that of μ is `loss_scale` for one of these.
    """

    iteration: int
    selection: Selection
    theta: Array  # θ of all alternatives, integers relaxed
    delta: Array  # δ; a continuous parameter is its own
    dual: Array  # λ
    constraint_duals: Array  # μ
    slack: Array  # u
    residuals: Array  # r = g − ε + u
    rho: float
    integer_rho: float
    primal_residual: float = math.inf  # ‖θ̃ − δ‖ + Σ |r|
    dual_residual: float = math.inf  # ρ_t ‖δ(t+1) − δ(t)‖
    incumbent: Evaluation | None = None
    evaluations: int = 0
    seconds: float = 0.0
    scales: Array = field(default_factory=lambda: np.ones(0))
    loss_scale: float = 1.0

    @property
    def shadow_prices(self) -> Array:
        """Return for each limit the loss that a unit of its measure is worth by μ."""
        return np.asarray(self.constraint_duals * self.loss_scale / self.scales, dtype=float)
