"""The joint search: one solver, one box, until the driver stops."""

from __future__ import annotations

from typing import Literal

import numpy as np

from automl_admm.joint.conditional import ConditionalSpace
from automl_admm.joint.relaxation import RelaxedSpace
from automl_admm.problem import Quadratic, ThetaSubproblem
from automl_admm.protocols import ThetaSolver
from automl_admm.search import (
    Allowance,
    Book,
    Search,
    SearchProblem,
    await_pending,
    beginning,
    cheap_at,
    derive_seed,
    evaluate_starts,
    observe,
    solve,
    spread,
)

# There is no other sub-problem to turn to, so it is looked further than in one of many.
MOST_REFUSED = 512


def joint(
    problem: SearchProblem, solver: ThetaSolver, view: Literal["one-hot", "conditional"] = "one-hot"
) -> Search:
    """Hand the whole space to one solver; it ends when the solver finds nothing new any more.

    A solver that models distances is shown the one-hot relaxation, one that knows categories and
    conditions the space as it is.
    """
    book = Book.of(problem)
    yield from evaluate_starts(problem, book)
    unit = spread([evaluation.loss for evaluation in book.evaluations])
    make = RelaxedSpace if view == "one-hot" else ConditionalSpace
    relaxed = make(problem.space, problem.limits, unit)
    axes = relaxed.axes()
    allowance = Allowance(problem.evaluations, problem.deadline, problem.clock)
    solver.begin(
        ThetaSubproblem(
            parameters=axes,
            start=relaxed.locate(beginning(problem, book)),
            known_cost=Quadratic(np.zeros(len(axes)), np.zeros(len(axes))),
            history=tuple(observe(book.evaluations, relaxed, book)),
            limits=problem.limits,
            cheap=cheap_at(problem, relaxed),
            objective_unit=unit,
            evaluations=allowance.evaluations,
            seconds=allowance.seconds,
            lowest_fidelity=problem.lowest_fidelity,
            seed=derive_seed(problem.seed, "joint"),
        )
    )
    endless = Allowance(None, None, problem.clock)
    yield from solve(book, relaxed, solver, endless, "joint", most_refused=MOST_REFUSED)
    yield from await_pending(book)
