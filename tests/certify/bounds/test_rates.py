"""Clopper-Pearson and Miettinen-Nurminen against SciPy, statsmodels and published figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from automl_admm.certify.bounds.rates import (
    Count,
    likeliest_second_rate,
    lower_rate,
    score_of_difference,
    upper_difference,
    upper_rate,
)

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
risks = st.floats(1e-6, 0.5)


@pytest.mark.parametrize(("events", "trials"), [(0, 10), (1, 10), (10, 10), (37, 800)])
def test_clopper_pearson_is_scipys(events: int, trials: int) -> None:
    test = stats.binomtest(events, trials)
    interval = test.proportion_ci(confidence_level=0.9, method="exact")
    assert lower_rate(events, trials, 0.05) == pytest.approx(interval.low, abs=1e-12)
    assert upper_rate(events, trials, 0.05) == pytest.approx(interval.high, abs=1e-12)


@given(counts, risks)
def test_the_bounds_enclose_the_rate_and_mirror_each_other(
    count: tuple[int, int], risk: float
) -> None:
    events, trials = count
    assert lower_rate(events, trials, risk) <= events / trials <= upper_rate(events, trials, risk)
    mirrored = 1 - lower_rate(trials - events, trials, risk)
    assert upper_rate(events, trials, risk) == pytest.approx(mirrored, abs=1e-9)


@given(counts, risks)
def test_the_upper_bound_grows_with_events_and_falls_with_risk(
    count: tuple[int, int], risk: float
) -> None:
    events, trials = count
    bound = upper_rate(events, trials, risk)
    assert upper_rate(events + 1, trials + 1, risk) >= bound - 1e-12
    assert upper_rate(min(events + 1, trials), trials, risk) >= bound
    assert upper_rate(events, trials, risk / 2) >= bound


@pytest.mark.parametrize(("trials", "rate"), [(30, 0.02), (100, 0.01), (250, 0.3)])
def test_clopper_pearson_misses_at_most_as_often_as_promised_for_any_rate(
    trials: int, rate: float
) -> None:
    chances = stats.binom.pmf(np.arange(trials + 1), trials, rate)
    misses = [upper_rate(events, trials, 0.05) < rate for events in range(trials + 1)]
    assert chances[misses].sum() <= 0.05


def test_miettinen_and_nurminen_have_newcombes_published_bounds() -> None:
    """Newcombe (1998), Statistics in Medicine 17, table II, method 6."""
    cases = {
        ((56, 70), (48, 80)): (0.0528, 0.3382),
        ((5, 56), (0, 29)): (-0.0326, 0.1933),
    }
    for (first, second), (low, high) in cases.items():
        one, other = Count(*first), Count(*second)
        assert -upper_difference(other, one, 0.025) == pytest.approx(low, abs=6e-5)
        assert upper_difference(one, other, 0.025) == pytest.approx(high, abs=6e-5)


def test_the_score_at_no_difference_is_that_of_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for first, second in (((7, 50), (12, 80)), ((30, 100), (22, 90))):
        oracle = proportion.test_proportions_2indep(*first, *second, method="score")
        mine = score_of_difference(Count(*first), Count(*second), 0.0)
        assert mine == pytest.approx(oracle.statistic, abs=1e-9)


@given(counts, counts, st.floats(-0.6, 0.6))
def test_the_constrained_rate_is_the_likeliest(
    first: tuple[int, int], second: tuple[int, int], difference: float
) -> None:
    one, other = Count(*first), Count(*second)

    def unlikely(rate: float) -> float:
        both = ((one, min(max(rate + difference, 0), 1)), (other, rate))
        return -sum(
            special.xlogy(count.events, p) + special.xlog1py(count.trials - count.events, -p)
            for count, p in both
        )

    lowest, highest = max(0.0, -difference), min(1.0, 1 - difference)
    found = optimize.minimize_scalar(unlikely, bounds=(lowest, highest), method="bounded")
    mine = likeliest_second_rate(one, other, difference)
    assert lowest <= mine <= highest
    assert unlikely(mine) <= found.fun + 1e-6 * max(1, abs(found.fun))
