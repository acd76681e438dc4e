from __future__ import annotations

import math

import pytest

from automl_admm.core.limits import Limit
from automl_admm.runs.finish.decision_summary import binding

FPR, SHARE = Limit("fpr", 0.1), Limit("selection_rate", 0.5)
PRECISION = Limit("precision", 0.2, at_least=True)


@pytest.mark.parametrize(
    ("values", "blamed"),
    [
        ((0.09, 0.1, 0.9), [FPR]),
        ((0.09, 0.45, 0.9), [FPR, SHARE]),
        ((0.01, 0.1, 0.21), [PRECISION]),
        # Where all have room the nearest holds the threshold back, if any does.
        ((0.02, 0.05, 0.9), [FPR]),
        # Nothing is known of it, so nothing speaks for it.
        ((math.nan, 0.1, 0.9), [FPR]),
        # What is broken has no room.
        ((0.3, 0.1, 0.9), [FPR]),
    ],
)
def test_a_limit_far_from_its_bound_is_not_blamed(
    values: tuple[float, ...], blamed: list[Limit]
) -> None:
    assert binding(list(zip((FPR, SHARE, PRECISION), values, strict=True))) == blamed


def test_a_bound_of_zero_and_no_limits() -> None:
    gap = Limit("tpr_gap[sex]", 0.0)
    assert binding([(gap, 0.0), (FPR, 0.01)]) == [gap]
    assert binding([]) == []
