"""Parzen estimators on the unit box: mixtures of product kernels, one kernel a point."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.builtin.theta.parzen.axes import WIDEST, Places
from automl_admm.builtin.theta.parzen.kernels import (
    TINY,
    TOP,
    Column,
    Kernels,
    Points,
    distinct,
    log_mass,
)
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.priors import PriorPoints
from automl_admm.core.space import Array


def bandwidths(points: Array, narrowest: Array) -> Array:
    """Apply Scott's rule by axis: 1.059 · min(σ, IQR / 1.34) · n^(−1/5), within [narrowest, ½].

    The bandwidth is at least 1 / 8n. With a small budget a good group has one or two points: they
    cannot tell their own spread, and within 1 % of them nothing is to be found.
    """
    count = max(len(points), 1)
    least = np.maximum(narrowest, 1.0 / (8.0 * count))
    if len(points) < 2:
        return least
    ordered = np.sort(points, axis=0)
    quarters = quantile(ordered, 0.75) - quantile(ordered, 0.25)
    spread = np.minimum(points.std(axis=0, ddof=1), quarters / 1.34)
    return np.asarray(np.clip(1.059 * spread * count**-0.2, least, WIDEST))


def quantile(ordered: Array, share: float) -> Array:
    """A quantile of each column of ordered values, linear between two of them."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return np.asarray(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def widths_of(points: Array, active: Mask, narrowest: Array) -> Array:
    """Return the bandwidth of each axis, learned from the points at which it is active."""
    # First as if every axis were active everywhere; the loop below corrects the others.
    widths = bandwidths(points, narrowest)
    for axis in np.flatnonzero(~active.all(axis=0)):
        counted = points[active[:, axis], axis]
        widths[axis] = bandwidths(counted[:, None], narrowest[[axis]])[0]
    return widths


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Settings that were good elsewhere: points, the axes `known` of each, and their shares.

    A share of 1 counts as much as a point that was seen.
    """

    points: Array
    known: Mask
    shares: Array

    @classmethod
    def none(cls, dimension: int) -> Lessons:
        """Return no lessons."""
        nothing = np.zeros((0, dimension))
        return cls(nothing, nothing.astype(bool), np.zeros(0))

    @classmethod
    def of(
        cls, priors: Sequence[PriorPoints], sites: Sites, dimension: int, trust: float
    ) -> Lessons:
        """Return the settings of all components, on their grids; they count `trust` together."""
        found = [cls.none(dimension)]
        for prior in priors:
            points = np.full((len(prior.weights), dimension), 0.5)
            points[:, list(prior.axes)] = prior.points
            known = np.zeros(points.shape, dtype=bool)
            known[:, list(prior.axes)] = True
            places, _ = sites.locate(list(points))
            found.append(cls(places, known, trust / len(priors) * prior.weights))
        parts = ([getattr(one, name) for one in found] for name in ("points", "known", "shares"))
        return cls(*(np.concatenate(part) for part in parts))


@dataclass(frozen=True, slots=True, eq=False)
class Parzen:
    """p(x) = 1/(n + 1) Σ_k Π_d K_d(x_d; c_kd), each factor on its axis.

    On a real axis a factor is a normal distribution N(c, h²) truncated to the axis. On a grid it is
    the share of that distribution in the cell of a place, and on a category Aitchison and Aitken's
    kernel. The last kernel is the prior: in the middle of the box, as wide as the box, equal over
    categories. Settings that were good elsewhere are further kernels, of a smaller share.
    """

    kernels: Kernels
    centers: Array
    widths: Array
    active: Mask
    weights: Array
    shares: Array

    @classmethod
    def of(cls, points: Array, kernels: Kernels, lessons: Lessons | None = None) -> Parzen:
        """Return the estimator of these points and lessons, all on their grids."""
        lessons = lessons or Lessons.none(points.shape[1])
        # The prior is the last row: centre ½, width 1, active on every axis.
        active, middle = kernels.cells.activity.active(points), np.full((1, points.shape[1]), 0.5)
        widths = widths_of(points, active, kernels.cells.narrowest)
        centers = np.concatenate([points, lessons.points, middle])
        narrow = np.broadcast_to(widths, (len(centers) - 1, points.shape[1]))
        widths = np.concatenate([narrow, np.ones_like(middle)])
        active = np.concatenate([active, lessons.known, np.ones_like(middle, dtype=bool)])
        shares = np.concatenate([np.ones(len(points)), lessons.shares, np.ones(1)])
        weights = kernels.weights(centers, widths, active)
        return cls(kernels, centers, widths, active, weights, shares)

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Draw points; a whole number falls anywhere in its cell and is still to be projected."""
        chosen = self._chosen(rng, count)
        active, shares = self.active[chosen], rng.random((count, self.centers.shape[1]))
        drawn = self._normal(chosen, shares)
        cells = self.kernels.cells
        # An inactive axis of a kernel is drawn uniformly, as its density is.
        drawn = np.where(active, drawn, cells.bottom + shares * (cells.top - cells.bottom))
        categories = np.flatnonzero(cells.category)
        if categories.size:
            is_kernel = (chosen < len(self.centers) - 1)[:, None]
            levels = self._levels(chosen, shares, active & is_kernel)
            drawn[:, categories] = cells.places(levels)[:, categories]
        return np.asarray(np.clip(drawn, 0.0, 1.0), dtype=float)

    def _chosen(self, rng: np.random.Generator, count: int) -> Places:
        if (self.shares == 1.0).all():
            return rng.integers(len(self.centers), size=count)
        return rng.choice(len(self.centers), size=count, p=self.shares / self.shares.sum())

    def _normal(self, chosen: Places, shares: Array) -> Array:
        """Return quantiles of truncated normal distributions."""
        cells, centers, widths = self.kernels.cells, self.centers[chosen], self.widths[chosen]
        least = ndtr((cells.bottom - centers) / widths)
        most = ndtr((cells.top - centers) / widths)
        return np.asarray(centers + widths * ndtri(least + shares * (most - least)))

    def _levels(self, chosen: Places, shares: Array, speaks: Mask) -> Places:
        """Draw categories: that of the center with probability 0.8, else any other one."""
        cells = self.kernels.cells
        own, counts = cells.levels(self.centers[chosen]), cells.counts
        steps = 1 + np.floor((shares - TOP) / (1.0 - TOP) * (counts - 1)).astype(np.intp)
        moved = np.where(shares < TOP, own, (own + steps) % counts)
        anywhere = np.floor(shares * counts).astype(np.intp)
        return np.where(speaks, moved, anywhere)

    def log_density(self, points: Points) -> Array:
        """Return log p at each row; on a grid it is the probability of the cell."""
        exponents = points.features @ self.weights
        for column in points.wide:
            exponents += self._log_cells(column) * points.active[:, [column.axis]]
        # Log-sum-exp: taking out the largest exponent keeps the sum from underflow.
        largest = exponents.max(axis=1)
        sums = (self.shares * np.exp(exponents - largest[:, None])).sum(axis=1)
        # A kernel with a small share may hold the largest exponent.
        return np.asarray(largest + np.log(np.maximum(sums, TINY) / self.shares.sum()))

    def _log_cells(self, column: Column) -> Array:
        """Return the kernels' log shares on one axis of many places, for each row and kernel."""
        cells, axis = self.kernels.cells, column.axis
        # Few places of a grid differ, and all kernels except the prior have one width there.
        first, which = distinct(self.centers[:-1, axis])
        first, which = np.append(first, -1), np.append(which, len(first))
        centers, widths = self.centers[first, axis], self.widths[first, axis]
        ends = (column.below[:, None], column.above[:, None], cells.bottom[axis], cells.top[axis])
        left, right, bottom, top = ((end - centers) / widths for end in ends)
        table = log_mass(left, right) - log_mass(bottom, top)
        found = table[np.ix_(column.which, which)]
        return np.where(self.active[:, axis], found, -math.log(cells.counts[axis]))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Observations split into good and bad ones; `share` is γ̂ = |good| / (|good| + |bad|)."""

    good: Parzen
    bad: Parzen
    share: float

    @classmethod
    def of(cls, good: Array, bad: Array, kernels: Kernels, lessons: Lessons | None = None) -> Split:
        """Return the estimators of both groups; lessons are good ones."""
        share = len(good) / max(len(good) + len(bad), 1)
        return cls(Parzen.of(good, kernels, lessons), Parzen.of(bad, kernels), share)

    def log_ratio(self, points: Points) -> Array:
        """Return log r = log p(x | good) − log p(x | bad), equation (5)."""
        return self.good.log_density(points) - self.bad.log_density(points)

    def log_relative_ratio(self, points: Points) -> Array:
        """Return log r_rel = −log(γ̂ + (1 − γ̂) / r); 0 if everything is good."""
        # A constraint kept everywhere says nothing (corollary 2 of c-TPE).
        if self.share >= 1.0:
            return np.zeros(len(points.places))
        known = math.log(max(self.share, TINY))
        return -np.logaddexp(known, math.log1p(-self.share) - self.log_ratio(points))
