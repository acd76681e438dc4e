"""The z-solver `random`: uniform selections, the baseline for all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.core.space import SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem


class UniformSelections:
    """Draw every decision uniformly."""

    def __init__(self) -> None:
        self._space = SearchSpace()
        self._rng = np.random.default_rng(0)

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions."""
        self._space = subproblem.space
        self._rng = np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Selection]:
        """Draw selections."""
        del pending
        return [self._space.sample(self._rng) for _ in range(count)]

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Learn nothing."""
