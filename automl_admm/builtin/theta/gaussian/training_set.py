"""The training set of the Gaussian process: distinct points, tame values, a bounded number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian.warping import FAILURE, Bend, taming, told_two_ways
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, Quadratic

NEGLIGIBLE = 1e-12
LARGEST = 1e100  # the square of a larger value, perhaps a user's penalty, would overflow


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One constraint at the points, tamed and standardised; it holds up to `bound`."""

    values: Array
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Points on their grids and standardised values; `unit` is one standard deviation as a loss.

    `known` is the known cost of each point in these units; `succeeded` marks successes, `feasible`
    those within all limits; `measured` has the limits one by one. `log_scale` is Σ log dv/dz over
    the successes, with z the values standing here and v the values told: −log p(v) = −log p(z) +
    log_scale.
    """

    points: Array
    values: Array
    known: Array
    succeeded: Array
    unit: float
    feasible: Array
    measured: tuple[Measured, ...] = ()
    log_scale: float = 0.0


class _Row(NamedTuple):
    place: Array
    value: float
    cost: float
    excess: tuple[float, ...]


class Sample:
    """The observations of one box, one a point: the loss without its known part.

    With `limits` it keeps the objective in units of the loss, and g − ε of each limit beside it:
    neither depends on multipliers.
    """

    def __init__(
        self,
        box: Box,
        known_cost: Quadratic,
        limits: Sequence[Limit] = (),
        objective_unit: float = 1.0,
    ) -> None:
        self._box = box
        self._known_cost = known_cost
        self._limits = tuple(limits)
        self._objective_unit = objective_unit
        self._rows: dict[bytes, _Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def keys(self) -> set[bytes]:
        """Keys of the known points."""
        return set(self._rows)

    def retell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; forget earlier observations of the same points."""
        points = np.array([told.point for told in observations], dtype=float)
        for key in self._box.keys(points.reshape(len(observations), self._box.dimension)):
            self._rows.pop(key, None)
        self.add(observations)

    def add(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; of two observations of one point keep the cheaper one."""
        if not observations:
            return
        points = np.array([o.point for o in observations], dtype=float)
        points = points.reshape(len(observations), self._box.dimension)
        costs = self._known_cost(points)
        rows = zip(self._box.keys(points), self._box.project(points), costs, strict=True)
        for (key, place, cost), told in zip(rows, observations, strict=True):
            value, known = self._value(told, float(cost)), self._rows.get(key)
            if known is None or value + cost <= known.value + known.cost:
                excess = tuple(map(_bounded, excess_of(told, self._limits)))
                self._rows[key] = _Row(place, value, float(cost), excess)

    def _value(self, told: Observation[Array], cost: float) -> float:
        if told.is_lost:
            return np.inf
        if not self._limits:
            return _bounded(float(told.loss) - cost)
        value = float(told.objective) / self._objective_unit
        return _bounded(value) if np.isfinite(value) else np.inf

    def training(self, limit: int) -> Training:
        """Return at most `limit` points, their values tamed and standardised."""
        return self.trainings(limit)[0]

    def trainings(self, limit: int) -> tuple[Training, ...]:
        """Return the same points with values tamed, and also as told if there are no limits."""
        rows = list(self._rows.values())
        values = np.array([row.value for row in rows])
        known = np.array([row.cost for row in rows])
        excess = np.array([row.excess for row in rows], dtype=float)
        excess = excess.reshape(len(rows), len(self._limits))
        kept = choose(values + known + _penalty(values, excess), limit)
        points = np.array([rows[place].place for place in kept])
        values, known, excess = values[kept], known[kept], excess[kept]
        succeeded = np.isfinite(values)
        feasible = succeeded & np.asarray((excess <= 0.0).all(axis=1))
        limits = tuple(measured(column) for column in excess.T)
        told = Training(points, values, known, succeeded, 1.0, feasible, limits)
        bends = (taming(values, feasible),) if self._limits else told_two_ways(values)
        return tuple(standardised(told, bend) for bend in bends)


def _bounded(value: float) -> float:
    """Clip a finite value to a size safe to square; return others as they are."""
    return min(max(value, -LARGEST), LARGEST) if math.isfinite(value) else value


def standardised(told: Training, bend: Bend) -> Training:
    """Return the sample with its values bent, less their mean, over their standard deviation."""
    bent = bend(told.values)
    middle, unit = float(bent.mean()), float(bent.std())
    # Equal values: dividing by a deviation of rounding errors would blow these up.
    if not unit > NEGLIGIBLE * max(abs(middle), NEGLIGIBLE):
        unit = 1.0
    log_scale = int(told.succeeded.sum()) * math.log(unit) - bend.log_slopes(told.values)
    return replace(
        told, values=(bent - middle) / unit, known=told.known / unit, unit=unit, log_scale=log_scale
    )


def excess_at(limit: Limit, value: float) -> float:
    """Return g − ε of a limit, turned so that above 0 is outside; infinite for a NaN."""
    gap = limit.turned(value) - limit.turned(limit.bound)
    return math.inf if math.isnan(gap) else gap


def excess_of(told: Observation[Array], limits: Sequence[Limit]) -> tuple[float, ...]:
    """Return g − ε of each limit; infinite for a failure, NaN if a refusal left it unknown."""
    if len(told.constraints) != len(limits) or (told.failed and not told.refused):
        return (math.inf,) * len(limits)
    pairs = zip(limits, told.constraints, strict=True)
    if told.refused:
        return tuple(math.nan if math.isnan(g) else excess_at(limit, g) for limit, g in pairs)
    return tuple(excess_at(limit, g) for limit, g in pairs)


def _penalty(values: Array, excess: Array) -> Array:
    """Return the penalty that ranks points outside the limits: Σ_m max(g_m − ε_m, 0) as a loss.

    At half its median distance from the limit it outweighs the whole range of the objective.
    """
    if not excess.size:
        return np.zeros(len(excess))
    finite = values[np.isfinite(values)]
    units = np.array([_typical(column) for column in excess.T])
    unit = 2.0 * float(np.ptp(finite)) if finite.size else 0.0
    return np.asarray((unit or 1.0) * np.maximum(excess / units, 0.0).sum(axis=1))


def _typical(excess: Array) -> float:
    """Return the median distance of the measured values from the limit."""
    seen = np.abs(excess[np.isfinite(excess)])
    # If half of the values lie exactly on the limit, the mean distance still gives a unit.
    return float(np.median(seen)) or float(seen.mean()) or 1.0 if seen.size else 1.0


def measured(excess: Array) -> Measured:
    """Model a constraint: straight near its limit, squeezed far from it, standardised.

    g − ε up to w = the median distance from the limit on both sides, ± w (1 + log(1 + (|g − ε| − w)
    / w)) beyond. A failure lies beyond the worst value, and outside.
    """
    finite, width = np.isfinite(excess), _typical(excess)
    tamed = Bend(-width, width, width)(np.where(finite, excess, 0.0))
    worst = max(float(tamed[finite].max()), 0.0) if finite.any() else 0.0
    beyond = float(tamed[finite].std()) if finite.any() else 0.0
    # A failure must look outside, or the model would lead into failing regions.
    tamed = np.where(finite, tamed, worst + FAILURE * (beyond or width))
    middle, unit = float(tamed.mean()), float(tamed.std())
    if not unit > NEGLIGIBLE * abs(middle):
        unit = abs(middle) or 1.0
    # The limit g − ε = 0, in standardised units.
    return Measured((tamed - middle) / unit, -middle / unit)


def choose(totals: Array, limit: int) -> NDArray[np.intp]:
    """Return the indices to keep: half the best, a quarter the latest, the rest spread out."""
    count = len(totals)
    if count <= limit:
        return np.arange(count)
    ranked = np.argsort(totals, kind="stable")
    kept = set(ranked[: limit // 2].tolist())
    # The latest points are where the search is now.
    kept |= set(range(count - limit // 4, count))
    left = [place for place in ranked.tolist() if place not in kept]
    spread = np.linspace(0, len(left) - 1, limit - len(kept)).round().astype(int)
    kept |= {left[i] for i in spread}
    return np.array(sorted(kept))
