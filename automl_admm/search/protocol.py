"""The conversation between a search and its driver: a search proposes, the driver evaluates.

A search is a generator. It never evaluates anything; the driver owns evaluation, budget, storage
and parallelism. A search yields

- `Proposal`: evaluate this candidate when a worker is free;
- `WAIT`: nothing to propose until a result comes in;
- `AdmmState`: an outer iteration has ended (nothing to do).

At every resumption the driver sends the evaluations finished meanwhile, perhaps none.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeVar

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import PluginError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.priors import Priors
from automl_admm.core.ranking import price_of_failure
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.core.subproblems import AtFidelity, Observation
from automl_admm.search.cheap_limits import Cheap, Screen, value_or_nan

PointT = TypeVar("PointT")
# A search may wait while nothing is evaluated, to let the driver look at its clock, or propose what
# is known; not for ever.
MOST_IDLE = 10_000


class Wait(Enum):
    """The type of WAIT."""

    WAIT = "wait"


WAIT = Wait.WAIT


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate to evaluate, and the name of the sub-problem asking for it.

    >>> Proposal(Candidate(Selection(()), (0.5,)), "draw").origin
    'draw'
    """

    candidate: Candidate
    origin: str


Event = Proposal | Wait | AdmmState
Search = Generator[Event, Sequence[Evaluation], None]


@dataclass(frozen=True)
class SearchProblem:
    """A search's task: the space, the limits, the starting points and the time available.

    `starts` holds at least one candidate. They are evaluated first, after those in `quick`, and the
    search begins at the first one to succeed. `key` is equal for two candidates if evaluating
    either gives the same result. `deadline` is in the units of `clock`; `evaluations` caps the
    number of evaluations of the whole search. `cheap` maps names of limits to functions computed
    without an evaluation: candidates excluded by them are never evaluated. Solvers may ask for
    evaluations of a fidelity down to `lowest_fidelity`. `known` holds earlier evaluations: the
    search resumes from them. `text` names a candidate for people. After the starts the `portfolio`
    is evaluated, but for no more than half of the time; then the search begins at the best so far.
    Of the portfolio those are passed over whose `model` was tried and was never within the limits:
    time and size hang on it first of all. `priors` are for solvers that take them. `variants`
    returns other settings of a candidate that no loss leads to.

    >>> space = SearchSpace(parameters=(Parameter("x", 0, 1),))
    >>> SearchProblem(space, key=str, starts=(Candidate(Selection(()), (0.5,)),)).limits
    ()
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
    text: Callable[[Candidate], str] = str
    model: Callable[[Candidate], str] = str
    quick: tuple[Candidate, ...] = ()
    portfolio: tuple[Candidate, ...] = ()
    priors: Priors = field(default_factory=Priors)
    variants: Callable[[Candidate], Sequence[Candidate]] | None = None

    def seed_of(self, key: str) -> int:
        """Derive the seed of everything that is done with the candidate of this key."""
        return derive_seed(self.seed, key)


@dataclass
class Book:
    """The evaluations made so far, and the candidates proposed but not yet answered.

    `evaluations` holds whole ones only: results on fewer rows go to the solver that asked, and to
    no other. It also holds the records in `refused`, candidates excluded beforehand by a limit:
    failures with known cheap values. `keys` names only candidates really evaluated.

    >>> Book(key=str).pending
    {}
    """

    key: Callable[[Candidate], str]
    screen: Screen = field(default_factory=Screen)
    evaluations: list[Evaluation] = field(default_factory=list)
    pending: dict[str, Candidate] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    refused: dict[str, Evaluation] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: SearchProblem) -> Book:
        """Return a book with nothing in it but the known evaluations."""
        book = cls(problem.key, Screen(problem.limits, problem.cheap))
        book.receive(problem.known)
        return book

    def refuse(self, key: str, candidate: Candidate) -> Evaluation | None:
        """Return the record of a candidate excluded beforehand by a limit, else None."""
        if key not in self.refused:
            known = self.screen.excluding(candidate)
            if known is None:
                return None
            found = Evaluation(0, key, candidate, Status.SKIPPED, constraints=known)
            self.refused[key] = found
            if found.is_whole:
                self.evaluations.append(found)
        # One key may cover several candidates: answer with the one asked for.
        return replace(self.refused[key], candidate=candidate)

    def ask_for(self, key: str, candidate: Candidate) -> None:
        """Note a proposed candidate as pending."""
        self.pending[key] = candidate

    def receive(self, results: Sequence[Evaluation]) -> None:
        """Enter results and take them off the pending list."""
        for evaluation in results:
            self.pending.pop(evaluation.key, None)
            if evaluation.is_whole:
                self.evaluations.append(evaluation)
            self.keys.add(evaluation.key)


class Subspace(Protocol[PointT]):
    """A part of a search space as a solver sees it."""

    def candidate(self, point: PointT) -> Candidate:
        """Return the candidate for a solver's point."""

    def locate(self, candidate: Candidate) -> PointT | None:
        """Return the point of a candidate; None if it lies outside."""

    def price(self, evaluation: Evaluation, point: PointT) -> float:
        """Return the loss to show the solver for a successful evaluation."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The share of a sub-problem: in evaluations, in seconds, or both."""

    evaluations: int | None
    until: float | None
    clock: Callable[[], float]

    @property
    def seconds(self) -> float | None:
        """Seconds left; None without a deadline."""
        return None if self.until is None else max(self.until - self.clock(), 0.0)

    def is_proposed(self, proposed: float) -> bool:
        """Return True once the share is asked for; a time has no such moment."""
        return self.evaluations is not None and proposed >= self.evaluations

    def is_spent(self, done: float) -> bool:
        """Return True once the share is used up; one result is always awaited."""
        if self.evaluations is not None and done >= self.evaluations:
            return True
        # With no result at all the next sub-problem would begin exactly where this one did.
        return done > 0 and self.until is not None and self.clock() >= self.until


