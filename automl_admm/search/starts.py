"""The candidates that a search begins with: starting points, drawn ones, the best known."""

from __future__ import annotations

import numpy as np

from automl_admm.core.ranking import best_of
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.search.protocol import WAIT, Book, Proposal, Search, SearchProblem


def evaluate_starts(problem: SearchProblem, book: Book) -> Search:
    """Evaluate the starting points not excluded by a limit; wait for the first success.

    >>> start = Candidate(Selection(()), (0.5,))
    >>> space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    >>> problem = SearchProblem(space, key=str, starts=(start,))
    >>> next(evaluate_starts(problem, Book.of(problem))).candidate == start
    True
    """
    begun, first = problem.clock(), len(problem.quick) + len(problem.starts)
    for place, candidate in enumerate((*problem.quick, *problem.starts, *problem.portfolio)):
        if place >= first and _is_half_gone(problem, begun):
            break
        key = problem.key(candidate)
        if key not in book.keys and book.refuse(key, candidate) is None:
            book.ask_for(key, candidate)
            book.receive((yield Proposal(candidate, "start")))
    while book.pending and not any(evaluation.ok for evaluation in book.evaluations):
        book.receive((yield WAIT))


def _is_half_gone(problem: SearchProblem, begun: float) -> bool:
    """Return True if half of the time since the begin of the search is used."""
    return problem.deadline is not None and 2 * problem.clock() > begun + problem.deadline


def beginning(problem: SearchProblem, book: Book) -> Candidate:
    """Return the best known candidate; else the first starting point not known to fail.

    If all starting points failed, return the first.

    >>> start = Candidate(Selection(()), (0.5,))
    >>> space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    >>> problem = SearchProblem(space, key=str, starts=(start,))
    >>> beginning(problem, Book.of(problem)) == start
    True
    """
    best = best_of(problem.known, problem.limits)
    if best is not None:
        return best.candidate
    failed = {evaluation.key for evaluation in book.evaluations if not evaluation.ok}
    ordered = (*problem.starts, *problem.quick)
    left = (start for start in ordered if problem.key(start) not in failed)
    return next(left, problem.starts[0])


def default_start(space: SearchSpace) -> Candidate:
    """Return the first alternative of every decision with every parameter at its default."""
    return space.candidate(space.complete({}), space.default_theta())


def draw_candidate(space: SearchSpace, rng: np.random.Generator) -> Candidate:
    """Draw a candidate at random, with its integers on their grids.

    >>> space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    >>> space.values(draw_candidate(space, np.random.default_rng(0))).keys()
    dict_keys(['x'])
    """
    theta = rng.random(len(space.parameters))
    return space.projected(space.candidate(space.sample(rng), theta))
