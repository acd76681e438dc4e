"""What a search does with pipelines that were good elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Candidate, Choice, Condition, Parameter, SearchSpace
from automl_admm.core.subproblems import Observation, SelectionSubproblem, ThetaSubproblem
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.protocol import WAIT, Book, Proposal, Search, SearchProblem
from automl_admm.search.starts import SPARE, beginning, default_start, evaluate_starts

SPACE = SearchSpace(
    (Choice("kind", ("a", "b", "c")),),
    tuple(Parameter(f"{k}.x", 0, 1, default=0.0, when=Condition("kind", (k,))) for k in "abc"),
)
LOSSES = {"a": 0.5, "b": 0.2, "c": 0.9}


def candidate(kind: str, x: float) -> Candidate:
    theta = np.full(len(SPACE.parameters), x)
    return SPACE.candidate(SPACE.complete({"kind": kind}), theta)


PORTFOLIO = (candidate("c", 0.3), candidate("b", 0.7), candidate("a", 0.4))
PROBLEM = SearchProblem(SPACE, repr, (default_start(SPACE),), portfolio=PORTFOLIO)


def answer(event: Proposal) -> list[Evaluation]:
    kind = str(event.candidate.selection.get("kind"))
    return [
        Evaluation(1, repr(event.candidate), event.candidate, Status.SUCCESS, LOSSES[kind], (), 0.1)
    ]


def asked(
    search: Search, answer: Callable[[Proposal], list[Evaluation]] = answer
) -> Iterator[Candidate]:
    """Yield the candidates that a search begins with, each answered at once."""
    event = next(search)
    while isinstance(event, Proposal) and event.origin == "start":
        yield event.candidate
        try:
            event = search.send(answer(event))
        except StopIteration:
            return


class Watched:
    """Notes where θ-min begins, and asks for nothing."""

    def __init__(self) -> None:
        self.begun: list[ThetaSubproblem | SelectionSubproblem] = []

    def begin(self, subproblem: ThetaSubproblem | SelectionSubproblem) -> None:
        self.begun.append(subproblem)

    def ask(self, count: int, pending: object) -> list[Array]:
        return []

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        raise AssertionError("it asked for nothing")


def test_it_comes_after_the_start_and_in_its_order() -> None:
    found = list(asked(evaluate_starts(PROBLEM, Book.of(PROBLEM))))
    assert found == [default_start(SPACE), *PORTFOLIO]


def test_a_model_that_was_never_within_the_limits_is_not_tried_again() -> None:
    """Of b and c one each is tried, and all of a."""
    limited = replace(
        PROBLEM,
        limits=(Limit("size", 1.0),),
        model=lambda one: str(one.selection.get("kind")),
        portfolio=tuple(candidate(kind, x) for x in (0.3, 0.7) for kind in "bca"),
    )
    sizes = {"a": 0.5, "b": 2.0, "c": 3.0}

    def sized(event: Proposal) -> list[Evaluation]:
        size = sizes[str(event.candidate.selection.get("kind"))]
        return [replace(one, constraints=(size,)) for one in answer(event)]

    def kinds(problem: SearchProblem) -> str:
        found = asked(evaluate_starts(problem, Book.of(problem)), sized)
        return "".join(str(one.selection.get("kind")) for one in found)

    assert kinds(limited) == "abcaa"
    assert kinds(replace(limited, limits=())) == "abcabca"


def test_what_is_known_is_not_asked_for_again() -> None:
    known = (answer(Proposal(PORTFOLIO[1], "start"))[0],)
    problem = replace(PROBLEM, known=known)
    found = list(asked(evaluate_starts(problem, Book.of(problem))))
    assert found == [default_start(SPACE), PORTFOLIO[0], PORTFOLIO[2]]


@pytest.mark.parametrize(("deadline", "count"), [(20.0, 4), (5.0, 3), (3.0, 2), (1.0, 1)])
def test_it_ends_with_half_of_the_time(deadline: float, count: int) -> None:
    """The start is evaluated in any case; each evaluation takes a second."""
    now = [0.0]
    problem = replace(PROBLEM, deadline=deadline, clock=lambda: now[0])
    found = []
    for one in asked(evaluate_starts(problem, Book.of(problem))):
        found.append(one)
        now[0] += 1.0
    assert found == [default_start(SPACE), *PORTFOLIO][:count]


def test_the_search_begins_at_the_best_and_at_its_parameters() -> None:
    theta, z = Watched(), Watched()
    search = admm(PROBLEM, theta, z)  # type: ignore[arg-type]
    assert list(asked(search))[-1] == PORTFOLIO[-1]
    first, second = theta.begun[0], z.begun[0]
    assert [one.name for one in first.parameters] == ["b.x"]
    assert first.start.tolist() == [0.7]
    assert str(second.start.get("kind")) == "b"
    # z-min is told of the others at their own parameters.
    assert len(second.history) + len(second.elsewhere) >= 3


def failed(one: Candidate) -> Evaluation:
    return Evaluation(1, repr(one), one, Status.ERROR)


def test_a_free_worker_tries_other_selections_at_the_parameters_of_the_start() -> None:
    start = candidate("b", 0.7)
    problem = replace(PROBLEM, starts=(start,), portfolio=())
    search = evaluate_starts(problem, Book.of(problem))
    first, *others = [next(search), search.send([]), search.send([])]
    assert isinstance(first, Proposal)
    assert first.candidate == start
    assert {one.origin for one in others if isinstance(one, Proposal)} == {SPARE}
    found = {one.candidate for one in others if isinstance(one, Proposal)}
    # The parameters of other selections are those that ADMM begins with: their defaults.
    assert found == {candidate("a", 0.0), candidate("c", 0.0)}
    # All three selections are on their way: now it must wait.
    assert search.send([]) is WAIT
    with pytest.raises(StopIteration):
        search.send(answer(first))


def test_one_worker_sees_no_other_selection_even_after_a_failure() -> None:
    problem = replace(PROBLEM, starts=(candidate("a", 0.1), candidate("b", 0.7)), portfolio=())
    search = evaluate_starts(problem, Book.of(problem))
    assert next(search) == Proposal(problem.starts[0], "start")
    assert search.send([failed(problem.starts[0])]) == Proposal(problem.starts[1], "start")
    with pytest.raises(StopIteration):
        search.send([failed(problem.starts[1])])


def test_if_all_starts_fail_the_search_begins_at_the_best_of_the_others() -> None:
    problem = replace(PROBLEM, portfolio=())
    book = Book.of(problem)
    search = evaluate_starts(problem, book)
    start, other = next(search), search.send([])
    assert isinstance(start, Proposal)
    assert isinstance(other, Proposal)
    # A failure alone does not end it: the other may succeed yet.
    search.send([failed(start.candidate)])
    with pytest.raises(StopIteration):
        search.send(answer(other))
    assert beginning(problem, book) == other.candidate
