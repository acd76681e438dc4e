"""The candidates that a search begins with: starting points, drawn ones, the best known."""

from __future__ import annotations

import numpy as np

from automl_admm.core.evaluations import is_feasible
from automl_admm.core.ranking import best_of
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.search.protocol import (
    WAIT,
    Book,
    Proposal,
    Search,
    SearchProblem,
    derive_seed,
)

# The origin of a selection evaluated because the first start is not ready while a worker is free.
SPARE = "spare"
# After this many draws without a new selection the others count as used up.
MOST_MISSED = 64


def evaluate_starts(problem: SearchProblem, book: Book) -> Search:
    """Evaluate the starting points not excluded by a limit, and others until the first success.

    With several workers the others are random selections at the parameters of the start: z-min can
    use these. Of the portfolio no further pipeline is tried whose model was outside the limits.

    >>> start = Candidate(Selection(()), (0.5,))
    >>> space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    >>> problem = SearchProblem(space, key=str, starts=(start,))
    >>> next(evaluate_starts(problem, Book.of(problem))).candidate == start
    True
    """
    begun, first = problem.clock(), len(problem.quick) + len(problem.starts)
    for place, candidate in enumerate((*problem.quick, *problem.starts, *problem.portfolio)):
        is_learned = place >= first
        if is_learned and _is_half_gone(problem, begun):
            break
        if is_learned and _is_known_outside(problem, book, problem.model(candidate)):
            continue
        key = problem.key(candidate)
        if key not in book.keys and book.refuse(key, candidate) is None:
            book.ask_for(key, candidate)
            book.receive((yield Proposal(candidate, "start")))
    rng = np.random.default_rng(derive_seed(problem.seed, SPARE))
    while book.pending and not any(evaluation.ok for evaluation in book.evaluations):
        spare = _draw_selection(problem, book, rng)
        book.receive((yield WAIT if spare is None else Proposal(spare, SPARE)))


def _draw_selection(
    problem: SearchProblem, book: Book, rng: np.random.Generator
) -> Candidate | None:
    """Draw a new selection at the parameters of the first state, and note it as pending."""
    space, start = problem.space, beginning(problem, book)
    theta = space.default_theta()
    theta[list(space.active(start.selection))] = start.theta
    for _ in range(MOST_MISSED):
        candidate = space.candidate(space.sample(rng), theta)
        key = problem.key(candidate)
        if key not in book.keys and key not in book.pending and book.refuse(key, candidate) is None:
            book.ask_for(key, candidate)
            return candidate
    return None


def _is_known_outside(problem: SearchProblem, book: Book, model: str) -> bool:
    """Return True if pipelines of a model were evaluated, and none is within the limits."""
    if not problem.limits:
        return False
    same = [one for one in book.evaluations if one.ok and problem.model(one.candidate) == model]
    return bool(same) and not any(is_feasible(one, problem.limits) for one in same)


def _is_half_gone(problem: SearchProblem, begun: float) -> bool:
    """Return True if half of the time since the begin of the search is used."""
    return problem.deadline is not None and 2 * problem.clock() > begun + problem.deadline


def beginning(problem: SearchProblem, book: Book) -> Candidate:
    """Return the best known candidate; else the first starting point not known to fail.

    If all starting points failed, return the best of the others, or else the first starting point.

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
    left = [start for start in ordered if problem.key(start) not in failed]
    if left:
        return left[0]
    best = best_of(book.evaluations, problem.limits)
    return problem.starts[0] if best is None else best.candidate


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
