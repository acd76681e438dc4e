"""Intervals for showing: what they rest on, and that those shown together hold together."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.intervals import interval
from automl_admm.core.evidence import Estimate, Gap, Ranking, Rate


def test_a_rate_is_shown_with_its_exact_interval_and_several_share_the_risk() -> None:
    rate = Rate(3, 50)
    for shown, risk in ((1, 0.05), (5, 0.01)):
        found, exact = interval(rate, 0.9, shown), exact_bounds(rate, risk)
        assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
        assert not found.is_approximate


def test_a_gap_of_rates_is_shown_with_a_narrower_interval_that_says_it_is_approximate() -> None:
    gap = Gap({"a": Rate(30, 100), "b": Rate(10, 200)})
    shown, exact = interval(gap, 0.9), exact_bounds(gap, 0.05)
    assert shown.is_approximate
    assert exact.lower < shown.lower < gap.value < shown.upper < exact.upper


def test_the_interval_of_a_gap_covers_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([0.3, 0.2])
    events = rng.binomial((60, 400), truth, (500, 2))
    shown = [interval(Gap({"a": Rate(int(a), 60), "b": Rate(int(b), 400)}), 0.9) for a, b in events]
    assert np.mean([found.upper < 0.1 for found in shown]) == pytest.approx(0.05, abs=0.03)


def test_a_ranking_is_shown_with_delongs_interval() -> None:
    rng = np.random.default_rng(1)
    ranking = Ranking(rng.normal(1, 1, 60), rng.normal(0, 1, 60))
    assert interval(ranking, 0.95).is_approximate


def test_of_what_nothing_is_known_there_is_no_interval() -> None:
    assert interval(Estimate(0.1), 0.95) is None
    assert interval(Gap({"a": Rate(1, 2)}), 0.95) is None
    assert interval(Gap({"a": Rate(1, 2), "b": Rate(0, 0)}), 0.95) is None
