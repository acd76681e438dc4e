"""The choice of z-min, and the duals at the chosen point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.ranking import best_of
from automl_admm.core.space import Array
from automl_admm.search.admm import lagrangian
from automl_admm.search.admm.iteration import Iteration, gap, inside
from automl_admm.search.admm.pricing import SelectionSubspace, prices_of
from automl_admm.search.admm.stagnation import GAIN_THAT_MATTERS


@dataclass(frozen=True, eq=False)
class Choice:
    """The result of z-min while some of its evaluations are still pending.

    With several workers these end during the next θ-min. If one of them beats the choice by more
    than the smallest gain that matters, choose again: tuning the loser would be in vain. `state` is
    the state before the choice.
    """

    work: Iteration
    state: AdmmState
    delta: Array
    subspace: SelectionSubspace
    best: Evaluation | None
    late: frozenset[str]

    @classmethod
    def of(
        cls, work: Iteration, state: AdmmState, delta: Array, subspace: SelectionSubspace
    ) -> Choice:
        """Choose the best evaluation in the space of z-min; note the pending ones as late."""
        found = inside(work.book.evaluations, subspace)
        best = min(found, key=subspace.prices.cost, default=None)
        return cls(work, state, delta, subspace, best, frozenset(work.book.pending))

    def is_overturned_by(self, results: Sequence[Evaluation]) -> bool:
        """Return True if a late result is better."""
        late = inside([e for e in results if e.key in self.late], self.subspace)
        if self.best is None:
            return bool(late)
        enough = self.subspace.prices.cost(self.best) - GAIN_THAT_MATTERS
        return any(self.subspace.prices.cost(evaluation) < enough for evaluation in late)

    def again(self) -> Choice:
        """Choose again with all results known now."""
        return Choice.of(self.work, self.state, self.delta, self.subspace)

    def outcome(self) -> AdmmState:
        """Return the state after the choice."""
        return _update_duals(self.work, self.state, self.delta, self.best)


def _update_duals(
    work: Iteration, state: AdmmState, delta: Array, chosen: Evaluation | None
) -> AdmmState:
    """Update u, λ and μ at the new point, and record the iteration's residuals and incumbent.

    Multipliers are in units of the scales; until these are settled the multipliers stay at 0.
    """
    settings, problem = work.settings, work.problem
    cap = settings.dual_cap if work.scales.are_settled else 0.0
    # Equation (25).
    dual = lagrangian.update_dual(state.dual, state.theta, delta, state.integer_rho, cap)
    state = replace(state, delta=delta, dual=dual)
    if chosen is not None:
        prices = prices_of(state, problem.limits, work.scales)
        residuals = prices.residuals(chosen)
        # Equation (26); u is at its minimiser for the new z, one half-step later than in the paper.
        duals = lagrangian.update_constraint_duals(
            state.constraint_duals, residuals, state.rho, cap
        )
        state = replace(
            state,
            selection=chosen.candidate.selection,
            slack=prices.slack(chosen),
            residuals=residuals,
            constraint_duals=duals,
        )
    return replace(
        state,
        primal_residual=gap(state.theta, delta) + float(np.abs(state.residuals).sum()),
        incumbent=best_of(work.book.evaluations, problem.limits),
        evaluations=len(work.book.keys),
        seconds=problem.clock(),
        scales=work.scales.constraints,
        loss_scale=work.scales.loss,
    )
