"""Standard errors of rates and of comparisons, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.core.evidence import Estimate, Evidence, Gap, Largest, Mean, Rate, Ratio, Smallest
from automl_admm.core.standard_errors import standard_error


@pytest.mark.parametrize(("share", "rows"), [(0.5, 40), (0.1, 200), (0.9, 200)])
def test_a_rate_strays_so_far(share: float, rows: int) -> None:
    drawn = np.random.default_rng(0).binomial(rows, share, 4000)
    told = standard_error(Rate(round(share * rows), rows))
    assert told == pytest.approx(np.std(drawn / rows), rel=0.1)


def test_a_gap_strays_as_the_difference_of_its_outermost_groups() -> None:
    rates = {"a": Rate(10, 100), "b": Rate(60, 400), "c": Rate(20, 50)}
    expected = math.hypot(standard_error(rates["a"]), standard_error(rates["c"]))
    assert standard_error(Gap(rates)) == pytest.approx(expected)


def test_the_worst_group_strays_as_its_rate() -> None:
    parts = {"a": Rate(10, 100), "b": Rate(20, 50)}
    assert standard_error(Largest(parts)) == standard_error(parts["b"])
    assert standard_error(Smallest(parts)) == standard_error(parts["a"])


def test_no_event_is_no_certainty() -> None:
    assert 0.0 < standard_error(Rate(0, 100)) < 0.01


@pytest.mark.parametrize(
    "evidence",
    [
        Rate(0, 0),
        Estimate(0.5),
        Mean(np.array([0.0, 1.0]), 0.0, 1.0),
        Ratio({"a": Rate(1, 2), "b": Rate(1, 3)}),
        Gap({}),
        Largest({}),
        Gap({"a": Rate(0, 0), "b": Rate(1, 3)}),
    ],
)
def test_of_anything_else_it_is_not_known(evidence: Evidence) -> None:
    assert math.isnan(standard_error(evidence))
