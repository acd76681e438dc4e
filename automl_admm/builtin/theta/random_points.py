"""The θ-solver `random`: the baseline for every other solver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, ThetaSubproblem


class RandomTheta:
    """Uniform points of the box, never one equal to a known or pending point."""

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box with the generator of its seed."""
        self._rng = np.random.default_rng(subproblem.seed)
        self._sites = Sites(subproblem.parameters)
        self._known: set[bytes] = set()
        self.tell(subproblem.history)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Draw `count` points, or fewer if the box is used up."""
        known = self._known | self._keys(pending)
        points: list[Array] = []
        while len(points) < count:
            point = self._sites.draw(self._rng, known)
            if point is None:
                break
            points.append(point)
            known |= self._keys([point])
        return points

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Remember the tried points; the losses do not matter."""
        self._known |= self._keys([observation.point for observation in observations])

    def _keys(self, points: Sequence[Array]) -> set[bytes]:
        return set(self._sites.locate(points)[1])
