from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from automl_admm.builtin.z.learner import Learner, Record, neighbour
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)
START = SPACE.complete({})
LINE = SPACE.complete({"model": "line"})


class Stubborn(Learner):
    """Always wants the same."""

    def __init__(self, wish: Selection | None) -> None:
        super().__init__()
        self.wish = wish
        self.seen: list[list[Selection]] = []

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        self.seen.append(list(waiting))
        return self.wish


def begun(wish: Selection | None, *history: Observation[Selection], seed: int = 0) -> Stubborn:
    solver = Stubborn(wish)
    solver.begin(SelectionSubproblem(SPACE, START, history, seed=seed))
    return solver


def test_the_start_comes_first_unless_it_is_known() -> None:
    assert begun(LINE).ask(2, []) == [START, LINE]
    assert begun(LINE, Observation(START, 1.0)).ask(1, []) == [LINE]


def test_what_is_proposed_together_is_pending_for_what_follows() -> None:
    solver = begun(LINE, Observation(START, 1.0))
    pending = SPACE.complete({"steps": ("c", "b", "a")})
    proposals = solver.ask(3, [pending])
    assert solver.seen == [[pending], [pending, LINE], [pending, *proposals[:2]]]
    assert len({pending, START, *proposals}) == 5


@pytest.mark.parametrize("wish", [LINE, None])
def test_a_wish_that_is_known_is_replaced_until_nothing_is_left(wish: Selection | None) -> None:
    solver = begun(wish)
    seen = []
    for _ in range(18):
        (point,) = solver.ask(1, [])
        solver.tell([Observation(point, float(len(seen)))])
        seen.append(point)
    assert len(set(seen)) == 18  # all there are
    assert solver.ask(1, []) == [START]  # the best, again


def test_the_latest_price_counts_and_counts_once() -> None:
    solver = begun(LINE, Observation(LINE, 1.0), Observation(START, 2.0))
    solver.begin(SelectionSubproblem(SPACE, START, (Observation(LINE, 5.0),)))
    assert solver._record.losses == {LINE: 5.0, START: 2.0}
    assert solver._record.best() == START


def test_what_was_known_with_other_parameters_may_be_proposed_again() -> None:
    solver = begun(LINE, Observation(LINE, 1.0), Observation(START, 2.0))
    assert LINE not in solver.ask(5, [])
    solver.begin(SelectionSubproblem(SPACE, START))
    assert solver.ask(2, []) == [START, LINE]


def test_another_space_is_another_matter() -> None:
    solver = begun(LINE, Observation(LINE, 1.0))
    other = SearchSpace((Choice("model", ("tree", "line")),))
    solver.begin(SelectionSubproblem(other, other.complete({})))
    assert solver._record.losses == {}


def test_failures_are_worse_than_anything() -> None:
    record = Record()
    told = [(START, math.nan, False), (LINE, 3.0, True), (SPACE.complete({"steps": "cab"}), 9.0, 0)]
    record.enter([Observation(point, loss, failed=bool(failed)) for point, loss, failed in told])
    assert list(record.losses.values()) == [math.inf, math.inf, 9.0]
    assert record.best() == told[2][0]
    assert Record().best() is None


def test_a_neighbour_differs_in_one_decision_and_what_hangs_on_it() -> None:
    rng = np.random.default_rng(0)
    found = [neighbour(SPACE, LINE, rng) for _ in range(200)]
    assert all(SPACE.complete(dict(point.picks)) == point for point in found)
    changed = [
        {name for name in ("model", "kernel", "steps") if point.get(name) != LINE.get(name)}
        for point in found
    ]
    assert {frozenset(names) for names in changed} == {
        frozenset(),
        frozenset({"kernel"}),
        frozenset({"steps"}),
        frozenset({"model", "kernel"}),
    }
    apart = {sum(x != y for x, y in zip(p.get("steps"), "abc", strict=True)) for p in found}
    assert apart == {0, 2}  # one exchange


def test_a_neighbour_keeps_what_is_fixed() -> None:
    rng = np.random.default_rng(0)
    assert {neighbour(SPACE, LINE, rng, fixed="model").get("model") for _ in range(50)} == {"line"}
    alone = SearchSpace((Choice("model", ("tree", "line")),))
    line = alone.complete({"model": "line"})
    assert {neighbour(alone, line, rng, fixed="model") for _ in range(20)} == {line}
