"""The axes of a box as a tree: the active axes at a point, and the points left to try.

For solvers of categories and conditions, ours and those of plugins.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from automl_admm.core.space import Array, Parameter

# Points equal to six digits are one point: a value has six significant digits, too.
DIGITS = 6
# Draws before the search for an unknown point becomes a walk.
DRAWS = 64
Spot = tuple[int | None, int]


class AxisTree:
    """The axes of a box, each below the places of the category it depends on.

    An axis of a single place is left out, and axes below it move up. Inactive axes stand at their
    defaults. A condition on anything but an axis of this box is taken to hold.

    >>> AxisTree((Parameter("n", 1, 3, kind="int"), Parameter("fixed", 2, 2))).size
    3
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        self._resting = np.array([p.default_unit() for p in parameters], dtype=float)
        self._grids = [axis for axis, p in enumerate(parameters) if p.is_integer or p.low == p.high]
        self._hanging = _hanging(self._parameters)
        self.size = self._combinations(self.below())

    @property
    def is_conditional(self) -> bool:
        """True if any axis is active at some points only."""
        searched = [axis for axis, p in enumerate(self._parameters) if p.high > p.low]
        return any(axes and parent in searched for (parent, _), axes in self._hanging.items())

    def parameter(self, axis: int) -> Parameter:
        """Return the parameter of an axis."""
        return self._parameters[axis]

    def below(self, parent: int | None = None, place: int = 0) -> tuple[int, ...]:
        """Return the axes made active by an axis at a place; without one, those always active."""
        found: list[int] = []
        for axis in self._hanging[parent, place]:
            parameter = self._parameters[axis]
            # An axis of one place always takes it, so its children count here.
            found.extend([axis] if parameter.high > parameter.low else self.below(axis))
        return tuple(found)

    def places(self, axis: int) -> int:
        """Return the number of places of an integer or a category."""
        return int(self._parameters[axis].high - self._parameters[axis].low) + 1

    def whole(self, axis: int, unit: float) -> int:
        """Return the number of a place of a grid."""
        parameter = self._parameters[axis]
        return round(parameter.to_number(parameter.project(unit)))

    def resting(self) -> Array:
        """Return a new point with every axis at its default."""
        return self._resting.copy()

    def counting(self, point: Array) -> list[int]:
        """Return the active axes at a point, a parent before its children."""
        found, waiting = [], list(self.below())
        while waiting:
            # First in, first out: a parent leaves before its children enter.
            axis = waiting.pop(0)
            found.append(axis)
            if self._parameters[axis].is_category:
                place = self.whole(axis, point[axis]) - int(self._parameters[axis].low)
                waiting.extend(self.below(axis, place))
        return found

    def settle(self, point: Array) -> Array:
        """Return the point as it is evaluated: on its grids, inactive axes at their defaults."""
        settled = self.resting()
        for axis in self.counting(point):
            settled[axis] = self._parameters[axis].project(point[axis])
        return settled

    def key(self, point: Array) -> bytes:
        """Return a key, equal for points that are the same to evaluate."""
        settled = self.settle(point)
        # Adding 0.0 turns −0.0 into 0.0: their bytes differ.
        rounded = np.round(settled, DIGITS) + 0.0
        for axis in self._grids:  # places of a wide grid may agree in all digits
            rounded[axis] = self.whole(axis, settled[axis])
        return bytes(rounded.tobytes())

    def draw(self, rng: np.random.Generator, taken: Collection[bytes]) -> Array | None:
        """Draw a uniform point not taken; None if there is none."""
        for _ in range(draws(self.size, len(taken))):
            point = self.settle(np.array([self._uniform(p, rng) for p in self._parameters]))
            if self.key(point) not in taken:
                return point
        # A walk ends soon: only taken points can come before the first one not taken.
        walk = self._walk(self.below(), self.resting()) if self.size < math.inf else ()
        return next((point for point in walk if self.key(point) not in taken), None)

    def _uniform(self, parameter: Parameter, rng: np.random.Generator) -> float:
        # On a log scale a whole number is as likely as its cell is wide.
        if not parameter.is_integer or parameter.log:
            return float(rng.random())
        return parameter.to_unit(float(rng.integers(int(parameter.low), int(parameter.high) + 1)))

    def _combinations(self, axes: Sequence[int]) -> float:
        """Return Π over the axes of Σ over the places of each of the points below it."""
        counts = [self._points(axis) for axis in axes]
        # Python cannot multiply a huge whole number by infinity.
        return math.inf if math.inf in counts else math.prod(counts)

    def _points(self, axis: int) -> float:
        """Return the number of points of an axis and of all axes below it."""
        parameter = self._parameters[axis]
        if not parameter.is_category:
            return self.places(axis) if parameter.is_integer else math.inf
        places = range(self.places(axis))
        counts = [self._combinations(self.below(axis, place)) for place in places]
        return math.inf if math.inf in counts else sum(counts)

    def _walk(self, axes: tuple[int, ...], point: Array) -> Iterator[Array]:
        """Yield every point of a tree of grids."""
        if not axes:
            yield point.copy()
            return
        axis, others = axes[0], axes[1:]
        parameter = self._parameters[axis]
        for place in range(self.places(axis)):
            point[axis] = parameter.to_unit(parameter.low + place)
            yield from self._walk((*self.below(axis, place), *others), point)
        # The walk reuses one point: leave the axis as the other branches expect it.
        point[axis] = self._resting[axis]


def draws(size: float, taken: int) -> int:
    """Return the number of draws allowed to miss before a walk looks for an untaken point.

    The taken points may have been drawn with the same seed: then they all come once more. If half
    of the points or more are taken, a walk finds one quickly.
    """
    return DRAWS + taken if size > 2 * taken else DRAWS


def _hanging(parameters: Sequence[Parameter]) -> defaultdict[Spot, list[int]]:
    """Return for each place of each category the axes below it; under None those without one."""
    axes = {parameter.name: axis for axis, parameter in enumerate(parameters)}
    hanging: defaultdict[Spot, list[int]] = defaultdict(list)
    for axis, parameter in enumerate(parameters):
        when = parameter.when
        # Nothing here can decide a foreign condition.
        if when is None or when.decision not in axes:
            hanging[None, 0].append(axis)
            continue
        parent = axes[when.decision]
        for place, label in enumerate(parameters[parent].values):
            if label in when.alternatives:
                hanging[parent, place].append(axis)
    return hanging
