"""What the Gaussian process is trained on: distinct points, tame values, a bounded number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.theta.box import Box
from automl_admm.problem import Observation, Quadratic
from automl_admm.space import Array

FAILURE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Points on their grids and standardised values; `unit` is one standard deviation as a loss.

    `known` is the known cost of each point in these units, `succeeded` says which may be best.
    """

    points: Array
    values: Array
    known: Array
    succeeded: Array
    unit: float


class Sample:
    """The observations of one box, one a point: the loss without its known part."""

    def __init__(self, box: Box, known_cost: Quadratic) -> None:
        self._box = box
        self._known_cost = known_cost
        self._rows: dict[bytes, tuple[Array, float, float]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def keys(self) -> set[bytes]:
        """The points that are known."""
        return set(self._rows)

    def add(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; of two observations of one point the cheaper one is kept."""
        if not observations:
            return
        points = np.array([o.point for o in observations], dtype=float)
        points = points.reshape(len(observations), self._box.dimension)
        costs = self._known_cost(points)
        rows = zip(self._box.keys(points), self._box.project(points), costs, strict=True)
        for (key, place, cost), observation in zip(rows, observations, strict=True):
            self._enter(key, place, float(cost), observation)

    def _enter(self, key: bytes, place: Array, cost: float, told: Observation[Array]) -> None:
        loss = np.inf if told.failed or not np.isfinite(told.loss) else float(told.loss)
        known = self._rows.get(key)
        if known is None or loss <= known[1] + known[2]:
            self._rows[key] = (place, loss - cost, cost)

    def training(self, limit: int) -> Training:
        """At most `limit` points, their values tamed and standardised."""
        points = np.array([row[0] for row in self._rows.values()])
        values = np.array([row[1] for row in self._rows.values()])
        known = np.array([row[2] for row in self._rows.values()])
        kept = choose(values + known, limit)
        points, values, known = points[kept], values[kept], known[kept]
        succeeded = np.isfinite(values)
        tamed = tame(values)
        middle, unit = float(tamed.mean()), float(tamed.std())
        if not unit > 1e-12 * max(abs(middle), 1e-12):
            unit = 1.0
        return Training(points, (tamed - middle) / unit, known / unit, succeeded, unit)


def tame(values: Array) -> Array:
    """Squeeze what is far above the median, and give failures a value beyond the worst success.

    v for v ≤ c and c + w log(1 + (v − c) / w) above, with c the median and w its distance to the
    best: the part below c, where the optimum is, stays as it is.
    """
    finite = np.isfinite(values)
    if not finite.any():
        return np.zeros_like(values)
    seen = values[finite]
    middle, best = float(np.median(seen)), float(seen.min())
    width = middle - best if middle > best else float(seen.std()) or 1.0
    above = np.maximum(np.where(finite, values, middle) - middle, 0.0)
    tamed = np.where(above > 0.0, middle + width * np.log1p(above / width), values)
    worst = float(tamed[finite].max())
    return np.where(finite, tamed, worst + FAILURE * max(float(tamed[finite].std()), 1e-3 * width))


def choose(totals: Array, limit: int) -> NDArray[np.intp]:
    """Where the points to keep stand: half the best, a quarter the latest, the rest spread out."""
    count = len(totals)
    if count <= limit:
        return np.arange(count)
    ranked = np.argsort(totals, kind="stable")
    kept = set(ranked[: limit // 2].tolist())
    kept |= set(range(count - limit // 4, count))
    left = [place for place in ranked.tolist() if place not in kept]
    spread = np.linspace(0, len(left) - 1, limit - len(kept)).round().astype(int)
    kept |= {left[i] for i in spread}
    return np.array(sorted(kept))
