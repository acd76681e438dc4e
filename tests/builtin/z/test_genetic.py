from __future__ import annotations

import numpy as np

from automl_admm.builtin.z.genetic import GeneticAlgorithm, crossover, order_crossover
from automl_admm.core.space import Choice, Condition, Order, SearchSpace
from automl_admm.core.subproblems import Observation, SelectionSubproblem

LABELS = tuple("abcdefgh")
PLAIN = SearchSpace(tuple(Choice(name, LABELS) for name in ("one", "two", "three", "four")))
NESTED = SearchSpace(
    (
        Choice("model", ("tree", "line", "net")),
        Choice("kernel", ("rbf", "poly", "flat"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c", "d")),
    )
)


def test_order_crossover_keeps_a_stretch_and_the_order_of_the_rest() -> None:
    rng = np.random.default_rng(0)
    mother, father = tuple("abcdef"), tuple("fedcba")
    children = {order_crossover(mother, father, rng) for _ in range(300)}
    assert {mother, father} <= children
    for child in children:
        assert sorted(child) == sorted(mother)
        kept = [i for i, item in enumerate(child) if mother[i] == item]
        rest = [item for i, item in enumerate(child) if i not in kept]
        assert rest == sorted(rest, reverse=True)
    assert ("f", "b", "c", "e", "d", "a") in children


def test_a_child_has_every_choice_from_one_of_its_parents() -> None:
    rng = np.random.default_rng(1)
    mother = PLAIN.complete(dict.fromkeys(("one", "two", "three", "four"), "a"))
    father = PLAIN.complete(dict.fromkeys(("one", "two", "three", "four"), "b"))
    children = {crossover(PLAIN, mother, father, rng) for _ in range(300)}
    assert len(children) == 16
    assert {pick for child in children for _, pick in child} == {"a", "b"}


def test_what_one_parent_has_active_is_inherited_and_what_neither_has_is_drawn() -> None:
    rng = np.random.default_rng(2)
    line = NESTED.complete({"model": "line", "kernel": "poly"})
    tree, net = NESTED.complete({"model": "tree"}), NESTED.complete({"model": "net"})
    children = {crossover(NESTED, line, tree, rng) for _ in range(50)}
    assert {child.get("kernel") for child in children} == {"poly", None}
    assert {crossover(NESTED, tree, net, rng).get("kernel") for _ in range(50)} == {None}


def test_the_best_breed_whatever_sub_problem_they_are_from() -> None:
    solver = GeneticAlgorithm(population=4)
    good = [PLAIN.complete({"one": "c", "two": "c", "three": label}) for label in "abcd"]
    bad = [PLAIN.complete({"one": "e", "two": "f", "three": label}) for label in "abcdefgh"]
    history = [Observation(p, 0.0) for p in good] + [Observation(p, 1.0) for p in bad]
    solver.begin(SelectionSubproblem(PLAIN, bad[0], tuple(history)))
    solver.begin(SelectionSubproblem(PLAIN, bad[0], seed=1))
    children = solver.ask(41, [])[1:]
    like_the_good = [p for p in children if p.get("one") == "c" or p.get("two") == "c"]
    assert len(like_the_good) == 40  # a child differs from its parents in one decision at most


def test_until_there_is_a_population_it_draws() -> None:
    solver = GeneticAlgorithm(population=8)
    start = PLAIN.complete({})
    solver.begin(SelectionSubproblem(PLAIN, start, (Observation(start, 0.0),)))
    drawn = solver.ask(7, [])
    near = [sum(pick == "a" for _, pick in point) >= 3 for point in drawn]
    assert sum(near) <= 1
