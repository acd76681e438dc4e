from __future__ import annotations

import pytest

from automl_admm.builtin.z.exhaustive import ExhaustiveSelections, all_selections
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)
START = SPACE.complete({"model": "line"})


def begun(seed: int, *history: Observation[Selection]) -> ExhaustiveSelections:
    solver = ExhaustiveSelections()
    solver.begin(SelectionSubproblem(SPACE, START, history, seed=seed))
    return solver


def test_all_selections_of_choices_conditions_and_orders() -> None:
    found = all_selections(SPACE)
    assert len(found) == len(set(found)) == (1 + 2) * 6
    assert all(SPACE.complete(dict(selection.picks)) == selection for selection in found)
    assert all_selections(SearchSpace()) == [Selection(())]


def test_each_comes_once_the_start_first_and_then_nothing() -> None:
    solver = begun(0)
    points: list[Selection] = []
    for _ in range(9):
        asked = solver.ask(2, [])
        points += asked
        solver.tell([Observation(point, 1.0) for point in asked])
    assert points[0] == START
    assert set(points) == set(all_selections(SPACE))
    assert solver.ask(1, []) == []


def test_the_order_is_that_of_the_seed() -> None:
    assert begun(1).ask(18, []) == begun(1).ask(18, [])
    assert begun(1).ask(18, []) != begun(2).ask(18, [])


def test_what_is_known_or_pending_is_left_out() -> None:
    known, pending = all_selections(SPACE)[:2]
    points = begun(1, Observation(known, 1.0)).ask(18, [pending])
    assert len(points) == 16
    assert not {known, pending} & set(points)


def test_with_new_parameters_it_begins_anew() -> None:
    solver = begun(1)
    solver.tell([Observation(point, 1.0) for point in all_selections(SPACE)])
    solver.begin(SelectionSubproblem(SPACE, START, seed=2))
    assert len(solver.ask(99, [])) == 18


def test_a_space_with_too_many_selections_is_refused_politely() -> None:
    space = SearchSpace((Order("steps", tuple("abcdefghijklmnop")),))
    with pytest.raises(ConfigurationError, match="more than 100000 selections"):
        ExhaustiveSelections().begin(SelectionSubproblem(space, space.complete({})))
