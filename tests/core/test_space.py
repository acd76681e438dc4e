from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.builtin.theta.box import Box
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import (
    Candidate,
    Choice,
    Condition,
    Order,
    Parameter,
    SearchSpace,
    first_pick,
)

SPACE = SearchSpace(
    decisions=(
        Choice("model", ("tree", "line")),
        Choice("depth_kind", ("deep", "flat"), when=Condition("model", ("tree",))),
        Order("steps", ("a", "b", "c")),
    ),
    parameters=(
        Parameter("depth", 1, 9, kind="int", when=Condition("depth_kind", ("deep",))),
        Parameter("slope", 0.1, 10, log=True, default=1.0, when=Condition("model", ("line",))),
        Parameter("always", 0, 1),
    ),
)


@st.composite
def parameters(draw: st.DrawFn, most: int = 2000) -> Parameter:
    kind = draw(st.sampled_from(["float", "int"]))
    log = draw(st.booleans())
    low = draw(st.integers(1 if log else -50, 60))
    return Parameter("p", low, low + draw(st.integers(0, most)), kind=kind, log=log)


@given(parameters(), st.floats(-0.5, 1.5))
def test_projection_is_inside_and_stays_where_it_is(parameter: Parameter, unit: float) -> None:
    once = parameter.project(unit)
    assert 0.0 <= once <= 1.0
    assert parameter.project(once) == pytest.approx(once, abs=1e-12)
    assert parameter.low <= parameter.value(unit) <= parameter.high


@given(parameters(), st.floats(0, 1))
def test_projection_of_an_integer_is_the_nearest_grid_point(
    parameter: Parameter, unit: float
) -> None:
    whole = range(int(parameter.low), int(parameter.high) + 1)
    if parameter.is_integer:
        nearest = min(abs(parameter.to_unit(n) - unit) for n in whole)
        assert abs(parameter.project(unit) - unit) == pytest.approx(nearest, abs=1e-12)


@given(parameters())
def test_every_integer_survives_the_way_to_the_unit_interval_and_back(parameter: Parameter) -> None:
    if parameter.is_integer:
        for n in {
            int(parameter.low),
            int(parameter.high),
            int(parameter.low + parameter.high) // 2,
        }:
            assert parameter.value(parameter.to_unit(n)) == n


def value_by_its_place(parameter: Parameter, unit: float) -> int:
    """The long way: the place on the grid that is nearest, and the number that is there."""
    clipped = min(max(float(unit), 0.0), 1.0)
    below = math.floor(parameter.to_number(clipped))
    around = [n for n in (below - 1, below, below + 1) if parameter.low <= n <= parameter.high]
    place = min((parameter.to_unit(n) for n in around), key=lambda place: abs(place - clipped))
    assert parameter.project(unit) == place
    return round(parameter.to_number(place))


@given(parameters(most=10**9), st.floats(-0.5, 1.5))
def test_an_integer_is_the_number_at_the_place_it_is_projected_to(
    parameter: Parameter, unit: float
) -> None:
    if parameter.is_integer:
        assert parameter.value(unit) == value_by_its_place(parameter, unit)


@given(parameters(most=40), st.data())
def test_between_two_integers_it_is_the_same_one(parameter: Parameter, data: st.DataObject) -> None:
    if parameter.is_integer and parameter.low < parameter.high:
        lower = data.draw(st.integers(int(parameter.low), int(parameter.high) - 1))
        middle = (parameter.to_unit(lower) + parameter.to_unit(lower + 1)) / 2
        for unit in (math.nextafter(middle, 0), middle, math.nextafter(middle, 1)):
            assert parameter.value(unit) == value_by_its_place(parameter, unit)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Parameter("x", 0.0, 1.0, kind="real"), "its kind must be float, int or category"),
        (lambda: Parameter("x", 0, 1, kind="integer"), "not 'integer'"),
        (lambda: Parameter("x", "0", "1"), "its bounds and its default must be numbers"),
        (lambda: Parameter("x", 0, 1, default="0"), "must be numbers"),
        (lambda: Parameter("x", True, 5), "must be numbers"),
        (lambda: Parameter("x", 0, 1, kind="int", default=True), "must be numbers"),
        (lambda: Choice("c", ("a\0", "b")), r"hold 'a\\x00', which no file keeps"),
        (
            lambda: Order("o", ("a", "\ud800")),
            "the items of order 'o' hold .*, which no file keeps",
        ),
        (lambda: Choice("c", "ab"), "must be a tuple of texts, not 'ab'"),
        (lambda: Choice("c", (1, 2)), r"must be a tuple of texts, not \(1, 2\)"),
        (lambda: Order("o", "abc"), "the items of order 'o' must be a tuple of texts"),
        (lambda: Condition("c", "a"), "a condition on 'c' must be a tuple of texts"),
        (lambda: SearchSpace((), Parameter("x", 0, 1)), "parameters of a search space must be"),
        (lambda: SearchSpace((Parameter("x", 0, 1),)), "must be a tuple of Choice or Order"),
    ],
)
def test_what_would_be_taken_for_something_else_is_refused(
    make: Callable[[], object], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says):
        make()


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(0.0, 1.0, 0.123457), (1e6, 1e6 + 2, 1000000.6667), (-1e9, -1e9 + 0.5, -999999999.78901)],
)
def test_a_number_has_six_digits_and_more_in_a_narrow_range(low: float, high: float, inside: float):
    parameter = Parameter("x", low, high)
    assert parameter.value(parameter.to_unit(inside + 2e-9 * (high - low))) == inside


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-5, 1e9), log=st.booleans())
def test_no_range_collapses_to_a_few_values(low: float, width: float, log: bool) -> None:
    low = abs(low) + 1e-3 if log else low
    parameter = Parameter("x", low, low + width, log=log)
    assert len({parameter.value(place / 100) for place in range(101)}) == 101


