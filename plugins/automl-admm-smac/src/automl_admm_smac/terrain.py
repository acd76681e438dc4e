"""The box of a sub-problem as a configuration space, and the way between the two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ConfigSpace import (
    Categorical,
    Configuration,
    ConfigurationSpace,
    EqualsCondition,
    Float,
    InCondition,
    Integer,
)
from ConfigSpace.hyperparameters import Hyperparameter

from automl_admm.plugin_api import Array, AxisTree, Parameter


class Terrain:
    """A box in SMAC's terms.

    A real number is searched on its axis [0, 1], log scale included; a whole number as such, so
    that its neighbours are the next ones; a category without any order. Axes of one place are left
    out. The name of an axis is its number: SMAC sorts by names.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        self._tree = AxisTree(parameters)
        self._searched = [axis for axis, p in enumerate(parameters) if p.high > p.low]

    def space(self, seed: int) -> ConfigurationSpace:
        """Return a new configuration space; SMAC changes the given one."""
        axes = {axis: _axis_of(axis, self._parameters[axis]) for axis in self._searched}
        space = ConfigurationSpace(seed=seed)
        space.add(*axes.values())
        space.add(*self._conditions(axes))
        return space

    def configuration(self, point: Array, space: ConfigurationSpace) -> Configuration:
        """Return the configuration of a point."""
        values = {
            _name(axis): self._value(axis, point[axis]) for axis in self._tree.counting(point)
        }
        return Configuration(space, values=values)

    def point(self, configuration: Configuration) -> Array:
        """Return the point of a configuration, with inactive axes at their defaults."""
        point = self._tree.resting()
        for axis in self._searched:
            value = configuration.get(_name(axis))
            if value is not None:
                point[axis] = self._place(axis, float(value))
        return point

    def key(self, point: Array) -> bytes:
        """Return the key of a point; points with one evaluation share it."""
        return self._tree.key(point)

    def size(self) -> float:
        """Return the number of different points."""
        return self._tree.size

    def _value(self, axis: int, unit: float) -> int | float:
        """Return SMAC's value of a place on an axis: for a category its position."""
        parameter = self._parameters[axis]
        if not parameter.is_integer:
            return min(max(float(unit), 0.0), 1.0)
        whole = self._tree.whole(axis, unit)
        return whole - int(parameter.low) if parameter.is_category else whole

    def _place(self, axis: int, value: float) -> float:
        parameter = self._parameters[axis]
        if not parameter.is_integer:
            return value
        return parameter.to_unit(value + parameter.low if parameter.is_category else value)

    def _conditions(
        self, axes: dict[int, Hyperparameter[Any, Any]]
    ) -> Iterator[EqualsCondition | InCondition]:
        """Yield the conditions of each conditional axis: the places of its category."""
        for parent in self._searched:
            if not self._parameters[parent].is_category:
                continue
            found: dict[int, list[int]] = {}
            for place in range(self._tree.places(parent)):
                for child in self._tree.below(parent, place):
                    found.setdefault(child, []).append(place)
            for child, places in found.items():
                if len(places) == 1:
                    yield EqualsCondition(axes[child], axes[parent], places[0])
                else:
                    yield InCondition(axes[child], axes[parent], places)


def _name(axis: int) -> str:
    return f"x{axis:05d}"


def _axis_of(axis: int, parameter: Parameter) -> Hyperparameter[Any, Any]:
    low, high, name = int(parameter.low), int(parameter.high), _name(axis)
    if parameter.is_category:
        return Categorical(name, list(range(high - low + 1)))
    if parameter.is_integer:
        return Integer(name, (low, high), log=parameter.log)
    return Float(name, (0.0, 1.0))
