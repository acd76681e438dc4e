"""The θ-solver `gp`: Bayesian optimization with a Gaussian process (the papers' BO)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from automl_admm.builtin.theta import GpOptions
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.gaussian.acquisition import (
    Acquisition,
    ExpectedImprovement,
    Pull,
    Together,
    WithinLimit,
    climb,
)
from automl_admm.builtin.theta.gaussian.surrogate import Beliefs, Surrogate
from automl_admm.builtin.theta.gaussian.training_set import Sample, Training
from automl_admm.builtin.theta.prior_density import Mixture, PriorPull, first_tried
from automl_admm.core.proposals import one_by_one
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, ThetaSubproblem

# 2⁹ = 512 points of the net, NEAR points around the incumbent; the best STARTS of them are climbed
# from.
SOBOL_LOG2 = 9
NEAR = 256
STARTS = 4
CLIMB_STEPS = 10
# κ of `Pull`: small, so that it decides only between nearly equal chances.
PULL = 0.1


class GaussianProcessTheta:
    """Propose the point with the largest expected improvement within the limits.

    The model learns f̃ = loss − known_cost on points with integers on the grid. Its values are as
    told or with those far above the median squeezed, whichever is likelier; the known cost is added
    exactly when points are compared. With limits it learns the raw objective and each raw
    constraint, so that no multiplier makes an observation stale, and maximises log EI + Σ_m log
    P(g_m ≤ ε_m). Until a point is feasible, it maximises Σ_m log P(g_m ≤ ε_m) with a small pull
    towards better objectives. With the option `priced` it always learns f̃. Settings that were good
    on other tables are half of the design, and weigh the acquisition.
    """

    def __init__(self, options: GpOptions) -> None:
        self._options = options
        self._surrogate = Surrogate()
        self.takes_priors = options.trust > 0.0

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box: learn its history, and plan a first design if little is known."""
        self._subproblem = subproblem
        self._rng = np.random.default_rng(subproblem.seed)
        self._box = Box.of(subproblem.parameters)
        limits = subproblem.limits if self._options.limits == "probability" else ()
        self._sample = Sample(self._box, subproblem.known_cost, limits, subproblem.objective_unit)
        self._sample.add(subproblem.history)
        self._surrogate.begin(tuple(parameter.name for parameter in subproblem.parameters))
        self._net = self._sobol() if self._box.dimension else np.zeros((1, 0))
        self._good = subproblem.prior if self.takes_priors else ()
        self._prior = tuple(map(Mixture.of, self._good))

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with the earlier points taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn from observations."""
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
        """Return the size of the design, the start and a few Sobol points: budgets are small."""
        return self._options.initial or min(2 + self._box.dimension // 2, 6)

    def _next_of_design(self, taken: set[bytes]) -> Array | None:
        start = np.clip(self._subproblem.start, 0.0, 1.0)
        # Half of the design is of points that were good elsewhere.
        good = first_tried(self._good, start)[: self._design_size() // 2]
        design = np.concatenate([start[None], good, self._net])
        for point, key in zip(design, self._box.keys(design), strict=True):
            if key not in taken:
                return np.array(point)
        return self._box.draw(self._rng, taken)

    def _best_improvement(self, waiting: Array, taken: set[bytes]) -> Array | None:
        """Return the untried candidate with the largest acquisition."""
        shapes = self._sample.trainings(self._options.points)
        training, beliefs = self._surrogate.condition(shapes, len(self._sample))
        acquisition, incumbent = self._acquisition(training, beliefs, waiting)
        if self._prior:
            pull = PriorPull(self._prior, self._options.trust / len(self._sample))
            acquisition = Together([acquisition, pull])
        candidates = self._candidates(incumbent)
        scores = acquisition(candidates, self._box.project(candidates))
        top = candidates[np.argsort(-scores, kind="stable")[:STARTS]]
        climbed = climb(acquisition, top, CLIMB_STEPS)
        ranked = np.concatenate([climbed, candidates])
        scores = np.concatenate([acquisition(climbed, self._box.project(climbed)), scores])
        for place in np.argsort(-scores, kind="stable"):
            if self._box.keys(ranked[place][None])[0] not in taken:
                # A copy: a view would keep all candidates in memory as long as it lives.
                return np.array(ranked[place])
        return None

    def _acquisition(
        self, training: Training, beliefs: Beliefs, waiting: Array
    ) -> tuple[Acquisition, Array]:
        """Return the score after the pending points, and the best point so far.

        Pending points are believed to be as good as expected, and an improvement must beat them,
        too. Otherwise every worker would be sent to the same place.
        """
        expected, _ = beliefs.objective.moments(training.points)
        totals = expected + training.known
        after = beliefs.believing(waiting)
        pairs = zip(after.constraints, training.measured, strict=True)
        limits = [WithinLimit(posterior, measured.bound) for posterior, measured in pairs]
        known_cost, unit = self._subproblem.known_cost, training.unit
        # Expected improvement has no incumbent yet, so search for feasibility.
        if limits and not training.feasible.any():
            search = Together([Pull(after.objective, known_cost, unit, PULL), *limits])
            scores = search(training.points, training.points)
            return search, training.points[int(scores.argmax())]
        if training.feasible.any():
            # An improvement counts against feasible points only.
            totals = np.where(training.feasible, totals, np.inf)
        best = min(float(totals.min()), self._best_expected(after, limits, waiting, unit))
        improvement = ExpectedImprovement(after.objective, known_cost, unit, best)
        incumbent = training.points[int(totals.argmin())]
        return Together([improvement, *limits]) if limits else improvement, incumbent

    def _best_expected(
        self, beliefs: Beliefs, limits: Sequence[WithinLimit], points: Array, unit: float
    ) -> float:
        """Return the least expected total of those points expected to be within the limits."""
        expected, _ = beliefs.objective.moments(points)
        within = [limit.posterior.moments(points)[0] <= limit.bound for limit in limits]
        totals = expected + self._subproblem.known_cost(points) / unit
        return float(np.min(totals[np.all(within, axis=0)] if limits else totals, initial=math.inf))

    def _candidates(self, incumbent: Array) -> Array:
        """Return shifted Sobol points, crossings with the incumbent, and points close to it."""
        rng, dimension = self._rng, self._box.dimension
        shifted = np.mod(self._net + rng.random(dimension), 1.0)
        swapped = shifted[:NEAR].copy()
        # At least 1.5 coordinates change on average: most gains lie in few axes.
        kept = rng.random(swapped.shape) > max(1.5 / dimension, 0.25)
        swapped[kept] = np.broadcast_to(incumbent, swapped.shape)[kept]
        # Distances from 0.1 % to 20 % of the range, equally likely on a log scale.
        widths = 10.0 ** rng.uniform(-3.0, -0.7, size=(NEAR, 1))
        near = np.clip(incumbent + widths * rng.normal(size=(NEAR, dimension)), 0.0, 1.0)
        return np.concatenate([shifted, swapped, near])

    def _sobol(self) -> Array:
        from scipy.stats import qmc  # many modules, and a search begins without them

        engine = qmc.Sobol(self._box.dimension, rng=self._rng)
        return np.asarray(engine.random_base2(SOBOL_LOG2), dtype=float)
