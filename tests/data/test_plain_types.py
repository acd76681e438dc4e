"""Columns of all types become those of numpy, with NaN for what is missing."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.plain_columns import plain_column, plain_missing
from automl_admm.data.plain_types import exact_whole, with_columns

LARGE = 2**53 + 1


def test_all_markers_of_what_is_missing_become_nan():
    frame = pd.DataFrame(
        {
            "number": pd.array([1, None], dtype="Int64"),
            "flag": pd.array([True, None], dtype="boolean"),
            "text": pd.array(["a", None], dtype="string"),
            "object": pd.Series(["a", pd.NA], dtype=object),
            "whole": pd.array([1, 2], dtype="Int64"),
        }
    )
    plain = plain_missing(frame)
    assert plain["number"].dtype == float
    assert plain["whole"].dtype == "Int64"
    for name in ("number", "flag", "text", "object"):
        assert isinstance(plain[name].tolist()[1], float)
    assert plain["flag"].tolist()[0] is True
    assert frame["text"].tolist()[1] is pd.NA


def with_nan_unmasked():
    """Return floats of pandas with a NaN that is no NA, and a real NA."""
    values, mask = np.array([np.nan, 1.0, 2.0]), np.array([False, False, True])
    return pd.Series(pd.arrays.FloatingArray(values, mask), name="ratio")


def test_nan_that_is_no_na_becomes_what_is_missing():
    column = with_nan_unmasked()
    assert column.isna().tolist() == [False, False, True]
    for given in (column, column.astype("Float32"), column.astype("category")):
        plain = plain_missing(given.to_frame())["ratio"]
        assert plain.isna().tolist() == [True, False, True]
        assert plain.iloc[1] == 1.0


def test_a_frame_without_gaps_is_left_alone():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert plain_missing(frame).equals(frame)


def test_columns_may_be_named_by_numbers():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: pd.array(["x", pd.NA], dtype="string")})
    assert plain_missing(frame)[1].isna().tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]"])
def test_whole_numbers_beside_gaps_stay_if_floats_run_them_together(dtype):
    found = plain_column(pd.Series([LARGE, LARGE - 1, None], dtype=dtype))
    assert found.tolist()[:2] == [LARGE, LARGE - 1]
    assert np.isnan(found.tolist()[2])
    small = plain_column(pd.Series([7, None], dtype=dtype))
    assert small.dtype == float


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (f" {LARGE} ", LARGE),
        ("-7", -7),
        ("7.0", None),
        ("1" * 5000, None),
        (Decimal("7.0"), 7),
        (Decimal("7.5"), None),
        (Decimal("Infinity"), None),
        (Decimal("NaN"), None),
        (np.int64(LARGE), LARGE),
        (7.0, None),
    ],
)
def test_forms_that_keep_all_digits_of_a_whole_number(value, whole):
    assert exact_whole(value) == whole


def test_a_table_without_columns_stays_one():
    assert with_columns(pd.DataFrame(), []).shape == (0, 0)
