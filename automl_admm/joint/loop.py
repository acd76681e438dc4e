"""The joint search: one solver, one box, until the driver stops."""

from __future__ import annotations

import numpy as np

from automl_admm.joint.relaxation import RelaxedSpace
from automl_admm.problem import Quadratic, ThetaSubproblem
from automl_admm.protocols import ThetaSolver
from automl_admm.search import (
    Allowance,
    Book,
    Search,
    SearchProblem,
    await_pending,
    derive_seed,
    evaluate_starts,
    observe,
    solve,
    spread,
)


def joint(problem: SearchProblem, solver: ThetaSolver) -> Search:
    """Hand the relaxed space to one solver; it ends when the solver finds nothing new any more."""
    book = Book(problem.key)
    yield from evaluate_starts(problem, book)
    unit = spread([evaluation.loss for evaluation in book.evaluations])
    relaxed = RelaxedSpace(problem.space, problem.limits, unit)
    axes = relaxed.axes()
    solver.begin(
        ThetaSubproblem(
            parameters=axes,
            start=relaxed.locate(problem.starts[0]),
            known_cost=Quadratic(np.zeros(len(axes)), np.zeros(len(axes))),
            history=tuple(observe(book.evaluations, relaxed, book)),
            limits=problem.limits,
            seed=derive_seed(problem.seed, "joint"),
        )
    )
    yield from solve(book, relaxed, solver, Allowance(None, None, problem.clock), "joint")
    yield from await_pending(book)
