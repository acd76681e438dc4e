"""The θ-solver `gp`: Bayesian optimisation as in the papers' BO*, warm-started.

It models the loss without its known part, which is added exactly when a point is judged. Integers
enter the model where they are evaluated: on their grids.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from automl_admm.builtin.theta.acquisition import (
    ExpectedImprovement,
    candidates_around,
    rank_candidates,
)
from automl_admm.builtin.theta.gaussian_process import (
    Kernel,
    Posterior,
    condition,
    fit,
    prior_kernel,
)
from automl_admm.problem import Array, Observation, ThetaSubproblem

MOST_POINTS = 250
REFIT_EVERY_ABOVE = ((100, 5), (0, 1))
CENTERS = 5
PLACES = 9
CLIP = 3.0
TRIES = 64


class GpSolver:
    """Proposes where the expected improvement is greatest.

    The kernel of a box is remembered by the names of its parameters: when ADMM comes back to a
    selection, its model starts from where it was.
    """

    def __init__(self, design: int, candidates: int) -> None:
        self._design = design
        self._candidates = candidates
        self._kernels: dict[tuple[str, ...], Kernel] = {}

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box, with all that is known of it."""
        self._task = subproblem
        self._names = tuple(parameter.name for parameter in subproblem.parameters)
        self._rng = np.random.default_rng(subproblem.seed)
        self._points: list[Array] = []
        self._losses: list[float] = []
        self._used: set[tuple[float, ...]] = set()
        self._fitted_at = -math.inf
        self._initial = [subproblem.start, *self._sobol(self._design_size() - 1)]
        self.tell(subproblem.history)

    def ask(self, count: int, pending: Sequence[Array]) -> Sequence[Array]:
        """Propose points that differ from all that is known or pending; none if none is left."""
        waiting = [self._projected(point) for point in pending]
        proposals: list[Array] = []
        for _ in range(count):
            point = self._propose(waiting)
            if point is None:
                break
            proposals.append(point)
            waiting.append(self._projected(point))
        return proposals

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Enter observations; a loss that is no number counts as the worst."""
        for observation in observations:
            point = np.asarray(observation.point, dtype=float)
            self._points.append(self._projected(point))
            self._losses.append(observation.loss - float(self._task.known_cost(point)[0]))
            self._used.add(_key(self._points[-1]))

    def _design_size(self) -> int:
        budget = self._task.evaluations
        size = min(self._design, 2 * len(self._names) + 1)
        return size if budget is None else max(min(size, budget // 2), 1)

    def _sobol(self, count: int) -> list[Array]:
        dimension = len(self._names)
        if dimension == 0 or count < 1:
            return []
        sampler = qmc.Sobol(dimension, rng=self._rng)
        return list(sampler.random_base2(math.ceil(math.log2(count)))[:count])

    def _propose(self, waiting: Sequence[Array]) -> Array | None:
        taken = self._used | {_key(point) for point in waiting}
        while len(self._points) + len(waiting) < self._design_size() and self._initial:
            point = self._initial.pop(0)
            if _key(self._projected(point)) not in taken:
                return point
        if not self._names:
            return None if taken else self._task.start
        if len(self._points) < 2:
            return self._any_new(taken)
        chosen = self._by_improvement(waiting, taken)
        return self._any_new(taken) if chosen is None else chosen

    def _by_improvement(
        self, waiting: Sequence[Array], taken: set[tuple[float, ...]]
    ) -> Array | None:
        points, losses = self._training_data()
        middle, scale = float(np.mean(losses)), float(np.std(losses)) or 1.0
        posterior = self._posterior(points, (losses - middle) / scale)
        totals = (losses - middle + self._task.known_cost(points)) / scale
        if waiting:
            posterior = posterior.believing(np.array(waiting))
        improvement = ExpectedImprovement(
            posterior, self._task.known_cost, scale, float(totals.min())
        )
        centers = points[np.argsort(totals)[:CENTERS]]
        near = candidates_around(centers, self._candidates // 2, self._rng)
        far = self._rng.random((self._candidates - len(near), len(self._names)))
        return rank_candidates(
            improvement,
            np.vstack([near, far]),
            lambda point: _key(self._projected(point)) not in taken,
        )

    def _posterior(self, points: Array, targets: Array) -> Posterior:
        """Fit the kernel from where it was; with many points, not at every proposal."""
        start = self._kernels.get(self._names)
        every = next(step for above, step in REFIT_EVERY_ABOVE if len(self._points) > above)
        if start is not None and len(self._points) - self._fitted_at < every:
            return condition(start, points, targets)
        posterior = fit(points, targets, start or prior_kernel(len(self._names)))
        self._kernels[self._names] = posterior.kernel
        self._fitted_at = len(self._points)
        return posterior

    def _training_data(self) -> tuple[Array, Array]:
        """The points to model: all, or if there are too many the best and the latest.

        Losses far above the middle are cut: where it is bad, how bad does not matter.
        """
        losses = np.array(self._losses, dtype=float)
        finite = losses[np.isfinite(losses)]
        worst = float(finite.max()) if finite.size else 0.0
        losses = np.where(np.isfinite(losses), losses, worst)
        low, middle, high = np.percentile(losses, [0, 50, 75])
        ceiling = middle + CLIP * max(high - middle, middle - low)
        keep = np.arange(len(losses))
        if len(losses) > MOST_POINTS:
            best = np.argsort(losses, kind="stable")[: MOST_POINTS // 2]
            latest = keep[-(MOST_POINTS - MOST_POINTS // 2) :]
            keep = np.unique(np.concatenate([best, latest]))
        return np.array(self._points)[keep], np.minimum(losses, ceiling)[keep]

    def _any_new(self, taken: set[tuple[float, ...]]) -> Array | None:
        for _ in range(TRIES):
            point = self._rng.random(len(self._names))
            if _key(self._projected(point)) not in taken:
                return np.asarray(point, dtype=float)
        return None

    def _projected(self, point: Array) -> Array:
        pairs = zip(self._task.parameters, point, strict=True)
        return np.array([parameter.project(unit) for parameter, unit in pairs], dtype=float)


def _key(point: Array) -> tuple[float, ...]:
    return tuple(round(float(unit), PLACES) for unit in point)
