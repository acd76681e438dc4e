"""Changes of ADMM that a study of tables compares with what ships, each made by a patch.

A change is kept in the package only if it wins on tables and seeds that it was not chosen on; until
then, or if it does not, it stands here, where its row can be measured again by a command.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.protocols import ThetaSolver
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import choose_solver
from automl_admm.search.admm import outer_loop
from automl_admm.search.admm.iteration import Iteration, inside, selections
from automl_admm.search.admm.pricing import SelectionSubspace
from automl_admm.search.admm.settings import Precision
from automl_admm.search.joint import joint_search
from automl_admm.search.joint.conditional import ConditionalSpace
from automl_admm.search.joint.penalty import Review
from automl_admm.search.protocol import Allowance, Event
from automl_admm.search.solving import Begun, solve

# A joint block has so many times the evaluations of z-min; n_t = 8 + 8 t.
SHARE = 2
SHORT = 8


def z_min_first() -> AbstractContextManager[Any]:
    """Give z-min the first turn if nothing is within the limits: θ-min may tune in vain."""

    def is_left_to_z_min(work: Iteration, state: AdmmState) -> bool:
        known = (one for one in work.book.evaluations if one.ok)
        limits = work.problem.limits
        return not state.iteration and not any(is_feasible(one, limits) for one in known)

    return _without_theta_min(is_left_to_z_min)


@contextmanager
def joint_blocks() -> Iterator[None]:
    """Let z-min begin, and after each z-min let c-TPE propose whole pipelines.

    θ-min tunes the chosen selection, and z-min compares selections at the parameters that others
    were tuned to. A selection that is good only at parameters of its own is seen by neither.
    """
    first = _without_theta_min(lambda _, state: not state.iteration)
    with first, patch.object(Precision, "evaluations", _short), _with_joint_blocks():
        yield


def _short(self: Precision, iteration: int) -> int:
    return min(SHORT * (1 + iteration), self.last)


def _without_theta_min(is_left_out: Any) -> AbstractContextManager[Any]:
    tune = outer_loop._tune  # noqa: SLF001 - the study changes this step

    def later(work: Iteration, state: AdmmState, *given: Any) -> Any:
        if is_left_out(work, state):
            return state, state.theta
        return (yield from tune(work, state, *given))

    return patch.object(outer_loop, "_tune", later)


def _with_joint_blocks() -> AbstractContextManager[Any]:
    minimise = outer_loop._minimise_selection  # noqa: SLF001 - the study adds to this step

    def longer(work: Iteration, state: AdmmState, *given: Any) -> Any:
        subspace = yield from minimise(work, state, *given)
        yield from _search_all(work, state)
        return _where_the_best_is(work, state, subspace)

    return patch.object(outer_loop, "_minimise_selection", longer)


def _search_all(work: Iteration, state: AdmmState) -> Generator[Event, Sequence[Evaluation], None]:
    """Let c-TPE propose whole pipelines: it sees all that was evaluated, by whomever."""
    problem, book = work.problem, work.book
    penalty = Review.of(book, problem.limits).penalty
    view = ConditionalSpace(problem.space, problem.limits, *penalty)
    count = SHARE * work.settings.precision.evaluations(state.iteration)
    solver = _ctpe()
    # The number of evaluations so far makes its seed another one in each block.
    solver.begin(joint_search._whole_box(problem, book, view, len(book.keys)))  # noqa: SLF001
    allowance, patience = Allowance(count, None, problem.clock), joint_search.JOINT_PATIENCE
    yield from solve(book, Begun(view, solver, "joint"), allowance, lambda *_: False, patience)


def _ctpe() -> ThetaSolver:
    registry = load_plugins().theta_solvers
    solver: ThetaSolver = choose_solver(registry, "ctpe", lambda: None, None).solver
    return solver


def _where_the_best_is(
    work: Iteration, state: AdmmState, subspace: SelectionSubspace
) -> SelectionSubspace:
    """Return the space of z-min, at the parameters of a cheaper pipeline if there is one."""
    cost = subspace.prices.cost
    best = min((one for one in work.book.evaluations if one.ok), key=cost, default=None)
    here = min(map(cost, inside(work.book.evaluations, subspace)), default=np.inf)
    if best is None or here <= cost(best):
        return subspace
    theta = np.array(state.theta, dtype=float)
    theta[list(work.problem.space.active(best.candidate.selection))] = best.candidate.theta
    return selections(work, replace(state, theta=theta))
