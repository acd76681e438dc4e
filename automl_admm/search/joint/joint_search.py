"""The joint search: one solver, one box, until the driver stops."""

from __future__ import annotations

from typing import Literal

import numpy as np

from automl_admm.core.problem import Quadratic, ThetaSubproblem
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.ranking import best_of
from automl_admm.core.space import Candidate
from automl_admm.search.joint.conditional import ConditionalSpace
from automl_admm.search.joint.one_hot import RelaxedSpace
from automl_admm.search.joint.penalty import Review
from automl_admm.search.protocol import (
    Allowance,
    Book,
    Patience,
    Proposal,
    Search,
    SearchProblem,
    await_pending,
    beginning,
    cheap_at,
    derive_seed,
    draw_candidate,
    evaluate_starts,
    observe,
    solve,
)

# Where it is stuck a draw helps, so repetition is soon seen through; but there is no other
# sub-problem to turn to when limits exclude what it proposes.
PATIENCE = Patience(repeats=8, refused=512)
MOST_MISSED = 512


def joint(
    problem: SearchProblem, solver: ThetaSolver, view: Literal["one-hot", "conditional"] = "one-hot"
) -> Search:
    """Hand the whole space to one solver; it ends when nothing is left to try.

    A model of real axes may go round in what it knows of a small space: when the solver finds
    nothing new, it is shown what a draw finds. A solver that models distances sees the one-hot
    relaxation, one that knows categories and conditions the space as it is. With limits the
    penalty is looked at again whenever twice as much is known; where by it something else is
    cheaper than what is best, the solver begins anew, with all that is known at new prices.
    """
    book = Book.of(problem)
    yield from evaluate_starts(problem, book)
    make = RelaxedSpace if view == "one-hot" else ConditionalSpace
    review = Review.of(book, problem.limits)
    rng = np.random.default_rng(derive_seed(problem.seed, "untried"))
    endless = Allowance(None, None, problem.clock)
    begun = len(book.keys)
    while True:
        penalty = review.penalty
        relaxed = make(problem.space, problem.limits, *penalty)
        solver.begin(_whole_box(problem, book, relaxed, len(book.keys) - begun))
        while review.penalty == penalty:
            yield from solve(book, relaxed, solver, endless, "joint", review.mends, PATIENCE)
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
    """The sub-problem that is all that is left of the problem."""
    axes, best = relaxed.axes(), best_of(book.evaluations, problem.limits)
    start = beginning(problem, book) if best is None else best.candidate
    left = problem.evaluations and max(problem.evaluations - spent, 1)
    allowance = Allowance(left, problem.deadline, problem.clock)
    return ThetaSubproblem(
        parameters=axes,
        start=relaxed.locate(start),
        known_cost=Quadratic(np.zeros(len(axes)), np.zeros(len(axes))),
        history=tuple(observe(book.evaluations, relaxed, book)),
        limits=problem.limits,
        cheap=cheap_at(problem, relaxed),
        objective_unit=relaxed.loss_unit,
        evaluations=allowance.evaluations,
        seconds=allowance.seconds,
        lowest_fidelity=problem.lowest_fidelity,
        seed=derive_seed(problem.seed, "joint", *([spent] if spent else [])),
    )


def _draw_untried(
    problem: SearchProblem, book: Book, rng: np.random.Generator
) -> tuple[str, Candidate] | None:
    """A candidate that is new and not excluded, and its key; None if a row of draws has none."""
    for _ in range(MOST_MISSED):
        candidate = draw_candidate(problem.space, rng)
        key = problem.key(candidate)
        if key not in book.keys and key not in book.pending and book.refuse(key, candidate) is None:
            return key, candidate
    return None
