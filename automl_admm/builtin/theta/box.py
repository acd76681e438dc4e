"""The box that θ is searched in: grids of integers, what counts as one point, what is left."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.space import Array, Parameter

Axes = NDArray[np.intp]

DIGITS = 6
DRAWS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """[0, 1]^d, an axis a parameter; `grids` are the axes on which few places are allowed."""

    low: Array
    high: Array
    log: Array
    grids: Array

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Box:
        """The box of these parameters; a range of one number is a grid of one place."""
        return cls(
            np.array([parameter.low for parameter in parameters], dtype=float),
            np.array([parameter.high for parameter in parameters], dtype=float),
            np.array([parameter.log for parameter in parameters], dtype=bool),
            np.array([p.is_integer or p.low == p.high for p in parameters], dtype=bool),
        )

    @property
    def dimension(self) -> int:
        """How many axes there are."""
        return len(self.low)

    @property
    def size(self) -> int | None:
        """How many points there are, None for infinitely many."""
        if not self.grids.all():
            return None
        size = 1
        for low, high in zip(self.low, self.high, strict=True):
            size *= int(high - low) + 1
        return size

    def project(self, points: Array) -> Array:
        """Each row at its nearest allowed place, as `Parameter.project` has it."""
        inside = np.clip(np.where(np.isfinite(points), points, 0.5), 0.0, 1.0)
        axes = np.flatnonzero(self.grids)
        if axes.size:
            inside[:, axes] = self._nearest(inside[:, axes], axes)
        return inside

    def keys(self, points: Array) -> list[bytes]:
        """What two points share if they are one thing to evaluate."""
        rounded = np.round(self.project(points), DIGITS) + 0.0
        return [row.tobytes() for row in rounded]

    def is_used_up(self, known: Collection[bytes]) -> bool:
        """Whether every point of the box is known."""
        return self.size is not None and len(known) >= self.size

    def draw(self, rng: np.random.Generator, known: Collection[bytes]) -> Array | None:
        """A uniform point that is not known; None where there is none."""
        if self.is_used_up(known):
            return None
        # What is known may have been drawn with the same seed: then it all comes once more.
        for _ in range(DRAWS if self.size is not None else DRAWS + len(known)):
            point = self._uniform(rng)
            if self.keys(point[None])[0] not in known:
                return point
        return self._first_unknown(known)

    def _uniform(self, rng: np.random.Generator) -> Array:
        point = rng.random(self.dimension)
        axes = np.flatnonzero(self.grids)
        if axes.size:
            wholes = np.floor(self.low[axes] + point[axes] * (self.high - self.low + 1)[axes])
            point[axes] = self._to_unit(np.minimum(wholes, self.high[axes])[None], axes)[0]
        return point

    def _first_unknown(self, known: Collection[bytes]) -> Array | None:
        """Walk the grid: it is not much larger than what is known, or a draw had found a point."""
        if self.size is None:
            return None
        ranges = [range(int(high - low) + 1) for low, high in zip(self.low, self.high, strict=True)]
        axes = np.arange(self.dimension)
        for steps in itertools.product(*ranges):
            point = self._to_unit(self.low[None] + np.array(steps, dtype=float), axes)
            if self.keys(point)[0] not in known:
                return np.asarray(point[0])
        return None

    def _to_unit(self, numbers: Array, axes: Axes) -> Array:
        low, high = self.low[axes], self.high[axes]
        if self.log[axes].any():
            scaled = [
                np.where(self.log[axes], np.log(np.maximum(x, 1e-300)), x)
                for x in (numbers, low, high)
            ]
            numbers, low, high = scaled
        width = np.where(high > low, high - low, 1.0)
        return np.asarray(np.clip((numbers - low) / width, 0.0, 1.0), dtype=float)

    def _to_number(self, units: Array, axes: Axes) -> Array:
        low, high, log = self.low[axes], self.high[axes], self.log[axes]
        ratio = np.where(log, high, 1.0) / np.where(log, low, 1.0)
        straight = low + (high - low) * units
        numbers = np.where(log, low * ratio**units, straight)
        return np.asarray(np.clip(numbers, low, high), dtype=float)

    def _nearest(self, units: Array, axes: Axes) -> Array:
        below = np.floor(self._to_number(units, axes))
        around = np.stack([below - 1.0, below, below + 1.0])
        places = self._to_unit(np.clip(around, self.low[axes], self.high[axes]), axes)
        best = np.abs(places - units).argmin(axis=0)
        return np.asarray(np.take_along_axis(places, best[None], axis=0)[0])
