"""The joint search: one solver, one box, until the driver stops."""

from __future__ import annotations

from typing import Literal

import numpy as np

from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.ranking import best_of
from automl_admm.core.space import Candidate
from automl_admm.core.subproblems import Quadratic, ThetaSubproblem
from automl_admm.search.joint.conditional import ConditionalSpace
from automl_admm.search.joint.one_hot import RelaxedSpace
from automl_admm.search.joint.penalty import Review
from automl_admm.search.protocol import (
    Allowance,
    Book,
    Proposal,
    Search,
    SearchProblem,
    await_pending,
    cheap_at,
    derive_seed,
    observe,
)
from automl_admm.search.solving import Begun, Patience, solve
from automl_admm.search.starts import beginning, draw_candidate, evaluate_starts

# A draw helps a stuck solver, so few repeats are allowed. Refusals get more patience, because
# the joint search has no other sub-problem to turn to.
JOINT_PATIENCE = Patience(repeats=8, refused=512)
# After this many draws without a new candidate the space counts as used up.
MOST_MISSED = 512
# A continuous axis is never used up: where all else is known, it may just be drawn seldom. The
# bound is for keys that tell few of its candidates apart.
MOST_KNOWN = 1 << 15


def joint(
    problem: SearchProblem, solver: ThetaSolver, view: Literal["one-hot", "conditional"] = "one-hot"
) -> Search:
    """Hand the whole space to one solver; end when nothing new is left to try.

    A model of real axes may keep repeating known points of a small space: if the solver finds
    nothing new, evaluate a random draw and tell it. Solvers modelling distances see the one-hot
    relaxation; solvers modelling categories and conditions see the space as it is. With limits,
    review the penalty each time the number of known candidates has doubled; if some candidate is
    then cheaper than the best, the solver begins anew, with all observations at new prices.
    """
    book = Book.of(problem)
    # A session that begins anew needs other seeds, or it would repeat the draws of earlier ones.
    session = [len(book.keys)] if book.keys else []
    yield from evaluate_starts(problem, book)
    make = RelaxedSpace if view == "one-hot" else ConditionalSpace
    review = Review.of(book, problem.limits)
    rng = np.random.default_rng(derive_seed(problem.seed, "untried", *session))
    # The driver alone stops a joint search.
    endless = Allowance(None, None, problem.clock)
    # The starting points are not charged to the solver's budget.
    known = len(book.keys)
    while True:
        penalty = review.penalty
        relaxed = make(problem.space, problem.limits, *penalty)
        solver.begin(_whole_box(problem, book, relaxed, len(book.keys) - known))
        while review.penalty == penalty:
            begun = Begun(relaxed, solver, "joint")
            yield from solve(book, begun, endless, review.mends, JOINT_PATIENCE)
            if review.penalty != penalty:
                break
            drawn = _draw_untried(problem, book, rng)
            if drawn is None:
                yield from await_pending(book)
                return
            key, candidate = drawn
            book.ask_for(key, candidate)
            results = yield Proposal(candidate, "draw")
            book.receive(results)
            solver.tell(observe(results, relaxed, book))


def _whole_box(
    problem: SearchProblem,
    book: Book,
    relaxed: RelaxedSpace | ConditionalSpace,
    spent: int,
) -> ThetaSubproblem:
    """Return the rest of the problem as one sub-problem over the whole box."""
    axes, best = relaxed.axes(), best_of(book.evaluations, problem.limits)
    start = beginning(problem, book) if best is None else best.candidate
    # None stays None: without a budget there is nothing to subtract from.
    left = problem.evaluations and max(problem.evaluations - spent, 1)
    allowance = Allowance(left, problem.deadline, problem.clock)
    return ThetaSubproblem(
        parameters=axes,
        start=relaxed.locate(start),
        # No proximal term here: it belongs to ADMM's θ-min.
        known_cost=Quadratic(np.zeros(len(axes)), np.zeros(len(axes))),
        history=tuple(observe(book.evaluations, relaxed, book)),
        limits=problem.limits,
        cheap=cheap_at(problem, relaxed),
        objective_unit=relaxed.loss_unit,
        evaluations=allowance.evaluations,
        seconds=allowance.seconds,
        lowest_fidelity=problem.lowest_fidelity,
        # A fresh start after a review needs another seed, or the solver would repeat its first
        # draws.
        seed=derive_seed(problem.seed, "joint", *([spent] if spent else [])),
    )


def _draw_untried(
    problem: SearchProblem, book: Book, rng: np.random.Generator
) -> tuple[str, Candidate] | None:
    """Draw a new candidate not excluded by a limit, with its key; None after too many misses."""
    known = refused = 0
    is_endless = any(not one.is_integer and one.low < one.high for one in problem.space.parameters)
    most_known = MOST_KNOWN if is_endless else MOST_MISSED
    while known < most_known and refused < MOST_MISSED:
        candidate = draw_candidate(problem.space, rng)
        key = problem.key(candidate)
        if key in book.keys or key in book.pending:
            known += 1
        elif book.refuse(key, candidate) is None:
            return key, candidate
        else:
            refused += 1
    return None
