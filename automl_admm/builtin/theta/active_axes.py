"""Which axes of a box count at a point: a parameter may hang on what a category takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array, Parameter

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hold:
    """An axis counts while the category of `parent` lies at one of `places`."""

    axis: int
    parent: int
    places: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """The conditions of a box whose parents are axes of it, a parent before its children.

    Of a condition on anything else the box says nothing: it is taken to hold.
    """

    holds: tuple[Hold, ...]

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Activity:
        """The conditions among these parameters."""
        names = [p.name if p.is_category else None for p in parameters]
        found = []
        for axis, parameter in enumerate(parameters):
            if parameter.when is not None and parameter.when.decision in names[:axis]:
                parent = names.index(parameter.when.decision)
                found.append(
                    Hold(axis, parent, _places(parameters[parent], parameter.when.alternatives))
                )
        return cls(tuple(found))

    def active(self, points: Array) -> Mask:
        """Whether each axis counts at each row; the rows lie on their grids."""
        active = np.ones(points.shape, dtype=bool)
        for hold in self.holds:
            taken = np.isclose(points[:, [hold.parent]], hold.places, atol=1e-6).any(axis=1)
            active[:, hold.axis] = active[:, hold.parent] & taken
        return active


def _places(parent: Parameter, alternatives: Sequence[str]) -> tuple[float, ...]:
    wholes = [parent.low + i for i, value in enumerate(parent.values) if value in alternatives]
    return tuple(parent.to_unit(whole) for whole in wholes)
