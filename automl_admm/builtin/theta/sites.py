"""The distinct points of a conditional box, and those still untried."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from automl_admm.builtin.theta.active_axes import Activity
from automl_admm.builtin.theta.box import Box
from automl_admm.core.space import Array, Parameter
from automl_admm.core.structure.axis_tree import AxisTree


class Sites:
    """The points of an `AxisTree`: points with equal active axes are one.

    The tree answers for one point; this class answers for many at once.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._box = Box.of(parameters)
        self._tree = AxisTree(parameters)
        self._activity = Activity.of(parameters)
        self._resting = self._tree.resting()
        self._searched = self._box.high > self._box.low

    def locate(self, points: Sequence[Array] | Array) -> tuple[Array, list[bytes]]:
        """Return each point as it is evaluated, and a key shared by points that are the same.

        The point is on its grids, with inactive axes at their defaults.
        """
        rows = np.array(points, dtype=float).reshape(len(points), self._box.dimension)
        projected = self._box.project(rows)
        counted = self._activity.active(projected) & self._searched
        # One fixed place for inactive axes makes equal pipelines equal points.
        places = np.where(counted, projected, self._resting)
        return places, self._box.keys(places)

    def is_used_up(self, known: Collection[bytes]) -> bool:
        """Return True if every point is known."""
        return len(known) >= self._tree.size

    def draw(self, rng: np.random.Generator, known: Collection[bytes]) -> Array | None:
        """Draw a uniform unknown point; None if there is none left."""
        if self.is_used_up(known):
            return None
        return self._tree.draw(rng, known)
