"""Three classic changes of ADMM's penalties and multipliers, each made by a patch.

As in `table_changes.py` a change is kept in the package only if it wins on tables and seeds that it
was not chosen on. The first two are those of Boyd et al. (2011), sections 3.4.1 and 3.4.3. The code
keeps λ and μ unscaled, so a new ρ leaves both as they are: it is the scaled λ/ρ that moves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.search.admm import choice, lagrangian, outer_loop, projection
from automl_admm.search.admm.blocks import begin_selection, begin_theta, best_theta, depth
from automl_admm.search.admm.choice import Choice
from automl_admm.search.admm.iteration import Iteration, gap, inside, selections
from automl_admm.search.admm.outer_loop import Solvers
from automl_admm.search.admm.pricing import Prices, prices_of
from automl_admm.search.admm.projection import nearest_integers
from automl_admm.search.protocol import Event
from automl_admm.search.solving import solve

# Boyd et al. 2011: ρ moves by TWICE if one residual is over TEN_TIMES the other.
TEN_TIMES, TWICE = 10.0, 2.0
# What these were chosen on: sonar, fri_c2, ionosphere and other seeds of the priced problem.
ALPHA = 1.5
DAMPING = 1.0

Block = Generator[Event, Sequence[Evaluation], Any]
Step = Callable[[Iteration, Prices, Sequence[Evaluation]], Array]


@contextmanager
def balanced() -> Iterator[None]:
    """Adapt each penalty to its residuals after each outer iteration: no schedule moves ρ_t."""
    update = choice._update_duals  # noqa: SLF001 - the study adds to this step

    def updated(
        work: Iteration, state: AdmmState, delta: Array, chosen: Evaluation | None
    ) -> AdmmState:
        after = update(work, state, delta, chosen)
        if chosen is None or not work.scales.are_settled:
            return after
        return replace(
            after,
            rho=_balance(state.rho, *_residuals_of_limits(work, state, after, chosen)),
            integer_rho=_balance(state.integer_rho, *_residuals_of_integers(work, state, delta)),
        )

    def unscheduled(iteration: int, state: AdmmState, settings: object) -> AdmmState:
        del settings
        return replace(state, iteration=iteration)

    with (
        patch.object(choice, "_update_duals", updated),
        patch.object(outer_loop, "_in_iteration", unscheduled),
    ):
        yield


def _balance(rho: float, primal: float, dual: float) -> float:
    """Return the next ρ, of section 3.4.1; residuals that are 0 or not known change nothing."""
    if primal > TEN_TIMES * dual:
        return rho * TWICE
    return rho / TWICE if dual > TEN_TIMES * primal else rho


def _residuals_of_integers(work: Iteration, state: AdmmState, delta: Array) -> tuple[float, float]:
    """Return ‖θ̃ − δ‖ and ρ ‖δ(t+1) − δ(t)‖ over the integers."""
    own = work.integers
    primal = gap(own * state.theta, own * delta)
    return primal, state.integer_rho * gap(own * delta, own * state.delta)


def _residuals_of_limits(
    work: Iteration, state: AdmmState, after: AdmmState, chosen: Evaluation
) -> tuple[float, float]:
    """Return ‖r‖ and ρ ‖g(z(t+1), θ) − g(z(t), θ)‖, by which z-min has moved the limits.

    u was minimised at z(t): by so much it misses its own optimum at z(t+1).
    """
    here = inside(work.book.evaluations, selections(work, state))
    before = [one for one in here if one.candidate.selection == state.selection]
    primal = float(np.linalg.norm(np.nan_to_num(after.residuals)))
    if not before:
        return primal, np.nan
    prices = prices_of(state, work.problem.limits, work.scales)
    moved = np.nan_to_num(prices.excess(chosen) - prices.excess(before[0]))
    return primal, state.rho * float(np.linalg.norm(moved))


@contextmanager
def relaxed(alpha: float = ALPHA) -> Iterator[None]:
    """Let δ and λ see α θ̃ + (1 − α) δ(t) in place of θ̃, as in section 3.4.3.

    u is minimised out in both blocks, so the limits have no value of the first one to relax. What
    is left of them is the method of multipliers: its step is relaxed as that of a proximal point
    method, μ ← max(μ + α ρ r, 0).
    """
    tune, update = outer_loop._tune, choice._update_duals  # noqa: SLF001 - of these steps
    tuned: list[tuple[Iteration, Array]] = []

    def noted(work: Iteration, state: AdmmState, *given: Any) -> Block:
        state, theta = yield from tune(work, state, *given)
        tuned.append((work, state.delta))
        return state, theta

    def overshooting(
        parameters: Sequence[Parameter], theta: Array, dual: Array, rho: float
    ) -> Array:
        # The first δ of a search has none before it.
        if tuned:
            work, delta = tuned.pop()
            theta = _beyond(work, theta, delta, alpha)
        return nearest_integers(parameters, theta, dual, rho)

    def updated(
        work: Iteration, state: AdmmState, delta: Array, chosen: Evaluation | None
    ) -> AdmmState:
        after = update(work, state, delta, chosen)
        cap = work.settings.dual_cap if work.scales.are_settled else 0.0
        theta = _beyond(work, state.theta, state.delta, alpha)
        dual = lagrangian.update_dual(state.dual, theta, delta, state.integer_rho, cap)
        if chosen is None:
            return replace(after, dual=dual)
        duals = lagrangian.update_constraint_duals(
            state.constraint_duals, after.residuals, alpha * state.rho, cap
        )
        return replace(after, dual=dual, constraint_duals=np.maximum(duals, 0.0))

    with (
        patch.object(outer_loop, "_tune", noted),
        patch.object(projection, "nearest_integers", overshooting),
        patch.object(choice, "_update_duals", updated),
    ):
        yield


def _beyond(work: Iteration, theta: Array, delta: Array, alpha: float) -> Array:
    """Return α θ̃ + (1 − α) δ of the integers; others are no copies and stay."""
    return np.where(work.integers > 0, alpha * theta + (1.0 - alpha) * delta, theta)


def own_residual(work: Iteration, prices: Prices, new: Sequence[Evaluation]) -> Array:
    """Return the residual of the evaluation that has just ended."""
    del work
    found = [prices.residuals(one) for one in new if one.ok]
    return np.asarray(np.nan_to_num(found[-1]) if found else 0.0 * prices.constraint_duals)


def best_residual(work: Iteration, prices: Prices, new: Sequence[Evaluation]) -> Array:
    """Return the residual of the cheapest evaluation known: a subgradient of the log's dual."""
    del new
    best = min((one for one in work.book.evaluations if one.ok), key=prices.cost)
    return np.asarray(np.nan_to_num(prices.residuals(best)))


