"""DeLong's variance against the slow formula, and the bounds against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.certify.bounds.rankings import delong_bounds, delong_variance
from automl_admm.core.evidence import Gap, Ranking


def _slow_variance(ranking: Ranking) -> float:
    """Straight from the definition: every pair compared."""
    pairs = np.array(
        [[(p > n) + 0.5 * (p == n) for n in ranking.negatives] for p in ranking.positives]
    )
    per_positive, per_negative = pairs.mean(axis=1), pairs.mean(axis=0)
    return float(
        per_positive.var(ddof=1) / len(per_positive) + per_negative.var(ddof=1) / len(per_negative)
    )


def _draw(rng: np.random.Generator, distance: float, rows: tuple[int, int]) -> Ranking:
    return Ranking(rng.normal(distance, 1, rows[0]), rng.normal(0, 1, rows[1]))


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_the_fast_variance_is_the_slow_one_with_and_without_ties(digits: int) -> None:
    rng = np.random.default_rng(1)
    ranking = Ranking(rng.normal(1, 1, 37).round(digits), rng.normal(0, 1, 53).round(digits))
    assert delong_variance(ranking) == pytest.approx(_slow_variance(ranking), rel=1e-12)


def test_nothing_is_said_of_few_rows_or_of_a_ranking_without_a_mistake() -> None:
    rng = np.random.default_rng(2)
    assert delong_bounds(_draw(rng, 1, (29, 500)), 0.05) is None
    assert delong_bounds(_draw(rng, 1, (500, 29)), 0.05) is None
    assert delong_bounds(Ranking(np.ones(50), np.zeros(50)), 0.05) is None
    assert delong_bounds(_draw(rng, 1, (30, 30)), 0.05) is not None


def test_coverage_of_both_bounds_of_an_auroc() -> None:
    rng = np.random.default_rng(3)
    truth = float(special.ndtr(1.2 / np.sqrt(2)))
    drawn = [_draw(rng, 1.2, (100, 300)) for _ in range(400)]
    exact = [exact_bounds(ranking, 0.1) for ranking in drawn]
    approximate = [approximate_bounds(ranking, 0.1) for ranking in drawn]
    assert np.mean([found.lower > truth for found in exact]) <= 0.1
    assert np.mean([found.upper < truth for found in exact]) <= 0.1
    for missed in (
        np.mean([found.lower > truth for found in approximate]),
        np.mean([found.upper < truth for found in approximate]),
    ):
        assert 0.06 <= missed <= 0.14


def test_coverage_of_both_bounds_of_a_gap() -> None:
    rng = np.random.default_rng(4)
    truths = [float(special.ndtr(distance / np.sqrt(2))) for distance in (1.4, 0.9)]
    gaps = [
        Gap({"a": _draw(rng, 1.4, (60, 150)), "b": _draw(rng, 0.9, (200, 400))}) for _ in range(300)
    ]
    gap = truths[0] - truths[1]
    assert np.mean([exact_bounds(one, 0.1).upper < gap for one in gaps[:60]]) <= 0.1
    missed = np.mean([approximate_bounds(one, 0.1).upper < gap for one in gaps])
    assert 0.06 <= missed <= 0.14
    assert np.mean([approximate_bounds(one, 0.1).lower > gap for one in gaps]) <= 0.1
