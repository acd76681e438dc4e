from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.builtin.theta import build_random
from automl_admm.builtin.theta.box import Box
from automl_admm.plugin_types import NoOptions
from automl_admm.problem import Observation, Quadratic, ThetaSubproblem
from automl_admm.space import Parameter

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


@pytest.mark.parametrize("parameter", [COUNT, Parameter("many", 1, 900, kind="int", log=True)])
def test_a_grid_is_drawn_whole_and_then_nothing_is_left(parameter: Parameter) -> None:
    box, rng = Box.of([parameter]), np.random.default_rng(0)
    known: set[bytes] = set()
    for _ in range(int(parameter.high)):
        point = box.draw(rng, known)
        assert point is not None
        known.update(box.keys(point[None]))
    assert len(known) == parameter.high
    assert box.draw(rng, known) is None


def test_random_draws_integers_evenly_even_on_a_log_scale() -> None:
    wide = Parameter("wide", 1, 100, kind="int", log=True)
    box, rng = Box.of([wide]), np.random.default_rng(0)
    drawn = [
        wide.value(float(point[0])) for _ in range(500) if (point := box.draw(rng, ())) is not None
    ]
    assert 40 < np.mean(drawn) < 60


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
