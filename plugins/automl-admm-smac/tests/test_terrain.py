from __future__ import annotations

import math

import numpy as np
import pytest
from automl_admm_smac.terrain import Terrain

from automl_admm.plugin_api import Condition, Parameter

MODEL = Parameter("model", 0, 2, kind="category", values=("tree", "line", "net"))
KERNEL = Parameter(
    "kernel",
    0,
    1,
    kind="category",
    values=("rbf", "poly"),
    when=Condition("model", ("line", "net")),
)
DEPTH = Parameter("depth", 1, 8, kind="int", default=3, when=Condition("model", ("tree",)))
DEGREE = Parameter("degree", 2, 4, kind="int", when=Condition("kernel", ("poly",)))
RATE = Parameter("rate", 1e-4, 1.0, log=True, default=1e-2)
LAYERS = Parameter("layers", 1, 1000, kind="int", log=True)


def test_a_point_and_its_configuration_are_one_thing() -> None:
    parameters = (MODEL, KERNEL, DEPTH, DEGREE, RATE, LAYERS)
    terrain = Terrain(parameters)
    space = terrain.space(0)
    for raw in np.random.default_rng(0).random((50, len(parameters))):
        point = terrain.point(terrain.configuration(raw, space))
        assert terrain.key(point) == terrain.key(raw)
        assert np.array_equal(terrain.point(terrain.configuration(point, space)), point)
        assert all(p.project(unit) == unit for p, unit in zip(parameters, point, strict=True))


def test_numbers_keep_their_values_and_what_does_not_count_rests() -> None:
    parameters = (MODEL, KERNEL, DEPTH, DEGREE, RATE)
    terrain = Terrain(parameters)
    raw = np.array([0.0, 1.0, DEPTH.to_unit(7), 1.0, RATE.to_unit(0.1)])
    configuration = terrain.configuration(raw, terrain.space(0))
    assert dict(configuration) == {"x00000": 0, "x00002": 7, "x00004": pytest.approx(0.75)}
    point = terrain.point(configuration)
    assert [p.value(unit) for p, unit in zip(parameters, point, strict=True)] == [
        "tree", "rbf", 7, 3, 0.1,
    ]  # fmt: skip


def test_every_draw_of_the_space_is_a_legal_point() -> None:
    parameters = (MODEL, KERNEL, DEPTH, DEGREE)
    terrain = Terrain(parameters)
    space = terrain.space(3)
    keys = {terrain.key(terrain.point(space.sample_configuration())) for _ in range(2000)}
    assert len(keys) == terrain.size() == 8 + 2 * (1 + 3)


@pytest.mark.parametrize(
    ("parameters", "size"),
    [
        ((), 1),
        ((Parameter("n", 4, 4, kind="int"), Parameter("x", 2.0, 2.0)), 1),
        ((LAYERS, MODEL), 3000),
        ((RATE, MODEL), math.inf),
        ((MODEL, Parameter("x", 0, 1, when=Condition("model", ("net",)))), math.inf),
        ((MODEL, Parameter("n", 1, 5, kind="int", when=Condition("elsewhere", ("net",)))), 15),
    ],
)
def test_size(parameters: tuple[Parameter, ...], size: float) -> None:
    assert Terrain(parameters).size() == size


def test_a_condition_that_always_holds_is_none() -> None:
    only = Parameter(
        "only", 0, 0, kind="category", values=("it",), when=Condition("model", ("net",))
    )
    below = Parameter("n", 1, 2, kind="int", when=Condition("only", ("it",)))
    terrain = Terrain((MODEL, only, below))
    assert terrain.size() == 2 + 2
    space = terrain.space(0)
    assert dict(terrain.configuration(np.array([1.0, 0.0, 1.0]), space)) == {
        "x00000": 2,
        "x00002": 2,
    }
    assert dict(terrain.configuration(np.array([0.0, 0.0, 1.0]), space)) == {"x00000": 0}


def test_one_box_has_one_key_for_points_of_one_value() -> None:
    terrain = Terrain((DEPTH, Parameter("x", 3.0, 3.0)))
    near = [terrain.key(np.array([unit, other])) for unit, other in ((0.50, 0.1), (0.57, 0.9))]
    assert near[0] != terrain.key(np.array([0.2, 0.1]))
    assert near[0] == terrain.key(np.array([0.51, 0.9]))
    assert near[1] == terrain.key(np.array([4 / 7, 0.0]))
