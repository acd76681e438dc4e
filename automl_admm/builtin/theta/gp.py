"""The θ-solver `gp`: Bayesian optimization with a Gaussian process (the papers' BO)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from automl_admm.builtin.theta import GpOptions
from automl_admm.builtin.theta.acquisition import ExpectedImprovement, climb
from automl_admm.builtin.theta.asking import one_by_one
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.regression import Kernel, Posterior, fit_kernel, prior_mean
from automl_admm.builtin.theta.sample import Sample, Training
from automl_admm.problem import Observation, ThetaSubproblem
from automl_admm.space import Array

SOBOL_LOG2 = 9
NEAR = 256
STARTS = 4
CLIMB_STEPS = 40
FIRST_FIT, NEXT_FIT = 60, 15
ALWAYS_FIT = 100


class GaussianProcessTheta:
    """Proposes where the expected improvement is largest.

    The model learns f̃ = loss − known_cost on points with their integers on the grid; the known
    cost is added exactly when points are compared. Kernel parameters are fitted from those of the
    ask before, or of the last box of the same parameters.
    """

    def __init__(self, options: GpOptions) -> None:
        self._options = options
        self._kernels: dict[tuple[str, ...], Array] = {}

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box: learn its history, and plan a first design if little is known."""
        self._subproblem = subproblem
        self._names = tuple(parameter.name for parameter in subproblem.parameters)
        self._rng = np.random.default_rng(subproblem.seed)
        self._box = Box.of(subproblem.parameters)
        self._sample = Sample(self._box, subproblem.known_cost)
        self._sample.add(subproblem.history)
        self._fitted_at = 0
        self._net = self._sobol() if self._box.dimension else np.zeros((1, 0))

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with those before it taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn."""
        self._sample.add(observations)

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting = np.array(pending, dtype=float).reshape(len(pending), self._box.dimension)
        taken = self._sample.keys | set(self._box.keys(waiting))
        if self._box.is_used_up(taken):
            return None
        if len(taken) < self._design_size() or not len(self._sample):
            return self._next_of_design(taken)
        best = self._best_improvement(self._box.project(waiting), taken)
        return self._box.draw(self._rng, taken) if best is None else best

    def _design_size(self) -> int:
        """The start and some Sobol points: few, as budgets are small."""
        return self._options.initial or min(2 + self._box.dimension // 2, 6)

    def _next_of_design(self, taken: set[bytes]) -> Array | None:
        start = np.clip(self._subproblem.start, 0.0, 1.0)
        design = np.concatenate([start[None], self._net])
        for point, key in zip(design, self._box.keys(design), strict=True):
            if key not in taken:
                return np.asarray(point)
        return self._box.draw(self._rng, taken)

    def _best_improvement(self, waiting: Array, taken: set[bytes]) -> Array | None:
        """The untried candidate of the largest log EI."""
        training = self._sample.training(self._options.points)
        posterior = self._condition(training)
        expected, _ = posterior.moments(training.points)
        totals = np.where(training.succeeded, expected + training.known, np.inf)
        best = float(totals.min()) if training.succeeded.any() else float(expected.min())
        incumbent = training.points[int(totals.argmin())]
        if len(waiting):
            posterior = posterior.believing(waiting)
        acquisition = ExpectedImprovement(
            posterior, self._subproblem.known_cost, training.unit, best
        )
        candidates = self._candidates(incumbent)
        scores = acquisition(candidates, self._box.project(candidates))
        top = candidates[np.argsort(-scores, kind="stable")[:STARTS]]
        climbed = climb(acquisition, top, CLIMB_STEPS)
        ranked = np.concatenate([climbed, candidates])
        scores = np.concatenate([acquisition(climbed, self._box.project(climbed)), scores])
        for place in np.argsort(-scores, kind="stable"):
            if self._box.keys(ranked[place][None])[0] not in taken:
                return np.asarray(ranked[place])
        return None

    def _condition(self, training: Training) -> Posterior:
        """Fit the kernel if enough is new, and condition on the sample."""
        seen = len(self._sample)
        every = 1 if seen <= ALWAYS_FIT else seen // 50
        logs = self._kernels.get(self._names)
        if logs is None or not self._fitted_at or seen - self._fitted_at >= every:
            steps = FIRST_FIT if logs is None else NEXT_FIT
            start = prior_mean(self._box.dimension) if logs is None else logs
            logs = fit_kernel(training.points, training.values, start, steps)
            self._kernels[self._names] = logs
            self._fitted_at = seen
        return Posterior.of(Kernel.of(logs), training.points, training.values)

    def _candidates(self, incumbent: Array) -> Array:
        """Sobol points, shifted; some of their coordinates in the incumbent; points close to it."""
        rng, dimension = self._rng, self._box.dimension
        shifted = np.mod(self._net + rng.random(dimension), 1.0)
        swapped = shifted[:NEAR].copy()
        kept = rng.random(swapped.shape) > max(1.5 / dimension, 0.25)
        swapped[kept] = np.broadcast_to(incumbent, swapped.shape)[kept]
        widths = 10.0 ** rng.uniform(-3.0, -0.7, size=(NEAR, 1))
        near = np.clip(incumbent + widths * rng.normal(size=(NEAR, dimension)), 0.0, 1.0)
        return np.concatenate([shifted, swapped, near])

    def _sobol(self) -> Array:
        engine = qmc.Sobol(self._box.dimension, rng=self._rng)
        return np.asarray(engine.random_base2(SOBOL_LOG2), dtype=float)
