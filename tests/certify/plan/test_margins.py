"""Tightened limits: what they promise for the certificate, and where they stop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.certify.bounds.rates import upper_rate
from automl_admm.certify.plan.margins import slack_of, tighten
from automl_admm.certify.plan.power import chance_for_rate, half_width
from automl_admm.core.evidence import Estimate, Fact, Gap, Ranking, Rate, Timing
from automl_admm.core.limits import Limit

FPR = Limit("fpr", 0.05, extreme=0.0)
FLOOR = math.log(2) / math.log(20)


@pytest.mark.parametrize("rows", [500, 1000, 5000, 100_000])
def test_a_rate_at_the_tightened_limit_is_two_half_widths_inside(rows: int) -> None:
    bound = tighten(FPR, Rate(10, 2 * rows), 0.5, 0.05).bound
    assert bound + 2 * (upper_rate(bound * rows, rows, 0.05) - bound) == pytest.approx(0.05)
    assert chance_for_rate(rows, 0.05, bound, 0.05) > 0.85


def test_more_rows_tighten_less() -> None:
    bounds = [tighten(FPR, Rate(10, rows), 1.0, 0.05).bound for rows in (60, 300, 1000, 10**6)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(0.05, abs=1e-3)


def test_an_aim_is_told_with_six_digits() -> None:
    tightened = tighten(FPR, Rate(10, 2000), 0.5, 0.05)
    assert str(tightened) == f"fpr <= {tightened.bound:g}"


def test_it_stops_where_the_fewest_rows_still_pass_half_of_the_time() -> None:
    tightened = tighten(FPR, Rate(0, 59), 1.0, 0.05)
    assert tightened.bound == pytest.approx(0.05 * FLOOR)
    assert chance_for_rate(59, 0.05, tightened.bound, 0.05) == pytest.approx(0.5, abs=0.02)
    assert tighten(FPR, Rate(0, 3), 1.0, 0.05) == tightened


def test_a_limit_from_below_moves_up_and_never_beyond_its_extreme() -> None:
    recall = Limit("recall", 0.8, at_least=True, extreme=1.0)
    assert 0.8 < tighten(recall, Rate(80, 1000), 1.0, 0.05).bound < 0.87
    assert tighten(recall, Rate(8, 10), 1.0, 0.05).bound == pytest.approx(1 - 0.2 * FLOOR)


def test_a_gap_moves_by_two_half_widths_on_so_many_rows() -> None:
    gap = Gap({"a": Rate(400, 4000), "b": Rate(200, 2000)})
    small, large = (tighten(Limit("gap", 0.1, extreme=0.0), gap, s, 0.05).bound for s in (0.5, 2.0))
    assert 0.1 * FLOOR < small < large < 0.1


def test_an_exact_certificate_of_a_ranking_needs_the_larger_margin() -> None:
    rng = np.random.default_rng(0)
    ranking = Ranking(rng.normal(1, 1, 400), rng.normal(0, 1, 400))
    limit = Limit("roc_auc", 0.6, at_least=True, extreme=1.0)
    exact, approximate = (
        half_width(ranking, limit, 0.05, approximate_allowed=one) for one in (False, True)
    )
    assert exact > approximate
    assert tighten(limit, ranking, 1.0, 0.05).bound > 0.6


def test_calls_move_in_proportion_and_do_not_depend_on_the_rows() -> None:
    calls = Timing(np.random.default_rng(1).exponential(1, 500), 0.9)
    limits = [Limit("latency_ms", bound, extreme=0.0) for bound in (2, 20)]
    small, large = (tighten(limit, calls, 0.4, 0.05).bound for limit in limits)
    assert large == pytest.approx(10 * small)
    assert tighten(limits[0], calls, 0.01, 0.05).bound == small


def test_what_needs_no_margin_or_has_no_test_keeps_its_limit() -> None:
    assert tighten(FPR, Fact(0.01), 0.5, 0.05) == FPR
    assert tighten(FPR, Estimate(0.01), 0.5, 0.05) == FPR
    assert tighten(FPR, Rate(0, 0), 0.5, 0.05) == FPR
    anything = Limit("mine", 0.05)
    few_calls = Timing(np.ones(3), 0.95)
    assert tighten(anything, few_calls, 0.5, 0.05).bound == 0.0
    assert 0 < tighten(Limit("t", 5, extreme=0.0), few_calls, 0.5, 0.05).bound < 5


def test_slack_counts_half_widths_to_the_limit() -> None:
    tightened = tighten(FPR, Rate(1, 1000), 1.0, 0.05).bound
    assert slack_of(FPR, Rate(round(tightened * 1000), 1000), 1.0, 0.05) == pytest.approx(
        2, abs=0.1
    )
    assert slack_of(FPR, Rate(60, 1000), 1.0, 0.05) < 0
    assert slack_of(FPR, Rate(20, 1000), 4.0, 0.05) > slack_of(FPR, Rate(20, 1000), 1.0, 0.05)
    recall = Limit("recall", 0.8, at_least=True, extreme=1.0)
    assert slack_of(recall, Rate(900, 1000), 1.0, 0.05) > 0
    assert slack_of(FPR, Fact(0.01), 1.0, 0.05) == math.inf
    assert slack_of(FPR, Fact(0.1), 1.0, 0.05) == -math.inf
    assert slack_of(FPR, Estimate(0.01), 1.0, 0.05) == -math.inf
    assert slack_of(FPR, Rate(0, 0), 1.0, 0.05) == -math.inf
