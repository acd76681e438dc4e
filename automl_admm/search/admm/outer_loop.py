"""The outer loop: θ-min, u, δ-min, z-min, duals; and again, roughly at first and better later.

It is a search (see `search.protocol`): it proposes candidates, is sent evaluations, and yields
its state after every outer iteration. It computes nothing itself.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.core.ranking import rank
from automl_admm.core.space import Array, Candidate, Selection
from automl_admm.core.subproblems import Observation
from automl_admm.search.admm import projection
from automl_admm.search.admm.blocks import (
    AHEAD,
    begin_selection,
    begin_theta,
    best_theta,
    depth,
)
from automl_admm.search.admm.choice import Choice
from automl_admm.search.admm.excursions import Excursion, Tunings
from automl_admm.search.admm.iteration import (
    Iteration,
    gap,
    is_inside,
    selections,
)
from automl_admm.search.admm.pricing import Scales, SelectionSubspace, measure_scales
from automl_admm.search.admm.settings import AdmmSettings
from automl_admm.search.admm.stagnation import Drought, IterationGains
from automl_admm.search.protocol import (
    WAIT,
    Book,
    Event,
    Search,
    SearchProblem,
    await_pending,
)
from automl_admm.search.solving import Begun, solve
from automl_admm.search.starts import beginning, evaluate_starts


@dataclass(frozen=True, eq=False)
class Solvers:
    """The solvers of the two blocks: while one waits for its last results the other is asked."""

    theta: ThetaSolver
    z: ZSolver


def admm(
    problem: SearchProblem,
    theta_solver: ThetaSolver,
    z_solver: ZSolver,
    settings: AdmmSettings | None = None,
) -> Search:
    """Search by ADMM until the driver stops, or nothing new is left to evaluate."""
    settings, solvers = settings or AdmmSettings(), Solvers(theta_solver, z_solver)
    book = Book.of(problem)
    yield from evaluate_starts(problem, book)
    state = _first_state(problem, book, settings.rho)
    integers = projection.integer_mask(problem.space.parameters)
    # z-min compares the projection of every logged candidate, in every iteration.
    project = cache(problem.space.projected)
    tunings = Tunings.of(problem, settings.precision.evaluations(0))
    away: Excursion | None = None
    progress = IterationGains(problem.limits)
    scales = measure_scales(book.evaluations, problem.limits)
    choice: Choice | None = None
    idle = 0
    for iteration in itertools.count():
        if settings.max_iterations is not None and iteration >= settings.max_iterations:
            yield from await_pending(book)
            return
        known = len(book.keys)
        scales = _settled(scales, book, problem)
        work = Iteration(problem, settings, book, tunings, scales, integers, project, away)
        state = _in_iteration(iteration, state, settings)
        choice = yield from _iterate(work, state, solvers, choice)
        state, scales = choice.outcome(), choice.work.scales
        yield state
        # Nothing new yet is not the same as nothing left: the pending results may be new.
        if len(book.keys) == known and book.pending:
            book.receive((yield WAIT))
        if len(book.keys) > known:
            idle = 0
        elif away is None:  # an excursion in vain is not repeated, and others may be left
            idle += 1
        if idle >= settings.patience:
            yield from await_pending(book)
            return
        # Leave for another selection only if neither block improves here.
        has_gained = progress.has_come(state.incumbent, scales.loss)
        away = None if has_gained or not settings.excursions else _leave(work, state)
        if away is not None:
            state = replace(state, selection=away.selection)


def _first_state(problem: SearchProblem, book: Book, rho: float) -> AdmmState:
    """Return the first state; with a portfolio it is that of a search resumed after it."""
    if problem.portfolio:
        problem = replace(problem, known=tuple(book.evaluations))
    return initial_state(problem, beginning(problem, book), rho)


def _in_iteration(iteration: int, state: AdmmState, settings: AdmmSettings) -> AdmmState:
    return replace(state, iteration=iteration, integer_rho=settings.integer_rho(iteration))


def _settled(scales: Scales, book: Book, problem: SearchProblem) -> Scales:
    """Measure the scales anew unless they are settled.

    ρ, λ and μ are in units of the scales: once settled, these must never move again.
    """
    return scales if scales.are_settled else measure_scales(book.evaluations, problem.limits)


def _iterate(
    work: Iteration, state: AdmmState, solvers: Solvers, choice: Choice | None
) -> Generator[Event, Sequence[Evaluation], Choice]:
    """Run θ-min, δ-min and z-min; return the choice of z-min."""
    state, theta = yield from _tune(work, state, solvers, choice)
    # The first θ-min often makes enough successes: z-min and the multipliers need not wait.
    work = replace(work, scales=_settled(work.scales, work.book, work.problem))
    parameters, integer_rho = work.problem.space.parameters, state.integer_rho
    # δ-min, equation (19), with λ of the iteration before.
    delta = projection.nearest_integers(parameters, theta, state.dual, integer_rho)

    state = replace(state, theta=theta, dual_residual=gap(delta, state.delta) * integer_rho)
    subspace = yield from _minimise_selection(work, state, solvers, delta)
    return Choice.of(work, state, delta, subspace)


def _tune(
    work: Iteration, state: AdmmState, solvers: Solvers, choice: Choice | None
) -> Generator[Event, Sequence[Evaluation], tuple[AdmmState, Array]]:
    """Run θ-min on the chosen selection; run it again if late results overturn the choice."""
    known = len(work.book.keys)
    theta = yield from _minimise_theta(work, state, solvers, choice)
    # Each round lowers the best cost by a gain that matters, so the loop ends.
    while choice is not None and choice.is_overturned_by(work.book.evaluations):
        # The new choice comes from z-min: it is no excursion.
        work, choice = replace(work, away=None), choice.again()
        state = _in_iteration(state.iteration, choice.outcome(), work.settings)
        known = len(work.book.keys)
        theta = yield from _minimise_theta(work, state, solvers, choice)
    evaluations = work.settings.precision.evaluations(depth(work, state))
    work.tunings.enter(state.selection, evaluations, len(work.book.keys) - known)
    return state, theta


def _minimise_theta(
    work: Iteration, state: AdmmState, solvers: Solvers, choice: Choice | None
) -> Generator[Event, Sequence[Evaluation], Array]:
    """Run θ-min over the active parameters and return the best θ.

    It has n_t evaluations. It ends earlier if they are in vain (see `Drought`) or if late results
    show another selection to be the better choice. An excursion always uses all evaluations of its
    depth.
    """
    block = begin_theta(work, state, solvers.theta)

    def is_enough(results: Sequence[Evaluation], learned: Sequence[Observation[Array]]) -> bool:
        if choice is not None and choice.is_overturned_by(results):
            return True
        return work.away is None and _is_in_vain(work, block.drought, learned)

    def begin_next() -> Begun[Selection]:
        best = replace(state, theta=best_theta(work, state))
        return begin_selection(work, best, solvers.z, AHEAD).begun

    yield from solve(work.book, block.begun, block.allowance, is_enough, begin_next=begin_next)
    return best_theta(work, state)


def _minimise_selection(
    work: Iteration, state: AdmmState, solvers: Solvers, delta: Array
) -> Generator[Event, Sequence[Evaluation], SelectionSubspace]:
    """Run z-min with all parameters fixed, on n_t evaluations or fewer; return its space."""
    subspace, block = selections(work, state), begin_selection(work, state, solvers.z)

    def is_enough(_: Sequence[Evaluation], learned: Sequence[Observation[Selection]]) -> bool:
        return _is_in_vain(work, block.drought, learned)

    def begin_next() -> Begun[Array]:
        chosen = Choice.of(work, state, delta, subspace).outcome()
        chosen = _in_iteration(state.iteration + 1, chosen, work.settings)
        return begin_theta(replace(work, away=None), chosen, solvers.theta, AHEAD).begun

    yield from solve(work.book, block.begun, block.allowance, is_enough, begin_next=begin_next)
    return subspace


def _is_in_vain(work: Iteration, drought: Drought, learned: Sequence[Observation[Any]]) -> bool:
    """Return True if a sub-problem has brought no gain for so long that it ends."""
    return work.settings.drought and drought.lasts(learned, len(work.book.pending))


def _leave(work: Iteration, state: AdmmState) -> Excursion | None:
    """Choose an excursion if the choice of z-min is tuned as closely as it would be now."""
    evaluations = work.settings.precision.evaluations(state.iteration + 1)
    if not work.tunings.is_tuned(state.selection, evaluations):
        return None
    subspace, known = selections(work, state), work.book.evaluations
    here = (evaluation for evaluation in known if is_inside(evaluation, subspace))
    prices = {e.candidate.selection: subspace.prices.cost(e) if e.ok else math.inf for e in here}
    # An excursion goes elsewhere by definition.
    prices.pop(state.selection, None)
    points = {(e.candidate.selection, e.key) for e in known}
    return work.tunings.depart(prices, Counter(selection for selection, _ in points))


def initial_state(problem: SearchProblem, start: Candidate, rho: float) -> AdmmState:
    """Return a starting point, other parameters at their latest value or default, λ = 0, μ = 0."""
    theta = latest_theta(problem)
    selection = start.selection
    theta[list(problem.space.active(selection))] = start.theta
    none = np.zeros(len(problem.limits))
    return AdmmState(
        iteration=0,
        selection=selection,
        theta=theta,
        # λ = 0, so ρ does not matter: δ is the nearest grid point of θ.
        delta=projection.nearest_integers(problem.space.parameters, theta, 0 * theta, 1.0),
        dual=np.zeros_like(theta),
        constraint_duals=none,
        slack=none,
        residuals=none,
        rho=rho,
        integer_rho=rho,
    )


def latest_theta(problem: SearchProblem) -> Array:
    """Return θ with every component as in the best known evaluation using it."""
    theta = problem.space.default_theta()
    # From worst to best, so that the best is written last and stays.
    for evaluation in reversed(rank(problem.known, problem.limits)):
        candidate = evaluation.candidate
        theta[list(problem.space.active(candidate.selection))] = candidate.theta
    return theta
