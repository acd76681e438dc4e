"""Rows needed: the measured table, and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.rates import upper_rate
from automl_admm.certify.bounds.row_counts import smallest, stretch
from automl_admm.certify.plan.power import (
    chance_for_rate,
    expected_bounds,
    most_events,
    rows_for_rate,
    rows_needed,
)
from automl_admm.core.evidence import Estimate, Gap, Ranking, Rate
from automl_admm.core.limits import Limit

GAP_LIMIT = Limit("gap", 0.1, extreme=0.0)


@pytest.mark.parametrize(
    ("limit", "rows"),
    [
        (0.01, (300, 775, 1950, 14200)),
        (0.05, (60, 155, 390, 2850)),
        (0.10, (30, 80, 180, 1325)),
    ],
)
def test_rows_needed_are_those_that_were_measured(limit: float, rows: tuple[int, ...]) -> None:
    """The table of notes/reliability_ux.md §6.2, for 0, ¼, ½ and 0.8 of the limit."""
    truths = (0, limit / 4, limit / 2, 0.8 * limit)
    assert tuple(rows_for_rate(limit, truth, 0.05) for truth in truths) == rows


@pytest.mark.parametrize(("trials", "limit"), [(58, 0.05), (59, 0.05), (1000, 0.05), (200, 0.3)])
def test_the_most_events_are_the_last_whose_bound_is_within(trials: int, limit: float) -> None:
    most = most_events(trials, limit, 0.05)
    assert upper_rate(most + 1, trials, 0.05) > limit
    if most >= 0:
        assert upper_rate(most, trials, 0.05) <= limit


def test_the_chance_is_that_of_the_binomial() -> None:
    assert chance_for_rate(58, 0.05, 0.0, 0.05) == 0
    assert chance_for_rate(59, 0.05, 0.01, 0.05) == pytest.approx(0.99**59)
    events = most_events(500, 0.1, 0.05)
    expected = stats.binom.cdf(events, 500, 0.06)
    assert chance_for_rate(500, 0.1, 0.06, 0.05) == pytest.approx(expected)


def test_no_number_of_rows_certifies_a_rate_outside_or_at_the_limit() -> None:
    assert rows_for_rate(0.05, 0.05, 0.05) is None
    assert rows_for_rate(0.05, 0.2, 0.05) is None
    assert rows_for_rate(0.05, 0.0499, 0.05) is None


def test_a_limit_that_every_rate_keeps_takes_hardly_any_rows() -> None:
    assert rows_for_rate(1.5, 0.5, 0.05) == 5
    assert most_events(10, 1.5, 0.05) == 9


def test_a_limit_that_is_next_to_nothing_takes_too_many_rows() -> None:
    assert rows_for_rate(1e-15, 0.0, 0.05) is None


def test_a_limit_from_below_is_the_same_turned_round() -> None:
    recall = Limit("recall", 0.95, at_least=True, extreme=1.0)
    assert rows_needed(Rate(9, 10), recall, 0.975, 0.05, approximate_allowed=True) == 390


def test_the_rows_for_a_gap_certify_it_about_as_often_as_promised() -> None:
    gap = Gap({"a": Rate(60, 300), "b": Rate(20, 100)})
    needed = rows_needed(gap, GAP_LIMIT, 0.0, 0.05, approximate_allowed=True)
    factor = needed / smallest(gap).rows
    rng = np.random.default_rng(0)
    sizes = (round(300 * factor), round(100 * factor))
    events = rng.binomial(sizes, 0.2, (60, 2))
    upper = [
        exact_bounds(Gap({"a": Rate(int(a), sizes[0]), "b": Rate(int(b), sizes[1])}), 0.05).upper
        for a, b in events
    ]
    assert 0.7 <= np.mean(np.array(upper) <= 0.1) <= 0.97


@pytest.mark.parametrize("approximate", [True, False])
def test_the_rows_for_a_gap_of_rankings_make_its_bound_fit(approximate: bool) -> None:
    rng = np.random.default_rng(1)
    draw = lambda rows: Ranking(rng.normal(1, 1, rows), rng.normal(0, 1, 2 * rows))  # noqa: E731
    gap = Gap({"a": draw(80), "b": draw(120)})
    needed = rows_needed(gap, GAP_LIMIT, 0.0, 0.05, approximate_allowed=approximate)
    enough = stretch(gap, needed / smallest(gap).rows)
    bounds = expected_bounds(enough, 0.05, approximate_allowed=approximate)
    assert bounds.is_approximate is approximate
    assert bounds.upper - enough.value <= 0.1
    assert needed < 2000


def test_an_exact_bound_takes_more_rows_than_an_approximate_one() -> None:
    rng = np.random.default_rng(2)
    ranking = Ranking(rng.normal(1, 1, 300), rng.normal(0, 1, 300))
    limit = Limit("roc_auc", 0.7, at_least=True, extreme=1.0)
    exact = rows_needed(ranking, limit, 0.76, 0.05, approximate_allowed=False)
    approximate = rows_needed(ranking, limit, 0.76, 0.05, approximate_allowed=True)
    assert approximate < exact


def test_no_number_of_rows_does_for_what_is_unknown_or_outside() -> None:
    gap = Gap({"a": Rate(60, 300), "b": Rate(20, 100)})
    assert rows_needed(gap, GAP_LIMIT, 0.1, 0.05, approximate_allowed=True) is None
    assert rows_needed(gap, GAP_LIMIT, 0.0999, 0.05, approximate_allowed=True) is None
    assert rows_needed(Estimate(0.01), GAP_LIMIT, 0.0, 0.05, approximate_allowed=True) is None
    empty = Gap({"a": Rate(0, 0), "b": Rate(0, 0)})
    assert rows_needed(empty, GAP_LIMIT, 0.0, 0.05, approximate_allowed=True) is None
    unknown = Gap({"a": Estimate(0.1), "b": Rate(1, 9)})
    assert rows_needed(unknown, GAP_LIMIT, 0.0, 0.05, approximate_allowed=True) is None
