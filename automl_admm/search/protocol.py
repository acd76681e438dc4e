"""Searching without evaluating: a search is a generator that proposes and is sent results.

Whoever drives it owns evaluation, budget, storage and parallelism. A search yields

- `Proposal`: evaluate this candidate when a worker is free;
- `WAIT`: nothing to propose until a result comes in;
- `AdmmState`: an outer iteration has ended (nothing to do).

At every resumption it is sent the evaluations that ended meanwhile, perhaps none.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeVar

import numpy as np

from automl_admm.core.problem import (
    AdmmState,
    AtFidelity,
    Evaluation,
    Limit,
    Observation,
    Status,
)
from automl_admm.core.ranking import best_of, price_of_failure
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.search.cheap_limits import Cheap, Screen, value_or_nan

PointT = TypeVar("PointT")
BREATH = 16
TRIES = 4


class Wait(Enum):
    """The type of WAIT."""

    WAIT = "wait"


WAIT = Wait.WAIT


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate to evaluate, and the sub-problem that wants it."""

    candidate: Candidate
    origin: str


Event = Proposal | Wait | AdmmState
Search = Generator[Event, Sequence[Evaluation], None]


@dataclass(frozen=True)
class SearchProblem:
    """What is searched: the space, the limits, where to begin, and the time there is.

    `starts` are evaluated first, and the search begins at the first of them that does not fail;
    there is always one.
    `key` is equal for two candidates that are one thing to evaluate. `deadline` is in the units of
    `clock`, `evaluations` how many the whole search may make. `cheap` has the functions of those
    limits, by name, that need no evaluation: what they exclude is never evaluated. Solvers may ask
    for evaluations of as little as `lowest_fidelity`. `known` is what was evaluated before the
    search began: it goes on from there.
    """

    space: SearchSpace
    key: Callable[[Candidate], str]
    starts: tuple[Candidate, ...]
    limits: tuple[Limit, ...] = ()
    cheap: Mapping[str, Cheap] = field(default_factory=dict)
    lowest_fidelity: float = 1.0
    seed: int = 0
    evaluations: int | None = None
    deadline: float | None = None
    clock: Callable[[], float] = lambda: 0.0
    known: tuple[Evaluation, ...] = ()


@dataclass
class Book:
    """What has been evaluated, and what has been asked for and not yet answered.

    `evaluations` are the whole ones: of one with fewer rows only the solver hears that asked. Among
    them are the records of what a limit `refused` beforehand, as of failures of which the cheap
    values are known. `keys` are only of what was really evaluated.
    """

    key: Callable[[Candidate], str]
    screen: Screen = field(default_factory=Screen)
    evaluations: list[Evaluation] = field(default_factory=list)
    pending: dict[str, Candidate] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    refused: dict[str, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: SearchProblem) -> Book:
        """One in which nothing stands but what is known already."""
        book = cls(problem.key, Screen(problem.limits, problem.cheap))
        book.receive(problem.known)
        return book

    def refuse(self, key: str, candidate: Candidate) -> Evaluation | None:
        """The record of a candidate that a limit excludes beforehand; None if none does."""
        if key not in self.refused:
            known = self.screen.excluding(candidate)
            if known is None:
                return None
            found = Evaluation(0, key, candidate, Status.SKIPPED, constraints=known)
            self.refused[key] = found
            if found.is_whole:
                self.evaluations.append(found)
        return replace(self.refused[key], candidate=candidate)

    def ask_for(self, key: str, candidate: Candidate) -> None:
        """Note that a candidate was proposed."""
        self.pending[key] = candidate

    def receive(self, results: Sequence[Evaluation]) -> None:
        """Enter results."""
        for evaluation in results:
            self.pending.pop(evaluation.key, None)
            if evaluation.is_whole:
                self.evaluations.append(evaluation)
            self.keys.add(evaluation.key)


