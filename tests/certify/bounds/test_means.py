"""The bound for bounded means, against the bounds it is to beat and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from automl_admm.certify.bounds.means import lower_mean, tail_bound, upper_mean

shares = st.floats(0, 1)
sizes = st.integers(1, 300)
risks = st.floats(1e-4, 0.5)


def _hoeffding(average: float, trials: int, mean: float) -> float:
    """exp(−n kl(average, mean)), the form of his theorem 1."""
    parts = [(average, mean), (1 - average, 1 - mean)]
    return math.exp(-trials * sum(a * math.log(a / b) for a, b in parts if a > 0))


@pytest.mark.parametrize("trials", [2, 20, 500])
@pytest.mark.parametrize("mean", [0.05, 0.5, 0.9])
def test_the_tail_lies_between_the_exact_one_and_those_of_hoeffding_and_bentkus(
    trials: int, mean: float
) -> None:
    for events in range(math.floor(trials * mean) + 1, trials + 1):
        average = events / trials
        exact = stats.binom.sf(events - 1, trials, mean)
        bound = tail_bound(average, trials, mean)
        if exact > 1e-9:
            assert bound >= exact * (1 - 1e-9)
            assert bound <= _hoeffding(average, trials, mean) * (1 + 1e-6)
            assert bound <= math.e * exact * (1 + 1e-6)


def test_the_tail_is_the_least_that_a_broken_line_gives() -> None:
    trials, mean, average = 40, 0.3, 0.47
    events = np.arange(trials + 1)
    chances = stats.binom.pmf(events, trials, mean)
    total = trials * average
    lines = [
        float(np.maximum(events - cut, 0) @ chances / (total - cut))
        for cut in np.linspace(-5, total - 1e-3, 4000)
    ]
    assert tail_bound(average, trials, mean) == pytest.approx(min(lines), rel=1e-3)
    assert tail_bound(average, trials, mean) <= min(lines) + 1e-12


@given(shares, sizes, risks)
def test_the_bounds_enclose_the_average_and_mirror_each_other(
    average: float, trials: int, risk: float
) -> None:
    lower, upper = lower_mean(average, trials, risk), upper_mean(average, trials, risk)
    assert 0 <= lower <= average <= upper + 1e-12
    assert upper <= 1
    assert upper == pytest.approx(1 - lower_mean(1 - average, trials, risk))


@given(shares, sizes, risks)
def test_the_lower_bound_rises_with_the_average_the_rows_and_the_risk(
    average: float, trials: int, risk: float
) -> None:
    bound = lower_mean(average, trials, risk)
    assert lower_mean(min(1.0, average + 0.1), trials, risk) >= bound - 1e-6
    assert lower_mean(average, 4 * trials, risk) >= bound - 1e-6
    assert lower_mean(average, trials, min(0.9, 1.5 * risk)) >= bound - 1e-6


def test_a_perfect_average_is_bounded_as_a_rate_without_events() -> None:
    assert lower_mean(1.0, 10, 0.05) == pytest.approx(0.05**0.1, abs=1e-9)


@pytest.mark.parametrize("mean", [0.1, 0.5])
def test_it_misses_less_than_promised_for_values_that_are_no_events(mean: float) -> None:
    rng = np.random.default_rng(0)
    averages = rng.beta(mean / 2, (1 - mean) / 2, (400, 60)).mean(axis=1)
    misses = np.mean([upper_mean(average, 60, 0.1) < mean for average in averages])
    assert misses <= 0.1
    assert np.mean([upper_mean(average, 60, 0.1) - mean for average in averages]) < 0.2