def to_price_of_log(work: Iteration, prices: Prices, new: Sequence[Evaluation]) -> Array:
    """Return the way to the shadow price of the mixtures of all evaluations, in units of ρ.

    It is the dual of a linear programme with a weight for each evaluation. A breach costs no more
    than the cap, so that there is a price before anything is within the limits.
    """
    del new
    known = [(one.loss, prices.excess(one)) for one in work.book.evaluations if one.ok]
    excess = np.array([each for _, each in known])
    whole = np.isfinite(excess).all(axis=1)
    losses = np.array([loss for loss, _ in known])[whole] / prices.scales.loss
    if not whole.any():
        return 0.0 * prices.constraint_duals
    count, limits = excess[whole].shape
    solved = linprog(
        np.concatenate([losses, np.full(limits, work.settings.dual_cap)]),
        A_ub=np.hstack([excess[whole].T, -np.eye(limits)]),
        b_ub=np.zeros(limits),
        A_eq=np.concatenate([np.ones(count), np.zeros(limits)])[None],
        b_eq=np.ones(1),
    )
    return np.asarray((-solved.ineqlin.marginals - prices.constraint_duals) / prices.rho)


@dataclass
class Ascent:
    """Moves μ after every evaluation, from the first z-min on, when the scales are settled."""

    work: Iteration
    state: AdmmState
    residual: Step
    damping: float

    def step(self, new: Sequence[Evaluation]) -> None:
        """Take a step: μ ← max(μ + damping · ρ r, 0)."""
        work, state = self.work, self.state
        if not (work.problem.limits and work.scales.are_settled and new):
            return
        prices = prices_of(state, work.problem.limits, work.scales)
        residual, rho = self.residual(work, prices, new), self.damping * state.rho
        duals = lagrangian.update_constraint_duals(
            state.constraint_duals, residual, rho, work.settings.dual_cap
        )
        self.state = replace(state, constraint_duals=np.maximum(duals, 0.0))


