"""The box of θ: the grids of integers, keys of equal points, and points still untried."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array, Parameter
from automl_admm.core.structure.axis_tree import DIGITS, draws

Axes = NDArray[np.intp]

EVERY = slice(None)
# A call of numpy takes as long for one point of a grid as for many.
AT_ONCE = 256


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """[0, 1]^d with an axis for each parameter; `grids` marks axes with few allowed places."""

    low: Array
    high: Array
    log: NDArray[np.bool_]
    grids: NDArray[np.bool_]

    @classmethod
    def of(cls, parameters: Sequence[Parameter]) -> Box:
        """Return the box of these parameters; a range of one number is a grid of one place."""
        return cls(
            np.array([parameter.low for parameter in parameters], dtype=float),
            np.array([parameter.high for parameter in parameters], dtype=float),
            np.array([parameter.log for parameter in parameters], dtype=bool),
            np.array([p.is_integer or p.low == p.high for p in parameters], dtype=bool),
        )

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.low)

    @property
    def size(self) -> int | None:
        """Number of points, None for infinitely many."""
        if not self.grids.all():
            return None
        size = 1
        for low, high in zip(self.low, self.high, strict=True):
            size *= int(high - low) + 1
        return size

    def project(self, points: Array) -> Array:
        """Move each row to its nearest allowed place, as `Parameter.project` does.

        On an axis of a single number that place is 0.
        """
        # A model may answer NaN; the middle of the box is as good a place as any.
        inside = np.clip(np.where(np.isfinite(points), points, 0.5), 0.0, 1.0)
        axes = np.flatnonzero(self.grids)
        if axes.size:
            inside[:, axes] = self._nearest(inside[:, axes], axes)
        return inside

    def keys(self, points: Array) -> list[bytes]:
        """Return a key for each point, equal for points that are the same to evaluate."""
        projected = self.project(points)
        # Adding 0.0 turns −0.0 into 0.0: their bytes differ.
        rounded = np.round(projected, DIGITS) + 0.0
        axes = np.flatnonzero(self.grids)
        if axes.size:  # places of a wide grid are nearer to each other than the digits tell
            rounded[:, axes] = np.round(self.to_number(projected[:, axes], axes)) + 0.0
        return [row.tobytes() for row in rounded]

    def is_used_up(self, known: Collection[bytes]) -> bool:
        """Return True if every point of the box is known."""
        return self.size is not None and len(known) >= self.size

    def draw(self, rng: np.random.Generator, known: Collection[bytes]) -> Array | None:
        """Draw a uniform unknown point; None if there is none left."""
        if self.is_used_up(known):
            return None
        # After this many misses hardly any unknown point is left, so the walk below is short.
        for _ in range(draws(math.inf if self.size is None else self.size, len(known))):
            point = self._uniform(rng)
            if self.keys(point[None])[0] not in known:
                return point
        return self._first_unknown(known)

    def _uniform(self, rng: np.random.Generator) -> Array:
        """Draw uniformly on the unit box; on a log scale a whole number by the width of its cell.

        Other whole numbers are equally likely, including those at the ends.
        """
        point = rng.random(self.dimension)
        axes = np.flatnonzero(self.grids & ~self.log)
        # Each whole number has a cell of equal width; rounding may reach one beyond the last.
        wholes = np.floor(self.low[axes] + point[axes] * (self.high - self.low + 1)[axes])
        point[axes] = self.to_unit(np.minimum(wholes, self.high[axes]), axes)
        return np.asarray(self.project(point[None])[0])

    def _first_unknown(self, known: Collection[bytes]) -> Array | None:
        """Walk the grid: it is hardly larger than the known points, or a draw would have hit."""
        widths, size = ((self.high - self.low).astype(int) + 1).tolist(), self.size or 0
        for first in range(0, size, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, size))
            steps = np.array([_digits(number, widths) for number in numbers], dtype=float)
            points = self.to_unit(self.low[None] + steps)
            for point, key in zip(points, self.keys(points), strict=True):
                if key not in known:
                    return np.asarray(point)
        return None

    def to_unit(self, numbers: Array, axes: Axes | slice = EVERY) -> Array:
        """Return the places of these axes' numbers on [0, 1], as `Parameter.to_unit` does."""
        low, high = self.low[axes], self.high[axes]
        if self.log[axes].any():
            scaled = [
                np.where(self.log[axes], np.log(np.maximum(x, 1e-300)), x)
                for x in (numbers, low, high)
            ]
            numbers, low, high = scaled
        # A range of one number has no width to divide by.
        width = np.where(high > low, high - low, 1.0)
        return np.asarray(np.clip((numbers - low) / width, 0.0, 1.0), dtype=float)

    def to_number(self, units: Array, axes: Axes | slice = EVERY) -> Array:
        """Return the numbers at these places on [0, 1], before rounding."""
        low, high, log = self.low[axes], self.high[axes], self.log[axes]
        numbers = low + (high - low) * units
        if log.any():
            # Axes without a log scale may include 0, so keep them out of the division.
            ratio = np.where(log, high, 1.0) / np.where(log, low, 1.0)
            numbers = np.where(log, low * ratio**units, numbers)
        return np.asarray(np.clip(numbers, low, high), dtype=float)

    def _nearest(self, units: Array, axes: Axes) -> Array:
        below = np.floor(self.to_number(units, axes))
        above = np.minimum(below + 1.0, self.high[axes])
        lower, upper = self.to_unit(np.stack([below, above]), axes)
        # Nearest on [0, 1], not among the numbers: on a log scale these differ.
        return np.asarray(np.where(np.abs(upper - units) < np.abs(lower - units), upper, lower))


def _digits(number: int, bases: Sequence[int]) -> list[int]:
    """Return a number's digits to these bases, the last with the smallest weight."""
    found = []
    for base in reversed(bases):
        number, digit = divmod(number, base)
        found.append(digit)
    return found[::-1]
