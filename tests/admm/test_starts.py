"""Where a search begins if a starting point fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from automl_admm.admm.loop import admm
from automl_admm.joint.loop import joint
from automl_admm.problem import Evaluation, Status
from automl_admm.search import Proposal, Search, SearchProblem
from automl_admm.space import Candidate, Choice, SearchSpace

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