@dataclass
class Repriced:
    """Begins `bo` with new prices, and leaves it its draws and its kernel."""

    solver: Any

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Teach it all losses at today's prices."""
        record = self.solver._record  # noqa: SLF001 - the study does no more than this
        record.start_on(subproblem)
        self.solver._teach(record.losses)  # noqa: SLF001


@contextmanager
def each_evaluation(residual: Step = to_price_of_log, damping: float = DAMPING) -> Iterator[None]:
    """Move μ after every evaluation, and no more at the end of an outer iteration.

    z-min is told all its losses anew where μ has moved. θ-min is not: the default model learns the
    raw measures. Only for a search with one worker: late results overturn nothing.
    """
    outcome = Choice.outcome

    def tune(work: Iteration, state: AdmmState, solvers: Solvers, chosen: object) -> Block:
        del chosen
        ascent, known = Ascent(work, state, residual, damping), len(work.book.keys)
        block = begin_theta(work, state, solvers.theta)

        def is_enough(new: Sequence[Evaluation], learned: Sequence[Observation[Array]]) -> bool:
            ascent.step(new)
            in_vain = outer_loop._is_in_vain(work, block.drought, learned)  # noqa: SLF001
            return work.away is None and in_vain

        yield from solve(work.book, block.begun, block.allowance, is_enough)
        evaluations = work.settings.precision.evaluations(depth(work, state))
        work.tunings.enter(state.selection, evaluations, len(work.book.keys) - known)
        return ascent.state, best_theta(work, ascent.state)

    def minimise(work: Iteration, state: AdmmState, solvers: Solvers, delta: object) -> Block:
        del delta
        ascent, block = (
            Ascent(work, state, residual, damping),
            begin_selection(work, state, solvers.z),
        )
        drought, turn = block.drought, replace(block.allowance, evaluations=1)
        for _ in range(block.allowance.evaluations or 0):
            before, learned = ascent.state.constraint_duals, list[Observation[Any]]()

            def take(new: Sequence[Evaluation], told: Sequence[Observation[Any]]) -> bool:
                ascent.step(new)
                learned.extend(told)  # noqa: B023 - called in this turn alone
                return False

            yield from solve(work.book, replace(block.begun, solver=solvers.z), turn, take)
            if outer_loop._is_in_vain(work, drought, learned):  # noqa: SLF001
                break
            if not np.array_equal(before, ascent.state.constraint_duals):
                told_anew: Any = Repriced(solvers.z)
                block = begin_selection(work, ascent.state, told_anew)
                drought.lowest = block.drought.lowest
        return selections(work, ascent.state)

    def keeping(self: Choice) -> AdmmState:
        duals = self.subspace.prices.constraint_duals
        priced = replace(self, state=replace(self.state, constraint_duals=duals))
        return replace(outcome(priced), constraint_duals=duals)

    with (
        patch.object(outer_loop, "_tune", tune),
        patch.object(outer_loop, "_minimise_selection", minimise),
        patch.object(Choice, "outcome", keeping),
    ):
        yield
