from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pytest

from automl_admm.builtin.theta.random_points import RandomTheta
from automl_admm.builtin.z.algorithms import choice_of_arms
from automl_admm.builtin.z.rising import Budget, Curve, RisingBandits
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    Selection,
)
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.search.admm.outer_loop import admm
from automl_admm.search.admm.settings import AdmmSettings, Precision
from automl_admm.search.protocol import Proposal, Search, SearchProblem
from automl_admm.search.starts import default_start

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
    curves = solver._curves(LOSS)
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
        solver.ask(1, [])  # the start
        solver.ask(1, [])
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


def test_an_arm_that_is_used_up_holds_up_no_judgement() -> None:
    """Mean has one selection; of the others all but line are flat and behind."""
    models = ("mean", "tree", "line", "net")
    hung = Condition("model", models[1:])
    space = SearchSpace((Choice("model", models), Choice("width", tuple("abcdefghij"), hung)))
    solver = RisingBandits(3)
    solver.begin(SelectionSubproblem(space, space.complete({}), evaluations=64, seed=2))
    pulled = []
    for _ in range(18):
        (point,) = solver.ask(1, [])
        pulled.append(str(point.get("model")))
        solver.tell([Observation(point, {"mean": 4.0, **LOSS}[pulled[-1]])])
    assert Counter(pulled[:13]) == {"mean": 1, "tree": 4, "line": 4, "net": 4}
    assert set(pulled[13:]) == {"line"}
    assert solver._alive == ["mean", "line"]  # what was pulled once may have any bound


BARE = SearchSpace((Choice("model", ("tree", "line")),))
TREE, LINE = (BARE.complete({"model": label}) for label in ("tree", "line"))


def told(
    losses: list[float], *, limits: tuple[Limit, ...] = (), prices: list[float] | None = None
) -> RisingBandits:
    """In each sub-problem the tree is known with other parameters, and the line is as it was."""
    solver = RisingBandits(2)
    for loss, price in zip(losses, prices or losses, strict=True):
        excess = (0.0,) * len(limits)
        known = (Observation(TREE, price, loss, excess), Observation(LINE, 6.0, 6.0, excess))
        solver.begin(SelectionSubproblem(BARE, TREE, known, limits, evaluations=8))
    return solver


def test_a_selection_with_other_parameters_is_another_pull_and_grows_its_arm() -> None:
    solver = told([9.0, 8.0, 8.5, 7.0])
    assert solver._curves(["tree"])["tree"].losses == (9.0, 8.0, 8.5, 7.0)
    assert solver._curves(["tree"])["tree"].growth(2) == 0.5
    solver.ask(1, [])
    assert solver._alive == ["tree", "line"]  # 7 - 8 · 0.5 is less than 6


def test_what_was_counted_is_no_second_pull_when_it_is_told_again() -> None:
    solver = told([9.0, 8.0, 8.0])
    solver.tell([Observation(TREE, 8.0, 8.0), Observation(LINE, 6.0, 6.0)])
    assert solver._curves(["tree"])["tree"].losses == (9.0, 8.0)
    assert solver._curves(["line"])["line"].losses == (6.0,)
    failed = Observation(TREE, 9.0, failed=True, seconds=2.0)
    solver.tell([failed, Observation(TREE, 10.0, math.nan, failed=True, seconds=2.0)])
    assert solver._curves(["tree"])["tree"].losses == (9.0, 8.0, math.inf)


def test_without_limits_the_unit_of_the_losses_makes_no_growth() -> None:
    solver = told([9.0, 9.5, 9.5, 9.6], prices=[9.0, 9.5, 0.95, 0.96])
    assert solver._curves(["tree"])["tree"].losses == (9.0, 9.5, 9.6)
    assert solver._curves(["tree"])["tree"].growth(2) == 0.0


