from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.builtin.theta import build_random
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.space import Condition, Parameter
from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.core.subproblems import Observation, Quadratic, ThetaSubproblem
from automl_admm.plugins.records import NoOptions

NUMBER = Parameter("rate", 1e-4, 10.0, log=True)
COUNT = Parameter("count", 1, 4, kind="int")
SWITCH = Parameter("switch", 0, 1, kind="int")


@st.composite
def ranges(draw: st.DrawFn) -> Parameter:
    low = draw(st.integers(1, 50))
    high = low + draw(st.integers(0, 5000))
    return Parameter(
        "n", low, high, kind=draw(st.sampled_from(["int", "float"])), log=draw(st.booleans())
    )


def subproblem(*parameters: Parameter, seed: int = 0) -> ThetaSubproblem:
    nothing = np.zeros(len(parameters))
    start = np.array([parameter.default_unit() for parameter in parameters])
    return ThetaSubproblem(parameters, start, Quadratic(nothing, nothing), seed=seed)


@given(st.lists(ranges(), min_size=1, max_size=4), st.data())
def test_it_projects_as_the_parameters_do(parameters: list[Parameter], data: st.DataObject) -> None:
    units = np.array([data.draw(st.floats(-0.5, 1.5)) for _ in parameters])
    ours = Box.of(parameters).project(units[None])[0]
    for parameter, unit, place in zip(parameters, units, ours, strict=True):
        if parameter.low == parameter.high:
            assert place == 0.0
            continue
        wanted = parameter.project(unit)
        clipped = min(max(unit, 0.0), 1.0)
        # Half way between two grid places either is as near.
        assert abs(place - clipped) == pytest.approx(abs(wanted - clipped), abs=1e-9)
        assert parameter.project(place) == pytest.approx(place, abs=1e-9)


def test_points_that_are_evaluated_alike_share_a_key() -> None:
    box = Box.of([COUNT, NUMBER])
    one, same, other = box.keys(np.array([[0.30, 0.5], [0.36, 0.5], [0.60, 0.5]]))
    assert one == same
    assert one != other


def test_only_grids_have_a_size() -> None:
    assert Box.of([COUNT, SWITCH]).size == 8
    assert Box.of([COUNT, NUMBER]).size is None
    assert Box.of([Parameter("fixed", 2.0, 2.0)]).size == 1
    assert Box.of([]).size == 1


def test_what_is_no_number_is_put_inside() -> None:
    placed = Box.of([NUMBER, COUNT]).project(np.array([[np.nan, np.inf]]))
    assert ((placed >= 0) & (placed <= 1)).all()


@pytest.mark.parametrize("parameter", [COUNT, Parameter("many", 1, 300, kind="int", log=True)])
def test_a_grid_is_drawn_whole_and_then_nothing_is_left(parameter: Parameter) -> None:
    box, rng = Box.of([parameter]), np.random.default_rng(0)
    known: set[bytes] = set()
    for _ in range(int(parameter.high)):
        point = box.draw(rng, known)
        assert point is not None
        known.update(box.keys(point[None]))
    assert len(known) == parameter.high
    assert box.draw(rng, known) is None


def drawn_wholes(source: Box | AxisTree, parameter: Parameter) -> list[int]:
    rng = np.random.default_rng(0)
    points = [source.draw(rng, ()) for _ in range(2000)]
    return [round(parameter.to_number(float(point[0]))) for point in points if point is not None]


def test_whole_numbers_on_a_log_scale_are_drawn_by_the_width_of_their_cells() -> None:
    wide = Parameter("wide", 1, 1000, kind="int", log=True)
    of_box = drawn_wholes(Box.of([wide]), wide)
    of_tree = drawn_wholes(AxisTree([wide]), wide)
    places = np.array([wide.to_unit(n) for n in (1, 2, 3)])
    first, second = np.diff([0.0, *(places[:-1] + places[1:]) / 2.0])
    for drawn in (of_box, of_tree):
        assert np.mean(np.equal(drawn, 1)) == pytest.approx(first, abs=0.02)
        assert np.mean(np.equal(drawn, 2)) == pytest.approx(second, abs=0.02)
        assert 22 < np.median(drawn) < 45


def test_other_whole_numbers_are_equally_likely_those_at_the_ends_too() -> None:
    counts = np.bincount(drawn_wholes(Box.of([COUNT]), COUNT), minlength=5)[1:]
    assert counts / 2000 == pytest.approx(np.full(4, 0.25), abs=0.04)


KIND = Parameter("kind", 0, 2, kind="category", values=("a", "b", "c"))
TREE = (
    KIND,
    Parameter("depth", 1, 4, kind="int", default=3, when=Condition("kind", ("a",))),
    Parameter("mode", 0, 1, kind="category", values=("r", "s"), when=Condition("kind", ("b",))),
)


@given(st.lists(st.floats(-0.2, 1.2), min_size=9, max_size=9))
def test_sites_are_the_points_of_the_tree(units: list[float]) -> None:
    points, tree = np.array(units).reshape(3, 3), AxisTree(TREE)
    places, keys = Sites(TREE).locate(points)
    assert places == pytest.approx(np.array([tree.settle(point) for point in points]))
    assert keys == [tree.key(point) for point in points]


def test_random_proposes_each_point_of_a_conditional_box_once_and_ends() -> None:
    solver = build_random(NoOptions())
    solver.begin(subproblem(*TREE))
    first = solver.ask(3, ())
    solver.tell([Observation(point, 1.0) for point in first])
    points = [*first, *solver.ask(20, ())]
    assert len({AxisTree(TREE).key(point) for point in points}) == len(points) == 7


def test_an_axis_of_one_place_needs_no_draw() -> None:
    fixed = (Parameter("fixed", 2.0, 2.0), SWITCH)
    sites, rng = Sites(fixed), np.random.default_rng(0)
    known: set[bytes] = set()
    while (point := sites.draw(rng, known)) is not None:
        known.update(sites.locate([point])[1])
    assert len(known) == 2


def test_random_skips_what_is_known_and_pending() -> None:
    solver = build_random(NoOptions())
    solver.begin(subproblem(COUNT))
    first = solver.ask(2, ())
    solver.tell([Observation(point, 1.0) for point in first])
    last = [*first, *solver.ask(5, [np.array([0.0])])]
    places = {COUNT.project(float(point[0])) for point in (*last, [0.0])}
    assert len(places) == 4
    assert len(last) == len({tuple(point) for point in last})


def test_a_stream_of_numbers_that_is_all_known_comes_to_an_end() -> None:
    box = Box.of((NUMBER, NUMBER))
    rng, known = np.random.default_rng(0), set()
    for _ in range(100):
        known |= set(box.keys(box.draw(rng, known)[None]))
    assert box.draw(np.random.default_rng(0), known) is not None


def test_what_is_left_of_a_box_is_found_without_a_list_of_all_its_places() -> None:
    box = Box.of((Parameter("n", 0, 10**9, kind="int"), Parameter("m", 1, 2, kind="int")))
    first = box.to_unit(np.array([[0.0, 1.0], [0.0, 2.0]]))
    left = box._first_unknown(set(box.keys(first)))
    assert box.to_number(left).tolist() == [1.0, 1.0]


def test_a_finite_box_is_drawn_from_and_not_walked_where_little_of_it_is_known() -> None:
    box = Box.of((Parameter("n", 0, 10**6, kind="int"), Parameter("m", 0, 999, kind="int")))
    rng, known = np.random.default_rng(0), set()
    for _ in range(300):
        known |= set(box.keys(box.draw(rng, known)[None]))
    assert box.draw(np.random.default_rng(0), known).max() > 0.01
