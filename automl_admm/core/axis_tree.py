"""The axes of a box as a tree: which of them count at a point, and what is left to try.

For solvers that know categories and conditions, ours and those of plugins.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from automl_admm.core.space import Array, Parameter

DIGITS = 6
DRAWS = 64
Spot = tuple[int | None, int]


class AxisTree:
    """The axes of a box, each below the places of the category that it hangs on.

    An axis that allows one place only is left out, and what hangs on it moves up. Axes that do
    not count stand at their defaults. A condition on what is no axis of this box holds.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        self._resting = np.array([p.default_unit() for p in parameters], dtype=float)
        self._grids = [axis for axis, p in enumerate(parameters) if p.is_integer or p.low == p.high]
        self._hanging = _hanging(self._parameters)
        self.size = self._combinations(self.below())

    @property
    def is_conditional(self) -> bool:
        """Whether any axis counts at some points only."""
        searched = [axis for axis, p in enumerate(self._parameters) if p.high > p.low]
        return any(axes and parent in searched for (parent, _), axes in self._hanging.items())

    def parameter(self, axis: int) -> Parameter:
        """The parameter of an axis."""
        return self._parameters[axis]

    def below(self, parent: int | None = None, place: int = 0) -> tuple[int, ...]:
        """The axes that count because an axis is at a place; without one, those that always do."""
        found: list[int] = []
        for axis in self._hanging[parent, place]:
            parameter = self._parameters[axis]
            found.extend([axis] if parameter.high > parameter.low else self.below(axis))
        return tuple(found)

    def places(self, axis: int) -> int:
        """How many places an integer or a category has."""
        return int(self._parameters[axis].high - self._parameters[axis].low) + 1

    def whole(self, axis: int, unit: float) -> int:
        """The number of a place of a grid."""
        parameter = self._parameters[axis]
        return round(parameter.to_number(parameter.project(unit)))

    def resting(self) -> Array:
        """A new point with every axis at its default."""
        return self._resting.copy()

    def counting(self, point: Array) -> list[int]:
        """The axes that count at a point, a parent before what hangs on it."""
        found, waiting = [], list(self.below())
        while waiting:
            axis = waiting.pop(0)
            found.append(axis)
            if self._parameters[axis].is_category:
                place = self.whole(axis, point[axis]) - int(self._parameters[axis].low)
                waiting.extend(self.below(axis, place))
        return found

    def settle(self, point: Array) -> Array:
        """The point as it is evaluated: on its grids, what does not count at its default."""
        settled = self.resting()
        for axis in self.counting(point):
            settled[axis] = self._parameters[axis].project(point[axis])
        return settled

    def key(self, point: Array) -> bytes:
        """What two points share if they are one thing to evaluate."""
        settled = self.settle(point)
        rounded = np.round(settled, DIGITS) + 0.0
        for axis in self._grids:  # places of a wide grid are nearer than the digits tell
            rounded[axis] = self.whole(axis, settled[axis])
        return bytes(rounded.tobytes())

    def draw(self, rng: np.random.Generator, taken: Collection[bytes]) -> Array | None:
        """A uniform point that is not taken; None where there is none."""
        for _ in range(draws(self.size, len(taken))):
            point = self.settle(np.array([self._uniform(p, rng) for p in self._parameters]))
            if self.key(point) not in taken:
                return point
        # A walk ends soon: little more than what is taken can lie before the first that is not.
        walk = self._walk(self.below(), self.resting()) if self.size < math.inf else ()
        return next((point for point in walk if self.key(point) not in taken), None)

    def _uniform(self, parameter: Parameter, rng: np.random.Generator) -> float:
        if not parameter.is_integer or parameter.log:
            return float(rng.random())
        return parameter.to_unit(float(rng.integers(int(parameter.low), int(parameter.high) + 1)))

    def _combinations(self, axes: Sequence[int]) -> float:
        """Π over the axes of Σ over the places of each of the points of all that hangs there."""
        counts = [self._points(axis) for axis in axes]
        # A whole number may be too large to be multiplied by infinity.
        return math.inf if math.inf in counts else math.prod(counts)

    def _points(self, axis: int) -> float:
        """The points of an axis and of all that hangs there."""
        parameter = self._parameters[axis]
        if not parameter.is_category:
            return self.places(axis) if parameter.is_integer else math.inf
        places = range(self.places(axis))
        counts = [self._combinations(self.below(axis, place)) for place in places]
        return math.inf if math.inf in counts else sum(counts)

    def _walk(self, axes: tuple[int, ...], point: Array) -> Iterator[Array]:
        """Every point of a tree of grids."""
        if not axes:
            yield point.copy()
            return
        axis, others = axes[0], axes[1:]
        parameter = self._parameters[axis]
        for place in range(self.places(axis)):
            point[axis] = parameter.to_unit(parameter.low + place)
            yield from self._walk((*self.below(axis, place), *others), point)
        point[axis] = self._resting[axis]


def draws(size: float, taken: int) -> int:
    """How many draws may miss before what is not taken is looked for.

    What is taken may have been drawn with the same seed: then it all comes once more. Where half
    of the points are taken or more, looking for one is quick.
    """
    return DRAWS + taken if size > 2 * taken else DRAWS


def _hanging(parameters: Sequence[Parameter]) -> defaultdict[Spot, list[int]]:
    """For each place of each category the axes that hang there; under None those without one."""
    axes = {parameter.name: axis for axis, parameter in enumerate(parameters)}
    hanging: defaultdict[Spot, list[int]] = defaultdict(list)
    for axis, parameter in enumerate(parameters):
        when = parameter.when
        if when is None or when.decision not in axes:
            hanging[None, 0].append(axis)
            continue
        parent = axes[when.decision]
        for place, label in enumerate(parameters[parent].values):
            if label in when.alternatives:
                hanging[parent, place].append(axis)
    return hanging
