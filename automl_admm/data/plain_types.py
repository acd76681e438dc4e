"""Columns of numpy's types, whatever types of pandas and Arrow a table has."""

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


def plain_missing(frame: Any) -> Any:
    """Write what is missing as NaN, whichever of its markers pandas uses, and no type of Arrow's.

    scikit-learn's encoders take NaN and None, but not the `pandas.NA` of nullable columns; its
    imputers take no column of Arrow's beside others.
    """
    plain = [(column, plain_column(column)) for _, column in frame.items()]
    if all(before is after for before, after in plain):
        # A caller may add columns to it, which must not appear in the user's frame.
        return frame.copy(deep=False)
    return with_columns(frame, [after for _, after in plain])


def with_columns(frame: Any, columns: Sequence[Any]) -> Any:
    """Replace all columns at once: one by one is slow in wide frames, and pandas warns of it."""
    import pandas as pd

    if not columns:
        return frame.copy(deep=False)
    joined = pd.concat(columns, axis=1)
    joined.columns = frame.columns
    return joined


def plain_column(column: Any) -> Any:
    """Return a column of numpy's types, with NaN for missing values."""
    import pandas as pd

    column = with_seen_gaps(column)
    if isinstance(column.dtype, pd.ArrowDtype):
        return _of_arrow(column)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        return column.astype(column.dtype.newbyteorder("="))
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _with_plain_categories(column)
    if _may_hold_na(column.dtype) and column.isna().any():
        return _with_nan(column)
    return column


def with_seen_gaps(column: Any) -> Any:
    """Return a column whose missing numbers pandas tells, as floats of numpy.

    Of its own floats and Arrow's only NA is missing to it: a NaN among them, as after 0 / 0, passes
    for a number.
    """
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        unseen = _unseen_gaps(column.cat.categories)
        return (
            column.cat.remove_categories(column.cat.categories[unseen]) if any(unseen) else column
        )
    if not _unseen_gaps(column).any():
        return column
    values = column.to_numpy(dtype=column.dtype.numpy_dtype, na_value=np.nan)
    return pd.Series(values, index=column.index, name=column.name)


def _unseen_gaps(values: Any) -> Any:
    """Return a mask of NaN that pandas takes for a number."""
    from pandas.api import types

    if isinstance(values.dtype, np.dtype) or not types.is_float_dtype(values.dtype):
        return np.zeros(len(values), dtype=bool)
    return np.isnan(values.to_numpy(dtype=float, na_value=np.nan)) & ~np.asarray(values.isna())


def _with_plain_categories(column: Any) -> Any:
    """Give categories a type of numpy's; a missing one among others is `pandas.NA`."""
    categories = column.cat.categories
    if not _may_hold_na(categories.dtype) or categories.dtype == object:
        return column
    return column.cat.rename_categories(categories.astype(object).infer_objects())


def _of_arrow(column: Any) -> Any:
    """Return the values of an Arrow column; dates and the like stay, to be refused by name."""
    from pandas.api import types

    dtype = column.dtype
    has_gaps = bool(column.isna().any())
    if types.is_bool_dtype(dtype):
        return _with_nan(column) if has_gaps else column.astype(bool)
    if types.is_numeric_dtype(dtype):
        is_whole = types.is_integer_dtype(dtype) and not has_gaps
        return column.astype(dtype.numpy_dtype) if is_whole else _as_floats(column)
    if dtype.kind == "O" or types.is_string_dtype(dtype):
        return _with_nan(column)
    return column


def _may_hold_na(dtype: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_object_dtype(dtype) or getattr(dtype, "na_value", None) is pd.NA


def has_numbers(column: Any) -> bool:
    """Return True for a column with a type of numbers; truth values are none."""
    from pandas.api import types

    return bool(types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype))


def _with_nan(column: Any) -> Any:
    if has_numbers(column):
        return _as_floats(column)
    return column.astype(object).where(column.notna(), np.nan)


def _as_floats(column: Any) -> Any:
    """Return numbers as floats, but whole ones as they are if floats would run them together."""
    from pandas.api import types

    floats = column.astype(float)
    is_exact = not types.is_float_dtype(column.dtype)  # whole numbers, or decimals of Arrow
    if is_exact and (floats.abs() >= FIRST_INEXACT).any():
        return column.astype(object).where(column.notna(), np.nan)
    return floats
