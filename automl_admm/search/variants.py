"""Variants of the best candidates, evaluated while there is still time to build on them.

Some settings leave the loss as it is and change what a limit costs, such as weights of rows for a
limit on groups. A search that follows the loss has no reason to try them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, suppress

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.ranking import rank
from automl_admm.core.space import Candidate
from automl_admm.search.protocol import Book, Event, Proposal, Search, SearchProblem

ORIGIN = "variant"
# The variants come after this share of the evaluations, or of the time.
AFTER_EVALUATIONS, AFTER_SECONDS = 2 / 3, 1 / 2
MOST = 8


def with_variants(search: Search, problem: SearchProblem) -> Search:
    """Run a search, and evaluate variants of its best candidates once on the way."""
    return search if problem.variants is None else _interrupted(search, problem)


def _interrupted(search: Search, problem: SearchProblem) -> Search:
    book, begun, is_over = Book.of(problem), problem.clock(), False
    with closing(search), suppress(StopIteration):
        event = next(search)
        while True:
            if isinstance(event, Proposal):
                book.ask_for(problem.key(event.candidate), event.candidate)
            heard = yield event
            book.receive(heard)
            if not is_over and _is_due(problem, book, begun):
                is_over = True
                heard = [*heard, *(yield from _evaluate(_variants(problem, book), book))]
            event = search.send(heard)


def _evaluate(
    candidates: Sequence[Candidate], book: Book
) -> Generator[Event, Sequence[Evaluation], list[Evaluation]]:
    """Propose candidates; return the results that came in meanwhile."""
    heard: list[Evaluation] = []
    for candidate in candidates:
        results = yield Proposal(candidate, ORIGIN)
        book.receive(results)
        heard += results
    return heard


def _is_due(problem: SearchProblem, book: Book, begun: float) -> bool:
    most, until = problem.evaluations, problem.deadline
    if most is not None and len(book.keys) >= AFTER_EVALUATIONS * most:
        return True
    return until is not None and problem.clock() >= begun + AFTER_SECONDS * (until - begun)


def _variants(problem: SearchProblem, book: Book) -> list[Candidate]:
    """Return new variants of the best candidates, of the best of each model first."""
    most = MOST if problem.evaluations is None else min(MOST, problem.evaluations // 3)
    found: list[Candidate] = []
    for evaluation in _best_of_models(problem, book.evaluations):
        made = [] if problem.variants is None else problem.variants(evaluation.candidate)
        keys = [problem.key(one) for one in made]
        new = [
            candidate
            for key, candidate in zip(keys, made, strict=True)
            if key not in {*book.keys, *book.pending} and book.refuse(key, candidate) is None
        ]
        if len(found) + len(new) > most:
            break
        found += new
    return found


def _best_of_models(problem: SearchProblem, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    ranked = rank(evaluations, problem.limits)
    first: dict[str, Evaluation] = {}
    for one in ranked:
        first.setdefault(problem.model(one.candidate), one)
    best = list(first.values())
    return [*best, *(one for one in ranked if one not in best)]
