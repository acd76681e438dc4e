"""Rows and targets from Python, brought to the types of training."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NoReturn

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import conform, figure_of, refuse_rows, with_gaps_by_texts
from automl_admm.data.exact_arrays import exact_array, of_polars, without_mask
from automl_admm.data.ingest.applying import make_columns
from automl_admm.data.ingest.records import Ingest
from automl_admm.data.plain_columns import plain_missing, with_seen_gaps
from automl_admm.data.plain_types import exact_whole, inferred_columns, is_rounded, with_columns
from automl_admm.data.python_tables import as_table, refuse_nested
from automl_admm.data.table_schema import Schema, content_of, schema_of

KEEP_KNOWN = "Remove those rows first: keep = ~pandas.isna(y); fit(X[keep], y[keep])."


def plain_rows(X: Any) -> Any:
    """Return a frame of numpy's types, or an array of X with its numbers kept.

    numpy makes text of all cells of a list if some are text: `[[1.5, "a"]]` becomes `"1.5"`.
    """
    X = as_table(X)
    if hasattr(X, "iloc"):
        _check_levels(X)
        return plain_missing(X)
    if isinstance(X, np.ndarray):
        return _plain_array(X)
    if not isinstance(X, Sequence) or isinstance(X, str):
        return X
    X = without_mask(X)
    # Text, bytes and objects: of the rest numpy has kept the numbers.
    return _of_objects(X) if _array_of(X).dtype.kind in "USO" else X


def _array_of(rows: Sequence[Any]) -> Any:
    try:
        array = exact_array(rows)
    except ValueError:
        refuse_nested(rows)
        raise
    if array.ndim > 2:
        refuse_nested(rows)
    return array


def _check_levels(X: Any) -> None:
    """Raise for names of several levels."""
    if X.columns.nlevels > 1:
        raise DataError(
            f"the columns have names of {X.columns.nlevels} levels, such as "
            f"{say_value(X.columns[0])}.",
            hint="Join them: frame.columns = ['_'.join(map(str, name)) for name in frame.columns].",
        )


def _plain_array(X: Any) -> Any:
    """Return an array in the byte order of this machine, with NaN for masked cells."""
    is_masked = isinstance(X, np.ma.MaskedArray)
    X = without_mask(X.astype(float) if is_masked and X.dtype.kind == "b" else X)
    return X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))


def _of_objects(X: Sequence[Any]) -> Any:
    import pandas as pd

    values = np.asarray(X, dtype=object)
    if values.ndim == 2:  # what is none is told by whoever looks at shapes
        values[pd.isna(values)] = np.nan
    return values


def checkable(X: Any) -> Any:
    """Return a frame for scikit-learn's check of a table, which asks for a common type of numpy.

    There is none for dates and numbers: dates and the like become objects. Of pandas' own types,
    such as categories beside truth values, the check makes numbers, which it cannot do with texts;
    and since it looks at names and lengths alone, zeros stand for them.
    """
    if not hasattr(X, "iloc") or all(map(_is_checkable, X.dtypes)):
        return X
    return with_columns(X, [_stand_in(column) for _, column in X.items()])


def _is_checkable(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind not in "cmM"


def _stand_in(column: Any) -> Any:
    import pandas as pd

    if _is_checkable(column.dtype):
        return column
    if isinstance(column.dtype, np.dtype):
        return column.astype(object)
    return pd.Series(np.zeros(len(column), dtype=np.int8), index=column.index, name=column.name)


def schema_of_rows(X: Any) -> Schema:
    """Return the schema of training rows; refuse an array of text with numbers in it."""
    import pandas as pd

    if hasattr(X, "iloc"):
        return schema_of(X)
    if X.dtype.kind in "US":
        _refuse_numbers_as_text(X)
    return schema_of(inferred_columns(pd.DataFrame(X)), is_named=False)


def _refuse_numbers_as_text(X: Any) -> None:
    """Raise on numbers turned into text by an array with one type for all cells."""
    for place in range(X.shape[1]):
        if any(figure_of(text) is None for text in X[:, place].astype(str)):
            continue
        raise DataError(
            f"column {place} of X holds numbers written as text, such as {say_value(X[0, place])}.",
            hint="An array of text has no numbers: give a pandas DataFrame, or "
            "numpy.array(…, dtype=object).",
        )


def with_left_out(X: Any, schema: Schema, left_out: Container[str]) -> Any:
    """Return a frame whose columns that no pipeline sees are missing values, absent or not."""
    if not hasattr(X, "iloc"):
        return X
    unseen = [label for label in X.columns if str(label) in left_out]
    if unseen:
        X = X.copy(deep=False)
        X[unseen] = np.nan
    present = set(map(str, X.columns))
    absent = [one.name for one in schema.columns if str(one.name) not in present]
    if not absent or not all(str(name) in left_out for name in absent):
        return X
    names = [column.name for column in schema.columns]
    whole = X.assign(**{str(name): np.nan for name in absent}).rename(
        columns={str(name): name for name in absent}
    )
    return whole[names] if set(names) == set(whole.columns) else X


def put_in_order(X: Any, schema: Schema) -> Any:
    """Return a frame with its number-named columns in the order of training.

    scikit-learn checks the order of text names only: other columns in another order would be taken
    for each other. After training on an array, a frame with the same places as names is put in
    their order. A frame without columns is refused here, since numpy would not say why.
    """
    if hasattr(X, "iloc") and not X.shape[1]:
        raise DataError("the rows have no columns.", hint="Give a frame with the columns of fit.")
    names = [column.name for column in schema.columns]
    if not hasattr(X, "iloc") or X.shape[1] != len(names) or list(X.columns) == names:
        return X
    by_text = {str(label): label for label in X.columns}
    is_known = by_text.keys() == set(map(str, names))
    # scikit-learn says which names differ, in words that users know.
    if _are_texts(X.columns) and _are_texts(names):
        return X
    if is_known:
        return X[[by_text[str(name)] for name in names]].set_axis(names, axis=1)
    if schema.is_named:
        absent = next((name for name in names if str(name) not in by_text), names[0])
        raise DataError(
            f"the columns are not those of fit: there is no column {say_value(absent)}.",
            hint="Give a frame with the names of fit, or an array in the order of fit.",
        )
    return X


def _are_texts(names: Any) -> bool:
    return all(isinstance(name, str) for name in names)


def follow(X: Any, schema: Schema, ingest: Ingest | None = None) -> Any:
    """Return rows to predict as those of fit were: frames as frames, and arrays as arrays.

    With an `ingest` that makes columns of them they are a frame of these.
    """
    import pandas as pd

    is_frame = hasattr(X, "iloc")
    is_numeric = all(column.holds == "number" for column in schema.columns)
    made_by = None if ingest is None or ingest.is_plain else ingest
    if (
        made_by is None
        and not schema.is_named
        and not is_frame
        and is_numeric
        and X.dtype.kind in "fiu"
    ):
        return X
    names = [column.name for column in schema.columns]
    if is_frame and schema.is_named and list(X.columns) != names:
        X = X[names]  # by position they would be taken for each other
    frame = X.set_axis(names, axis=1) if is_frame else pd.DataFrame(X, columns=names)
    with_gaps = with_gaps_by_texts(frame if is_frame else inferred_columns(frame), schema)
    conformed = conform(with_gaps, schema)
    if made_by is not None:
        return make_columns(conformed, made_by)
    if schema.is_named:
        return conformed
    return conformed.to_numpy(dtype=None if is_numeric else object)


def plain_target(y: Any, hint: str = KEEP_KNOWN) -> Any:
    """Return a target of one numpy type; raise for missing values, with a hint, and mixed kinds."""
    import pandas as pd

    _refuse_columns_of_one_name(y)
    y = without_mask(y)
    values = y if isinstance(y, pd.Series) else exact_array(y)
    if of_polars(y) and values.ndim == 1:
        y = values  # numpy's own way has no integers of 128 bits
    if isinstance(values.dtype, np.dtype) and not values.dtype.isnative:
        y = values = values.astype(values.dtype.newbyteorder("="))
    if values.ndim != 1 or not len(values):
        return y  # scikit-learn says what is wrong with it
    try:
        column = pd.Series(values)
    except UnicodeEncodeError as problem:  # not before pandas 3
        raise _half_of_a_character(problem) from problem
    except OverflowError:  # before pandas 3, which makes no float of a number with 400 digits
        column = pd.Series(values, dtype=object)
    column = with_seen_gaps(column)
    refuse_rows(column.isna(), "the target is missing", hint=hint)
    is_plain = isinstance(column.dtype, np.dtype) and column.dtype != object
    if not is_plain:
        return _of_one_type(column)
    return y if isinstance(values.dtype, np.dtype) else column.to_numpy()


def _refuse_columns_of_one_name(y: Any) -> None:
    """Raise for a frame with two columns of one name, of which another library would tell."""
    import pandas as pd

    names = getattr(y, "columns", None)
    if isinstance(names, pd.Index) and not names.is_unique:
        twice = say_value(names[names.duplicated()][0])
        raise DataError(
            f"the target is one column, not {len(names)}: two of them are named {twice}.",
            hint="Give y as a column.",
        )


def check_quantities(y: Any) -> None:
    """Raise for texts that are no plain numbers in a target to be a quantity."""
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "USO":
        return
    for place, value in enumerate(values):
        if isinstance(value, str) and figure_of(value) is None:
            raise DataError(
                f"the target holds {say_value(value)} in row {place} (from 0), which is no plain "
                "number.",
                hint="Make numbers of it, as for '$1,234.50' by y.str.replace('[$,]', '', "
                "regex=True).astype(float); for classes use AutoMLClassifier.",
            )


def _of_one_type(column: Any) -> Any:
    holds = content_of(column)
    if holds == "boolean":
        return column.to_numpy(dtype=bool)
    values = column.to_numpy(dtype=object)
    if holds == "number":
        return _of_numbers(values)
    if holds == "other":
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise DataError(f"the target holds {kinds}.", hint="Make it all text with astype(str).")
    for text in set(values):
        try:
            str(text).encode()
        except UnicodeEncodeError as problem:
            raise _half_of_a_character(problem) from problem
    return values


def _half_of_a_character(problem: UnicodeEncodeError) -> DataError:
    message = f"the target holds {problem.object!a}, which has half of a character."
    return DataError(message, hint="Was it read in another encoding?")


def _of_numbers(values: Any) -> Any:
    """Return whole numbers as integers that hold all of them, and others as floats."""
    found = [exact_whole(value) for value in values]
    wholes = [value for value in found if value is not None]
    if len(wholes) < len(values):
        lost = next(filter(is_rounded, wholes), None)
        if lost is not None:
            _refuse_large(lost, "beside fractions")
        return values.astype(float)
    low, high = min(wholes), max(wholes)
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.array(wholes, dtype=dtype)
    return _refuse_large(high if high > -low else low, "which 64 bits cannot hold with the others")


def _refuse_large(number: int, why: str) -> NoReturn:
    raise DataError(
        f"the target holds {number}, {why}.",
        hint="Make it all text with astype(str) for classes, or all floats for a quantity.",
    )
