"""Parzen estimators on the unit box: mixtures of products of truncated normal distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from automl_admm.space import Array, Parameter

Places = NDArray[np.intp]

NARROWEST, WIDEST = 0.01, 0.5
# Φ(STAYS) = 0.9.
STAYS = 1.2815515655446004
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The part of each axis that a place of the box stands for.

    A real number stands for itself; a whole number for the cell of all that is nearer to it than
    to its neighbours. The outermost cells are as wide to either side, so `bottom` and `top` lie
    beyond the unit interval, and equal widths mean equal chances.
    """

    low: Array
    high: Array
    log: Array
    whole: Array
    bottom: Array
    top: Array
    narrowest: Array

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Cells:
        """The cells of these parameters.

        The narrowest kernel of a grid gives its own cell a probability of 0.8, as the kernel for
        categories does; that of a real axis is 1 % of the range.
        """
        low = np.array([p.low for p in parameters], dtype=float)
        high = np.array([p.high for p in parameters], dtype=float)
        log = np.array([p.log for p in parameters], dtype=bool)
        whole = np.array([p.is_integer or p.low == p.high for p in parameters], dtype=bool)
        half = np.where(whole, 0.5 / np.maximum(high - low, 1.0), 0.0)
        narrowest = np.where(whole, np.minimum(half / STAYS, WIDEST), NARROWEST)
        zero, one = np.zeros_like(low), np.ones_like(low)
        unit = cls(low, high, log, whole, zero, one, narrowest)
        bottom, top = unit.edges(zero)[0], unit.edges(one)[1]
        return replace(unit, bottom=np.where(whole, bottom, 0.0), top=np.where(whole, top, 1.0))

    def edges(self, points: Array) -> tuple[Array, Array]:
        """The lower and the upper end of the cell of each place; of use where an axis is whole."""
        number = np.clip(np.round(self._number(points)), self.low, self.high)
        number = np.where(self.whole, number, self.low)
        place = self._place(number)
        under = place - self._place(np.maximum(number - 1.0, self.low))
        over = self._place(np.minimum(number + 1.0, self.high)) - place
        alone = self.high == self.low
        left = np.where(alone, 1.0, np.where(number > self.low, under, over))
        right = np.where(alone, 1.0, np.where(number < self.high, over, under))
        return place - left / 2.0, place + right / 2.0

    def _number(self, points: Array) -> Array:
        ratio = np.where(self.log, self.high, 1.0) / np.where(self.log, self.low, 1.0)
        straight = self.low + (self.high - self.low) * points
        return np.asarray(np.where(self.log, self.low * ratio**points, straight), dtype=float)

    def _place(self, number: Array) -> Array:
        scaled = [
            np.where(self.log, np.log(np.where(self.log, x, 1.0)), x)
            for x in (number, self.low, self.high)
        ]
        width = np.where(self.high > self.low, scaled[2] - scaled[1], 1.0)
        return np.asarray((scaled[0] - scaled[1]) / width, dtype=float)


def bandwidths(points: Array, narrowest: Array) -> Array:
    """Scott's rule by axis: 1.059 · min(σ, IQR / 1.34) · n^(−1/5), within [narrowest, ½].

    It is no less than 1 / 8n: one or two points, which is what a good group has in a small budget,
    cannot say how wide they lie, and within 1 % of them there is nothing to be found.
    """
    count = max(len(points), 1)
    least = np.maximum(narrowest, 1.0 / (8.0 * count))
    if count == 1:
        return least
    quarters = np.percentile(points, [25, 75], axis=0)
    spread = np.minimum(points.std(axis=0, ddof=1), (quarters[1] - quarters[0]) / 1.34)
    return np.asarray(np.clip(1.059 * spread * count**-0.2, least, WIDEST))


