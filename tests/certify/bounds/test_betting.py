"""The bounds by betting: they hold as often as promised, and are narrow where the variance is."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.certify.bounds import means
from automl_admm.certify.bounds.betting import (
    MOST_VALUES,
    lower_mean,
    lower_mean_without_end,
    upper_mean,
)

RISK = 0.05


@pytest.mark.parametrize("rows", [5, 60])
@pytest.mark.parametrize("name", ["few large", "coin", "spread"])
def test_the_bounds_miss_as_seldom_as_promised(rows: int, name: str) -> None:
    draw = {
        "few large": lambda rng: np.where(rng.random(rows) < 0.05, 1.0, 0.02),
        "coin": lambda rng: (rng.random(rows) < 0.3).astype(float),
        "spread": lambda rng: rng.random(rows) ** 3,
    }
    truth = {"few large": 0.069, "coin": 0.3, "spread": 0.25}[name]
    rng, times = np.random.default_rng(0), 250
    drawn = [draw[name](rng) for _ in range(times)]
    allowed = RISK * times + 3 * (RISK * times) ** 0.5
    assert sum(upper_mean(values, RISK) < truth for values in drawn) <= allowed
    assert sum(lower_mean(values, RISK) > truth for values in drawn) <= allowed
    assert sum(lower_mean_without_end(10 * values, RISK) > 10 * truth for values in drawn) <= (
        allowed
    )


def test_errors_far_below_their_largest_cost_fewer_rows_than_by_hoeffding() -> None:
    values = np.minimum(np.random.default_rng(0).exponential(0.1, 500), 1.0)
    mean = float(values.mean())
    width = means.upper_mean(mean, 500, RISK) - mean
    assert 0 < upper_mean(values, RISK) - mean < 0.6 * width


def test_a_sorted_table_has_about_the_bounds_of_a_mixed_one() -> None:
    values = np.random.default_rng(0).random(400)
    mixed, in_order = upper_mean(values, RISK), upper_mean(np.sort(values), RISK)
    assert in_order == pytest.approx(mixed, abs=0.02)


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_values_at_one_end_leave_room_to_the_other(end: float) -> None:
    values = np.full(50, end)
    lower, upper = lower_mean(values, RISK), upper_mean(values, RISK)
    assert lower == 0.0 if end == 0 else 0.85 < lower < 1
    assert upper == 1.0 if end == 1 else 0 < upper < 0.15


def test_neighbours_of_very_many_values_are_averaged() -> None:
    values = np.random.default_rng(0).random(10 * MOST_VALUES)
    lower, upper = lower_mean(values, RISK), upper_mean(values, RISK)
    assert lower < values.mean() < upper
    assert upper - lower < 0.01


def test_without_an_end_huge_values_raise_no_bound_above_the_mean() -> None:
    values = np.random.default_rng(0).pareto(1.1, 300) * 1e200
    assert 0 < lower_mean_without_end(values, RISK) < values.mean()
    assert lower_mean_without_end(values[:2], RISK) == 0
