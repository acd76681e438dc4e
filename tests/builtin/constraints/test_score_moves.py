"""Moves of scores are counted apart from rounding."""

from __future__ import annotations

import numpy as np

from automl_admm.builtin.constraints.score_moves import count_moves
from automl_admm.core.evidence import Rate


def test_no_rows_have_no_moves() -> None:
    for none in (np.zeros(0), np.zeros((0, 3))):
        assert count_moves(none, none, "rows", least=0.1) == Rate(0, 0, "rows")
        assert count_moves(none, none, "rows", sign=1.0) == Rate(0, 0, "rows")
