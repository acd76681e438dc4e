"""The four verdicts, their words, and the risk that they spend."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.certify.plan.power import most_events
from automl_admm.certify.walk.findings import Verdict, all_certified
from automl_admm.certify.walk.looks import Look
from automl_admm.certify.walk.verdicts import judge, judge_in
from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Fact,
    Gap,
    Mean,
    Ranking,
    Rate,
    RootMeanSquare,
    Timing,
)
from automl_admm.core.limits import Limit

FPR = Limit("fpr", 0.05, extreme=0.0)
RECALL = Limit("recall", 0.8, at_least=True, extreme=1.0)
RNG = np.random.default_rng(0)
RANKING = Ranking(RNG.normal(1, 1, 150), RNG.normal(0, 1, 400))


@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        (20, Verdict.CERTIFIED),
        (40, Verdict.NOT_CERTIFIED),
        (55, Verdict.NOT_CERTIFIED),
        (80, Verdict.VIOLATED),
    ],
)
def test_a_rate_is_judged_by_the_bound_on_the_side_in_question(
    events: int, verdict: Verdict
) -> None:
    finding = judge(Rate(events, 1000, "negatives"), FPR, 0.05)
    assert finding.verdict is verdict
    assert finding.is_certified == (verdict is Verdict.CERTIFIED)
    assert (finding.bound < finding.value) == (verdict is Verdict.VIOLATED)
    assert finding.counts == {"negatives": 1000, "events among negatives": events}
    assert not finding.is_approximate


def test_a_limit_is_judged_at_its_own_confidence_in_every_look() -> None:
    seen, second = Rate(35, 1000, "negatives"), Look.of(2, 0.05)
    plain = judge_in(second, seen, FPR)
    assert (plain, plain.risk) == (judge(seen, FPR, 0.0125), None)
    for confidence, verdict in ((0.9, Verdict.CERTIFIED), (0.999, Verdict.NOT_CERTIFIED)):
        own = judge_in(second, seen, replace(FPR, confidence=confidence))
        assert own.verdict is verdict
        assert own.risk == pytest.approx((1 - confidence) / 4)
        assert own.bound == judge(seen, FPR, own.risk).bound
        assert own.limit == f"fpr <= 0.05 @ {confidence:g}"


def test_a_limit_from_below_is_judged_by_the_lower_bound() -> None:
    assert judge(Rate(850, 1000), RECALL, 0.05).is_certified
    assert judge(Rate(810, 1000), RECALL, 0.05).verdict is Verdict.NOT_CERTIFIED
    assert judge(Rate(700, 1000), RECALL, 0.05).verdict is Verdict.VIOLATED


def test_too_few_rows_are_counted_and_named() -> None:
    gap = Gap({"A": Rate(200, 4000, "negatives"), "B": Rate(6, 120, "negatives")})
    finding = judge(gap, Limit("fpr_gap[g]", 0.04, extreme=0.0), 0.05)
    assert finding.verdict is Verdict.NOT_CERTIFIED
    assert finding.rows_needed > 120
    assert str(finding) == (
        f"fpr_gap[g] <= 0.04: not certified: insufficient evidence: it needs about "
        f"{finding.rows_needed} negatives in group 'B'; there are 120"
    )


def test_more_rows_are_not_promised_to_mend_a_value_outside() -> None:
    finding = judge(Rate(55, 1000), FPR, 0.05)
    assert finding.rows_needed is None
    assert "more rows do not mend" in finding.reason
    assert judge(Rate(4999, 100_000), FPR, 0.05).reason == (
        "insufficient evidence: its value of 0.04999 is too close for any number of rows up to "
        "1000000, which would prove at most 0.05035"
    )


def test_a_bound_that_no_rows_bring_to_the_limit_is_told() -> None:
    """Of very many rows neighbours are averaged: a model without an error proves 0.0125."""
    finding = judge(RootMeanSquare(np.zeros(240), 1.0), Limit("rmse_to_1", 0.01), 0.1)
    assert finding.rows_needed is None
    assert finding.reason.endswith("rows up to 1000000, which would prove at most 0.01249")


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (Rate(0, 0, "negatives"), "has no negatives"),
        (Gap({"A": Rate(1, 5), "B": Rate(0, 0, "positives")}), "group 'B' has no positives"),
        (Gap({"A": Rate(1, 5)}), "one group alone"),
        (Gap({}), "nothing to compare"),
        (Estimate(0.0), "no exact test is known"),
        (Estimate(math.nan), "gives no number"),
        (Mean(np.array([-1.0, 0.0]), 0, 1), "outside of the range"),
        (Rate(6, 5), "more events than trials"),
        (Ranking(np.array([math.nan] + 99 * [1.0]), np.zeros(100)), "no numbers"),
    ],
    ids=["none", "group", "alone", "empty", "estimate", "nan", "range", "counts", "scores"],
)
def test_what_cannot_be_estimated_is_never_certified(evidence: Evidence, words: str) -> None:
    finding = judge(evidence, FPR, 0.05)
    assert finding.verdict is Verdict.NOT_ESTIMABLE
    assert not finding.is_certified
    assert words in str(finding)


def test_facts_are_certified_or_violated() -> None:
    size = Limit("size_mb", 10, extreme=0.0)
    assert str(judge(Fact(9.5), size, 0.05)) == "size_mb <= 10: certified: it is 9.5"
    assert judge(Fact(10.5), size, 0.05).verdict is Verdict.VIOLATED


def test_calls_are_certified_by_the_number_of_slow_ones() -> None:
    calls = Timing(np.r_[np.full(99, 1.0), 9.0], 0.95)
    assert judge(calls, Limit("latency_ms", 2, extreme=0.0), 0.05).is_certified
    few = judge(Timing(np.ones(20), 0.95), Limit("latency_ms", 2, extreme=0.0), 0.05)
    assert few.verdict is Verdict.NOT_CERTIFIED
    assert few.rows_needed >= 59


def test_an_approximate_bound_is_used_only_where_allowed_and_needed_and_says_so() -> None:
    near, far = (Limit("roc_auc", bound, at_least=True, extreme=1.0) for bound in (0.72, 0.6))
    approximate = judge(RANKING, near, 0.05)
    assert approximate.is_certified
    assert approximate.is_approximate
    assert "certified (approximate)" in str(approximate)
    assert not judge(RANKING, near, 0.05, approximate_allowed=False).is_certified
    exact = judge(RANKING, far, 0.05)
    assert exact.is_certified
    assert not exact.is_approximate


def test_a_rate_at_the_limit_is_certified_at_most_as_often_as_the_risk() -> None:
    for trials in (59, 200, 1000):
        passing = judge(Rate(most_events(trials, 0.05, 0.05), trials), FPR, 0.05)
        failing = judge(Rate(most_events(trials, 0.05, 0.05) + 1, trials), FPR, 0.05)
        assert passing.is_certified
        assert not failing.is_certified


def test_all_limits_hold_together_at_the_risk_of_each() -> None:
    """The worst case: one limit exactly at its edge, the others far within."""
    rng = np.random.default_rng(1)
    passed = [
        all_certified(
            [judge(Rate(int(events), 200), Limit("fpr", 0.1, extreme=0.0), 0.1)]
            + [judge(Rate(1, 200), FPR, 0.1)] * 3
        )
        for events in rng.binomial(200, 0.1, 600)
    ]
    assert 0.02 < np.mean(passed) <= 0.12
    assert not all_certified([])
