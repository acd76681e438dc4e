"""Priors of solvers: what was good on other tables, as a search hands it to its solvers.

A solver that reads them says so by an attribute `takes_priors`; others are given none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from automl_admm.core.space import Array, Parameter


@dataclass(frozen=True, slots=True)
class ArmPrior:
    """Pseudo-counts of an alternative: how good and how bad it was on other tables.

    Tables that are more like the one at hand count more; together they count 1 at most.

    >>> ArmPrior(0.75, 0.25).mean
    0.75
    """

    good: float
    bad: float

    @property
    def mean(self) -> float:
        """The mean goodness, from 0 to 1."""
        return self.good / (self.good + self.bad)


Arms = Mapping[tuple[str, str], ArmPrior]


@dataclass(frozen=True, slots=True)
class GoodSetting:
    """Places on [0, 1] of a component's parameters, and how often they were its best ones."""

    places: Mapping[str, float]
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class PriorPoints:
    """Good settings of one component in a box: a row each, a column for each of its `axes`.

    The weights add up to 1. The other axes of the box are unknown.

    >>> PriorPoints((0,), np.array([[0.2], [0.4]]), np.array([0.7, 0.3])).axes
    (0,)
    """

    axes: tuple[int, ...]
    points: Array
    weights: Array


@dataclass(frozen=True, slots=True)
class Priors:
    """Pseudo-counts of arms (decision, alternative), and good settings, component by component.

    `tables` is the number of tables they were learned from. An alternative or a parameter that
    stands in none of them has no prior.

    >>> Priors().within((Parameter("x", 0, 1),))
    ()
    """

    arms: Arms = field(default_factory=dict)
    settings: Mapping[str, tuple[GoodSetting, ...]] = field(default_factory=dict)
    tables: int = 0

    def taken_by(self, *, theta: bool, z: bool) -> Priors:
        """Return the part for those solvers that take priors."""
        return replace(self, arms=self.arms if z else {}, settings=self.settings if theta else {})

    def within(self, parameters: Sequence[Parameter]) -> tuple[PriorPoints, ...]:
        """Return the good settings inside the box of these parameters."""
        places = {parameter.name: place for place, parameter in enumerate(parameters)}
        found = (_points_of(settings, places) for settings in self.settings.values())
        return tuple(points for points in found if points is not None)


def _points_of(settings: Sequence[GoodSetting], places: Mapping[str, int]) -> PriorPoints | None:
    names = [name for name in settings[0].places if name in places]
    if not names:
        return None
    weights = np.array([one.weight for one in settings])
    points = np.array([[one.places[name] for name in names] for one in settings])
    return PriorPoints(tuple(places[name] for name in names), points, weights / weights.sum())


def takes_priors(solver: object) -> bool:
    """Return True if a solver says that it reads priors.

    >>> takes_priors(object())
    False
    """
    return bool(getattr(solver, "takes_priors", False))
