from __future__ import annotations

import math
from collections import Counter

import pytest

from automl_admm.builtin.z.rising import Curve, RisingBandits, choice_of_arms
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


def begun(evaluations: int | None = 60, window: int = 3) -> RisingBandits:
    solver = RisingBandits(window)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), evaluations=evaluations, seed=2))
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


def test_a_dear_arm_is_judged_by_the_pulls_that_the_time_left_buys() -> None:
    solver = begun(evaluations=20)
    search(solver, 6, {"tree": 4.0, "line": 1.0, "net": 1.0})
    members = solver._members()
    left = {arm: solver._pulls_left(solver._curve(members[arm])) for arm in LOSS}
    assert left == {"tree": 14 * 2.0 / 4.0, "line": 28.0, "net": 28.0}
    assert begun(evaluations=20)._pulls_left(Curve((), 0.0)) == 20.0


def test_without_a_number_of_evaluations_as_many_are_expected_as_were_made() -> None:
    solver = begun(evaluations=None)
    search(solver, 6)
    assert solver._pulls_left(Curve((), 0.0)) == 6.0


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
