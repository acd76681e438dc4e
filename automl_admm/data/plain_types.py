"""Values of numpy's types, and whole numbers that no float may round."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

FIRST_INEXACT = 2**53  # from here on a float may be two whole numbers
LARGEST_FLOAT = 2**1023
# Python itself refuses to read more digits.
WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")


def exact_whole(value: Any) -> int | None:
    """Return a whole number in a form that keeps all of its digits; None for anything else."""
    if isinstance(value, str):
        return int(value) if WHOLE.fullmatch(value.strip()) else None
    if isinstance(value, Decimal):
        is_whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if is_whole else None
    return int(value) if isinstance(value, numbers.Integral) else None


def is_rounded(value: Any) -> bool:
    """Return True for a whole number that a float has another value for, or none."""
    whole = exact_whole(value)
    if whole is None or abs(whole) < FIRST_INEXACT:
        return False
    return abs(whole) >= LARGEST_FLOAT or int(float(whole)) != whole


def inferred(column: Any) -> Any:
    """Return objects in the type of their values, but objects if floats would round one of them."""
    if column.dtype != object:
        return column
    found = column.infer_objects()
    if (
        found.dtype == float
        and column[(found.abs() >= FIRST_INEXACT).to_numpy()].map(is_rounded).any()
    ):
        return column.where(column.notna(), np.nan)
    return found


def inferred_columns(frame: Any) -> Any:
    """Return a frame whose objects are in the types of their values, as far as none is rounded."""
    from pandas.api import types

    if not any(map(types.is_object_dtype, frame.dtypes)):
        return frame
    return with_columns(frame, [inferred(column) for _, column in frame.items()])


def with_columns(frame: Any, columns: Sequence[Any]) -> Any:
    """Replace all columns at once: one by one is slow in wide frames, and pandas warns of it."""
    import pandas as pd

    if not columns:
        return frame.copy(deep=False)
    joined = pd.concat(columns, axis=1)
    joined.columns = frame.columns
    return joined
