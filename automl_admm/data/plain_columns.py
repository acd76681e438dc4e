"""Columns of numpy's types, whatever types of pandas and Arrow a table has."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.data.exact_arrays import frame_of_arrow
from automl_admm.data.plain_types import FIRST_INEXACT, with_columns


def plain_missing(frame: Any) -> Any:
    """Write what is missing as NaN, whatever pandas marks it with; no type of Arrow's is left.

    scikit-learn's encoders take NaN and None, but not the `pandas.NA` of nullable columns; its
    imputers take no column of Arrow's beside others.
    """
    plain = [(column, plain_column(column)) for _, column in frame.items()]
    if all(before is after for before, after in plain):
        # A caller may add columns to it, which must not appear in the user's frame.
        return frame.copy(deep=False)
    return with_columns(frame, [after for _, after in plain])


def plain_column(column: Any) -> Any:
    """Return a column of numpy's types, with NaN for missing values."""
    import pandas as pd

    column = with_seen_gaps(column)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        return column.astype(column.dtype.newbyteorder("="))
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _with_plain_categories(column)
    if _may_hold_na(column.dtype) and column.isna().any():
        return _with_nan(column)
    return column


def with_seen_gaps(column: Any) -> Any:
    """Return a column whose missing numbers pandas tells, as floats of numpy.

    Of its own floats only NA is missing to it: a NaN among them, as after 0 / 0, passes for a
    number. One with a type of Arrow becomes as in an Arrow table.
    """
    import pandas as pd

    if isinstance(column.dtype, pd.ArrowDtype):
        return _of_arrow(column)
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
    """Return a column with a type of Arrow as that of an Arrow table with the same values."""
    import pyarrow as pa

    found = frame_of_arrow(pa.table({"": column.array.__arrow_array__()}))[""]
    return found.set_axis(column.index).rename(column.name)


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
    is_exact = not types.is_float_dtype(column.dtype)
    if is_exact and (floats.abs() >= FIRST_INEXACT).any():
        return column.astype(object).where(column.notna(), np.nan)
    return floats
