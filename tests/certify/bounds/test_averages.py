"""The bounds of macro averages hold as often as they say, by counting all outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from automl_admm.certify.bounds.averages import is_sharper, lower_average, upper_average
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.intervals import quick_bounds
from automl_admm.certify.bounds.rates import Count, lower_rate
from automl_admm.certify.bounds.row_counts import counts, smallest, stretch
from automl_admm.core.evidence import F1, Average, Gap, Rate

RISK = 0.1


def average(*pairs: tuple[int, int], are_apart: bool = True) -> Average:
    parts = {f"class '{n}'": Rate(*pair, "rows") for n, pair in enumerate(pairs)}
    return Average(parts, are_apart)


@pytest.mark.parametrize("rows", [(7, 7), (3, 12)])
def test_the_lower_bound_is_above_the_truth_at_most_as_often_as_the_risk(
    rows: tuple[int, ...],
) -> None:
    outcomes = list(itertools.product(*(range(n + 1) for n in rows)))
    bounds = [lower_average(list(map(Count, events, rows)), RISK) for events in outcomes]
    for rates in ((0.5, 0.5), (0.9, 0.9), (1.0, 0.6), (0.95, 0.2), (0.7, 1.0), (0.2, 0.99)):
        missed = sum(
            math.prod(float(stats.binom.pmf(*one)) for one in zip(events, rows, rates, strict=True))
            for events, bound in zip(outcomes, bounds, strict=True)
            if bound > np.mean(rates)
        )
        assert missed <= RISK, rates


def test_without_a_miss_it_is_the_exact_bound() -> None:
    found = lower_average([Count(50, 50)] * 3, RISK)
    assert found == pytest.approx(lower_rate(150, 150, RISK), abs=1e-5)
    assert upper_average([Count(0, 50)] * 3, RISK) == pytest.approx(1 - found, abs=1e-9)


def test_no_event_and_all_events_have_bounds_at_the_ends() -> None:
    assert lower_average([Count(0, 5), Count(0, 9)], RISK) == 0.0
    assert upper_average([Count(5, 5), Count(9, 9)], RISK) == 1.0


def test_classes_that_share_no_row_have_the_sharper_bound() -> None:
    pairs = ((90, 100), (80, 100), (95, 100))
    sharp, shared = (exact_bounds(average(*pairs, are_apart=one), 0.05) for one in (True, False))
    assert sharp is not None
    assert shared is not None
    assert sharp.lower > shared.lower
    assert "Chernoff" in sharp.method
    single = np.mean([lower_rate(*pair, 0.05 / 3) for pair in pairs])
    assert shared.lower == pytest.approx(single)


def test_a_class_of_three_rows_takes_the_bounds_of_single_classes() -> None:
    assert is_sharper((100, 100, 100), 0.05)
    assert not is_sharper((3, 1000), 0.05)
    found = exact_bounds(average((3, 3), (900, 1000)), 0.05)
    assert found is not None
    assert found.method == "union of Clopper-Pearson"
    assert found.lower < found.upper


def test_an_f1_has_the_exact_bounds_of_its_share() -> None:
    found, share = exact_bounds(F1(40, 60), RISK), lower_rate(40, 60, RISK)
    assert found is not None
    assert found.lower == pytest.approx(2 * share / (1 + share))
    assert found.lower < F1(40, 60).value < found.upper
    assert exact_bounds(F1(0, 0), RISK) is None


def test_an_f1_is_missed_at_most_as_often_as_the_risk() -> None:
    # Rows fall to hit, miss and neither; the number of the first two is random as well.
    rng = np.random.default_rng(0)
    truth = 2 * 0.3 / (2 * 0.3 + 0.2)
    drawn = rng.multinomial(80, (0.3, 0.2, 0.5), size=4000)
    pairs, often = np.unique(drawn[:, :2], axis=0, return_counts=True)
    bounds = [exact_bounds(F1(int(hit), int(hit + miss)), RISK) for hit, miss in pairs]
    missed = [found is not None and found.lower > truth for found in bounds]
    assert np.average(missed, weights=often) <= RISK


def test_a_gap_of_macro_recalls_has_a_bound() -> None:
    groups = {"f": average((45, 50), (40, 50)), "m": average((44, 50), (41, 50))}
    found = exact_bounds(Gap(groups), 0.05)
    assert found is not None
    assert 0.0 < found.upper < 0.5


def test_counts_and_the_smallest_cell_are_named_by_class() -> None:
    seen = average((3, 4), (80, 100))
    assert str(smallest(seen)) == "rows for class '0'"
    assert counts(seen)["events among rows for class '1'"] == 80
    grown = stretch(seen, 2.0)
    assert grown.value == pytest.approx(seen.value, abs=0.07)
    assert counts(grown)["rows for class '0'"] == 8
    assert stretch(F1(30, 40), 0.5) == F1(15, 20)
    quick = quick_bounds(seen, 0.05)
    exact = exact_bounds(seen, 0.05)
    assert quick == exact