def waits_for_nothing(title: str) -> PluginError:
    """Return the error of a search that waits too often while nothing is evaluated."""
    return PluginError(f"{title} waits for results, but nothing is being evaluated.")


def unwrap(proposed: PointT | AtFidelity[PointT]) -> tuple[PointT, float]:
    """Return a proposal's point and its fidelity, the share of a whole evaluation.

    >>> unwrap(AtFidelity("point", 0.5)), unwrap("point")
    (('point', 0.5), ('point', 1.0))
    """
    if isinstance(proposed, AtFidelity):
        return proposed.point, proposed.fidelity
    return proposed, 1.0


def cheap_at(
    problem: SearchProblem, subspace: Subspace[PointT]
) -> tuple[Callable[[PointT], float] | None, ...]:
    """Return for each limit its cheap function of a solver's point, None if it has none."""
    if not problem.cheap:
        return ()

    def at_point(function: Cheap) -> Callable[[PointT], float]:
        return lambda point: value_or_nan(function, subspace.candidate(point))

    found = (problem.cheap.get(limit.name) for limit in problem.limits)
    return tuple(None if function is None else at_point(function) for function in found)


def await_pending(book: Book) -> Search:
    """Wait for all pending evaluations; raise an error if limits excluded every candidate.

    >>> list(await_pending(Book(key=str)))
    []
    """
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
    """Translate evaluations inside a sub-problem's space into observations for its solver.

    Several points may round to one candidate: a solver is told of the point it `asked` for, because
    with any other it would ask for the same again. An evaluation on fewer rows reaches only the
    solver that asked for it. A failure costs more than the worst success by the range of the
    successes.
    """
    asked = asked or {}
    heard = (e for e in evaluations if e.is_whole or e.key in asked)
    located = ((e, subspace.locate(e.candidate)) for e in heard)
    inside = [(e, asked.get(e.key, point)) for e, point in located if point is not None]
    # Pricing failures reads the whole book, so do it only if there is one to price.
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
            stopped=evaluation.folds_left > 0,
        )
        for evaluation, point in inside
    ]


def _price_of_failure(subspace: Subspace[PointT], book: Book) -> float:
    located = ((e, subspace.locate(e.candidate)) for e in book.evaluations if e.ok)
    prices = [subspace.price(e, point) for e, point in located if point is not None]
    return price_of_failure(prices)


def derive_seed(*parts: object) -> int:
    """Derive a seed from its parts alone, equal in every process.

    >>> derive_seed(0, "rows") == derive_seed(0, "rows") != derive_seed(1, "rows")
    True
    """
    # `hash` of a text differs from process to process.
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")
