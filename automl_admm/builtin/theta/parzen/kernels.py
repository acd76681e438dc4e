"""The product kernel of a box: what a Parzen estimator of any points on it is computed with.

The logarithm of a kernel at a point is a product of a row of features, which only the point
decides, and a column of weights, which only the kernel decides: a real axis has x², x and 1, a
small grid and a category have a feature for each place. So all kernels at all points are one
matrix product, and the features of the candidates serve every estimator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.builtin.theta.parzen.axes import Cells, Places
from automl_admm.core.space import Array

TOP = 0.8
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The places of some whole axes, one under the other: of which axis, and which of it."""

    axis: Places
    level: Places
    count: Places

    @classmethod
    def of(cls, axes: Mask, counts: Places) -> Rows:
        """The places of these axes."""
        chosen = np.flatnonzero(axes)
        axis = np.repeat(chosen, counts[chosen])
        level = [np.arange(counts[one]) for one in chosen]
        return cls(axis, np.concatenate([np.zeros(0, dtype=np.intp), *level]), counts[axis])

    def features(self, levels: Places, active: Mask) -> Array:
        """1 where a point lies, and nothing on an axis that does not count there."""
        found = (levels[:, self.axis] == self.level) & active[:, self.axis]
        return np.asarray(found, dtype=float)

    def uniform(self) -> Array:
        """The logarithm of an equal chance for each place of an axis."""
        return np.asarray(-np.log(self.count))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The cells of some points on a grid of many places, each cell once; `which` is a point's."""

    axis: int
    below: Array
    above: Array
    which: Places


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points on their grids, and what can be said of them before there is a kernel."""

    places: Array
    active: Mask
    features: Array
    wide: tuple[Column, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """Makes the features of points and the weights of kernels.

    A kernel that has nothing to say of an axis, because it did not count at its center, is
    uniform there; a point at which an axis does not count has no factor for it.
    """

    cells: Cells
    real: Places
    grid: Grid
    category: Rows

    @classmethod
    def of(cls, cells: Cells) -> Kernels:
        """The kernels of these axes."""
        category = Rows.of(cells.category, cells.counts)
        return cls(cells, np.flatnonzero(~cells.whole), Grid.of(cells), category)

    def points(self, places: Array) -> Points:
        """Describe points that lie on their grids."""
        active = self.cells.activity.active(places)
        counted = active[:, self.real].astype(float)
        x, levels = places[:, self.real], self.cells.levels(places)
        features = [counted * x * x, counted * x, counted]
        features += [rows.features(levels, active) for rows in (self.grid.rows, self.category)]
        return Points(places, active, np.concatenate(features, axis=1), self._columns(places))

    def _columns(self, places: Array) -> tuple[Column, ...]:
        axes = np.flatnonzero(self.cells.wide)
        below, above = self.cells.edges(places) if axes.size else (places, places)
        found = []
        for axis in axes:
            first, which = distinct(places[:, axis])
            found.append(Column(int(axis), below[first, axis], above[first, axis], which))
        return tuple(found)

    def weights(self, centers: Array, widths: Array, active: Mask) -> Array:
        """A column for each kernel; the last one is the prior, uniform over categories."""
        levels = self.cells.levels(centers).T
        parts = [
            self._real(centers, widths, active),
            self.grid.weights(levels, widths, active),
            self._category(levels, active),
        ]
        return np.concatenate(parts)

    def _real(self, centers: Array, widths: Array, active: Mask) -> Array:
        """−½ (x − c)² / h² − log(h √2π) − log(Φ((1 − c) / h) − Φ(−c / h)) in powers of x."""
        if not self.real.size:
            return np.zeros((0, len(centers)))
        c, h = centers[:, self.real], widths[:, self.real]
        counted = active[:, self.real].astype(float)
        sharp = counted / h**2
        mass = np.log(ndtr((1.0 - c) / h) - ndtr(-c / h))
        alone = counted * (np.log(h) + HALF_LOG_2PI + mass)
        return np.concatenate([-0.5 * sharp, sharp * c, -0.5 * sharp * c * c - alone], axis=1).T

    def _category(self, levels: Places, active: Mask) -> Array:
        """Aitchison and Aitken's kernel: 0.8 stays, the rest is shared by the other categories."""
        rows = self.category
        others = np.log((1.0 - TOP) / np.maximum(rows.count - 1, 1))
        stays = np.where(rows.count > 1, math.log(TOP), 0.0)
        same = levels[rows.axis] == rows.level[:, None]
        found = np.where(same, stays[:, None], others[:, None])
        speaks = active.T[rows.axis].copy()
        speaks[:, -1:] = False
        return np.where(speaks, found, rows.uniform()[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The kernels of the small grids, by a table: each place under a kernel at each place."""

    rows: Rows
    centers: Array
    below: Array
    above: Array
    bottom: Array
    top: Array

    @classmethod
    def of(cls, cells: Cells) -> Grid:
        """The small grids among these axes."""
        rows = Rows.of(cells.tabled, cells.counts)
        steps = np.arange(rows.count.max(initial=1))[:, None]
        places = cells.places(np.broadcast_to(steps, (len(steps), len(cells.low))))
        below, above = cells.edges(places)
        axis, level = rows.axis, rows.level
        return cls(
            rows,
            places.T[axis],
            below[level, axis],
            above[level, axis],
            cells.bottom[axis],
            cells.top[axis],
        )

    def weights(self, levels: Places, widths: Array, active: Mask) -> Array:
        """log(Φ((u − c) / h) − Φ((l − c) / h)) less that of the whole axis; the prior last."""
        axis = self.rows.axis
        table = self._shares(self.centers, widths[0, axis][:, None])
        found = np.take_along_axis(table, levels[axis], axis=1)
        found = np.where(active.T[axis], found, self.rows.uniform()[:, None])
        prior = self._shares(np.full((len(axis), 1), 0.5), widths[-1, axis][:, None])
        found[:, -1:] = prior
        return np.asarray(found)

    def _shares(self, centers: Array, width: Array) -> Array:
        below, above, bottom, top = (
            (edge[:, None] - centers) / width
            for edge in (self.below, self.above, self.bottom, self.top)
        )
        return log_mass(below, above) - log_mass(bottom, top)


def distinct(values: Array) -> tuple[Places, Places]:
    """Where each value stands first, and which of these each value is."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return first, which


def log_mass(left: Array, right: Array) -> Array:
    """log(Φ(right) − Φ(left)), taken in the left tail: near one the difference would be lost."""
    middle, half = np.abs(left + right) / 2.0, (right - left) / 2.0
    return np.asarray(np.log(np.maximum(ndtr(half - middle) - ndtr(-half - middle), TINY)))
