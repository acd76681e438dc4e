"""R²: a truth that differs by rounding alone has no variance."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.explained_variance import explained_variance, is_constant, variance


@pytest.mark.parametrize(
    "truth", [[0.1] * 70, [0.3, 0.1 + 0.2], [-0.3, -0.1 - 0.2], [0.0, -0.0], [7, 7], [True, True]]
)
def test_a_truth_of_one_number_is_constant(truth: list[float]) -> None:
    values = np.array(truth)
    assert is_constant(values)
    assert np.isnan(explained_variance(np.ones(len(values)), values))


@pytest.mark.parametrize(
    "truth",
    [
        *([0.0, 1e-300], [1.0, 1.0 + 1e-12], [-1e308, 1e308], [0.0, np.inf], [-np.inf, np.inf]),
        *([0, 1], [True, False], [2**53 + 1, 2**53 + 2], [-(2**62), 1 - 2**62], [2**63, 2**63 + 1]),
    ],
)
def test_a_truth_of_two_numbers_is_not(truth: list[float]) -> None:
    assert not is_constant(np.array(truth))


@pytest.mark.parametrize("first", [0, 10**16, 2**62, -(2**63), 2**64 - 9])
def test_whole_numbers_that_floats_run_together_have_a_variance(first: int) -> None:
    truth = np.array([first + step for step in (0, 2, 4, 6, 8)])
    assert explained_variance(np.full(5, 1.0), truth) == 0.875


def test_whole_numbers_from_end_to_end_have_a_variance() -> None:
    truth = np.array([-(2**63), 2**63 - 1])
    assert explained_variance(np.zeros(2), truth) == 1.0
    assert variance(truth) == pytest.approx(2.0**126)