class Subspace(Protocol[PointT]):
    """A part of a search space as a solver sees it."""

    def candidate(self, point: PointT) -> Candidate:
        """The candidate that a solver's point stands for."""

    def locate(self, candidate: Candidate) -> PointT | None:
        """The point of a candidate, None if it lies outside."""

    def price(self, evaluation: Evaluation, point: PointT) -> float:
        """The loss, as the solver is to see it, of an evaluation that succeeded."""


class AskTell(Protocol[PointT]):
    """The part that all solvers share."""

    def ask(self, count: int, pending: Sequence[PointT]) -> Sequence[PointT | AtFidelity[PointT]]:
        """Propose up to `count` points."""

    def tell(self, observations: Sequence[Observation[PointT]]) -> None:
        """Learn."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How long a sub-problem may last: in evaluations, in seconds, or both."""

    evaluations: int | None
    until: float | None
    clock: Callable[[], float]

    @property
    def seconds(self) -> float | None:
        """The time that is left."""
        return None if self.until is None else max(self.until - self.clock(), 0.0)

    def is_spent(self, done: float) -> bool:
        """Whether the sub-problem has had its share; one result is always waited for."""
        if self.evaluations is not None and done >= self.evaluations:
            return True
        return done > 0 and self.until is not None and self.clock() >= self.until


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a row of proposals may be that brings nothing.

    `repeats` counts those that are in the book already, `refused` those that a limit excludes.
    """

    repeats: int = 256
    refused: int = 64


PATIENT = Patience()


def solve(
    book: Book,
    subspace: Subspace[PointT],
    solver: AskTell[PointT],
    allowance: Allowance,
    origin: str,
    is_enough: Callable[[Sequence[Evaluation], Sequence[Observation[PointT]]], bool] | None = None,
    patience: Patience = PATIENT,
) -> Search:
    """Let a solver work on a sub-problem that it has begun.

    It ends when enough results are in, or when they are such that it `is_enough`, which is asked
    of all that came in and of what the solver learned of it. What is pending then goes on, and its
    results reach whichever sub-problem they lie in, so that no worker waits at the seam. It also
    ends when its `patience` is: with a row of proposals that are in the book already, or that a
    limit excludes beforehand. These are not proposed to the driver: the solver is told of a
    failure at once, and it counts as nothing.
    """
    done, stale, refused = 0.0, 0, 0
    asked: dict[str, PointT] = {}
    while not allowance.is_spent(done) and stale < patience.repeats and refused < patience.refused:
        found = _next_point(book, subspace, solver, asked)
        if found is not None:
            key, candidate, point = found
            asked[key] = point
            if (excluded := book.refuse(key, candidate)) is not None:
                refused += 1
                solver.tell(observe([excluded], subspace, book, asked))
                if refused % BREATH:
                    continue
                results = yield WAIT
            else:
                refused = 0
                book.ask_for(key, candidate)
                results = yield Proposal(candidate, origin)
        elif book.pending:
            results = yield WAIT
        else:
            return
        known = len(book.keys)
        book.receive(results)
        learned = observe(results, subspace, book, asked)
        if learned:
            solver.tell(learned)
        if is_enough is not None and is_enough(results, learned):
            return
        done += sum(observation.fidelity for observation in learned)
        stale = 0 if len(book.keys) > known or not results else stale + 1


def _next_point(
    book: Book,
    subspace: Subspace[PointT],
    solver: AskTell[PointT],
    asked: Mapping[str, PointT],
) -> tuple[str, Candidate, PointT] | None:
    """A proposal, and its key, that is not being evaluated; None if the solver has no other.

    What is pending is shown where it was `asked` for, as in `observe`.
    """
    located = ((key, subspace.locate(candidate)) for key, candidate in book.pending.items())
    pending = [asked.get(key, point) for key, point in located if point is not None]
    for _ in range(TRIES):
        points = solver.ask(1, pending)
        if not points:
            return None
        point, fidelity = unwrap(points[0])
        candidate = replace(subspace.candidate(point), fidelity=fidelity)
        key = book.key(candidate)  # once: it is looked up often, and takes its time
        if key not in book.pending:
            return key, candidate, point
    return None


def unwrap(proposed: PointT | AtFidelity[PointT]) -> tuple[PointT, float]:
    """A proposal's point, and the share of a whole evaluation that it asks for."""
    if isinstance(proposed, AtFidelity):
        return proposed.point, proposed.fidelity
    return proposed, 1.0


