"""Where a search begins if a starting point fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Choice, SearchSpace
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.joint.joint_search import joint
from automl_admm.search.protocol import Book, Proposal, Search, SearchProblem

SPACE = SearchSpace((Choice("kind", ("first", "second", "third")),))


def start(kind: str) -> Candidate:
    return Candidate(SPACE.complete({"kind": kind}), ())


def key(candidate: Candidate) -> str:
    return str(candidate.selection.get("kind"))


PROBLEM = SearchProblem(SPACE, key, (start("first"), start("second"), start("third")))


class Noting:
    """A solver of either kind that notes where it is to begin, and proposes nothing."""

    def __init__(self) -> None:
        self.starts: list[object] = []

    def begin(self, subproblem) -> None:
        self.starts.append(subproblem.start)

    def ask(self, count, pending) -> list:
        return []

    def tell(self, observations) -> None:
        pass


def drive(search: Search, failing: set[str]) -> None:
    """Answer what a search proposes until it ends; what is failing fails."""
    event = next(search)
    while True:
        results = []
        if isinstance(event, Proposal):
            found = Evaluation(1, key(event.candidate), event.candidate, Status.SUCCESS, 1.0)
            lost = replace(found, status=Status.ERROR, loss=float("nan"))
            results = [lost if found.key in failing else found]
        try:
            event = search.send(results)
        except StopIteration:
            return


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        (set(), "first"),
        ({"first"}, "second"),
        ({"first", "second"}, "third"),
        ({"first", "second", "third"}, "first"),
    ],
)
def test_a_search_begins_at_the_first_start_that_did_not_fail(failing, expected):
    z_solver, theta_solver = Noting(), Noting()
    drive(admm(PROBLEM, Noting(), z_solver), failing)
    assert z_solver.starts[0].get("kind") == expected
    drive(joint(PROBLEM, theta_solver), failing)
    labels = SPACE.decisions[0].alternatives
    assert labels[int(np.argmax(theta_solver.starts[0]))] == expected


@pytest.mark.parametrize("strategy", [admm, joint])
def test_a_start_that_a_limit_excludes_is_not_evaluated(strategy: Callable[..., Search]) -> None:
    places = {"first": 5.0, "second": 1.0, "third": 2.0}
    problem = replace(
        PROBLEM,
        limits=(Limit("place", 4.0), Limit("dear", 1.0)),
        cheap={"place": lambda candidate: places[key(candidate)]},
    )
    proposed: list[str] = []
    solvers = [Noting(), Noting()][: 1 if strategy is joint else 2]
    search = strategy(problem, *solvers)
    with suppress(StopIteration):
        event = next(search)
        while True:
            results: list[Evaluation] = []
            if isinstance(event, Proposal):
                proposed.append(key(event.candidate))
                within = (0.0, 0.0)
                results.append(
                    Evaluation(1, proposed[-1], event.candidate, Status.SUCCESS, 1.0, within)
                )
            event = search.send(results)
    assert proposed == ["second", "third"]


def test_what_is_excluded_is_told_as_a_failure_with_the_value_that_is_known() -> None:
    limits = (Limit("place", 4.0), Limit("dear", 1.0))
    book = Book.of(replace(PROBLEM, limits=limits, cheap={"place": lambda candidate: 5.0}))
    found = book.refuse("first", start("first"))
    assert found is not None
    assert found.status is Status.SKIPPED
    assert found.constraints[0] == 5.0
    assert np.isnan(found.constraints[1])
    assert not book.keys
    assert book.refuse("first", start("first")) == found
    assert len(book.evaluations) == 1
