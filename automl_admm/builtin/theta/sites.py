"""The distinct points of a box: what one evaluation stands for, and what is left to try."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from automl_admm.builtin.theta.active_axes import Activity
from automl_admm.builtin.theta.box import Box
from automl_admm.core.axis_tree import AxisTree
from automl_admm.core.space import Array, Parameter


class Sites:
    """The points of an `AxisTree`: those that differ only in what does not count are one.

    What the tree says of one point is said here of many at once.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._box = Box.of(parameters)
        self._tree = AxisTree(parameters)
        self._activity = Activity.of(parameters)
        self._resting = self._tree.resting()
        self._searched = self._box.high > self._box.low

    def locate(self, points: Sequence[Array] | Array) -> tuple[Array, list[bytes]]:
        """Each point as it is evaluated, and the key that it shares with all that are one with it.

        It is on its grids, and what does not count is at its default.
        """
        rows = np.array(points, dtype=float).reshape(len(points), self._box.dimension)
        projected = self._box.project(rows)
        counted = self._activity.active(projected) & self._searched
        places = np.where(counted, projected, self._resting)
        return places, self._box.keys(places)

    def is_used_up(self, known: Collection[bytes]) -> bool:
        """Whether every point is known."""
        return len(known) >= self._tree.size

    def draw(self, rng: np.random.Generator, known: Collection[bytes]) -> Array | None:
        """A uniform point that is not known; None where there is none."""
        if self.is_used_up(known):
            return None
        return self._tree.draw(rng, known)
