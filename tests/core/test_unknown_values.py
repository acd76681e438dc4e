from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Gap,
    Largest,
    Mean,
    Ranking,
    Rate,
    Ratio,
    Smallest,
    Timing,
)
from automl_admm.core.unknown_values import explain_unknown, why_unknown

NOTHING = np.zeros(0)
RATES = {"a": Rate(1, 4), "b": Rate(3, 4)}


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (Rate(0, 0, "negative rows"), "has no negative rows"),
        (Ranking(NOTHING, np.ones(2)), "has no positive rows"),
        (Ranking(np.ones(2), NOTHING), "has no negative rows"),
        (Mean(NOTHING, 0.0, 1.0), "has no rows"),
        (Timing(NOTHING, 0.9), "has no rows"),
        (Estimate(math.nan), "gives no number"),
        (Gap(RATES | {"c": Rate(0, 0, "positive rows")}), "group 'c' has no positive rows"),
        (Gap({}), "there is nothing to compare"),
        (Largest({"x": Gap(RATES), "y": Ratio({"c": Rate(0, 0)})}), "group 'c' has no rows"),
        (Smallest({"f": Rate(1, 4), "m": Rate(0, 0, "positive rows")}), "m has no positive rows"),
    ],
)
def test_what_is_unknown_says_why(evidence: Evidence, reason: str) -> None:
    assert math.isnan(evidence.value)
    assert why_unknown(evidence) == reason


def test_the_reason_stands_alone() -> None:
    assert explain_unknown(Rate(0, 0)) == "it has no rows"
    assert explain_unknown(Gap({"c": Rate(0, 0)})) == "group 'c' has no rows"
    assert explain_unknown(Rate(0, 1)) == ""
