"""A solver at work on a sub-problem, and on the next one while its last results are pending."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.space import Candidate
from automl_admm.core.subproblems import AtFidelity, Observation
from automl_admm.search.protocol import (
    WAIT,
    Allowance,
    Book,
    PointT,
    Proposal,
    Search,
    Subspace,
    observe,
    unwrap,
)

# After this many refusals in a row the search yields, so that the driver can look at its clock.
BREATH = 16
# A solver is asked this often before its proposals, all of them pending, count as none.
TRIES = 4


class AskTell(Protocol[PointT]):
    """The methods shared by all solvers."""

    def ask(self, count: int, pending: Sequence[PointT]) -> Sequence[PointT | AtFidelity[PointT]]:
        """Propose up to `count` points."""

    def tell(self, observations: Sequence[Observation[PointT]]) -> None:
        """Learn from observations."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The longest run of fruitless proposals before a sub-problem ends.

    `repeats` counts proposals already in the book, `refused` those excluded by a limit.
    """

    repeats: int = 256
    refused: int = 64


PATIENT = Patience()


@dataclass(frozen=True, eq=False)
class Begun(Generic[PointT]):
    """A sub-problem that its solver has begun; `asked` has its points by the candidate's key."""

    subspace: Subspace[PointT]
    solver: AskTell[PointT]
    origin: str
    asked: dict[str, PointT] = field(default_factory=dict)

    def next(self, book: Book) -> tuple[str, Candidate] | None:
        """Return a new proposal and its key, not pending yet; None if the solver has no other.

        Show pending points at the coordinates at which they were `asked`, as in `observe`.
        """
        located = ((key, self.subspace.locate(one)) for key, one in book.pending.items())
        pending = [self.asked.get(key, point) for key, point in located if point is not None]
        for _ in range(TRIES):
            points = self.solver.ask(1, pending)
            if not points:
                return None
            point, fidelity = unwrap(points[0])
            candidate = replace(self.subspace.candidate(point), fidelity=fidelity)
            key = book.key(candidate)  # once: it is looked up often, and takes its time
            if key not in book.pending:
                self.asked[key] = point
                return key, candidate
        return None

    def learn(self, results: Sequence[Evaluation], book: Book) -> list[Observation[PointT]]:
        """Tell the solver the results in its space, and return them."""
        learned = observe(results, self.subspace, book, self.asked)
        if learned:
            self.solver.tell(learned)
        return learned

    def awaits(self, book: Book) -> bool:
        """Return True if the result of a pending evaluation will be one for this sub-problem."""
        return any(self.subspace.locate(one) is not None for one in book.pending.values())


@dataclass
class Asking:
    """Asks the solver of a sub-problem for its share, and then the solver of the next one.

    With several workers the last results of a sub-problem are pending while workers are free. More
    proposals of its own would go beyond its share; so the next sub-problem begins with what is
    known, as if this one had ended. It begins anew when this one has. It proposes no more than were
    pending: where one of these takes for ever, this sub-problem still comes to its end.
    """

    begun: Begun[Any]
    allowance: Allowance
    begin_next: Callable[[], Begun[Any]] | None = None
    _proposed: float = 0.0
    _next: Begun[Any] | None = None
    _left_to_next: int = 0

    def propose(self, book: Book) -> tuple[Begun[Any], str, Candidate] | None:
        """Return a new proposal with the sub-problem that asks for it."""
        if self._next is None and self.begin_next and self.allowance.is_proposed(self._proposed):
            self._next = self.begin_next()
            self._left_to_next = sum(key in book.pending for key in self.begun.asked)
        if self._next is not None and self._left_to_next:
            ahead = self._next.next(book)
            # What is known already brings the next sub-problem nothing: it is given all results.
            if ahead is not None and ahead[0] not in book.keys:
                return self._next, *ahead
        found = self.begun.next(book)
        return None if found is None else (self.begun, *found)

    def count(self, begun: Begun[Any], candidate: Candidate) -> None:
        """Note that a proposal is evaluated."""
        if begun is self.begun:
            self._proposed += candidate.fidelity
        else:
            self._left_to_next -= 1

    def learn(self, results: Sequence[Evaluation], book: Book) -> list[Observation[Any]]:
        """Tell the solvers the results, and return those of the sub-problem itself."""
        if self._next is not None:
            self._next.learn(results, book)
        return self.begun.learn(results, book)


def solve(
    book: Book,
    begun: Begun[PointT],
    allowance: Allowance,
    is_enough: Callable[[Sequence[Evaluation], Sequence[Observation[PointT]]], bool] | None = None,
    patience: Patience = PATIENT,
    begin_next: Callable[[], Begun[Any]] | None = None,
) -> Search:
    """Let a solver work on a sub-problem after its `begin`.

    The sub-problem ends when enough results are in, or when `is_enough` says so; it is given all
    new results and the observations made of them for the solver. Pending evaluations then go on,
    and their results reach any later sub-problem containing them, so no worker waits between two
    sub-problems. If the solver has no other point, the sub-problem waits only for results inside
    its space. It also ends when `patience` runs out: after a run of proposals already in the
    book or excluded beforehand by a limit. The driver never sees excluded ones: the solver is told
    of a failure at once, and they do not count as evaluations. What `begin_next` begins is asked
    while the last results are pending (see `Asking`).
    """
    done, stale, refused = 0.0, 0, 0
    asking = Asking(begun, allowance, begin_next)
    while not allowance.is_spent(done) and stale < patience.repeats and refused < patience.refused:
        found = asking.propose(book)
        if found is not None:
            asker, key, candidate = found
            if (excluded := book.refuse(key, candidate)) is not None:
                refused += 1
                asker.learn([excluded], book)
                # No result is due here, but the driver must be able to stop the search.
                if refused % BREATH:
                    continue
                results = yield WAIT
            else:
                refused = 0
                asking.count(asker, candidate)
                book.ask_for(key, candidate)
                results = yield Proposal(candidate, asker.origin)
        elif begun.awaits(book):
            results = yield WAIT
        else:
            return
        # `keys` grows only by new candidates, so an answer without growth was a repetition.
        known = len(book.keys)
        book.receive(results)
        learned = asking.learn(results, book)
        if is_enough is not None and is_enough(results, learned):
            return
        # Two evaluations on half of the rows cost as much as a whole one.
        done += sum(observation.fidelity for observation in learned)
        stale = 0 if len(book.keys) > known or not results else stale + 1
