from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Choice, Condition, Order, Parameter, SearchSpace
from automl_admm.search.joint.conditional import ConditionalSpace

SPACE = SearchSpace(
    decisions=(
        Choice("model", ("tree", "line", "none")),
        Choice("split", ("best", "random"), when=Condition("model", ("tree",))),
        Choice("only", ("one",)),
        Order("steps", ("a", "b", "c")),
    ),
    parameters=(
        Parameter("depth", 1, 9, kind="int", when=Condition("model", ("tree",))),
        Parameter("slope", 0.1, 10, log=True, when=Condition("model", ("line",))),
    ),
)
BOX = ConditionalSpace(SPACE, (Limit("size", 2.0),), 1.0)
DIMENSION = 3 + 3 + 2


def test_a_choice_is_a_category_with_its_condition_and_an_order_has_priorities() -> None:
    axes = {axis.name: axis for axis in BOX.axes()}
    assert len(axes) == DIMENSION
    assert axes["model"].is_category
    assert axes["model"].values == ("tree", "line", "none")
    assert axes["split"].when == Condition("model", ("tree",))
    assert not axes["steps=a"].is_integer
    assert axes["slope"].when == Condition("model", ("line",))


@given(st.lists(st.floats(0, 1), min_size=DIMENSION, max_size=DIMENSION))
def test_a_decoded_point_encodes_to_a_point_of_the_same_candidate(point: list[float]) -> None:
    candidate = BOX.candidate(np.array(point))
    assert SPACE.complete(dict(candidate.selection.picks)) == candidate.selection
    located = BOX.locate(candidate)
    again = BOX.candidate(located)
    assert again.selection == candidate.selection
    assert again.theta == pytest.approx(candidate.theta)
    projected = [axis.project(place) for axis, place in zip(BOX.axes(), located, strict=True)]
    categories = [axis.is_category for axis in BOX.axes()]
    assert np.array(projected)[categories] == pytest.approx(located[categories])


def test_what_is_not_active_stands_at_its_default() -> None:
    point = np.array([1.0, 1.0, 0.0, 0.2, 0.9, 0.5, 0.8, 0.8])
    candidate = BOX.candidate(point)
    assert candidate.selection.get("model") == "none"
    assert candidate.selection.get("steps") == ("b", "c", "a")
    located = BOX.locate(candidate)
    assert located[1] == 0.0
    assert located[-2:] == pytest.approx(SPACE.default_theta())


def test_the_price_adds_the_violation() -> None:
    candidate = Candidate(SPACE.complete({}), (0.0,))
    evaluation = Evaluation(1, "k", candidate, Status.SUCCESS, 0.5, (3.0,))
    assert BOX.price(evaluation, np.zeros(DIMENSION)) == pytest.approx(0.5 + 0.5)
