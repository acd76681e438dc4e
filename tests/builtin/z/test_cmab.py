from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.builtin.z import CmabOptions
from automl_admm.builtin.z.arms import Tallies, arms_of
from automl_admm.builtin.z.cmab import CombinatorialBandit
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

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
    assert start not in begun((Observation(start, 1.0, 1.0),)).ask(10, [])


def test_good_arms_come_up_more_often() -> None:
    letters = tuple("abcdefgh")
    space = SearchSpace((Choice("one", letters), Choice("two", letters), Choice("three", letters)))
    points = []
    solver = CombinatorialBandit(upper=None, prior=1.0)
    solver.begin(SelectionSubproblem(space, space.complete({}), seed=1))
    for _ in range(90):
        (point,) = solver.ask(1, [])
        loss = 0.1 if point.get("one") == "c" else 0.9
        solver.tell([Observation(point, loss, loss)])
        points.append(point)
    picks = [point.get("one") for point in points[50:]]
    assert picks.count("c") > 20  # of 40; by chance five


def test_the_best_order_is_learned_through_the_assignment() -> None:
    best = ("c", "e", "a", "b", "d")
    space = SearchSpace((Order("steps", tuple("abcde")),))
    solver = CombinatorialBandit(upper=None, prior=1.0)
    solver.begin(SelectionSubproblem(space, space.complete({}), seed=1))
    losses = []
    for _ in range(60):
        (point,) = solver.ask(1, [])
        steps = point.get("steps")
        assert sorted(steps) == list("abcde")
        losses.append(sum(one != other for one, other in zip(steps, best, strict=True)) / 5)
        solver.tell([Observation(point, losses[-1], losses[-1])])
    assert min(losses) == 0.0  # of 120 orders, and 60 draws find it in 40 % of the runs


def test_what_it_knows_is_proposed_again_only_when_little_else_is_left() -> None:
    letters = tuple("abcd")
    space = SearchSpace((Choice("one", letters), Choice("two", letters), Choice("three", letters)))
    solver = CombinatorialBandit(upper=None, prior=1.0)
    solver.begin(SelectionSubproblem(space, space.complete({}), seed=1))
    points = []
    for _ in range(48):
        (point,) = solver.ask(1, [])
        loss = float(sum(point.get(name) != "a" for name in ("one", "two", "three")))
        solver.tell([Observation(point, loss, loss)])
        points.append(point)
    assert len(set(points)) == 48  # of 64


def test_what_is_pending_is_not_proposed() -> None:
    solver = begun()
    pending = [SPACE.complete({"model": "tree", "steps": s}) for s in itertools.permutations("abc")]
    asked = solver.ask(8, pending[1:])
    assert not set(asked) & set(pending[1:])
    assert len(set(asked)) == 8


def test_what_is_known_under_other_parameters_may_come_again() -> None:
    space = SearchSpace((Choice("one", ("a", "b")),))
    start = space.complete({})
    solver = CombinatorialBandit(upper=None, prior=1.0)
    for seed in range(3):
        solver.begin(SelectionSubproblem(space, start, seed=seed))
        points = []
        for _ in range(2):
            (point,) = solver.ask(1, [])
            solver.tell([Observation(point, 1.0, float(seed))])
            points.append(point)
        assert len(set(points)) == 2


def test_an_order_is_the_assignment_with_the_largest_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    omega = {
        (i, k): value
        for (i, k), value in zip(
            itertools.product("abc", range(3)), np.random.default_rng(3).random(9), strict=True
        )
    }
    solver = begun()
    place = {arm: float(number) for number, arm in enumerate(omega)}
    values = dict(zip(place.values(), omega.values(), strict=True))
    rewards = {("steps", item, k): place[item, k] for item, k in omega}
    monkeypatch.setattr(solver, "_omega", lambda reward, pulls: values[reward])
    found = solver._play(Tallies({}, rewards)).get("steps")
    best = max(
        itertools.permutations("abc"), key=lambda p: sum(omega[i, k] for k, i in enumerate(p))
    )
    assert found == best


def test_with_f_hat_it_is_the_algorithm_of_the_paper() -> None:
    rewards = []
    for seed in range(400):
        solver = CombinatorialBandit(upper=0.7, prior=10.0)
        solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), seed=seed))
        rewards.append(solver._toss(seen(0.35, model="tree"), 0.7))
    assert set(rewards) == {0.0, 1.0}
    assert 0.4 < np.mean(rewards) < 0.6
    solver = begun(upper=0.7, prior=10.0)
    assert solver._toss(seen(0.9, model="tree"), 0.7) == 0.0
    assert solver._toss(seen(-1.0, model="tree"), 0.7) == 1.0
    assert solver._toss(Observation(SPACE.complete({}), 9.0, failed=True), 0.7) == 0.0


def test_rewards_are_of_the_prices_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit of losses changes once it is measured; a failure's price is no measure at all."""
    tree, line = (SPACE.complete({"model": model}) for model in ("tree", "line"))
    failed = Observation(SPACE.complete({"steps": ("c", "b", "a")}), 1.0, failed=True)
    solver = begun((Observation(tree, 100.0, 1.0), Observation(line, 200.0, 2.0), failed))
    today = [Observation(tree, 1e4, 1.0), Observation(line, 1.1e4, 2.0), replace(failed, loss=3e4)]
    start = SPACE.complete({})
    solver.begin(SelectionSubproblem(SPACE, start, (today[0],), elsewhere=tuple(today[1:])))
    found: list[Tallies] = []
    play = solver._play
    monkeypatch.setattr(solver, "_play", lambda tallies: [found.append(tallies), play(tallies)][1])
    solver.ask(1, [])
    earned = [found[0].rewards["model", model, 0] for model in ("tree", "line")]
    assert earned[0] > 0.9
    assert earned[1] < 0.1


def test_a_repeated_pull_teaches_nothing() -> None:
    solver = begun(upper=0.7)
    for _ in range(5):
        solver.tell([seen(0.3, model="tree")])
    assert solver._tossed.pulls["model", "tree", 0] == 1.0


def test_what_it_knows_is_counted_once_whatever_the_multipliers_say() -> None:
    told = seen(0.3, model="line", kernel="poly")
    repriced = Observation(told.point, 5.0, told.objective)
    solver = begun((told,), upper=0.7)
    before = dict(solver._tossed.pulls)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), (repriced,), seed=2))
    assert solver._tossed.pulls == before


def test_a_failure_is_counted_once_too() -> None:
    point = SPACE.complete({"model": "line"})
    solver = begun((Observation(point, 1.0, float("nan"), failed=True),), upper=0.7)
    before = dict(solver._tossed.pulls)
    again = (Observation(point, 2.0, float("nan"), failed=True),)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), again, seed=2))
    assert solver._tossed.pulls == before


@pytest.mark.parametrize("wrong", [{"prior": 0.0}, {"upper": -1.0}])
def test_senseless_options_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="above 0"):
        CmabOptions(**wrong)
