"""Values of numpy, polars, Arrow and Python as they are: no whole number among them is rounded."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.data.pandas_metadata import Part, with_index_columns
from automl_admm.data.plain_types import FIRST_INEXACT, inferred, is_rounded, with_columns


def exact_array(given: Any) -> Any:
    """Return values as an array of numpy, of objects where that would change one.

    A float would round a whole number, and a text would hide that one is missing.

    >>> exact_array([2**53 + 1, 0.5])
    array([9007199254740993, 0.5], dtype=object)
    """
    import pandas as pd

    if of_polars(given) and not hasattr(given, "get_columns"):
        return polars_values(given)
    given = without_mask(given)
    values = np.asarray(given)
    if values.dtype.kind == "U" and not hasattr(given, "dtype"):
        objects = np.asarray(given, dtype=object)
        return objects if pd.isna(objects).any() else values
    is_rounding = values.dtype.kind == "f" and not hasattr(given, "dtype")
    if not is_rounding or not (np.abs(values) >= FIRST_INEXACT).any():
        return values
    listed = given.to_pylist() if hasattr(given, "to_pylist") else given  # of Arrow
    objects = np.asarray(listed, dtype=object)
    is_whole = not any(isinstance(value, float) for value in objects.flat)
    return objects if is_whole or any(map(is_rounded, objects.flat)) else values


def without_mask(given: Any) -> Any:
    """Return a masked array as one with gaps; numpy itself shows the values beneath the mask.

    >>> without_mask(np.ma.array([1, 7], mask=[False, True]))
    array([ 1., nan])
    """
    if isinstance(given, list | tuple) and any(isinstance(one, np.ma.MaskedArray) for one in given):
        return list(map(without_mask, given))  # a loop over a masked table gives masked rows
    if not isinstance(given, np.ma.MaskedArray):
        return given
    values, is_masked = given.data, np.ma.getmaskarray(given)
    if not is_masked.any():
        return values
    if values.dtype.kind in "mM":
        return np.where(is_masked, values.dtype.type("NaT"), values)
    is_exact = values.dtype.kind == "f" or _fit_floats(values[~is_masked])
    return np.where(is_masked, np.nan, values.astype(float if is_exact else object))[()]


def _fit_floats(values: Any) -> bool:
    """Return True for whole numbers that floats hold."""
    return values.dtype.kind in "iu" and not (np.abs(values.astype(float)) >= FIRST_INEXACT).any()


def of_polars(given: Any) -> bool:
    """Return True for a table or a column of polars."""
    return type(given).__module__.partition(".")[0] == "polars"


def polars_values(column: Any) -> Any:
    """Return the values of a column of polars; its own way to numpy makes floats beside gaps."""
    import polars as pl

    if column.dtype == pl.Array:
        column = column.arr.to_list()
    if column.dtype == pl.List and column.null_count():  # old versions make a list of gaps of a gap
        return np.where(column.is_null().to_numpy(), None, column.to_numpy())
    if not column.dtype.is_integer():
        return column.to_numpy()
    if str(column.dtype) in ("Int128", "UInt128"):  # numpy has none so wide
        narrow = column.cast(pl.Int64, strict=False)
        if narrow.null_count() > column.null_count():
            return np.array(column.to_list(), dtype=object)
        column = narrow
    values = column.to_numpy()
    is_large = values.dtype.kind == "f" and bool((np.abs(values) >= FIRST_INEXACT).any())
    return np.array(column.to_list(), dtype=object) if is_large else values


def exact_records(records: Sequence[Mapping[str, Any]]) -> Any:
    """Return a frame of records; pandas' own way makes floats beside gaps."""
    import pandas as pd

    frame = pd.DataFrame(records)
    for name in frame.select_dtypes(float):
        if (np.abs(frame[name]) >= FIRST_INEXACT).any():
            frame[name] = inferred(pd.Series([one.get(name) for one in records], dtype=object))
    return frame


def frame_of_arrow(
    table: Any, asked: Collection[str] = (), part: Part | None = None, **options: Any
) -> Any:
    """Return a table of Arrow as a frame; its own way there makes floats beside gaps.

    An index of pandas is a column if its name is among those `asked` for. `part` has the places of
    the rows if they are not all of a file.
    """
    table = with_index_columns(_without_views(table), asked, part)
    exact = {
        field.name: column.to_pandas(integer_object_nulls=True).to_numpy()
        for field, column in zip(table.schema, table.columns, strict=True)
        if _is_large(column)
    }
    try:
        frame = _with_sound_levels(table).to_pandas(**options)
    except NotImplementedError as problem:  # it names the type
        hint = "Turn it into numbers or text, or drop it."
        told = f"a column has a type of Arrow unknown to pandas: {problem}"
        raise DataError(told, hint=hint) from problem
    if not exact:
        return frame
    return with_columns(frame, [_exact(one, exact.get(str(name))) for name, one in frame.items()])


def _without_views(table: Any) -> Any:
    """Return a table of Arrow with lists of text as pandas takes them; polars writes views."""
    import pyarrow as pa
    from pyarrow import types

    def plain(kind: Any) -> Any:
        is_list = types.is_list(kind) or types.is_large_list(kind)
        is_view = is_list and str(kind.value_type) == "string_view"
        return pa.list_(pa.string()) if is_view else kind

    fields = [field.with_type(plain(field.type)) for field in table.schema]
    if all(map(pa.Field.equals, fields, table.schema)):
        return table
    return table.cast(pa.schema(fields, metadata=table.schema.metadata))


def _with_sound_levels(table: Any) -> Any:
    """Return a table of Arrow whose dictionaries are categories to pandas, or become such."""
    from pyarrow import types

    for place, (field, column) in enumerate(zip(table.schema, table.columns, strict=True)):
        if types.is_dictionary(field.type) and not _has_sound_levels(column):
            table = table.set_column(place, field.name, _of_sound_levels(column))
    return table


def _has_sound_levels(column: Any) -> bool:
    """Return False where a level is missing, or stands twice."""
    levels = [chunk.dictionary for chunk in getattr(column, "chunks", [column])]
    return all(len(_known(one.unique())) == len(one) for one in levels)


def _of_sound_levels(column: Any) -> Any:
    """Return a dictionary column of the same values with its levels once each, in their order."""
    import pyarrow as pa
    from pyarrow import compute

    chunks = getattr(column, "chunks", [column])
    values = [chunk.dictionary.take(chunk.indices) for chunk in chunks]
    levels = _known(pa.chunked_array([chunk.dictionary for chunk in chunks]).unique())
    codes = compute.index_in(pa.concat_arrays(values), value_set=levels)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.type.ordered)


def _known(levels: Any) -> Any:
    """Return the levels that pandas does not count as missing."""
    from pyarrow import compute

    missing = compute.is_null(levels, nan_is_null=True)
    return levels.filter(compute.invert(missing)) if compute.any(missing).as_py() else levels


def _is_large(column: Any) -> bool:
    """Return True for whole numbers beside gaps that floats may round."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_integer(column.type) or not column.null_count:
        return False
    ends = compute.min_max(column).as_py().values()
    return any(end is not None and abs(end) >= FIRST_INEXACT for end in ends)


def _exact(column: Any, values: Any) -> Any:
    """Return a column with these values where it is of floats: types of pandas keep theirs."""
    import pandas as pd

    if values is None or column.dtype != float:
        return column
    exact = pd.Series(values, index=column.index, name=column.name, dtype=object)
    return exact.where(exact.notna(), np.nan)
