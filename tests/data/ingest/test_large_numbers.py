"""A column is told if its whole numbers run together as floats, and no other one."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.ingest.large_numbers import doubts_of_large_numbers

LARGE = 2**60


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([LARGE, LARGE + 1]),
        pd.Series([LARGE, LARGE + 1], dtype="uint64"),
        pd.Series([LARGE, LARGE + 1, None], dtype="Int64"),
        pd.Series([LARGE, LARGE + 1, None], dtype=object),
        pd.Series([-LARGE, -LARGE - 1, np.nan], dtype=object),
        pd.Series([Decimal(LARGE), Decimal(LARGE + 1)]),
    ],
)
def test_numbers_that_run_together_are_told(column):
    (line,) = doubts_of_large_numbers(pd.DataFrame({"k": column}), {"k"})
    assert line.startswith("column 'k' has 2 distinct whole numbers, but only 1 as floats")
    assert doubts_of_large_numbers(pd.DataFrame({"k": column}), ()) == ()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([LARGE, LARGE * 2]),
        pd.Series([2**53 - 1, 2**53 - 2]),
        pd.Series([1e300, 1e300 + 1]),
        pd.Series([None, None], dtype="Int64"),
        pd.Series([1, 2, None], dtype=object),
        pd.Series(["9,007,199,254,740,993 €", "9,007,199,254,740,992 €"], dtype=object),
        pd.Series([date(2024, 1, 2), None], dtype=object),
        pd.Series([time(12, 30), None], dtype=object),
    ],
)
def test_others_are_not(column):
    assert doubts_of_large_numbers(pd.DataFrame({"k": column}), {"k"}) == ()


def test_an_array_has_places_for_names():
    (line,) = doubts_of_large_numbers(np.array([[1, LARGE], [2, LARGE + 1]]), {"0", "1"})
    assert line.startswith("column '1' has 2")