@dataclass(frozen=True, slots=True, eq=False)
class Parzen:
    """p(x) = 1/(n + 1) Σ_k Π_d N(x_d; c_kd, h_kd²), each factor truncated to its axis.

    The last kernel is the prior: in the middle of the box, as wide as the box. `masses` is the
    logarithm of what the axes leave of each kernel.
    """

    cells: Cells
    centers: Array
    widths: Array
    masses: Array

    @classmethod
    def of(cls, points: Array, cells: Cells) -> Parzen:
        """The estimator of these points, which lie on their grids."""
        middle = np.full((1, len(cells.low)), 0.5)
        centers = np.concatenate([points, middle])
        widths = np.broadcast_to(bandwidths(points, cells.narrowest), points.shape)
        widths = np.concatenate([widths, np.ones_like(middle)])
        shares = ndtr((cells.top - centers) / widths) - ndtr((cells.bottom - centers) / widths)
        return cls(cells, centers, widths, np.log(shares).sum(axis=1))

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Draw points; a whole number falls anywhere in its cell and is still to be projected."""
        chosen = rng.integers(len(self.centers), size=count)
        centers, widths = self.centers[chosen], self.widths[chosen]
        least = ndtr((self.cells.bottom - centers) / widths)
        most = ndtr((self.cells.top - centers) / widths)
        drawn = ndtri(least + rng.random(centers.shape) * (most - least))
        return np.asarray(np.clip(centers + widths * drawn, 0.0, 1.0), dtype=float)

    def log_density(self, points: Array) -> Array:
        """log p at each row; on a grid it is the probability of the cell."""
        real = np.logical_not(self.cells.whole)
        centers, widths = self.centers[:, real], self.widths[:, real]
        gaps = (points[:, None, real] - centers) / widths
        exponents = -0.5 * np.einsum("mkd,mkd->mk", gaps, gaps) - self.masses
        exponents -= (np.log(widths) + HALF_LOG_2PI).sum(axis=1)
        if not real.all():
            exponents += self._log_cells(points)
        largest = exponents.max(axis=1)
        sums = np.exp(exponents - largest[:, None]).sum(axis=1)
        return np.asarray(largest + np.log(sums / len(self.centers)))

    def _log_cells(self, points: Array) -> Array:
        """Σ_d log(Φ((u − c) / h) − Φ((l − c) / h)) over the grids, for each row and kernel."""
        below, above = self.cells.edges(points)
        total = np.zeros((len(points), len(self.centers)))
        for axis in np.flatnonzero(self.cells.whole):
            # Few places of a grid differ, and all kernels but the prior are equally wide there.
            rows, row = distinct(points[:, axis])
            columns, column = distinct(self.centers[:-1, axis])
            columns, column = np.append(columns, -1), np.append(column, len(columns))
            centers, widths = self.centers[columns, axis], self.widths[columns, axis]
            left = (below[rows, axis][:, None] - centers) / widths
            right = (above[rows, axis][:, None] - centers) / widths
            total += log_mass(left, right)[np.ix_(row, column)]
        return total


def distinct(values: Array) -> tuple[Places, Places]:
    """Where each value stands first, and which of these each value is."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return first, which


def log_mass(left: Array, right: Array) -> Array:
    """log(Φ(right) − Φ(left)), taken in the left tail: near one the difference would be lost."""
    flipped = left > 0.0
    near, far = np.where(flipped, -right, left), np.where(flipped, -left, right)
    return np.asarray(np.log(np.maximum(ndtr(far) - ndtr(near), TINY)))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Observations parted into good and bad ones; `share` is γ̂ = |good| / (|good| + |bad|)."""

    good: Parzen
    bad: Parzen
    share: float

    @classmethod
    def of(cls, good: Array, bad: Array, cells: Cells) -> Split:
        """The estimators of both groups."""
        share = len(good) / max(len(good) + len(bad), 1)
        return cls(Parzen.of(good, cells), Parzen.of(bad, cells), share)

    def log_ratio(self, points: Array) -> Array:
        """log r = log p(x | good) − log p(x | bad)."""
        return self.good.log_density(points) - self.bad.log_density(points)

    def log_relative_ratio(self, points: Array) -> Array:
        """log r_rel = −log(γ̂ + (1 − γ̂) / r); nothing where everything is good."""
        if self.share >= 1.0:
            return np.zeros(len(points))
        known = math.log(max(self.share, TINY))
        return -np.logaddexp(known, math.log1p(-self.share) - self.log_ratio(points))
