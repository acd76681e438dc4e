"""The least value that the papers' artificial objective can have: what no method can go below.

A module passes on h(f, v) = max_k |f + v n_k|, which is convex in what it is passed and its scale
together. A scale is a weighted mean of weights, |Σ w θ / Σ θ|, so it reaches an interval whose ends
lie at corners of the box; and what a selection passes on after each module is an interval, too. Its
upper end lies at a corner, its lower end is the minimum of a convex function of two numbers.
Integers count as real here: where the scale has few places, the least value is a little higher.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from automl_admm.core.space import Array
from automl_admm.testing.objectives import LEVELS, SMALLEST, ArtificialObjective, Part

NARROWINGS = 30
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Interval:
    """Intervals of the same number, one for each selection so far."""

    low: Array
    high: Array


def least_value(objective: ArtificialObjective) -> float:
    """The least over all selections."""
    passed = Interval(np.zeros(1), np.zeros(1))
    for module, parts in objective.modules:
        after = [passed_on(objective, (module, part), passed) for part in parts]
        passed = Interval(*(np.concatenate(ends) for ends in zip(*after, strict=True)))
    return float(passed.low.min())


def passed_on(
    objective: ArtificialObjective, place: tuple[str, Part], passed: Interval
) -> tuple[Array, Array]:
    """The least and the most that a part passes on, for each interval that it is passed."""
    module, part = place
    scales = scales_of(objective, module, part)
    noise = objective.noise[module, part.name]
    corners = [magnitude(f, v, noise) for f in (passed.low, passed.high) for v in scales]
    return least_magnitude(passed, scales, noise), np.max(corners, axis=0)


def scales_of(objective: ArtificialObjective, module: str, part: Part) -> tuple[float, float]:
    """The ends of |Σ w θ / Σ θ| over the box; 0 where the mean can have either sign."""
    weights = objective.weights[module, part.name]
    if not weights.size:
        return (objective.scales[module, part.name],) * 2
    lows = [SMALLEST] * part.continuous + [1.0 / LEVELS] * part.integer
    corners = np.array(list(itertools.product(*((low, 1.0) for low in lows))))
    means = corners @ weights / corners.sum(axis=1)
    low, high = float(means.min()), float(means.max())
    return (0.0 if low <= 0.0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def magnitude(passed: Array, scale: Array | float, noise: Array) -> Array:
    """h(f, v) = max_k |f + v n_k|."""
    spread = np.multiply.outer(scale, noise)
    return np.asarray(np.abs(passed[..., None] + spread).max(axis=-1))


def least_magnitude(passed: Interval, scales: tuple[float, float], noise: Array) -> Array:
    """min h over f and v, by golden sections of f in which v is found by golden sections."""

    def best_scale(f: Array) -> Array:
        low, high = (np.full_like(f, end) for end in scales)
        return narrowed(Interval(low, high), lambda v: magnitude(f, v, noise))

    return narrowed(passed, best_scale)


def narrowed(interval: Interval, value: Callable[[Array], Array]) -> Array:
    """The minimum of a convex function on each interval."""
    low, high = interval.low, interval.high
    for _ in range(NARROWINGS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        is_left = value(left) <= value(right)
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    return np.asarray(np.minimum(value(low), value(high)))