def test_values_of_an_integer_are_looked_up() -> None:
    switch = Parameter("bootstrap", 0, 1, kind="int", values=(True, False))
    assert [switch.value(unit) for unit in (0.0, 0.4, 0.6, 1.0)] == [True, True, False, False]


def test_values_of_numpy_are_those_of_python() -> None:
    given = (np.int64(16), np.bool_(False), np.float32(0.5), np.str_("a"), (1, 2), None)
    labels = tuple("abcdef")
    for found in (
        Choice("c", labels, values=given).values,
        Parameter("p", 0, 5, kind="category", values=given).values,
    ):
        assert found == (16, False, 0.5, "a", (1, 2), None)
        assert [type(one) for one in found[:4]] == [int, bool, float, str]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"low": 2, "high": 1}, "empty"),
        ({"low": 0, "high": 1, "log": True}, "above 0"),
        ({"low": 1e-200, "high": 1e200, "log": True}, "a finite quotient of its bounds"),
        ({"low": 0.5, "high": 3, "kind": "int"}, "whole"),
        ({"low": 0, "high": float("inf")}, "finite"),
        ({"low": 0, "high": 1, "default": 2}, "default"),
        ({"low": -1e308, "high": 1e308}, "the distance between them"),
        ({"low": 0, "high": 1, "values": ("a", "b")}, "behind an integer or a category"),
        ({"low": 0, "high": 1, "kind": "category", "values": tuple("abc")}, "3 values for 2"),
        ({"low": 0, "high": 4, "kind": "int", "values": ("a", "b")}, "2 values for 5"),
    ],
)
def test_wrong_parameters_are_refused(arguments: dict, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Parameter("p", **arguments)


def test_only_what_is_active_is_in_a_selection_and_in_the_values() -> None:
    line = SPACE.complete({"model": "line", "depth_kind": "flat"})
    assert dict(line.picks) == {"model": "line", "steps": ("a", "b", "c")}
    assert SPACE.active(line) == (1, 2)
    values = SPACE.values(SPACE.candidate(line, SPACE.default_theta()))
    assert values == {
        "model": "line",
        "steps": ("a", "b", "c"),
        "slope": pytest.approx(1.0),
        "always": 0.5,
    }


def test_a_condition_chains_up_through_inactive_parents() -> None:
    assert 0 not in SPACE.active(SPACE.complete({"model": "line"}))
    assert 0 in SPACE.active(SPACE.complete({"model": "tree"}))


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (999_999_999_999_998, 999_999_999_999_999, "int"),
        (999_999_999_999_000, 999_999_999_999_999, "int"),
        (1e5, 1.00000000000002e5, "float"),
        (1e-100, 1.0000000000001e-100, "float"),
        (1.0, 1.0000000000000002, "float"),
        (5, 5, "int"),
    ],
)
def test_a_narrow_range_with_a_log_scale_has_a_place_for_each_number(
    low: float, high: float, kind: str
) -> None:
    parameter = Parameter("x", low, high, kind=kind, log=True)
    for number in {low, min(low + 1, high), high}:
        unit = parameter.to_unit(number)
        assert parameter.value(unit) == number
        assert Box.of([parameter]).to_unit(np.array([[number]]))[0, 0] == pytest.approx(unit)


TENTHS = [tenth / 10 for tenth in range(1, 21)]


