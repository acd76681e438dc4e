"""Bounds of gaps, ratios, calls and facts: validity by enumeration and simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.certify.bounds.differences import upper_difference_exact
from automl_admm.certify.bounds.rates import Count, lower_rate, upper_rate
from automl_admm.core.evidence import (
    Estimate,
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

rates = st.integers(1, 300).flatmap(lambda n: st.builds(Rate, st.integers(0, n), st.just(n)))
groups = st.dictionaries(st.sampled_from("abcdef"), rates, min_size=2, max_size=4)
risks = st.floats(1e-4, 0.3)


@settings(max_examples=20)
@given(groups, risks)
def test_a_gap_lies_between_its_bounds(found: dict[str, Rate], risk: float) -> None:
    gap = Gap(found)
    bounds = exact_bounds(gap, risk)
    assert 0 <= bounds.lower <= gap.value <= bounds.upper
    assert not bounds.is_approximate
    narrower = exact_bounds(gap, min(0.5, 2 * risk))
    assert bounds.lower <= narrower.lower
    assert narrower.upper <= bounds.upper + 1e-4


@given(groups, risks)
def test_a_ratio_lies_between_its_bounds(found: dict[str, Rate], risk: float) -> None:
    ratio = Ratio(found)
    bounds = exact_bounds(ratio, risk)
    assert bounds.lower <= ratio.value <= bounds.upper <= 1


@pytest.mark.parametrize("low", [-0.1, 0.0, 0.1])
def test_the_lower_bound_of_a_ratio_holds_for_values_of_either_sign(low: float) -> None:
    rng, risk = np.random.default_rng(4), 0.2
    drawn = [
        {name: Mean(_signs(rng, mean), -1.0, 1.0) for name, mean in (("a", low), ("b", 0.5))}
        for _ in range(200)
    ]
    found = [one for one in (exact_bounds(Ratio(parts), risk) for parts in drawn) if one]
    assert len(found) > 50
    assert sum(one.lower > low / 0.5 for one in found) <= risk * len(drawn)
    assert sum(one.upper < low / 0.5 for one in found) <= risk * len(drawn)
    assert min(one.lower for one in found) > -1.5


def _signs(rng: np.random.Generator, mean: float) -> np.ndarray:
    return np.where(rng.random(300) < (1 + mean) / 2, 1.0, -1.0)


def test_no_lower_bound_of_a_ratio_is_known_if_all_may_be_negative() -> None:
    some = Mean(np.array([0.1, -0.1, 0.2, 0.0]), -1.0, 1.0)
    assert exact_bounds(Ratio({"a": some, "b": some}), 0.05).lower == -math.inf


@pytest.mark.parametrize(
    "part",
    [Rate(0, 5), Rate(3, 40), Mean(np.zeros(9), 0.0, 4.0), Timing(np.ones(3), 0.5)],
    ids=lambda one: type(one).__name__,
)
def test_a_ratio_of_what_is_never_negative_is_not(part: Evidence) -> None:
    for other in (part, Rate(5, 60)):
        bounds = exact_bounds(Ratio({"a": part, "b": other}), 0.05)
        assert 0.0 <= bounds.lower <= bounds.upper <= 1.0


def test_a_gap_of_two_rates_has_the_exact_bound_of_their_difference() -> None:
    bounds = exact_bounds(Gap({"a": Rate(30, 100), "b": Rate(10, 200)}), 0.05)
    assert bounds.upper == upper_difference_exact(Count(30, 100), Count(10, 200), 0.05)
    assert bounds.lower == lower_rate(30, 100, 0.0125) - upper_rate(10, 200, 0.0125)


def test_any_other_gap_is_the_union_of_two_bounds_at_half_the_risk() -> None:
    mean = Mean(np.linspace(0, 0.6, 80), 0, 1)
    bounds = exact_bounds(Gap({"a": mean, "b": Rate(10, 200)}), 0.05)
    assert bounds.upper == exact_bounds(mean, 0.025).upper - lower_rate(10, 200, 0.025)


def _draws(truth: tuple[float, ...], sizes: tuple[int, ...], times: int) -> list[dict[str, Rate]]:
    rng = np.random.default_rng(5)
    events = rng.binomial(sizes, truth, (times, len(sizes)))
    return [
        {str(k): Rate(int(x), n) for k, (x, n) in enumerate(zip(row, sizes, strict=True))}
        for row in events
    ]


@pytest.mark.parametrize(
    ("truth", "sizes"),
    [
        ((0.1, 0.1), (40, 40)),
        ((0.2, 0.05, 0.12, 0.1), (30, 500, 60, 90)),
        ((0.1,) * 6, (25, 25, 50, 50, 100, 400)),
        ((0.5, 0.02), (20, 300)),
    ],
)
def test_bounds_of_gaps_and_ratios_miss_at_most_as_often_as_promised(
    truth: tuple[float, ...], sizes: tuple[int, ...]
) -> None:
    risk, drawn = 0.2, _draws(truth, sizes, 300)
    gap, ratio = max(truth) - min(truth), min(truth) / max(truth)
    of_gaps = [exact_bounds(Gap(found), risk) for found in drawn[:50]]
    of_ratios = [exact_bounds(Ratio(found), risk) for found in drawn]
    assert np.mean([found.upper < gap for found in of_gaps]) <= 1.5 * risk
    assert np.mean([found.lower > gap for found in of_gaps]) <= risk
    assert np.mean([found.lower > ratio for found in of_ratios]) <= risk
    assert np.mean([found.upper < ratio for found in of_ratios]) <= risk


def test_without_sharing_the_risk_the_lower_bound_of_a_gap_would_miss_too_often() -> None:
    risk, drawn = 0.2, _draws((0.1,) * 6, (25, 25, 50, 50, 100, 400), 500)

    def alone(found: dict[str, Rate]) -> float:
        """What the largest lower bound of a pair would be with every pair at the full risk."""
        low = [lower_rate(rate.events, rate.trials, risk / 2) for rate in found.values()]
        high = [upper_rate(rate.events, rate.trials, risk / 2) for rate in found.values()]
        return max(a - b for i, a in enumerate(low) for j, b in enumerate(high) if i != j)

    assert np.mean([alone(found) > 0 for found in drawn]) > risk


def test_the_largest_is_bounded_by_its_parts_at_the_full_risk() -> None:
    parts: dict[str, Evidence] = {"tpr": Rate(5, 100), "fpr": Rate(30, 200)}
    bounds = exact_bounds(Largest(parts), 0.05)
    assert bounds.upper == upper_rate(30, 200, 0.05)
    assert bounds.lower == lower_rate(30, 200, 0.025)


def test_the_smallest_is_bounded_by_its_parts_at_the_full_risk() -> None:
    parts: dict[str, Evidence] = {"f": Rate(80, 100), "m": Rate(190, 200)}
    bounds = exact_bounds(Smallest(parts), 0.05)
    assert bounds.lower == lower_rate(80, 100, 0.05)
    assert bounds.upper == upper_rate(80, 100, 0.025)


def test_the_smallest_is_the_largest_of_the_complements() -> None:
    for found in _draws((0.1, 0.1, 0.3), (20, 60, 200), 20):
        turned = {name: Rate(one.trials - one.events, one.trials) for name, one in found.items()}
        least, most = exact_bounds(Smallest(turned), 0.1), exact_bounds(Largest(found), 0.1)
        assert least.lower == pytest.approx(1 - most.upper)
        assert least.upper == pytest.approx(1 - most.lower)


@pytest.mark.parametrize(("rows", "quantile"), [(5, 0.5), (40, 0.9), (100, 0.95)])
def test_calls_are_bounded_by_the_order_statistics_of_the_binomial_test(
    rows: int, quantile: float
) -> None:
    values = np.random.default_rng(6).permutation(np.arange(1.0, rows + 1))
    bounds = exact_bounds(Timing(values, quantile), 0.1)
    for limit in range(1, rows + 1):
        slow = int(np.sum(values > limit))
        chance = stats.binom.cdf(slow, rows, 1 - quantile)
        assert (bounds.upper <= limit) == (chance <= 0.1)


def test_too_few_calls_bound_nothing() -> None:
    assert exact_bounds(Timing(np.ones(5), 0.95), 0.05).upper == math.inf
    assert exact_bounds(Timing(np.ones(1), 0.5), 0.05).lower == 0


def test_the_bounds_of_calls_miss_at_most_as_often_as_promised() -> None:
    rng = np.random.default_rng(7)
    truth = -math.log(0.1)
    found = [exact_bounds(Timing(rng.exponential(1, 80), 0.9), 0.1) for _ in range(600)]
    assert np.mean([one.upper < truth for one in found]) <= 0.12
    assert np.mean([one.lower > truth for one in found]) <= 0.12


def test_a_mean_is_stretched_to_its_range_and_back() -> None:
    values = np.random.default_rng(8).uniform(0, 1, 50)
    plain, wide = Mean(values, 0, 1), Mean(10 * values - 5, -5, 5)
    bounds, stretched = exact_bounds(plain, 0.05), exact_bounds(wide, 0.05)
    assert stretched.upper == pytest.approx(10 * bounds.upper - 5)
    assert stretched.lower == pytest.approx(10 * bounds.lower - 5)


def test_a_fact_is_its_own_bound() -> None:
    bounds = exact_bounds(Fact(7.0), 0.05)
    assert (bounds.lower, bounds.upper) == (7.0, 7.0)
    assert exact_bounds(Mean(np.full(3, 2.0), 2.0, 2.0), 0.05).upper == 2.0


@dataclass(frozen=True)
class _Foreign:
    """Evidence of a kind that nobody here knows."""

    value: float = 0.5


@pytest.mark.parametrize(
    "evidence",
    [
        Estimate(0.1),
        _Foreign(),
        Gap({"a": Estimate(0.1), "b": Rate(1, 5)}),
        Gap({"a": Rate(1, 5)}),
        Gap({}),
        Ratio({"a": Rate(1, 5)}),
        Largest({}),
        Smallest({}),
        Rate(0, 0),
        Mean(np.array([0.5, 1.5]), 0, 1),
        Mean(np.array([0.5, math.nan]), 0, 1),
        Ranking(np.ones(3), np.ones(0)),
    ],
    ids=repr,
)
def test_what_nothing_is_known_of_has_no_bounds(evidence: Evidence) -> None:
    assert exact_bounds(evidence, 0.05) is None
    assert approximate_bounds(evidence, 0.05) is None


def test_approximate_bounds_are_for_rankings_alone() -> None:
    rng = np.random.default_rng(9)
    ranking = Ranking(rng.normal(1, 1, 50), rng.normal(0, 1, 50))
    other = Ranking(rng.normal(1, 1, 50), rng.normal(0, 1, 80))
    assert approximate_bounds(Rate(1, 10), 0.05) is None
    assert approximate_bounds(Gap({"a": Rate(1, 10), "b": Rate(1, 10)}), 0.05) is None
    assert approximate_bounds(Largest({"a": Rate(1, 10)}), 0.05) is None
    for evidence in (
        ranking,
        Gap({"a": ranking, "b": other}),
        Ratio({"a": ranking, "b": other}),
        Smallest({"a": ranking, "b": Rate(1, 10)}),
        Largest({"auc": Gap({"a": ranking, "b": other}), "fpr": Rate(1, 10)}),
    ):
        assert approximate_bounds(evidence, 0.05).is_approximate