def cheap_at(
    problem: SearchProblem, subspace: Subspace[PointT]
) -> tuple[Callable[[PointT], float] | None, ...]:
    """For each limit the function of a solver's point that needs no evaluation, if there is one."""
    if not problem.cheap:
        return ()

    def at_point(function: Cheap) -> Callable[[PointT], float]:
        return lambda point: value_or_nan(function, subspace.candidate(point))

    found = (problem.cheap.get(limit.name) for limit in problem.limits)
    return tuple(None if function is None else at_point(function) for function in found)


def evaluate_starts(problem: SearchProblem, book: Book) -> Search:
    """Have the starting points evaluated that no limit excludes; wait for the first success."""
    for candidate in problem.starts:
        key = problem.key(candidate)
        if key not in book.keys and book.refuse(key, candidate) is None:
            book.ask_for(key, candidate)
            book.receive((yield Proposal(candidate, "start")))
    while book.pending and not any(evaluation.ok for evaluation in book.evaluations):
        book.receive((yield WAIT))


def beginning(problem: SearchProblem, book: Book) -> Candidate:
    """The best of what was known before; else the first starting point that has not failed.

    If all of them have, it is the first.
    """
    best = best_of(problem.known, problem.limits)
    if best is not None:
        return best.candidate
    failed = {evaluation.key for evaluation in book.evaluations if not evaluation.ok}
    left = (start for start in problem.starts if problem.key(start) not in failed)
    return next(left, problem.starts[0])


def await_pending(book: Book) -> Search:
    """Wait for all that is still being evaluated; raise if limits excluded whatever there was."""
    while book.pending:
        book.receive((yield WAIT))
    if book.refused and not book.keys:
        raise book.screen.report(list(book.refused.values()))


def observe(
    evaluations: Iterable[Evaluation],
    subspace: Subspace[PointT],
    book: Book,
    asked: Mapping[str, PointT] | None = None,
) -> list[Observation[PointT]]:
    """Show evaluations that lie in a sub-problem's space as its solver is to see them.

    Where several points are one candidate, a solver is told of the point that it `asked` for: told
    of another, it would ask for the same again. Of an evaluation that was not whole only the one
    is told that asked for it. A failure costs more than the worst success by the spread of the
    successes.
    """
    asked = asked or {}
    heard = (e for e in evaluations if e.is_whole or e.key in asked)
    located = ((e, subspace.locate(e.candidate)) for e in heard)
    inside = [(e, asked.get(e.key, point)) for e, point in located if point is not None]
    failed = _price_of_failure(subspace, book) if any(not e.ok for e, _ in inside) else math.nan
    return [
        Observation(
            point,
            subspace.price(evaluation, point) if evaluation.ok else failed,
            evaluation.loss,
            evaluation.constraints,
            evaluation.seconds,
            failed=not evaluation.ok,
            fidelity=evaluation.candidate.fidelity,
            refused=evaluation.key in book.refused,
        )
        for evaluation, point in inside
    ]


def _price_of_failure(subspace: Subspace[PointT], book: Book) -> float:
    located = ((e, subspace.locate(e.candidate)) for e in book.evaluations if e.ok)
    prices = [subspace.price(e, point) for e, point in located if point is not None]
    return price_of_failure(prices)


def default_start(space: SearchSpace) -> Candidate:
    """The first alternative of every decision with every parameter at its default."""
    return space.candidate(space.complete({}), space.default_theta())


def draw_candidate(space: SearchSpace, rng: np.random.Generator) -> Candidate:
    """A candidate drawn at random, its integers on their grids."""
    theta = rng.random(len(space.parameters))
    return space.projected(space.candidate(space.sample(rng), theta))


def derive_seed(*parts: object) -> int:
    """A seed that depends on nothing but its parts, the same in any process."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")
