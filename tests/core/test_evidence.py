from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.evidence import (
    Evidence,
    Fact,
    Gap,
    Largest,
    Mean,
    Ranking,
    Rate,
    Ratio,
    Smallest,
    Timing,
)
from automl_admm.core.unknown_values import why_unknown

RATES = {"a": Rate(1, 4), "b": Rate(3, 4)}


@pytest.mark.parametrize(
    ("evidence", "value"),
    [
        (Fact(3.0), 3.0),
        (Rate(1, 4), 0.25),
        (Mean(np.array([0.0, 1.0]), 0.0, 1.0), 0.5),
        (Ranking(np.array([2.0, 1.0]), np.array([1.0, 0.0])), 0.875),
        (Timing(np.arange(11.0), 0.9), 9.0),
        (Gap(RATES), 0.5),
        (Ratio(RATES), 1 / 3),
        (Ratio({"a": Rate(0, 3), "b": Rate(0, 4)}), 1.0),
        (Largest({"x": Gap(RATES), "y": Rate(9, 10)}), 0.9),
        (Smallest({"x": Gap(RATES), "y": Rate(4, 10)}), 0.4),
    ],
)
def test_values(evidence: Evidence, value: float) -> None:
    assert evidence.value == pytest.approx(value)
    assert why_unknown(evidence) == ""
