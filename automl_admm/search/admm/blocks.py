"""The two blocks of an outer iteration, θ-min and z-min, as their solvers begin them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.core.space import Array, Selection
from automl_admm.core.subproblems import (
    Observation,
    Quadratic,
    SelectionSubproblem,
    ThetaSubproblem,
)
from automl_admm.search.admm import lagrangian, projection
from automl_admm.search.admm.iteration import Iteration, selections
from automl_admm.search.admm.pricing import (
    OtherParameters,
    SelectionSubspace,
    ThetaSubspace,
    prices_of,
)
from automl_admm.search.admm.stagnation import Drought
from automl_admm.search.protocol import (
    Allowance,
    Book,
    PointT,
    cheap_at,
    derive_seed,
    observe,
)
from automl_admm.search.solving import Begun

# Part of the seed of a block that begins while the other one has results pending: it is not to draw
# what it will draw when its turn has come.
AHEAD = "ahead"


@dataclass(frozen=True, eq=False)
class Block(Generic[PointT]):
    """A block that its solver has begun, with its share and its sign of stagnation."""

    begun: Begun[PointT]
    allowance: Allowance
    drought: Drought

    @classmethod
    def of(
        cls,
        begun: Begun[PointT],
        allowance: Allowance,
        history: Sequence[Observation[Any]],
    ) -> Block[PointT]:
        """Return a block that knows its history."""
        return cls(begun, allowance, Drought.of(allowance.evaluations or 0, history))


def depth(work: Iteration, state: AdmmState) -> int:
    """Return the iteration that sets the precision of θ-min: an excursion's own depth."""
    return state.iteration if work.away is None else work.away.depth


def begin_theta(
    work: Iteration, state: AdmmState, solver: ThetaSolver, *purpose: str
) -> Block[Array]:
    """Let a solver begin θ-min at the state's selection and prices; the `purpose` seeds it."""
    problem, subspace = work.problem, _theta_subspace(work, state)
    allowance = work.settings.precision.allowance(problem, depth(work, state))
    history = tuple(observe(work.book.evaluations, subspace, work.book))
    active = list(problem.space.active(state.selection))
    parameters = tuple(problem.space.parameters[i] for i in active)
    solver.begin(
        ThetaSubproblem(
            parameters=parameters,
            start=state.theta[active],
            known_cost=subspace.known_cost,
            history=history,
            limits=problem.limits,
            cheap=cheap_at(problem, subspace),
            objective_unit=work.scales.loss,
            evaluations=allowance.evaluations,
            seconds=allowance.seconds,
            lowest_fidelity=problem.lowest_fidelity,
            iteration=state.iteration,
            seed=derive_seed(problem.seed, "theta", *purpose, state.iteration),
            prior=problem.priors.within(parameters),
        )
    )
    return Block.of(Begun(subspace, solver, "theta"), allowance, history)


def begin_selection(
    work: Iteration, state: AdmmState, solver: ZSolver, *purpose: str
) -> Block[Selection]:
    """Let a solver begin z-min at the state's parameters and prices; the `purpose` seeds it."""
    problem, subspace = work.problem, selections(work, state)
    allowance = work.settings.precision.allowance(problem, state.iteration)
    history = tuple(observe(work.book.evaluations, subspace, work.book))
    solver.begin(
        SelectionSubproblem(
            space=problem.space,
            start=state.selection,
            history=history,
            elsewhere=tuple(_elsewhere(work.book, subspace)),
            limits=problem.limits,
            evaluations=allowance.evaluations,
            seconds=allowance.seconds,
            lowest_fidelity=problem.lowest_fidelity,
            iteration=state.iteration,
            seed=derive_seed(problem.seed, "z", *purpose, state.iteration),
            prior=problem.priors.arms,
        )
    )
    return Block.of(Begun(subspace, solver, "z"), allowance, history)


def best_theta(work: Iteration, state: AdmmState) -> Array:
    """Return the best evaluation's active parameters, if there is one; project the others."""
    subspace, center = _theta_subspace(work, state), _integer_cost(work, state).center
    active = list(work.problem.space.active(state.selection))
    inactive = work.integers.copy()
    inactive[active] = 0.0
    theta = projection.project_inactive(state.theta, center, inactive)
    priced = [o for o in observe(work.book.evaluations, subspace, work.book) if not o.failed]
    if priced:
        theta[active] = min(priced, key=lambda observation: observation.loss).point
    return theta


def _theta_subspace(work: Iteration, state: AdmmState) -> ThetaSubspace:
    cost = _integer_cost(work, state)
    active = list(work.problem.space.active(state.selection))
    return ThetaSubspace(
        work.problem.space,
        state.selection,
        prices_of(state, work.problem.limits, work.scales),
        Quadratic(cost.center[active], cost.weight[active]),
    )


def _integer_cost(work: Iteration, state: AdmmState) -> Quadratic:
    """Return ρ/2 ‖θ̃ᵈ − b‖² of equation (16): known exactly, so that solvers need not model it."""
    return lagrangian.integer_cost(state.delta, state.dual, state.integer_rho, work.integers)


def _elsewhere(book: Book, subspace: SelectionSubspace) -> list[Observation[Selection]]:
    """Return the latest observation of each selection with other parameters, at today's prices."""
    others = OtherParameters(subspace)
    located = ((others.locate(evaluation.candidate), evaluation) for evaluation in book.evaluations)
    latest = {selection: evaluation for selection, evaluation in located if selection is not None}
    return observe(latest.values(), others, book)
