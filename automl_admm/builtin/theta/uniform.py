"""The θ-solver `random`: uniform points, and the measure of all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.problem import Array, Observation, ThetaSubproblem


class UniformSolver:
    """Draws uniformly. A box without parameters has one point, which it proposes once."""

    def __init__(self) -> None:
        self._dimension = 0
        self._is_used_up = False
        self._rng = np.random.default_rng(0)

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box."""
        self._dimension = len(subproblem.parameters)
        self._is_used_up = self._dimension == 0 and bool(subproblem.history)
        self._rng = np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: Sequence[Array]) -> Sequence[Array]:
        """Draw points."""
        if self._dimension > 0:
            return [self._rng.random(self._dimension) for _ in range(count)]
        if self._is_used_up or pending or count == 0:
            return []
        self._is_used_up = True
        return [np.zeros(0)]

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn nothing."""
