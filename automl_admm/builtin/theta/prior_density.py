"""A density of good points in a box, from settings that were good on other tables.

It weighs the acquisition of a model as πBO does (Hvarfner et al. 2022): log EI + β/n · log π after
n observations, so that a misleading prior is outvoted by what is seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from automl_admm.core.priors import PriorPoints
from automl_admm.core.space import Array

# The bandwidth of a setting, as a share of the range of an axis: two tables hardly agree better.
WIDTH = 0.2
# The share that is uniform: what was never good elsewhere may be here.
ANYWHERE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """The density of one component: normal distributions around its settings, and a uniform one."""

    axes: tuple[int, ...]
    centers: Array
    weights: Array

    @classmethod
    def of(cls, prior: PriorPoints) -> Mixture:
        """Return the density of these settings, each distribution cut off at the box."""
        inside = ndtr((1.0 - prior.points) / WIDTH) - ndtr(-prior.points / WIDTH)
        peaks = np.prod(1.0 / (WIDTH * math.sqrt(2.0 * math.pi) * inside), axis=1)
        return cls(prior.axes, prior.points, (1.0 - ANYWHERE) * prior.weights * peaks)

    def log_density(self, points: Array) -> tuple[Array, Array]:
        """Return log π at each row and its gradient on the axes of the component."""
        away = points[:, None, list(self.axes)] - self.centers
        heights = self.weights * np.exp(-0.5 * (away * away).sum(axis=2) / WIDTH**2)
        density = ANYWHERE + heights.sum(axis=1)
        slope = -(heights[:, :, None] * away).sum(axis=1) / WIDTH**2
        return np.log(density), slope / density[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class PriorPull:
    """A score of points: `strength` times the sum of log π over the components of a box."""

    mixtures: tuple[Mixture, ...]
    strength: float

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row, its integers on their grid."""
        del points
        return self.with_slopes(projected)[0]

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient, integers taken as real."""
        value, slope = np.zeros(len(points)), np.zeros_like(points)
        for mixture in self.mixtures:
            logged, slopes = mixture.log_density(points)
            value += self.strength * logged
            slope[:, list(mixture.axes)] += self.strength * slopes
        return value, slope


def first_tried(priors: Sequence[PriorPoints], start: Array) -> Array:
    """Return points to begin with: the good settings, the likeliest first, elsewhere as `start`.

    The likeliest setting of every component makes the first point, and so on.
    """
    count = max((len(prior.weights) for prior in priors), default=0)
    found = np.tile(start, (count, 1))
    for prior in priors:
        order = np.argsort(-prior.weights, kind="stable")
        # A component with fewer settings keeps its best one.
        rows = np.append(order, np.repeat(order[:1], count - len(order)))
        found[:, list(prior.axes)] = prior.points[rows]
    return found
