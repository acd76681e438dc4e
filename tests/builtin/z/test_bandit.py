from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from automl_admm.builtin.z.arms import ArmTable, Scale, best_pick
from automl_admm.builtin.z.bandit import Index, IndexBandit, boltzmann, upper_confidence
from automl_admm.core.space import Choice, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

RNG = np.random.default_rng(0)
SPACE = SearchSpace((Choice("model", ("tree", "line", "net")), Order("steps", ("a", "b", "c"))))
INDICES = [upper_confidence(0.2), boltzmann(0.1)]


def told(loss: float, **picks: object) -> Observation[Selection]:
    return Observation(SPACE.complete(picks), loss, loss)


def test_rewards_run_from_the_best_to_the_upper_quantile() -> None:
    scale = Scale.of([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
    assert [scale.reward(x) for x in (0.0, 3.5, 7.0, 99.0, -1.0)] == [1.0, 0.5, 0.0, 0.0, 1.0]
    assert scale.reward(math.nan) == scale.reward(math.inf) == 0.0
    assert Scale.of([3.0]).reward(3.0) == Scale.of([2.0, 2.0]).reward(2.0) == 0.5


def test_a_failure_is_a_pull_that_earns_nothing() -> None:
    tree, line = SPACE.complete({"model": "tree"}), SPACE.complete({"model": "line"})
    net = SPACE.complete({"model": "net"})
    tallies = ArmTable().credit({tree: 1.0, line: 2.0, net: math.inf})
    assert tallies.pulls["model", "net", 0] == 1.0
    assert tallies.rewards["model", "net", 0] == 0.0
    assert tallies.rewards["model", "tree", 0] == 1.0
    assert tallies.pulls["steps", "a", 0] == 3.0


def test_upper_confidence_is_the_formula() -> None:
    index = upper_confidence(0.5)
    assert index(0.3, 4.0, 100.0, RNG) == pytest.approx(0.3 + 0.5 * math.sqrt(math.log(100) / 2))
    assert index(0.0, 0.0, 100.0, RNG) > index(1.0, 1.0, 100.0, RNG)


def test_boltzmann_draws_in_proportion_to_the_exponentials() -> None:
    index, rng = boltzmann(0.5), np.random.default_rng(1)
    means = {"tree": 0.0, "line": 0.5, "net": 1.0}
    choice = Choice("model", tuple(means))
    picks = Counter(
        best_pick(choice, lambda arm: index(means[arm[1]], 1.0, 3.0, rng)) for _ in range(6000)
    )
    expected = np.exp(np.array(list(means.values())) / 0.5)
    drawn = np.array([picks[label] for label in means]) / 6000
    assert np.allclose(drawn, expected / expected.sum(), atol=0.025)


@pytest.mark.parametrize("index", INDICES)
def test_every_arm_is_tried_and_good_ones_more_often(index: Index) -> None:
    labels = tuple(f"l{i}" for i in range(12))
    space = SearchSpace((Choice("one", labels), Choice("two", labels), Choice("three", labels)))
    solver = IndexBandit(index)
    solver.begin(SelectionSubproblem(space, space.complete({}), seed=3))
    points = []
    for _ in range(60):
        (point,) = solver.ask(1, [])
        solver.tell([Observation(point, float(point.get("one") != "l7"))])
        points.append(str(point.get("one")))
    assert len(set(points[:40])) > 8
    assert points[40:].count("l7") > 5  # by chance 1.7


def test_upper_confidence_tries_every_alternative_before_any_a_third_time() -> None:
    solver = IndexBandit(upper_confidence(0.1))
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), seed=1))
    assert {point.get("model") for point in solver.ask(4, [])} == {"tree", "line", "net"}


@pytest.mark.parametrize("index", INDICES)
def test_the_best_order_is_found(index: Index) -> None:
    items = ("a", "b", "c", "d", "e")
    space = SearchSpace((Order("steps", items),))
    solver = IndexBandit(index)
    solver.begin(SelectionSubproblem(space, space.complete({}), seed=2))
    best = ("c", "e", "a", "b", "d")
    losses = []
    for _ in range(50):
        (point,) = solver.ask(1, [])
        steps = point.get("steps")
        losses.append(sum(x != y for x, y in zip(steps, best, strict=True)))
        solver.tell([Observation(point, float(losses[-1]))])
    assert min(losses) == 0  # of 120


@pytest.mark.parametrize("index", INDICES)
def test_pending_points_are_pulls_that_have_earned_nothing_yet(index: Index) -> None:
    solver = IndexBandit(index)
    history = (told(0.0, model="net"), told(1.0, model="tree"), told(1.0, model="line"))
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), history))
    proposals = solver.ask(12, [])
    assert len(set(proposals)) == 12
    models = Counter(point.get("model") for point in proposals)
    assert models["net"] == 5  # every order of it that was left
