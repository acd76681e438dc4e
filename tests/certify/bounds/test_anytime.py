"""Bounds at every look: how often one of them misses, and their mirror image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.certify.bounds.anytime import anytime_bounds, rate_set, risk_at
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.core.evidence import Estimate, Fact, Mean, Rate

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


def test_other_evidence_spends_a_share_of_the_risk_at_each_look() -> None:
    mean = Mean(np.linspace(0, 1, 50), 0.0, 1.0)
    assert anytime_bounds(mean, RISK, 3) == exact_bounds(mean, RISK / 12)
    assert sum(risk_at(look, RISK) for look in range(1, 1000)) < RISK
    assert anytime_bounds(Fact(3.0), RISK, 9) == exact_bounds(Fact(3.0), RISK)
    assert anytime_bounds(Estimate(3.0), RISK, 1) is None
    assert anytime_bounds(Rate(0, 0), RISK, 1) is None
    assert anytime_bounds(Rate(5, 4), RISK, 1) is None
