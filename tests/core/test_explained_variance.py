"""R²: a truth that differs by rounding alone has no variance."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.explained_variance import explained_variance, is_constant


@pytest.mark.parametrize(
    "truth", [[0.1] * 70, [0.3, 0.1 + 0.2], [-0.3, -0.1 - 0.2], [0.0, -0.0], [7, 7], [True, True]]
)
def test_a_truth_of_one_number_is_constant(truth: list[float]) -> None:
    values = np.array(truth)
    assert is_constant(values)
    assert np.isnan(explained_variance(np.ones(len(values)), values))


@pytest.mark.parametrize("truth", [[0.0, 1e-300], [1.0, 1.0 + 1e-12], [-1e308, 1e308], [0, 1]])
def test_a_truth_of_two_numbers_is_not(truth: list[float]) -> None:
    assert not is_constant(np.array(truth))
