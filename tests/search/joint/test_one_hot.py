from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Choice, Condition, Order, Parameter, SearchSpace
from automl_admm.search.joint.one_hot import RelaxedSpace

SPACE = SearchSpace(
    decisions=(
        Choice("model", ("tree", "line", "none")),
        Choice("split", ("best", "random"), when=Condition("model", ("tree",))),
        Order("steps", ("a", "b", "c")),
    ),
    parameters=(
        Parameter("depth", 1, 9, kind="int", when=Condition("model", ("tree",))),
        Parameter("slope", 0.1, 10, log=True, when=Condition("model", ("line",))),
    ),
)
RELAXED = RelaxedSpace(SPACE, (Limit("size", 2.0),), 1.0)
DIMENSION = 3 + 2 + 3 + 2


def test_every_alternative_item_and_parameter_has_an_axis() -> None:
    assert len(RELAXED.axes()) == DIMENSION
    assert RELAXED.axes()[0].name == "model=tree"


@given(st.lists(st.floats(0, 1), min_size=DIMENSION, max_size=DIMENSION))
def test_a_decoded_point_encodes_to_a_point_of_the_same_candidate(point: list[float]) -> None:
    candidate = RELAXED.candidate(np.array(point))
    assert SPACE.complete(dict(candidate.selection.picks)) == candidate.selection
    again = RELAXED.candidate(RELAXED.locate(candidate))
    assert again.selection == candidate.selection
    assert again.theta == pytest.approx(candidate.theta)


def test_the_price_adds_the_violation() -> None:
    candidate = Candidate(SPACE.complete({}), (0.0,))
    evaluation = Evaluation(1, "k", candidate, Status.SUCCESS, 0.5, (3.0,))
    assert RELAXED.price(evaluation, np.zeros(DIMENSION)) == pytest.approx(0.5 + 0.5)