def test_a_zero_within_a_range_is_zero_wherever_the_range_ends() -> None:
    for low, high in product(TENTHS, TENTHS):
        parameter = Parameter("x", -low, high, default=0.0)
        assert parameter.value(parameter.default_unit()) == 0.0
        assert parameter.value(parameter.to_unit(1e-9)) == pytest.approx(1e-9, rel=1e-5)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.0), (1e-15, 1.0)])
def test_a_small_number_stays_where_the_way_back_loses_nothing(low: float, high: float) -> None:
    number = 1e-14 if low >= 0.0 else -1e-14
    assert Parameter("x", low, high).rounded(number) == number


def test_projecting_a_candidate_rounds_its_integers_only() -> None:
    tree = SPACE.complete({})
    projected = SPACE.projected(Candidate(tree, (0.19, 0.33)))
    assert projected.theta == (pytest.approx(0.25), 0.33)


@given(st.integers(0, 2**32 - 1))
def test_samples_are_complete_selections(seed: int) -> None:
    selection = SPACE.sample(np.random.default_rng(seed))
    assert SPACE.complete(dict(selection.picks)) == selection


@pytest.mark.parametrize(
    ("decisions", "says"),
    [
        ((Choice("a", ("x",)), Choice("a", ("y",))), "two things named 'a'"),
        ((Choice("a", ("x",), when=Condition("b", ("y",))),), "'b'"),
        ((Choice("a", ("x",)), Choice("b", ("y",), when=Condition("a", ("z",)))), "'z'"),
    ],
)
def test_wrong_spaces_are_refused(decisions: tuple, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        SearchSpace(decisions)


BOUND = Order("steps", ("a", "b", "c", "d"), precedence=((1, 0), (1, 2)))


def test_an_order_keeps_its_precedence() -> None:
    assert BOUND.count == len(list(BOUND.permutations())) == 8
    assert first_pick(BOUND) == ("b", "a", "c", "d")
    assert BOUND.arranged(("d", "c", "a", "b")) == ("d", "b", "c", "a")
    assert BOUND.allows(("d", "b", "c", "a"))
    for wrong in (("d", "c", "b", "a"), ("b", "a", "c"), "b", ("b", "a", "c", "x")):
        assert not BOUND.allows(wrong)
    assert BOUND.ready(()) == ("b", "d")
    assert BOUND.ready(("b", "a")) == ("c", "d")
    assert BOUND.positions() == (range(1, 4), range(2), range(1, 4), range(4))


def test_a_space_arranges_what_breaks_a_precedence() -> None:
    space = SearchSpace((BOUND,))
    assert space.complete({"steps": ("a", "b", "c", "d")}).get("steps") == ("b", "a", "c", "d")
    rng = np.random.default_rng(0)
    drawn = Counter(space.sample(rng).get("steps") for _ in range(4000))
    assert set(drawn) == set(BOUND.permutations())
    assert max(drawn.values()) < 1.3 * min(drawn.values())


@pytest.mark.parametrize(
    ("precedence", "says"),
    [
        (((0, 4),), "pairs are places in `items`"),
        (((0, 1), (1, 2), (2, 0)), "leads back: a → b → c → a"),
        (((1, 1),), "leads back: b → b"),
    ],
)
def test_a_precedence_that_no_order_keeps_is_refused(precedence: tuple, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Order("steps", ("a", "b", "c", "d"), precedence=precedence)


def test_a_precedence_binds_as_many_items_as_can_be_counted() -> None:
    items = tuple("abcdefghijklm")
    with pytest.raises(ConfigurationError, match="binds more than 12 items"):
        Order("steps", items, precedence=tuple((0, other) for other in range(1, 13)))


@pytest.mark.parametrize("high", [2**53 + 10, 2**62, 10**20, 10**400])
def test_an_integer_that_a_float_does_not_hold_is_refused(high: int) -> None:
    with pytest.raises(ConfigurationError, match=r"'n': an integer beyond 2\*\*53 is not told"):
        Parameter("n", 0, high, kind="int")
    assert Parameter("n", 2**53 - 10, 2**53, kind="int").to_number(1.0) == 2**53


def test_no_values_may_be_said_as_none() -> None:
    assert Parameter("n", 0, 1, values=None).values == ()


@pytest.mark.parametrize(
    ("low", "high", "near"), [(-1.0, 1e13, 0.5), (-1.0, 1e9, -1e-4), (-1e6, 1.0, 5e-7)]
)
def test_a_value_that_is_small_beside_its_range_is_not_0(
    low: float, high: float, near: float
) -> None:
    assert Parameter("x", low, high).rounded(near) != 0.0
