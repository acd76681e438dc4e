"""z-solvers use the structure of a table: positions of an order, prefixes and subtrees."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from installed import PLUGINS

from automl_admm.builtin.z.genetic import crossover
from automl_admm.core.protocols import ZSolver
from automl_admm.core.space import Choice, Condition, Order, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.runs.prepare.assembly import build_solver

ITEMS = tuple("abcde")
PLANTED = tuple("cebad")
MOST = 120
ORDERED = SearchSpace((Order("steps", ITEMS),))
FLAT = SearchSpace((Choice("steps", tuple(map("".join, itertools.permutations(ITEMS)))),))

LINE = Condition("model", ("line",))
NESTED = SearchSpace(
    (
        Choice("model", ("tree", "line", "net")),
        Choice("kernel", ("flat", "rbf", "poly"), when=LINE),
        Choice("degree", ("2", "3", "4"), when=Condition("kernel", ("poly",))),
        Order("inner", ("a", "b", "c", "d"), when=LINE),
        Choice("depth", ("1", "2", "3", "4"), when=Condition("model", ("tree",))),
    )
)
BELOW_LINE = ("kernel", "degree", "inner")
DEEP = SearchSpace(
    (
        Choice("first", tuple("abcdef")),
        Choice("second", tuple("ghijkl")),
        Order("steps", ("p", "q", "r", "s")),
    )
)


def begun(
    request: str, space: SearchSpace, seed: int, history: Sequence[Observation[Selection]] = ()
) -> ZSolver:
    solver = build_solver(PLUGINS.z_solvers, request)
    start = space.sample(np.random.default_rng([seed, 7]))
    solver.begin(SelectionSubproblem(space, start, tuple(history), evaluations=200, seed=seed))
    return solver


def misplaced(selection: Selection) -> float:
    """The share of the items that do not stand at their planted place, of an order or a label."""
    steps = selection.get("steps") or ()
    return float(np.mean([one != other for one, other in zip(steps, PLANTED, strict=True)]))


def evaluations_until_found(request: str, space: SearchSpace, seed: int) -> int:
    solver = begun(request, space, seed)
    for number in range(1, MOST):
        (point,) = solver.ask(1, [])
        loss = misplaced(point)
        if loss == 0.0:
            return number
        solver.tell([Observation(point, loss, loss)])
    return MOST


@pytest.mark.parametrize("request_", ["cmab", "mcts", "genetic"])
def test_an_order_is_found_sooner_than_the_same_table_as_one_flat_choice(request_: str) -> None:
    ordered, flat = (
        np.mean([evaluations_until_found(request_, space, seed) for seed in range(8)])
        for space in (ORDERED, FLAT)
    )
    assert ordered < 0.7 * flat


def test_cmab_joins_good_places_that_never_stood_in_one_order() -> None:
    halves = [("c", "e", None, None, None), (None, None, "b", "a", None), (*[None] * 4, "d")]
    history = []
    for number, order in enumerate(itertools.permutations(ITEMS)):
        hits = [
            all(want in (None, item) for item, want in zip(order, half, strict=True))
            for half in halves
        ]
        # Every other one is left unknown, so that there is something to choose from.
        if order != PLANTED and sum(hits) <= 1 and (any(hits) or number % 2):
            loss = 0.1 if any(hits) else 1.0
            history.append(Observation(ORDERED.complete({"steps": order}), loss, loss))
    solvers = [begun("cmab", ORDERED, seed, history) for seed in range(60)]
    proposed = Counter(solver.ask(1, [])[0].get("steps") for solver in solvers)
    assert proposed.most_common(1)[0][0] == PLANTED
    assert all(sorted(order) == sorted(ITEMS) for order in proposed)


@pytest.mark.parametrize(
    ("prefix", "by_chance"), [({"first": "b"}, 1 / 6), ({"first": "b", "second": "h"}, 1 / 36)]
)
def test_mcts_carries_losses_to_new_selections_of_the_same_prefix(
    prefix: dict[str, str], by_chance: float
) -> None:
    def matches(point: Selection) -> bool:
        return all(point.get(name) == label for name, label in prefix.items())

    shares = []
    for seed in range(5):
        history_rng = np.random.default_rng([seed, 1])
        seen = [
            DEEP.complete(
                {**dict(DEEP.sample(history_rng).picks), **(prefix if i % 3 == 0 else {})}
            )
            for i in range(60)
        ]
        history = [Observation(p, 1.0 - matches(p), 1.0 - matches(p)) for p in seen]
        proposed = begun("mcts", DEEP, seed, history).ask(41, [])[1:]
        assert not set(proposed) & set(seen)
        shares.append(np.mean([matches(point) for point in proposed]))
    assert np.mean(shares) > 2.0 * by_chance + 0.1


def test_genetic_keeps_what_stands_below_an_alternative_together() -> None:
    rng = np.random.default_rng(0)
    line = {"model": "line", "kernel": "poly", "degree": "4", "inner": ("c", "a", "d", "b")}
    mother, father = NESTED.complete(line), NESTED.complete({"model": "tree", "depth": "3"})
    children = [crossover(NESTED, mother, father, rng) for _ in range(200)]
    assert {child.get("model") for child in children} == {"line", "tree"}
    for child in children:
        if child.get("model") == "line":
            assert child == mother
        else:
            assert child == father
    assert crossover(NESTED, mother, mother, rng) == mother


def test_genetic_breeds_children_with_whole_subtrees() -> None:
    line = {"model": "line", "kernel": "poly", "degree": "4", "inner": ("c", "a", "d", "b")}
    mother = NESTED.complete(line)
    parents = [mother, NESTED.complete({"model": "tree", "depth": "3"})]
    alike = []
    for seed in range(20):
        solver = begun("genetic:population=2", NESTED, seed, [Observation(p, 0.0) for p in parents])
        children = [p for p in solver.ask(9, [])[1:] if p.get("model") == "line"]
        alike += [sum(p.get(n) == mother.get(n) for n in BELOW_LINE) for p in children]
    assert np.mean([count >= 2 for count in alike]) > 0.5  # drawn below `line`: 0.05


def test_order_crossover_keeps_relative_orders_on_which_the_parents_agree() -> None:
    space, rng = SearchSpace((Order("steps", tuple("abcdefg")),)), np.random.default_rng(1)
    kept = []
    for _ in range(300):
        mother, father = space.sample(rng), space.sample(rng)
        child = crossover(space, mother, father, rng)
        orders = [point.get("steps") for point in (mother, father, child)]
        for one, other in itertools.combinations("abcdefg", 2):
            ours, theirs, its = (order.index(one) < order.index(other) for order in orders)
            if ours == theirs:
                kept.append(its == ours)
    assert np.mean(kept) > 0.8
