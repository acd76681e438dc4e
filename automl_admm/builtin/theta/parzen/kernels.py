"""The product kernel of a box, shared by all Parzen estimators on it.

The logarithm of a kernel at a point is a row of features times a column of weights. The features
depend only on the point, the weights only on the kernel. A real axis has the features x², x and 1;
a small grid and a category have a feature for each place. So all kernels at all points are one
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

# The probability that a categorical kernel leaves to its own category.
TOP = 0.8
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# Below every probability that matters; it keeps logarithms finite.
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The places of some whole axes, one under the other: each with its axis and its level."""

    axis: Places
    level: Places
    count: Places

    @classmethod
    def of(cls, axes: Mask, counts: Places) -> Rows:
        """Return the places of these axes."""
        chosen = np.flatnonzero(axes)
        axis = np.repeat(chosen, counts[chosen])
        level = [np.arange(counts[one]) for one in chosen]
        return cls(axis, np.concatenate([np.zeros(0, dtype=np.intp), *level]), counts[axis])

    def features(self, levels: Places, active: Mask) -> Array:
        """Return 1 at a point's own place, 0 elsewhere and on inactive axes."""
        found = (levels[:, self.axis] == self.level) & active[:, self.axis]
        return np.asarray(found, dtype=float)

    def uniform(self) -> Array:
        """Return the logarithm of an equal chance for each place of an axis."""
        return np.asarray(-np.log(self.count))


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The distinct cells of points on a grid of many places; `which` maps points to cells."""

    axis: int
    below: Array
    above: Array
    which: Places


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points on their grids, with features that need no kernel."""

    places: Array
    active: Mask
    features: Array
    wide: tuple[Column, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """Factory of the features of points and of the weights of kernels.

    A kernel is uniform over an axis inactive at its center; a point has no factor for an axis
    inactive at the point.
    """

    cells: Cells
    real: Places
    grid: Grid
    category: Rows

    @classmethod
    def of(cls, cells: Cells) -> Kernels:
        """Return the kernels of these axes."""
        category = Rows.of(cells.category, cells.counts)
        return cls(cells, np.flatnonzero(~cells.whole), Grid.of(cells), category)

    def points(self, places: Array) -> Points:
        """Describe points on their grids."""
        active = self.cells.activity.active(places)
        counted = active[:, self.real].astype(float)
        x, levels = places[:, self.real], self.cells.levels(places)
        # The order of these features is the order of the parts in `weights`.
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
        """Return a column for each kernel; the last one is the prior, uniform over categories."""
        levels = self.cells.levels(centers).T
        parts = [
            self._real(centers, widths, active),
            self.grid.weights(levels, widths, active),
            self._category(levels, active),
        ]
        return np.concatenate(parts)

    def _real(self, centers: Array, widths: Array, active: Mask) -> Array:
        """Return −½ (x − c)² / h² − log(h √2π) − log(Φ((1 − c) / h) − Φ(−c / h)) in powers of x."""
        if not self.real.size:
            return np.zeros((0, len(centers)))
        c, h = centers[:, self.real], widths[:, self.real]
        counted = active[:, self.real].astype(float)
        sharp = counted / h**2
        mass = np.log(ndtr((1.0 - c) / h) - ndtr(-c / h))
        alone = counted * (np.log(h) + HALF_LOG_2PI + mass)
        return np.concatenate([-0.5 * sharp, sharp * c, -0.5 * sharp * c * c - alone], axis=1).T

    def _category(self, levels: Places, active: Mask) -> Array:
        """Apply Aitchison and Aitken's kernel: 0.8 stays, other categories share the rest."""
        rows = self.category
        # A single category keeps everything: there are no others to share with.
        others = np.log((1.0 - TOP) / np.maximum(rows.count - 1, 1))
        stays = np.where(rows.count > 1, math.log(TOP), 0.0)
        same = levels[rows.axis] == rows.level[:, None]
        found = np.where(same, stays[:, None], others[:, None])
        speaks = active.T[rows.axis].copy()
        # The last kernel is the prior: it prefers no category.
        speaks[:, -1:] = False
        return np.where(speaks, found, rows.uniform()[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The kernels of the small grids as a table: each place under a kernel at each place."""

    rows: Rows
    centers: Array
    below: Array
    above: Array
    bottom: Array
    top: Array

    @classmethod
    def of(cls, cells: Cells) -> Grid:
        """Return the small grids among these axes."""
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
        """Return log(Φ((u − c) / h) − Φ((l − c) / h)) less the whole axis's; the prior last."""
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
    """Return the first index of each distinct value, and for each value its distinct one."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return first, which


def log_mass(left: Array, right: Array) -> Array:
    """Return log(Φ(right) − Φ(left)), from the left tail: near 1 the difference would vanish."""
    middle, half = np.abs(left + right) / 2.0, (right - left) / 2.0
    return np.asarray(np.log(np.maximum(ndtr(half - middle) - ndtr(-half - middle), TINY)))
