from __future__ import annotations

import math

import pytest

from automl_admm.builtin.z.mcts import Tally, Tree, TreeSearch, paths_of
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)
WIDE = SearchSpace(
    (
        Choice("one", tuple(f"o{i}" for i in range(40))),
        Choice("two", tuple(f"t{i}" for i in range(9))),
    )
)


def begun(space: SearchSpace, *history: Observation[Selection]) -> TreeSearch:
    solver = TreeSearch(exploration=0.1)
    solver.begin(SelectionSubproblem(space, space.complete({}), history, seed=1))
    return solver


def test_an_order_is_laid_item_by_item_and_inactive_choices_are_no_level() -> None:
    tree = SPACE.complete({"model": "tree", "steps": ("b", "a", "c")})
    assert list(paths_of(tree)) == [(), ("tree",), ("tree", "b"), ("tree", "b", "a")]
    line = SPACE.complete({"model": "line", "kernel": "poly", "steps": ("c", "a", "b")})
    assert list(paths_of(line))[-1] == ("line", "poly", "c", "a")


def test_a_tally_knows_failures_as_visits() -> None:
    tally = Tally()
    for loss in (1.0, 3.0, math.inf):
        tally.add(loss)
    assert (tally.visits, tally.successes, tally.mean) == (3, 2, 2.0)
    assert Tally().mean == math.inf


def test_nodes_and_arms_are_tallied() -> None:
    tree = Tree()
    tree.add(SPACE.complete({"steps": ("a", "b", "c")}), 1.0)
    tree.add(SPACE.complete({"steps": ("b", "a", "c")}), 3.0)
    assert tree.nodes[()].mean == tree.nodes[("tree",)].mean == 2.0
    assert tree.nodes["tree", "b"].mean == 3.0
    assert tree.arms["steps", "c", 2].visits == 2


def test_children_open_as_visits_grow() -> None:
    solver = begun(WIDE)
    opened: set[object] = set()
    for _ in range(64):
        (point,) = solver.ask(1, [])
        opened.add(point.get("one"))
        solver.tell([Observation(point, float(str(point.get("two"))[1:]))])
    assert 8 <= len(opened) <= 24  # without widening all 40 come first


def test_it_goes_where_rewards_are() -> None:
    solver = begun(WIDE)
    points = []
    for _ in range(80):
        (point,) = solver.ask(1, [])
        points.append(point)
        loss = float(point.get("two") != "t3") + float(str(point.get("one"))[1:]) / 40
        solver.tell([Observation(point, loss)])
    assert [point.get("two") for point in points[40:]].count("t3") > 12  # by chance 4


def test_what_is_told_again_is_counted_once_at_its_latest_loss() -> None:
    point = SPACE.complete({"model": "line"})
    solver = begun(SPACE, Observation(point, 1.0))
    solver.tell([Observation(point, 4.0)])
    assert (solver._tree.nodes[()].visits, solver._tree.nodes[()].mean) == (1, 4.0)
    solver.begin(SelectionSubproblem(SPACE, point, (Observation(point, 7.0),)))
    assert (solver._tree.nodes[()].visits, solver._tree.nodes[()].mean) == (1, 7.0)
    other = SPACE.complete({"model": "tree"})
    solver.tell([Observation(other, 1.0), Observation(other, 3.0)])
    assert (solver._tree.nodes[()].visits, solver._tree.nodes[()].mean) == (2, 5.0)


@pytest.mark.parametrize("count", [4, 12])
def test_pending_points_send_it_elsewhere(count: int) -> None:
    solver = begun(SPACE)
    first = solver.ask(count, [])
    assert len({*first, *solver.ask(4, first)}) == count + 4


def test_a_branch_of_failures_is_left() -> None:
    solver = begun(WIDE)
    failing = []
    for _ in range(70):
        (point,) = solver.ask(1, [])
        fails = int(str(point.get("one"))[1:]) % 2 == 0
        failing.append(fails)
        solver.tell([Observation(point, float(str(point.get("two"))[1:]), failed=fails)])
    assert sum(failing[35:]) < 0.4 * len(failing[35:])


def test_what_is_told_again_leaves_the_tree_that_its_latest_losses_make() -> None:
    space = WIDE
    points = [space.complete({"one": f"o{i}", "two": f"t{i % 3}"}) for i in range(6)]
    solver = begun(space, *(Observation(point, float(i)) for i, point in enumerate(points)))
    solver.tell([Observation(points[0], 7.0), Observation(points[1], 1.0, failed=True)])
    solver.tell([Observation(points[1], 0.5), Observation(points[0], 3.0)])
    again = Tree()
    for point, loss in zip(points, [3.0, 0.5, 2.0, 3.0, 4.0, 5.0], strict=True):
        again.add(point, loss)
    assert solver._tree == again


@pytest.mark.parametrize("giant", [1e18, 1e308])
def test_a_giant_that_is_taken_out_takes_no_digits_with_it(giant: float) -> None:
    one, other = WIDE.complete({"one": "o1"}), WIDE.complete({"one": "o2"})
    solver = TreeSearch(exploration=0.1)
    history = (Observation(one, 0.25),)
    elsewhere = (
        Observation(other, giant),
        Observation(WIDE.complete({"one": "o3"}), giant, failed=giant < 1e300),
    )
    start = WIDE.complete({})
    solver.begin(SelectionSubproblem(WIDE, start, history, seed=1, elsewhere=elsewhere))
    solver.tell([Observation(point, 0.5) for point, _ in ((e.point, e.loss) for e in elsewhere)])
    assert solver._tree.nodes[()].mean == pytest.approx((0.25 + 0.5 + 0.5) / 3)
