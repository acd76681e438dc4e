"""The tree of a box: what counts, what is one point, what is left."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.space import Condition, Parameter
from automl_admm.core.structure.axis_tree import AxisTree

MODEL = Parameter("model", 0, 2, kind="category", values=("tree", "line", "none"))
SPLIT = Parameter(
    "split",
    0,
    1,
    kind="category",
    values=("best", "random"),
    when=Condition("model", ("tree", "line")),
)
DEPTH = Parameter("depth", 1, 9, kind="int", default=3, when=Condition("split", ("best",)))
ONLY = Parameter("only", 0, 0, kind="category", values=("one",))
WIDTH = Parameter("width", 1, 2, kind="int", when=Condition("only", ("one",)))
GRIDS = (MODEL, SPLIT, DEPTH, ONLY, WIDTH)
REAL = Parameter("slope", 0.1, 10, log=True, when=Condition("model", ("none",)))


def test_the_size_counts_only_what_counts() -> None:
    assert AxisTree(GRIDS).size == (2 * (9 + 1) + 1) * 2
    assert AxisTree((MODEL, REAL)).size == math.inf
    assert AxisTree(()).size == 1


def test_what_hangs_on_an_axis_of_one_place_moves_up() -> None:
    assert AxisTree(GRIDS).below() == (0, 4)


def test_what_does_not_count_stands_at_its_default() -> None:
    tree = AxisTree(GRIDS)
    point = tree.settle(np.array([1.0, 0.0, 0.9, 0.7, 1.0]))
    assert tree.counting(point) == [0, 4]
    assert [p.value(x) for p, x in zip(GRIDS, point, strict=True)] == ["none", "best", 3, "one", 2]


def test_points_that_differ_in_what_does_not_count_are_one() -> None:
    tree = AxisTree(GRIDS)
    assert tree.key(np.array([1.0, 0.0, 0.9, 0.7, 1.0])) == tree.key(np.ones(5))
    assert tree.key(np.zeros(5)) != tree.key(np.ones(5))


@pytest.mark.parametrize("log", [False, True])
def test_neighbours_of_a_wide_grid_are_two_points(log: bool) -> None:
    wide = Parameter("wide", 1, 10**8, kind="int", log=log)
    tree, sites = AxisTree((wide, MODEL)), Sites((wide, MODEL))
    points = [np.array([wide.to_unit(float(n)), 0.5]) for n in (10**8 - 1, 10**8)]
    keys = [tree.key(point) for point in points]
    assert keys[0] != keys[1]
    assert sites.locate(points)[1] == keys


def test_a_range_of_one_number_has_one_key() -> None:
    fixed = (Parameter("fixed", 0.3, 0.3), Parameter("alone", 7, 7, kind="int"), REAL, MODEL)
    tree, sites = AxisTree(fixed), Sites(fixed)
    points = [np.array([place, 1.0 - place, 0.4, 1.0]) for place in (0.0, 0.2, 1.0)]
    assert sites.locate(points)[1] == [tree.key(point) for point in points]
    assert len({tree.key(point) for point in points}) == 1


@pytest.mark.parametrize(("low", "high"), [(-32, 17), (-40, 37), (-31, 8), (0, 5)])
def test_zero_has_one_key(low: int, high: int) -> None:
    around = Parameter("around", low, high, kind="int")
    tree, sites, box = AxisTree((around,)), Sites((around,)), Box.of((around,))
    zero = np.array([around.to_unit(0.0)])
    assert sites.locate([zero])[1] == [tree.key(zero)] == box.keys(zero[None])


def test_a_condition_on_what_is_elsewhere_holds() -> None:
    assert AxisTree((DEPTH,)).below() == (0,)


def test_draws_find_every_point_once() -> None:
    tree, rng = AxisTree(GRIDS), np.random.default_rng(0)
    taken: set[bytes] = set()
    while (point := tree.draw(rng, taken)) is not None:
        assert tree.key(point) not in taken
        taken.add(tree.key(point))
    assert len(taken) == tree.size


def test_draws_go_on_where_all_that_is_taken_was_drawn_with_the_same_seed() -> None:
    tree = AxisTree((Parameter("x", 0, 1), Parameter("y", 0, 1)))
    taken = {tree.key(point) for point in np.random.default_rng(0).random((200, 2))}
    assert tree.draw(np.random.default_rng(0), taken) is not None


def test_a_finite_box_is_drawn_from_and_not_walked_where_little_of_it_is_taken() -> None:
    """A walk would begin at its corner."""
    tree = AxisTree((Parameter("n", 0, 10**6, kind="int"), Parameter("m", 0, 999, kind="int")))
    rng, taken = np.random.default_rng(0), set[bytes]()
    for _ in range(300):
        point = tree.draw(rng, taken)
        assert point is not None
        taken.add(tree.key(point))
    again = tree.draw(np.random.default_rng(0), taken)
    assert again is not None
    assert again.max() > 0.01


def test_a_grid_of_more_points_than_a_real_number_counts_has_room_for_a_real_axis() -> None:
    whole = [Parameter(f"n{i}", 0, 9, kind="int") for i in range(310)]
    kind = Parameter("k", 0, 1, kind="category", values=("a", "b"))
    under = [replace(parameter, when=Condition("k", ("a",))) for parameter in whole]
    real = Parameter("x", 0, 1, when=Condition("k", ("b",)))
    assert AxisTree(whole).size == 10**310
    assert AxisTree((*whole, Parameter("x", 0, 1))).size == math.inf
    assert AxisTree((kind, *under)).size == 10**310 + 1
    assert AxisTree((kind, *under, real)).size == math.inf


def test_draws_reach_the_ends_of_a_log_scale() -> None:
    parameter = Parameter("n", 1, 1000, kind="int", log=True)
    rng, tree = np.random.default_rng(0), AxisTree((parameter,))
    drawn = [tree.draw(rng, ()) for _ in range(300)]
    wholes = {tree.whole(0, point[0]) for point in drawn if point is not None}
    assert 1 in wholes
    assert max(wholes) > 800


def test_whether_anything_counts_at_some_points_only() -> None:
    assert AxisTree(GRIDS).is_conditional
    assert not AxisTree((ONLY, WIDTH, DEPTH)).is_conditional
