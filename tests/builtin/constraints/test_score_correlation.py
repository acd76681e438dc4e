"""Kendall's tau of scores and a column, and the bounds on it."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from automl_admm.builtin.constraints.score_correlation import score_correlation
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.core.evidence import Evidence, RankCorrelation
from automl_admm.core.unknown_values import why_unknown


def measured(predictions: object, numbers: object) -> Evidence:
    seen = SimpleNamespace(predictions=np.asarray(predictions, dtype=float))
    return score_correlation(seen, np.asarray(numbers, dtype=float))


@pytest.mark.parametrize("levels", [2, 3, 50])
def test_it_counts_pairs_of_rows(levels: int) -> None:
    rng = np.random.default_rng(levels)
    scores, numbers = rng.integers(0, levels, 30) / 50, rng.integers(0, 4, 30)
    signs = [
        np.sign(scores[i] - scores[j]) * np.sign(numbers[i] - numbers[j])
        for i, j in combinations(range(30), 2)
    ]
    found = measured(scores, numbers)
    assert isinstance(found, RankCorrelation)
    assert found.tau == pytest.approx(np.mean(signs))
    # Of two classes the score is the probability of the last.
    assert measured(np.column_stack([1 - scores, scores]), numbers) == found


def test_rows_without_a_number_do_not_count() -> None:
    assert measured([1, 2, 3, 9], [3, 2, 1, math.nan]) == RankCorrelation(-1.0, 3)
    assert measured([1, 1, 1], [1, 2, 3]) == RankCorrelation(0.0, 3)
    none = measured([1, 2], [math.nan, 1])
    assert math.isnan(none.value)
    assert why_unknown(none) == "has no two rows with a number in the column"
    assert "several classes" in why_unknown(measured(np.ones((3, 3)), [1, 2, 3]))


@pytest.mark.parametrize("tau", [0.0, 0.3, -0.3])
def test_the_bounds_hold_on_both_sides(tau: float) -> None:
    found = exact_bounds(RankCorrelation(tau, 2000), 0.05)
    assert found is not None
    assert found.lower <= abs(tau) <= found.upper
    assert found.upper < abs(tau) + 0.07
    assert found == exact_bounds(RankCorrelation(-tau, 2000), 0.05)
    assert (found.lower == 0.0) == (tau == 0.0)


def test_they_are_missed_as_seldom_as_promised() -> None:
    # Of normal values with the correlation r, tau is 2 asin(r) / pi.
    rng, r, misses = np.random.default_rng(0), 0.3, 0
    for _ in range(200):
        numbers = rng.normal(size=300)
        scores = r * numbers + math.sqrt(1 - r**2) * rng.normal(size=300)
        bounds = exact_bounds(measured(scores, numbers), 0.1)
        assert bounds is not None
        misses += bounds.upper < 2 * math.asin(r) / math.pi
    assert misses <= 20
