from __future__ import annotations

import numpy as np
import pytest

from automl_admm.core.subproblems import Quadratic


def test_the_known_part_of_a_loss_is_a_weighted_square() -> None:
    known = Quadratic(np.array([0.5, 0.5]), np.array([2.0, 0.0]))
    assert known(np.array([[0.5, 0.1], [1.0, 0.9]])) == pytest.approx([0.0, 0.25])
    assert known(np.array([0.0, 0.0])) == pytest.approx([0.25])
