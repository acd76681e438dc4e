"""Bounds of a calibration error: they miss as seldom as promised, and stand hostile rows."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.certify.bounds.calibration import calibration_bounds
from automl_admm.certify.bounds.row_counts import counts, stretch
from automl_admm.core.evidence import Calibration

RISK, TIMES = 0.1, 200
MOST_MISSED = RISK * TIMES + 3 * (RISK * TIMES) ** 0.5


@pytest.mark.parametrize("excess", [0.0, 0.2])
def test_the_bounds_miss_as_seldom_as_promised(excess: float) -> None:
    rng, missed = np.random.default_rng(0), [0, 0]
    for _ in range(TIMES):
        chances = rng.uniform(0.3, 0.7, size=400)
        truth = (rng.random(400) < chances - excess).astype(float)
        bounds = calibration_bounds(Calibration(chances, truth), RISK)
        assert bounds is not None
        missed[0] += bounds[0] > excess
        missed[1] += bounds[1] < excess
    assert max(missed) <= MOST_MISSED


def test_the_upper_bound_is_of_use_and_a_bad_model_is_found_out() -> None:
    rng = np.random.default_rng(1)
    chances = rng.random(3_000)
    truth = (rng.random(3_000) < chances).astype(float)
    good = exact_bounds(Calibration(chances, truth), 0.05)
    bad = exact_bounds(Calibration(1 - chances, truth), 0.05)
    assert good is not None
    assert bad is not None
    assert not good.is_approximate
    assert good.upper < 0.06
    assert bad.lower > 0.4


def test_a_value_in_bins_of_its_own_is_between_the_bounds() -> None:
    chances = np.linspace(0, 1, 1_000)
    seen = Calibration(chances, (chances > 0.5).astype(float))
    found = exact_bounds(seen, 0.05)
    assert found is not None
    assert found.lower < seen.value <= found.upper
    assert calibration_bounds(Calibration(np.ones(1), np.zeros(1)), 0.05) == (0.0, 1.0)


def test_what_is_no_probability_has_no_bound() -> None:
    assert exact_bounds(Calibration(np.array([1.5, 0.5]), np.zeros(2)), 0.05) is None
    assert exact_bounds(Calibration(np.zeros(0), np.zeros(0)), 0.05) is None


def test_rows_are_counted_and_stretched_together() -> None:
    more = stretch(Calibration(np.array([0.1, 0.9]), np.array([0.0, 1.0])), 3.0)
    assert isinstance(more, Calibration)
    assert counts(more) == {"rows": 6}
    assert list(more.truth) == list(more.probabilities.round())
