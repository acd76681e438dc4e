"""The axes of a Parzen estimator: real, on a grid, or of categories, and the points on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.theta.active_axes import Activity, Mask
from automl_admm.builtin.theta.box import Box
from automl_admm.core.space import Array, Parameter

Places = NDArray[np.intp]

# Bandwidths, as shares of the range of an axis.
NARROWEST, WIDEST = 0.01, 0.5
# Φ(STAYS) = 0.9, so a cell of half-width STAYS · h has a probability of 0.8.
STAYS = 1.2815515655446004
# Grids of at most this many places have a table of their kernels.
FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The interval represented by each place of the box, axis by axis.

    A real number stands for itself; a whole number for the cell of all points nearer to it than to
    its neighbours. The outermost cells are as wide to either side, so `bottom` and `top` lie beyond
    the unit interval, and equal widths mean equal chances. A category stands for itself.
    """

    box: Box
    category: Mask
    bottom: Array
    top: Array
    narrowest: Array
    activity: Activity

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Cells:
        """Return the cells of these parameters.

        The narrowest kernel of a grid gives its own cell a probability of 0.8, as the kernel for
        categories does; that of a real axis is 1 % of the range.
        """
        box = Box.of(parameters)
        whole: Mask = box.grids
        category = np.array([p.is_category for p in parameters], dtype=bool)
        half = np.where(whole, 0.5 / np.maximum(box.high - box.low, 1.0), 0.0)
        narrowest = np.where(whole, np.minimum(half / STAYS, WIDEST), NARROWEST)
        zero, one = np.zeros(box.dimension), np.ones(box.dimension)
        activity = Activity.of(parameters)
        unit = cls(box, category, zero, one, narrowest, activity)
        bottom, top = unit.edges(zero)[0], unit.edges(one)[1]
        return replace(unit, bottom=np.where(whole, bottom, 0.0), top=np.where(whole, top, 1.0))

    @property
    def low(self) -> Array:
        """Least number of each axis."""
        return self.box.low

    @property
    def high(self) -> Array:
        """Largest number of each axis."""
        return self.box.high

    @property
    def whole(self) -> Mask:
        """Mask of the grids, categories among them."""
        return self.box.grids

    @property
    def counts(self) -> Places:
        """Number of places of each axis, 1 for a real one."""
        return np.where(self.whole, self.high - self.low + 1.0, 1.0).astype(np.intp)

    @property
    def tabled(self) -> Mask:
        """Mask of the grids with a table of kernels."""
        return self.whole & ~self.category & (self.counts <= FEW)

    @property
    def wide(self) -> Mask:
        """Mask of the grids with too many places for a table."""
        return self.whole & ~self.category & (self.counts > FEW)

    def levels(self, points: Array) -> Places:
        """Return the index of each coordinate on its axis, 0 on a real one."""
        number = np.clip(np.round(self.box.to_number(points)), self.low, self.high)
        return np.where(self.whole, number - self.low, 0.0).astype(np.intp)

    def places(self, levels: Places) -> Array:
        """Return the coordinates of levels; meaningful on whole axes only."""
        return np.where(self.high > self.low, self.box.to_unit(self.low + levels), 0.0)

    def edges(self, points: Array) -> tuple[Array, Array]:
        """Return both ends of the cell of each place; meaningful on whole axes only."""
        number = np.clip(np.round(self.box.to_number(points)), self.low, self.high)
        number = np.where(self.whole, number, self.low)
        place = self.box.to_unit(number)
        under = place - self.box.to_unit(np.maximum(number - 1.0, self.low))
        over = self.box.to_unit(np.minimum(number + 1.0, self.high)) - place
        alone = self.high == self.low
        # The only place of an axis owns all of it.
        left = np.where(alone, 1.0, np.where(number > self.low, under, over))
        right = np.where(alone, 1.0, np.where(number < self.high, over, under))
        return place - left / 2.0, place + right / 2.0
