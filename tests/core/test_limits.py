from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.limits import Limit


def test_limits_hold_in_their_direction_and_never_for_nan() -> None:
    assert Limit("latency", 2.0).holds(2.0)
    assert not Limit("latency", 2.0).holds(2.1)
    assert Limit("recall", 0.8, at_least=True).holds(0.9)
    assert not Limit("recall", 0.8, at_least=True).holds(0.7)
    assert not Limit("latency", 2.0).holds(float("nan"))


def test_a_mean_that_misses_the_limit_by_rounding_is_within() -> None:
    most, least = Limit("abstain", 0.3), Limit("recall", 0.3, at_least=True)
    assert 0.1 + 0.2 > 0.3
    assert most.holds(0.1 + 0.2)
    assert most.excess(0.1 + 0.2) == 0.0
    assert least.holds(0.3 - 5e-17)
    assert not most.holds(0.3 + 1e-9)
    assert most.excess(0.3 + 1e-9) > 0.0
    assert not Limit("error", 0.0).holds(1e-300)


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
        ({"bound": 1.0, "confidence": 99.0}, r"'g <= 1 @ 99': a confidence must be in \[0.5, 1\)"),
        ({"bound": 1.0, "confidence": 0.05}, "a confidence must be in"),
        ({"bound": 1.0, "confidence": 1.0}, "a confidence must be in"),
    ],
)
def test_limits_that_can_never_hold_are_refused(limit: dict, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Limit("g", **limit)


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (719427.84, "719427.84"),
        (1234574.0, "1234574"),
        (0.12345678901234, "0.12345678901234"),
        (1e9, "1e+09"),
        (0.7 / 100, "0.007"),
        (-3.0, "-3"),
    ],
)
def test_a_bound_is_told_with_all_its_digits(bound: float, said: str) -> None:
    limit = Limit("mae", bound)
    assert str(limit) == f"mae <= {said}"
    assert Limit("mae", float(said)).holds(bound)
    assert limit.holds(float(said))


def test_a_confidence_is_told_with_all_its_digits() -> None:
    assert str(Limit("g", 1.0, confidence=0.99999999)) == "g <= 1 @ 0.99999999"


@pytest.mark.parametrize(
    "given", [Decimal("3.5"), np.float32(3.5), np.float64(3.5), Fraction(7, 2), 3.5]
)
def test_a_bound_is_a_float_whatever_number_is_given(given: Any) -> None:
    limit = Limit("own", given, extreme=given, confidence=Decimal("0.95"))
    assert limit == Limit("own", 3.5, extreme=3.5, confidence=0.95)
    assert {type(one) for one in (limit.bound, limit.extreme, limit.confidence)} == {float}
    assert limit.excess(1e300) == 1e300


@pytest.mark.parametrize(
    "given", [None, "3", True, np.True_, 1j, [3.0], 10**400, Decimal("sNaN")], ids=repr
)
def test_a_bound_that_is_no_number_is_told_in_one_line(given: Any) -> None:
    with pytest.raises(ConfigurationError) as told:
        Limit("own", given)
    assert str(told.value).startswith("the bound of 'own' must be a number, not ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("given", [math.inf, np.nan, Decimal("nan"), np.float32("inf")])
def test_a_bound_is_finite(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="needs a finite number"):
        Limit("own", given)


@pytest.mark.parametrize("given", [3, None, "", " ", ["fpr"], b"fpr"], ids=repr)
def test_a_name_that_is_no_text_is_told_in_one_line(given: Any) -> None:
    with pytest.raises(ConfigurationError) as told:
        Limit(given, 0.1)
    assert str(told.value) == f"the name of a limit must be a text, not {given!r}."
    assert Limit(np.str_("fpr"), 0.1).name == "fpr"
