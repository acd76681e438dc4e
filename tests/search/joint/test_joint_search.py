"""The joint search as its driver and its solver see it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array, Candidate, Choice, Condition, Parameter, SearchSpace
from automl_admm.core.subproblems import AtFidelity, Observation, ThetaSubproblem
from automl_admm.search.joint.joint_search import joint
from automl_admm.search.protocol import Proposal, SearchProblem, derive_seed
from automl_admm.search.starts import default_start, draw_candidate

SPACE = SearchSpace((Choice("kind", ("a", "b", "c")),))


class Asking:
    """Asks for the next of its points, and keeps what was pending."""

    def __init__(self, *points: Sequence[float]) -> None:
        self.points = [np.array(point) for point in points]
        self.pending: list[list[list[float]]] = []

    def begin(self, subproblem: ThetaSubproblem) -> None:
        assert len(subproblem.parameters) == 3

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        self.pending.append([point.tolist() for point in pending])
        return [self.points.pop(0)] if self.points else []

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        raise AssertionError("nothing has ended")


def test_what_is_pending_is_shown_where_it_was_asked_for() -> None:
    """The point of its candidate lies elsewhere: told of that, a model would ask for it again."""
    solver = Asking([0.1, 0.6, 0.2], [0.3, 0.1, 0.4])
    search = joint(SearchProblem(SPACE, repr, (default_start(SPACE),)), solver)
    start = next(search)
    assert isinstance(start, Proposal)
    known = Evaluation(0, repr(start.candidate), start.candidate, Status.SUCCESS, 1.0)
    assert isinstance(search.send([known]), Proposal)
    assert isinstance(search.send([]), Proposal)
    assert solver.pending == [[], [[0.1, 0.6, 0.2]]]


LINE = SearchSpace((), (Parameter("x", 0, 1),))


class Stepping:
    """Asks for one point after another, half of them at half of the rows."""

    def __init__(self) -> None:
        self.begun: list[ThetaSubproblem] = []
        self.told = 0
        self.asked = 0

    def begin(self, subproblem: ThetaSubproblem) -> None:
        self.begun.append(subproblem)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array | AtFidelity[Array]]:
        self.asked += 1
        point = np.array([self.asked * 37 % 97 / 97.0])
        return [AtFidelity(point, 0.5) if self.asked % 2 else point]

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        self.told += len(observations)


def drive(solver: Stepping, bound: float, count: int) -> None:
    """Let four evaluations be in flight; the loss is x, the constraint 1 − x."""
    problem = SearchProblem(
        LINE,
        repr,
        (Candidate(default_start(LINE).selection, (0.9,)),),
        limits=(Limit("g", bound),),
        evaluations=60,
        lowest_fidelity=0.5,
    )
    search = joint(problem, solver)
    event, flying = next(search), list[Evaluation]()
    for number in range(count):
        assert isinstance(event, Proposal)
        (x,) = event.candidate.theta
        key = repr(event.candidate)
        found = Evaluation(number, key, event.candidate, Status.SUCCESS, x, (1.0 - x,))
        flying.append(found)
        results = [flying.pop(0)] if len(flying) > 4 or number == 0 else []
        event = search.send(results)


def test_a_review_that_changes_nothing_loses_no_result() -> None:
    """Of an evaluation on a part of the rows only the one is told that asked for it."""
    solver = Stepping()
    drive(solver, 2.0, 40)
    assert len(solver.begun) == 1
    assert solver.told == 35


def test_where_the_penalty_changes_the_rest_of_the_search_begins_at_the_best() -> None:
    """Losses fall towards where the limit is broken."""
    solver = Stepping()
    drive(solver, 0.45, 40)
    first, *others = solver.begun
    assert first.start == pytest.approx([0.9])
    assert first.evaluations == 60
    assert others
    assert all(0.55 <= other.start[0] < 0.9 for other in others)
    left = [problem.evaluations or 0 for problem in solver.begun]
    assert left == sorted(left, reverse=True)
    assert len({problem.seed for problem in solver.begun}) == len(solver.begun)


class Silent:
    """Asks for nothing, so that every candidate is a draw."""

    def begin(self, subproblem: ThetaSubproblem) -> None:
        pass

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        return []

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        pass


def success(space: SearchSpace, candidate: Candidate) -> Evaluation:
    return Evaluation(0, repr(space.values(candidate)), candidate, Status.SUCCESS, 1.0)


def draw_all(space: SearchSpace, known: Sequence[Evaluation], count: int) -> list[Evaluation]:
    """Return the first evaluations of a session that begins with known ones."""
    starts = (default_start(space),)
    problem = SearchProblem(space, lambda c: success(space, c).key, starts, known=tuple(known))
    search, found = joint(problem, Silent()), list[Evaluation]()
    with suppress(StopIteration):
        event = next(search)
        while isinstance(event, Proposal) and len(found) < count:
            found.append(success(space, event.candidate))
            event = search.send(found[-1:])
    return found


def test_a_session_that_begins_anew_draws_other_candidates_than_the_first() -> None:
    """With the seed of the first it drew all of these again, and gave an endless space up."""
    first = draw_all(LINE, (), 600)
    again = draw_all(LINE, first, 5)
    assert len(again) == 5
    assert {one.key for one in again}.isdisjoint(one.key for one in first)


def test_a_fresh_session_draws_as_ever() -> None:
    """Runs to be made again hold these draws."""
    rng = np.random.default_rng(derive_seed(0, "untried"))
    _, *drawn = draw_all(LINE, (), 4)
    assert [one.candidate for one in drawn] == [draw_candidate(LINE, rng) for _ in drawn]


def test_the_rare_part_of_an_endless_space_is_drawn_at_last() -> None:
    """One draw of 4 096 has an axis, all others are known."""
    names = tuple(map(str, range(64)))
    last = names[-1]
    inner = Choice("inner", names, when=Condition("outer", (last,)))
    rare = Parameter("x", 0, 1, when=Condition("inner", (last,)))
    space = SearchSpace((Choice("outer", names), inner), (rare,))
    picks = [{"outer": name} for name in names[:-1]]
    picks += [{"outer": last, "inner": name} for name in names[:-1]]
    known = [space.candidate(space.complete(pick), space.default_theta()) for pick in picks]
    found = draw_all(space, [success(space, one) for one in known], 3)
    assert [one.candidate.selection.get("inner") for one in found] == [last] * 3


def test_a_finite_space_is_used_up() -> None:
    """An axis of a single number is no endless one."""
    space = SearchSpace(SPACE.decisions, (Parameter("x", 2, 2),))
    assert len(draw_all(space, (), 9)) == 3
