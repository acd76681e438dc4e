"""Infinite numbers in a frame count as missing, in training and later; arrays are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from quick_classifier import fitted

from automl_admm.core.errors import DataError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))


def with_cells(frame: pd.DataFrame, *values: float) -> pd.DataFrame:
    changed = frame.copy()
    changed.iloc[[3, 7], 0] = values
    return changed


def test_a_frame_may_hold_them(frame: pd.DataFrame) -> None:
    y = (frame["b"] > 0).astype(int)
    infinite, gaps = with_cells(frame, np.inf, -np.inf), with_cells(frame, np.nan, np.nan)
    search, other = fitted(infinite, y), fitted(gaps, y)
    expected = other.predict_proba(gaps)
    for model in (search, other):
        for table in (infinite, gaps):
            np.testing.assert_array_equal(model.predict_proba(table), expected)


def test_they_may_come_later(frame: pd.DataFrame) -> None:
    search = fitted(frame, (frame["b"] > 0).astype(int))
    later = search.predict_proba(with_cells(frame, np.inf, -np.inf))
    np.testing.assert_array_equal(later, search.predict_proba(with_cells(frame, np.nan, np.nan)))


def test_an_array_with_them_is_refused_in_a_line(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="column '0' holds infinite numbers"):
        fitted(with_cells(frame, np.inf, 1.0).to_numpy(), (frame["b"] > 0).astype(int))
