"""A solver at work: while its last results are pending, the next sub-problem is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.core.subproblems import Observation
from automl_admm.search.protocol import Allowance, Book, Proposal
from automl_admm.search.solving import Begun, solve


class Shelf:
    """The candidates of one name, numbered; a solver's point is the number."""

    def __init__(self, name: str) -> None:
        self.name = name

    def candidate(self, point: int) -> Candidate:
        return Candidate(Selection((("shelf", self.name),)), (float(point),))

    def locate(self, candidate: Candidate) -> int | None:
        is_here = dict(candidate.selection.picks)["shelf"] == self.name
        return int(candidate.theta[0]) if is_here else None

    def price(self, evaluation: Evaluation, point: int) -> float:
        del point
        return evaluation.loss


class Counting:
    """Proposes 0, 1, 2 and so on, or one number for ever; notes what it was told."""

    def __init__(self, always: int | None = None) -> None:
        self.always = always
        self.asked = 0
        self.told: list[int] = []

    def ask(self, count: int, pending: Sequence[int]) -> list[int]:
        del count, pending
        self.asked += 1
        return [self.asked if self.always is None else self.always]

    def tell(self, observations: Sequence[Observation[int]]) -> None:
        self.told += [one.point for one in observations]


class Run:
    """A sub-problem of a share of evaluations, with so many workers; `next` is the one after."""

    def __init__(self, share: int, *, after: Counting | None = None) -> None:
        self.book = Book(key=str)
        self.own, self.after = Counting(), after or Counting()
        self.begun: list[int] = []
        self.origins: list[str] = []
        allowance = Allowance(share, None, lambda: 0.0)
        own = Begun(Shelf("own"), self.own, "own")
        self._search = solve(self.book, own, allowance, begin_next=self._begin)

    def _begin(self) -> Begun[int]:
        self.begun.append(len(self.origins))
        return Begun(Shelf("next"), self.after, "next")

    def go(self, workers: int, stuck: int = -1) -> None:
        """Evaluate in the order of asking; the proposal of the place `stuck` never ends."""
        running, results = deque[Candidate](), list[Evaluation]()
        for _ in range(200):
            try:
                event = self._search.send(results) if self.origins else next(self._search)
            except StopIteration:
                return
            assert isinstance(event, Proposal)
            if len(self.origins) != stuck:
                running.append(event.candidate)
            self.origins.append(event.origin)
            is_full = len(running) + (len(self.origins) > stuck >= 0) >= workers
            results = [_ended(running.popleft())] if is_full else []
        raise AssertionError("it does not end")


def _ended(candidate: Candidate) -> Evaluation:
    return Evaluation(1, str(candidate), candidate, Status.SUCCESS, 1.0)


def test_with_one_worker_the_next_sub_problem_never_begins() -> None:
    run = Run(share=5)
    run.go(workers=1)
    assert run.origins == ["own"] * 5
    assert not run.begun


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_what_is_asked_for_while_the_last_results_are_pending_is_of_the_next(workers: int) -> None:
    run = Run(share=10)
    run.go(workers)
    # The results of all but the last `workers` − 1 of its share were in: so many were pending.
    assert run.origins == ["own"] * 10 + ["next"] * (workers - 1)
    assert run.begun == [10]
    assert run.own.told == list(range(1, 11))
    assert not run.after.told


def test_results_of_the_next_reach_its_solver_meanwhile() -> None:
    run = Run(share=3)
    # The second of three never ends: so the sub-problem waits while the next goes on.
    run.go(workers=2, stuck=1)
    assert run.after.told


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_one_that_takes_for_ever_holds_up_no_sub_problem(workers: int) -> None:
    run = Run(share=10)
    run.go(workers, stuck=4)
    assert run.origins.count("next") <= workers - 1
    assert len(run.own.told) == 10


def test_what_is_known_already_is_not_asked_for_again() -> None:
    run = Run(share=4, after=Counting(always=7))
    known = Shelf("next").candidate(7)
    run.book.receive([_ended(known)])
    run.go(workers=4)
    assert set(run.origins) == {"own"}
    assert run.begun
