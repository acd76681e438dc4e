"""The θ-solver `admmbo`: constraints split off by ADMM (Ariafar et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from automl_admm.builtin.theta import AdmmboOptions, GpOptions
from automl_admm.builtin.theta.gaussian.acquisition import (
    Acquisition,
    ExpectedImprovement,
    WithinLimit,
)
from automl_admm.builtin.theta.gaussian.gp import GaussianProcessTheta
from automl_admm.builtin.theta.gaussian.splitting import (
    FeasibilityImprovement,
    Splitting,
    copy_costs,
    together,
)
from automl_admm.builtin.theta.gaussian.surrogate import Beliefs
from automl_admm.builtin.theta.gaussian.training_set import Training
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Quadratic, ThetaSubproblem

# Less room than this for a better copy is rounding.
NO_ROOM = 1e-9


class AdmmboTheta(GaussianProcessTheta):
    """Solve one sub-problem of ADMM after the other, each by a few proposals.

    - Optimality: maximise the log EI of f(x) + Σ_i ρ/2 ‖x − z_i + y_i/ρ‖² over the model of f.
    - Feasibility of constraint i: maximise the log EI of 1[c_i(z) > 0] + ρ/(2M) ‖x − z + y_i/ρ‖²
      over the model of c_i.
    - Then y_i ← y_i + ρ (x − z_i), and ρ is balanced.

    x and z_i are the known points with the smallest values of their sub-problems. Every evaluation
    tells f and all c_i, so all models learn from every point. A feasibility sub-problem whose best
    copy is known costs no evaluation. Each box begins anew at its best known point. Models,
    candidates, first design and pending points are those of `gp`; without limits all of it is.
    """

    def __init__(self, options: AdmmboOptions) -> None:
        super().__init__(GpOptions(initial=options.initial))
        self._steps = (options.optimality, options.feasibility)
        self._rho, self._penalty = options.rho, options.penalty

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box: learn its history, and forget the splitting of the last one."""
        super().begin(subproblem)
        self._turn, self._left = 0, 0
        self._state: Splitting | None = None

    def _acquisition(
        self, training: Training, beliefs: Beliefs, waiting: Array
    ) -> tuple[Acquisition, Array]:
        """Return the score of the sub-problem in turn, and its best known point."""
        if not training.measured:
            return super()._acquisition(training, beliefs, waiting)
        state = self._state or self._split(training, beliefs)
        after = beliefs.believing(waiting)
        while not self._left or self._is_solved(state, training, after, waiting):
            state = self._advanced(state, training, beliefs)
        self._state, self._left = state, self._left - 1
        if not self._turn:
            return self._optimality(state, training, beliefs, after, waiting)
        copy = self._best_copy(state, training, self._turn - 1)
        return self._feasibility(state, training, after, waiting), copy

    def _split(self, training: Training, beliefs: Beliefs) -> Splitting:
        """Begin at the best known point, with the best known copies of it."""
        count, nothing = len(training.measured), np.zeros(training.points.shape[1])
        best = _best_point(training, beliefs, Quadratic(nothing, nothing))
        state = Splitting.at(best, count, self._rho)
        for place in range(count):
            state = state.moved(place, self._best_copy(state, training, place))
        self._former, self._left = state.copies, self._steps[0]
        return state

    def _advanced(self, state: Splitting, training: Training, beliefs: Beliefs) -> Splitting:
        """Settle the sub-problem in turn at its best known point; duals follow the last one."""
        if self._turn:
            place = self._turn - 1
            state = state.moved(place, self._best_copy(state, training, place))
        else:
            state = replace(state, x=_best_point(training, beliefs, state.pull()))
        self._turn = (self._turn + 1) % (len(training.measured) + 1)
        if not self._turn:
            state = state.updated(self._former)
            self._former = state.copies
        self._left = self._steps[1 if self._turn else 0]
        return state

    def _optimality(
        self,
        state: Splitting,
        training: Training,
        beliefs: Beliefs,
        after: Beliefs,
        waiting: Array,
    ) -> tuple[Acquisition, Array]:
        """Return log EI of f and its pull to the copies, below known and pending points."""
        known_cost, unit, pull = self._subproblem.known_cost, training.unit, state.pull()
        # The pull is in units of the model, the known cost in those of the loss.
        whole, rest = together(known_cost, Quadratic(pull.center, unit * pull.weight))
        expected, _ = after.objective.moments(waiting)
        pending = expected + known_cost(waiting) / unit + pull(waiting)
        totals = _totals(training, beliefs, pull)
        best = float(np.min(pending, initial=float(totals.min())))
        improvement = ExpectedImprovement(after.objective, whole, unit, best - rest / unit)
        return improvement, training.points[int(totals.argmin())]

    def _feasibility(
        self, state: Splitting, training: Training, after: Beliefs, waiting: Array
    ) -> FeasibilityImprovement:
        """Return log EI of the copy in turn, below known and pending points."""
        place = self._turn - 1
        posterior, bound = after.constraints[place], training.measured[place].bound
        target, weight = state.target(place), state.rho / (2.0 * self._penalty)
        expected, _ = posterior.moments(waiting)
        pending = copy_costs(waiting, expected > bound, target, weight)
        known = self._copy_costs(state, training, place)
        best = float(np.min(pending, initial=float(known.min())))
        return FeasibilityImprovement(WithinLimit(posterior, bound), target, weight, best)

    def _is_solved(
        self, state: Splitting, training: Training, after: Beliefs, waiting: Array
    ) -> bool:
        """Return True if the nearest place to the target of the copy leaves no improvement."""
        if not self._turn:
            return False
        improvement = self._feasibility(state, training, after, waiting)
        nearest = self._box.project(improvement.target[None])
        return bool(improvement.room(nearest)[0] <= NO_ROOM)

    def _best_copy(self, state: Splitting, training: Training, place: int) -> Array:
        return np.asarray(training.points[int(self._copy_costs(state, training, place).argmin())])

    def _copy_costs(self, state: Splitting, training: Training, place: int) -> Array:
        measured, weight = training.measured[place], state.rho / (2.0 * self._penalty)
        outside = measured.values > measured.bound
        return copy_costs(training.points, outside, state.target(place), weight)


def _totals(training: Training, beliefs: Beliefs, pull: Quadratic) -> Array:
    """Return the expected f + pull at the known points; failures count only if all failed."""
    expected, _ = beliefs.objective.moments(training.points)
    totals = expected + training.known + pull(training.points)
    return np.where(training.succeeded, totals, np.inf) if training.succeeded.any() else totals


def _best_point(training: Training, beliefs: Beliefs, pull: Quadratic) -> Array:
    return np.asarray(training.points[int(_totals(training, beliefs, pull).argmin())])
