from __future__ import annotations

import itertools

import numpy as np
import pytest

from automl_admm.builtin.z import CmabOptions
from automl_admm.builtin.z.cmab import CombinatorialBandit, arms_of
from automl_admm.problem import Observation, SelectionSubproblem
from automl_admm.space import Choice, Condition, Order, SearchSpace, Selection

SPACE = SearchSpace(
    (
        Choice("model", ("tree", "line")),
        Choice("kernel", ("rbf", "poly"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)


def begun(history: tuple = (), **options: float | None) -> CombinatorialBandit:
    solver = CombinatorialBandit(**{"upper": None, "prior": 1.0, **options})
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), history, seed=1))
    return solver


def seen(loss: float, **picks: object) -> Observation[Selection]:
    return Observation(SPACE.complete(picks), loss, loss)


def test_a_pull_plays_one_arm_of_each_active_decision_and_each_position() -> None:
    arms = set(arms_of(SPACE.complete({"model": "tree", "steps": ("b", "a", "c")})))
    assert arms == {("model", "tree", 0), ("steps", "b", 0), ("steps", "a", 1), ("steps", "c", 2)}


def test_the_start_is_proposed_first_unless_it_is_known() -> None:
    start = SPACE.complete({})
    assert begun().ask(1, []) == [start]
    proposals = begun((Observation(start, 1.0, 1.0),)).ask(20, [])
    assert any(point != start for point in proposals)


def test_good_arms_come_up_more_often() -> None:
    solver = begun()
    losses = {"tree": 0.9, "line": 0.1}
    for point in solver.ask(60, []):
        loss = losses[str(point.get("model"))]
        solver.tell([Observation(point, loss, loss)])
    later = [point.get("model") for point in solver.ask(60, [])]
    assert later.count("line") > 45


def test_the_best_order_is_learned_through_the_assignment() -> None:
    solver = begun()
    best = ("c", "a", "b")
    for _ in range(40):
        for point in solver.ask(5, []):
            steps = point.get("steps")
            loss = sum(one != other for one, other in zip(steps, best, strict=True)) / 3
            solver.tell([Observation(point, loss, loss)])
    later = [point.get("steps") for point in solver.ask(50, [])]
    assert later.count(best) > 25
    assert set(later) <= set(itertools.permutations("abc"))


def test_an_order_is_the_assignment_with_the_largest_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    omega = {
        (i, k): value
        for (i, k), value in zip(
            itertools.product("abc", range(3)), np.random.default_rng(3).random(9), strict=True
        )
    }
    solver = begun()
    monkeypatch.setattr(solver, "_omega", lambda arm: omega[arm[1], arm[2]])
    found = solver._draw_order(SPACE.decisions[2])
    best = max(
        itertools.permutations("abc"), key=lambda p: sum(omega[i, k] for k, i in enumerate(p))
    )
    assert found == best


def test_with_f_hat_it_is_the_algorithm_of_the_paper() -> None:
    rewards = []
    for seed in range(400):
        solver = CombinatorialBandit(upper=0.7, prior=10.0)
        solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), seed=seed))
        rewards.append(solver._reward(seen(0.35, model="tree")))
    assert set(rewards) == {0.0, 1.0}
    assert 0.4 < np.mean(rewards) < 0.6
    solver = begun(upper=0.7, prior=10.0)
    assert solver._reward(seen(0.9, model="tree")) == 0.0
    assert solver._reward(seen(-1.0, model="tree")) == 1.0


def test_a_failure_earns_nothing() -> None:
    solver = begun()
    solver.tell([seen(1.0, model="tree"), seen(2.0, model="line")])
    assert solver._reward(Observation(SPACE.complete({}), 9.0, failed=True)) == 0.0


def test_what_it_knows_is_counted_once_whatever_the_multipliers_say() -> None:
    told = seen(0.3, model="line", kernel="poly")
    repriced = Observation(told.point, 5.0, told.objective)
    solver = begun((told,))
    before = dict(solver._pulls)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), (repriced,), seed=2))
    assert solver._pulls == before


def test_a_failure_is_counted_once_too() -> None:
    point = SPACE.complete({"model": "line"})
    solver = begun((Observation(point, 1.0, float("nan"), failed=True),))
    before = dict(solver._pulls)
    again = (Observation(point, 2.0, float("nan"), failed=True),)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), again, seed=2))
    assert solver._pulls == before


@pytest.mark.parametrize("wrong", [{"prior": 0.0}, {"upper": -1.0}])
def test_senseless_options_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="above 0"):
        CmabOptions(**wrong)