def test_with_limits_the_latest_price_of_a_selection_is_what_it_is_worth() -> None:
    limits = (Limit("size", 1.0),)
    solver = told([5.0, 4.0, 4.0, 3.0], limits=limits, prices=[1.0, 2.0, 7.0, 8.0])
    curve = solver._curves(["tree"])["tree"]
    assert curve.losses == (1.0, 7.0, 8.0)  # the second was priced anew, the first cannot be
    assert (curve.reward, curve.growth(2)) == (-8.0, 0.0)
    solver = told([5.0, 4.0, 3.0], limits=limits, prices=[9.0, 8.0, 7.0])
    assert solver._curves(["tree"])["tree"].growth(2) == 1.0


def drive(search: Search, loss: Callable[[Candidate], float]) -> None:
    """Answer every proposal at once until the search ends."""
    results: list[Evaluation] = []
    while True:
        try:
            event = search.send(results) if results else next(search)
        except StopIteration:
            return
        results = []
        if isinstance(event, Proposal):
            point = event.candidate
            results = [Evaluation(0, repr(point), point, Status.SUCCESS, loss(point))]


def test_through_admm_an_arm_is_pulled_by_theta_min_and_dismissed_when_it_cannot_win() -> None:
    """The paper's setting: one choice, and every pull tunes its alternative further."""
    away = {"tree": 1.0, "line": 20.0, "net": 30.0}
    parameters = [
        Parameter(f"{model}.x{i}", 0, 1, when=Condition("model", (model,)))
        for model in away
        for i in range(8)
    ]
    space = SearchSpace((Choice("model", tuple(away)),), tuple(parameters))
    problem = SearchProblem(space, key=repr, starts=(default_start(space),), seed=3)
    settings = AdmmSettings(precision=Precision(4, 0, 4), max_iterations=40)
    solver = RisingBandits(1)
    search = admm(problem, RandomTheta(), solver, settings)
    drive(search, lambda point: away[str(point.selection.get("model"))] + sum(point.theta))
    curves = list(solver._curves(away).values())
    assert all(len(curve.losses) >= 2 for curve in curves)
    assert all(curve.reward > -curve.losses[0] for curve in curves)
    assert max(len(curve.losses) for curve in curves) >= 4
    assert solver._alive == ["tree"]


def test_seconds_on_the_clock_buy_as_many_pulls_as_there_are_workers() -> None:
    solver = begun(evaluations=None, seconds=20.0)
    for _ in range(4):
        points = [solver.ask(1, [])[0]]
        for _ in range(3):
            points += solver.ask(1, points)
        solver.tell([Observation(point, 1.0, 1.0, (), 4.0) for point in points])
    assert solver._budget.pulls_left(4.0, 16) == 4.0  # 16 of 20 seconds are over, for four
    assert Budget(9, 20.0, spent=60.0, workers=4).pulls_left(1.0, 0) == 9


def test_what_a_limit_refused_takes_nothing_of_the_budget_and_judges_no_arm() -> None:
    solver = begun(evaluations=30, window=3)
    for turn in range(60):
        (point,) = solver.ask(1, [])
        arm = str(point.get("model"))
        if turn % 3:
            solver.tell([Observation(point, 99.0, failed=True, refused=True)])
        else:
            solver.tell([Observation(point, LOSS[arm], LOSS[arm], (), 2.0)])
    curves = solver._curves(LOSS)
    assert solver._budget.evaluations == 10
    assert solver._budget.spent == 40.0
    assert sum(len(curve.losses) for curve in curves.values()) == 20
    assert all(len(curve.losses) > 3 for curve in curves.values())
    assert solver._alive == ["line"]


def test_an_arm_of_which_everything_is_refused_holds_up_no_round() -> None:
    solver = begun(evaluations=60, window=3)
    evaluated: Counter[str] = Counter()
    while sum(evaluated.values()) < 40:
        (point,) = solver.ask(1, [])
        arm = str(point.get("model"))
        evaluated[arm] += arm != "net"
        solver.tell([Observation(point, LOSS[arm], failed=arm == "net", refused=arm == "net")])
    assert evaluated["line"] > 2 * evaluated["tree"]


def test_of_two_arms_as_good_as_each_other_one_stays() -> None:
    solver = begun(evaluations=60, window=3)
    for _ in range(40):
        (point,) = solver.ask(1, [])
        solver.tell([Observation(point, 1.0, 1.0)])
    assert len(solver._alive) == 1
