"""The joint search as its driver and its solver see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.joint.loop import joint
from automl_admm.problem import Evaluation, Observation, Status, ThetaSubproblem
from automl_admm.search import Proposal, SearchProblem, default_start
from automl_admm.space import Array, Choice, SearchSpace

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
