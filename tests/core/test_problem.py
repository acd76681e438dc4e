from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.problem import Evaluation, Limit, Quadratic, Status, is_feasible
from automl_admm.core.space import Candidate, Selection


def test_limits_hold_in_their_direction_and_never_for_nan() -> None:
    assert Limit("latency", 2.0).holds(2.0)
    assert not Limit("latency", 2.0).holds(2.1)
    assert Limit("recall", 0.8, at_least=True).holds(0.9)
    assert not Limit("recall", 0.8, at_least=True).holds(0.7)
    assert not Limit("latency", 2.0).holds(float("nan"))


def test_slack_has_room_up_to_the_extreme_or_without_end() -> None:
    assert Limit("g", 0.0).room == float("inf")
    assert Limit("latency", 2.0, extreme=0.0).room == 2.0
    assert Limit("recall", 0.8, at_least=True, extreme=1.0).room == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ({"bound": float("nan")}, "needs a finite number"),
        ({"bound": -1.0, "extreme": 0.0}, "'g' is never below 0"),
        ({"bound": 1.1, "at_least": True, "extreme": 1.0}, "'g' is never above 1"),
    ],
)
def test_limits_that_can_never_hold_are_refused(limit: dict, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Limit("g", **limit)


def test_a_failed_evaluation_is_never_feasible() -> None:
    candidate = Candidate(Selection(()), (0.0,))
    failed = Evaluation(1, "k", candidate, Status.TIMEOUT, constraints=(0.0,))
    assert not is_feasible(failed, (Limit("latency", 1.0),))


def test_the_known_part_of_a_loss_is_a_weighted_square() -> None:
    known = Quadratic(np.array([0.5, 0.5]), np.array([2.0, 0.0]))
    assert known(np.array([[0.5, 0.1], [1.0, 0.9]])) == pytest.approx([0.0, 0.25])
    assert known(np.array([0.0, 0.0])) == pytest.approx([0.25])
