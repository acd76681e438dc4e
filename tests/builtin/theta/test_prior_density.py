"""The density of settings that were good elsewhere, its slope, and the points to begin with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad

from automl_admm.builtin.theta.prior_density import Mixture, PriorPull, first_tried
from automl_admm.core.priors import PriorPoints

PRIOR = PriorPoints((0, 2), np.array([[0.1, 0.9], [1.0, 0.3]]), np.array([0.7, 0.3]))
OTHER = PriorPoints((1,), np.array([[0.5]]), np.array([1.0]))


def test_it_is_a_density_with_a_uniform_part() -> None:
    mixture = Mixture.of(PRIOR)

    def density(x: float, y: float) -> float:
        return float(np.exp(mixture.log_density(np.array([[x, 0.5, y]]))[0][0]))

    assert dblquad(density, 0, 1, 0, 1, epsabs=1e-3)[0] == pytest.approx(1.0, abs=5e-3)
    assert density(0.1, 0.9) > density(1.0, 0.3) > density(0.0, 0.0) >= 0.25


def test_its_slope_is_that_of_its_value() -> None:
    pull = PriorPull((Mixture.of(PRIOR), Mixture.of(OTHER)), 3.0)
    point = np.array([[0.3, 0.6, 0.7]])
    values, slopes = pull.with_slopes(point)
    for axis in range(3):
        moved = point.copy()
        moved[0, axis] += 1e-6
        assert (pull(moved, moved) - values) / 1e-6 == pytest.approx(slopes[:, axis], rel=1e-3)


def test_the_likeliest_settings_of_all_components_come_first() -> None:
    late = PriorPoints((0, 2), PRIOR.points, np.array([0.3, 0.7]))
    found = first_tried((late, OTHER), np.array([0.2, 0.2, 0.2]))
    assert found.tolist() == [[1.0, 0.5, 0.3], [0.1, 0.5, 0.9]]
    assert len(first_tried((), np.zeros(3))) == 0
