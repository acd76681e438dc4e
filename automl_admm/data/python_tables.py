"""Tables of other libraries and other kinds, made frames of pandas or refused in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_count, say_value
from automl_admm.data.exact_arrays import frame_of_arrow, of_polars, polars_values

TABLES = "Give a frame of pandas or polars, a numpy array, or a list of rows."
# Denser tables are refused: they would take this much memory, and each worker some of it.
MOST_DENSE_BYTES = 4 * 2**30


def as_table(X: Any) -> Any:
    """Return a frame of another library as one of pandas; what is a table already stays as it is.

    Sparse columns become dense. Things that are no tables, though numpy would make one value of
    them, raise a DataError.
    """
    if hasattr(X, "tocsr"):  # scikit-learn tells what to do about a sparse matrix
        return X
    _refuse_other_things(X)
    if hasattr(X, "iloc"):
        return _dense(X)
    if of_polars(X):
        return _of_polars(X)
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return frame_of_arrow(X)
    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if isinstance(X, Sequence):
        _refuse_rows(X)
    return X


def _refuse_other_things(X: Any) -> None:
    if X is None or isinstance(X, str | bytes | os.PathLike | AbstractSet | Iterator):
        raise DataError(f"X is a {type(X).__name__}, no table.", hint=TABLES)
    if isinstance(X, Mapping):
        hint = "If its values are columns: pandas.DataFrame(X)."
        raise DataError(f"X is a {type(X).__name__}, no table.", hint=hint)
    if getattr(getattr(X, "dtype", None), "names", None):
        hint = "Make it a frame: pandas.DataFrame(X)."
        raise DataError("X is an array of records, no table.", hint=hint)
    if hasattr(X, "iloc") and getattr(X, "ndim", 2) == 1:
        raise DataError("X is one column, no table.", hint="Make it a frame: X.to_frame().")


def _refuse_rows(rows: Sequence[Any]) -> None:
    """Raise for rows with names, and for rows of different lengths."""
    if rows and isinstance(rows[0], Mapping):
        hint = "Make it a frame: pandas.DataFrame(X)."
        raise DataError("X is a list of dicts, no table.", hint=hint)
    lengths = [len(row) for row in rows if isinstance(row, list | tuple | np.ndarray)]
    other = next((place for place, length in enumerate(lengths) if length != lengths[0]), None)
    if other is not None and len(lengths) == len(rows):
        raise DataError(
            f"the rows of X have different lengths: row 0 has {say_count(lengths[0], 'value')}, "
            f"row {other} (from 0) has {lengths[other]}.",
            hint="Write None where a value is missing.",
        )


def refuse_nested(rows: Sequence[Any]) -> None:
    """Raise for a row without cells, and for a cell of several values: numpy names neither."""
    for place, row in enumerate(rows):
        if not _has_several(row):
            raise DataError(
                f"row {place} (from 0) of X is {say_value(row)}, no list of values.",
                hint="Give a list for each row, as in [[1.5, 'a'], [2.5, 'b']].",
            )
        for column, cell in enumerate(row):
            if _has_several(cell):
                raise DataError(
                    f"row {place} (from 0) of X: column {column} (from 0) holds {say_value(cell)}, "
                    "and a cell has one value.",
                    hint="Give each of its values a column of its own.",
                )


def _has_several(value: Any) -> bool:
    is_sequence = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return is_sequence or getattr(value, "ndim", 0) > 0


def _dense(frame: Any) -> Any:
    """Return a frame without sparse columns."""
    import pandas as pd

    sparse = [isinstance(dtype, pd.SparseDtype) for dtype in frame.dtypes]
    if not any(sparse):
        return frame
    size = frame.shape[0] * sum(sparse) * np.dtype(float).itemsize
    if size > MOST_DENSE_BYTES:
        raise DataError(
            f"the sparse columns of X would take {size / 1e9:.0f} GB as numbers.",
            hint="Make them fewer first, as with TruncatedSVD.",
        )
    columns = [
        column.sparse.to_dense() if is_sparse else column
        for (_, column), is_sparse in zip(frame.items(), sparse, strict=True)
    ]
    joined = pd.concat(columns, axis=1)
    joined.columns = frame.columns
    return joined


def _of_polars(X: Any) -> Any:
    """Return a frame of polars as one of pandas; its own way there needs pyarrow."""
    import pandas as pd

    if hasattr(X, "collect"):
        raise DataError("X is a LazyFrame of polars.", hint="Give X.collect().")
    if not hasattr(X, "get_columns"):
        hint = "Make it a frame: X.to_frame()."
        raise DataError("X is one column of polars, no table.", hint=hint)
    _refuse_of_several(X)
    frame = pd.DataFrame({column.name: polars_values(column) for column in X.get_columns()})
    for column in X.get_columns():
        zone = getattr(column.dtype, "time_zone", None)
        if zone is not None:  # numpy has the same moments in UTC
            moments = frame[column.name].dt.tz_localize("UTC")
            frame[column.name] = moments.dt.tz_convert(zone)
    return frame


def _refuse_of_several(X: Any) -> None:
    """Raise on a column of polars with as many values in each cell; texts may be tags."""
    hints = {"Struct": "Give X.unnest({!r}).", "Array": "Make a column of each value of {!r}."}
    for column in X.get_columns():
        form = str(column.dtype.base_type())
        are_texts = form == "Array" and str(column.dtype.inner) == "String"
        if form in hints and not are_texts:
            raise DataError(
                f"column {column.name!r} of X has several values in each cell: polars' {form}.",
                hint=hints[form].format(column.name),
            )
