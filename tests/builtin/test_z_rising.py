from __future__ import annotations

import math
from collections import Counter

import pytest

from automl_admm.builtin.z.algorithms import choice_of_arms, members_of
from automl_admm.builtin.z.rising import Budget, Curve, RisingBandits
from automl_admm.problem import Observation, SelectionSubproblem
from automl_admm.space import Choice, Condition, Order, Parameter, SearchSpace, Selection

SPACE = SearchSpace(
    (
        Choice("scaler", tuple(f"s{i}" for i in range(6))),
        Choice("model", ("tree", "line", "net")),
        Choice("kernel", ("rbf", "poly", "flat"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    ),
    (
        Parameter("scaler.s1.width", 0, 1, when=Condition("scaler", ("s1",))),
        Parameter("model.tree.depth", 1, 9, kind="int", when=Condition("model", ("tree",))),
        Parameter("kernel.poly.degree", 1, 5, kind="int", when=Condition("kernel", ("poly",))),
    ),
)
LOSS = {"tree": 3.0, "line": 1.0, "net": 2.0}


def search(
    solver: RisingBandits, rounds: int, seconds: dict[str, float] | None = None
) -> list[str]:
    """Ask and tell; the loss is the arm's, so no arm ever grows."""
    pulled = []
    for _ in range(rounds):
        (point,) = solver.ask(1, [])
        arm = str(point.get("model"))
        took = (seconds or {}).get(arm, 0.0)
        solver.tell([Observation(point, LOSS[arm], LOSS[arm], (), took)])
        pulled.append(arm)
    return pulled


def begun(
    evaluations: int | None = 60, window: int = 3, seconds: float | None = None
) -> RisingBandits:
    solver = RisingBandits(window)
    start = SPACE.complete({})
    solver.begin(
        SelectionSubproblem(SPACE, start, evaluations=evaluations, seconds=seconds, seed=2)
    )
    return solver


def test_the_growth_rate_is_equation_10() -> None:
    curve = Curve((5.0, 4.0, 4.5, 2.0), 1.0)
    assert curve.reward == -2.0
    assert curve.growth(2) == (-2.0 - -4.0) / 2
    assert curve.growth(3) == (-2.0 - -5.0) / 3
    assert curve.growth(4) == math.inf


def test_the_upper_bound_adds_the_growth_over_what_is_left() -> None:
    curve = Curve((5.0, 4.0, 4.5, 2.0), 1.0)
    assert curve.upper_bound(2, 10.0) == -2.0 + 1.0 * 10.0
    assert curve.upper_bound(2, -3.0) == -2.0
    assert curve.upper_bound(7, 10.0) == math.inf


@pytest.mark.parametrize(
    ("losses", "bound"),
    [((math.inf,) * 4, -math.inf), ((math.inf, math.inf, math.inf, 1.0), math.inf), ((), math.inf)],
)
def test_failures_bound_what_they_can(losses: tuple[float, ...], bound: float) -> None:
    assert Curve(losses, 0.0).upper_bound(2, 5.0) == bound


def test_the_arms_are_those_of_the_choice_that_most_hangs_on() -> None:
    assert choice_of_arms(SPACE).name == "model"  # one parameter below a choice below it
    bare = SearchSpace((Choice("one", ("a", "b")), Choice("two", ("a", "b", "c"))))
    assert choice_of_arms(bare).name == "two"
    assert choice_of_arms(SearchSpace((Order("steps", ("a", "b")),))) is None


def test_arms_are_pulled_in_turn_and_dismissed_when_they_cannot_win() -> None:
    pulled = search(begun(window=3), 30)
    assert Counter(pulled[:12]) == {"tree": 4, "line": 4, "net": 4}
    assert set(pulled[12:]) == {"line"}


def test_an_arm_that_grows_stays() -> None:
    solver = begun(window=2)
    tree = [SPACE.complete({"model": "tree", "scaler": f"s{i}"}) for i in range(4)]
    line = [SPACE.complete({"model": "line", "scaler": f"s{i}"}) for i in range(4)]
    net = [SPACE.complete({"model": "net", "scaler": f"s{i}"}) for i in range(4)]
    solver.tell([Observation(p, 9.0 - i) for i, p in enumerate(tree)])
    solver.tell([Observation(p, 1.0) for p in line])
    solver.tell([Observation(p, 5.0) for p in net])
    solver.ask(2, [])
    assert solver._alive == ["tree", "line"]


def test_of_equals_one_stays() -> None:
    solver = begun(window=1)
    for model in LOSS:
        points = [SPACE.complete({"model": model, "scaler": f"s{i}"}) for i in range(3)]
        solver.tell([Observation(point, 1.0) for point in points])
    solver.ask(2, [])
    assert len(solver._alive) == 1


def test_of_evaluations_every_arm_may_have_all_that_are_left() -> None:
    solver = begun(evaluations=20)
    search(solver, 6, {"tree": 4.0, "line": 1.0, "net": 1.0})
    assert solver._budget.pulls_left(4.0, 6) == 14
    assert solver._budget.pulls_left(1.0, 6) == 14


def test_of_seconds_a_dear_arm_is_judged_by_the_pulls_that_the_time_left_buys() -> None:
    solver = begun(evaluations=None, seconds=20.0)
    search(solver, 6, {"tree": 4.0, "line": 1.0, "net": 0.5})
    curves = {
        arm: solver._curve(points) for arm, points in members_of(solver._record, "model").items()
    }
    assert {arm: curve.seconds for arm, curve in curves.items()} == {
        "tree": 4.0,
        "line": 1.0,
        "net": 0.5,
    }
    left = {arm: solver._budget.pulls_left(curves[arm].seconds, 6) for arm in LOSS}
    assert left == {"tree": 9.0 / 4.0, "line": 9.0, "net": 18.0}
    assert solver._budget.pulls_left(0.0, 6) == math.inf


def test_of_both_the_smaller_counts_and_of_neither_what_is_on_record() -> None:
    both = Budget(10, 4.0)
    assert both.pulls_left(1.0, 3) == 4.0
    assert both.pulls_left(0.1, 3) == 10
    assert Budget().pulls_left(1.0, 3) == 3.0


def test_a_growing_arm_that_is_dear_goes_only_where_the_budget_is_time() -> None:
    """Tree grows by 1 a pull and is 3 behind: its pulls could catch up, its seconds cannot."""
    for seconds, alive in ((None, ["tree", "line"]), (40.0, ["line"])):
        solver = begun(evaluations=None if seconds else 30, seconds=seconds, window=2)
        for i in range(4):
            tree = SPACE.complete({"model": "tree", "scaler": f"s{i}"})
            line = SPACE.complete({"model": "line", "scaler": f"s{i}"})
            solver.tell([Observation(tree, 9.0 - i, 9.0 - i, (), 8.0)])
            solver.tell([Observation(line, 3.0, 3.0, (), 0.5)])
        net = [SPACE.complete({"model": "net", "scaler": f"s{i}"}) for i in range(4)]
        solver.tell([Observation(point, 5.0) for point in net])
        solver.ask(2, [])
        assert solver._alive == alive


def test_arms_are_dismissed_between_rounds_only() -> None:
    """Algorithm 1: every arm that is left is pulled once before any is judged."""
    solver = begun(window=1)
    search(solver, 4)  # each arm once, and the first of the second round
    worst = SPACE.complete({"model": "net", "scaler": "s5"})
    solver.tell([Observation(worst, 2.0)])
    solver.ask(1, [])
    assert solver._alive == ["tree", "line", "net"]
    search(solver, 1)
    solver.ask(1, [])
    assert solver._alive == ["line"]


def test_a_new_sub_problem_judges_all_arms_again_by_what_is_on_record() -> None:
    solver = begun(window=3)
    search(solver, 20)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), evaluations=20, seed=3))
    assert solver._alive == ["tree", "line", "net"]
    assert set(search(solver, 5)[1:]) == {"line"}  # after the start, which is a tree


def test_an_order_alone_is_searched_without_arms() -> None:
    space = SearchSpace((Order("steps", ("a", "b", "c")),))
    solver = RisingBandits(7)
    solver.begin(SelectionSubproblem(space, space.complete({}), evaluations=9))
    points: list[Selection] = []
    for _ in range(6):
        points += solver.ask(1, [])
        solver.tell([Observation(points[-1], 1.0)])
    assert len(set(points)) == 6
