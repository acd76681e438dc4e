"""Bounds at every look: how often one of them misses, and their mirror image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from automl_admm.certify.bounds.anytime import anytime_bounds, anytime_range, rate_set, risk_at
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.watching import State, Watch
from automl_admm.core.evidence import Estimate, Fact, Mean, Quantile, Rate
from automl_admm.core.limits import Limit

RISK = 0.1


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_a_true_rate_is_in_all_sets_at_once_but_for_the_risk(rate: float) -> None:
    rng, missed, runs, looks = np.random.default_rng(5), 0, 300, 40
    for _ in range(runs):
        events = np.cumsum(rng.binomial(10, rate, looks))
        ends = [rate_set(int(s), 10 * (k + 1), RISK) for k, s in enumerate(events)]
        missed += any(not low <= rate <= high for low, high in ends)
    assert missed / runs <= RISK


def test_a_bound_for_one_look_misses_far_more_often_at_many() -> None:
    rng, missed, runs = np.random.default_rng(5), 0, 200
    for _ in range(runs):
        events = np.cumsum(rng.binomial(10, 0.3, 60))
        found = [exact_bounds(Rate(int(s), 10 * (k + 1)), RISK / 2) for k, s in enumerate(events)]
        missed += any(one is not None and not one.lower <= 0.3 <= one.upper for one in found)
    assert missed / runs > 2 * RISK


@given(st.integers(1, 400), st.data())
def test_sets_are_mirror_images_and_hold_the_rate_seen(trials: int, data: st.DataObject) -> None:
    events = data.draw(st.integers(0, trials))
    low, high = rate_set(events, trials, RISK)
    other = rate_set(trials - events, trials, RISK)
    assert 0.0 <= low <= events / trials <= high <= 1.0
    assert other == pytest.approx((1.0 - high, 1.0 - low), abs=1e-6)


@pytest.mark.parametrize(
    ("events", "trials", "risk"),
    [(1, 10**6, 0.0025), (1, 10**5, 1e-5), (1, 10**4, 1e-6), (2, 10**6, 0.05), (3, 50, 1e-300)],
)
def test_the_ends_of_a_set_are_where_rates_are_excluded_however_small(
    events: int, trials: int, risk: float
) -> None:
    def excess(rate: float, other: float) -> float:
        told = events * np.log(rate) + (trials - events) * np.log(other)
        mixture = betaln(events + 0.5, trials - events + 0.5) - betaln(0.5, 0.5)
        return float(mixture - told + np.log(risk))

    low, high = rate_set(events, trials, risk)
    assert low < events / trials < high
    assert excess(low, 1.0 - low) == pytest.approx(0.0, abs=1e-6)
    if high < 1.0:
        assert excess(high, 1.0 - high) == pytest.approx(0.0, abs=1e-6)
    # The set of the other rows is the mirror image; so close to 1 a number has few digits.
    other = rate_set(trials - events, trials, risk)
    assert other == pytest.approx((1.0 - high, 1.0 - low), abs=1e-15, rel=1e-6)


def test_one_event_is_no_proof_of_its_own_rate() -> None:
    """At a small risk a limit is not broken by the one wrong row of very many."""
    limit, seen = Limit("fpr", 5e-5), Rate(1, 10_000)
    assert Watch(1e-6, 1, 1).judge(limit, seen, seen).state is State.OPEN


def test_other_evidence_spends_a_share_of_the_risk_at_each_look() -> None:
    mean = Mean(np.linspace(0, 1, 50), 0.0, 1.0)
    assert anytime_bounds(mean, RISK, 3) == exact_bounds(mean, RISK / 12)
    assert sum(risk_at(look, RISK) for look in range(1, 1000)) < RISK
    assert anytime_bounds(Fact(3.0), RISK, 9) == exact_bounds(Fact(3.0), RISK)
    assert anytime_bounds(Estimate(3.0), RISK, 1) is None
    assert anytime_bounds(Rate(0, 0), RISK, 1) is None
    assert anytime_bounds(Rate(5, 4), RISK, 1) is None


def test_the_range_of_a_quantile_misses_at_most_as_often_as_promised() -> None:
    """With ends that have the whole risk each, 1 in 4 of these would miss."""
    missed, runs, risk, sizes = 0, 400, 0.2, (60, 600, 6000)
    for seed in range(runs):
        rows = np.random.default_rng(seed).random(sum(sizes))
        looks = [Quantile(rows[: sum(sizes[:k])], 0.5) for k in (1, 2, 3)]
        found = [
            Watch(risk, k, 1).judge(Limit("q", 2.0), seen, seen)
            for k, seen in enumerate(looks, start=1)
        ]
        missed += any(not one.lower <= 0.5 <= one.upper for one in found)
    assert missed / runs <= risk


def test_a_claim_takes_one_end_and_a_range_both() -> None:
    mean = Mean(np.linspace(0, 1, 50), 0.0, 1.0)
    one_side = anytime_bounds(mean, RISK, 2)
    assert one_side is not None
    found = Watch(RISK, 2, 1).judge(Limit("m", one_side.upper), mean, mean)
    assert found.state is State.HOLDS
    assert found.upper > one_side.upper
    for seen in (Rate(3, 50), Fact(3.0)):
        assert anytime_range(seen, RISK, 2) == anytime_bounds(seen, RISK, 2)
