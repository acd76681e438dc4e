"""Bring a later table to the types of the training table."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import has_half_character, say_count, say_value
from automl_admm.data.narrow_floats import as_written, float_of
from automl_admm.data.plain_columns import plain_column
from automl_admm.data.plain_types import FIRST_INEXACT, exact_whole, inferred, with_columns
from automl_admm.data.table_schema import MISSING_TEXTS, Column, Schema, content_of

# Says where the row of a number is, from 0: "new.csv, line 7".
Place = Callable[[int], str]

# A boolean column with gaps may have become 1.0 and 0.0 on its way through a file.
TRUE = frozenset({"true", "1", "1.0"})
FALSE = frozenset({"false", "0", "0.0"})
LONGEST_SHOWN = 40
# In these a point may stand before decimals, and it may part thousands.
POINT_OR_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
# A number to a reader, with signs between thousands or with a decimal comma.
NUMBER_WITH_SIGNS = re.compile(r"[+-]?\d{1,3}(?:[.,' ]\d{3})*(?:[.,]\d+)?|[+-]?\d+,\d+")


def row_of(number: int) -> str:
    """Name the place of a row in a table in memory."""
    return f"row {number} (from 0)"


def refuse_rows(
    wrong: Any, reason: str, place: Place = row_of, hint: str = "Remove those rows first."
) -> None:
    """Raise if rows are wrong, with the place of the first."""
    rows = np.flatnonzero(wrong)
    if len(rows):
        first = place(int(rows[0]))
        message = f"{reason} in {len(rows)} of {len(wrong)} rows, first in {first}."
        raise DataError(message, hint=hint)


def conform(frame: Any, schema: Schema, place: Place = row_of) -> Any:
    """Return a frame with the values and types of training in its columns.

    Columns are known by their names; others than those of the schema stay as they are. A value
    impossible in training raises a DataError with its name and place.
    """
    known = schema.by_name()
    pairs = [(column, known.get(str(label))) for label, column in frame.items()]
    conformed = [
        column if expected is None else conform_column(column, expected, place)
        for column, expected in pairs
    ]
    if schema.had_commas:
        _refuse_doubtful_points(pairs, place)
    if all(before is after for (before, _), after in zip(pairs, conformed, strict=True)):
        return frame
    return with_columns(frame, conformed)


def with_gaps_by_texts(frame: Any, schema: Schema) -> Any:
    """Read texts such as NA as missing, unless they were values in training: as in a CSV file."""
    known = schema.by_name()
    columns = [_with_gaps(column, known.get(str(name))) for name, column in frame.items()]
    return with_columns(frame, columns)


def _with_gaps(column: Any, expected: Column | None) -> Any:
    if expected is None or content_of(column) != "text":
        return column
    markers = MISSING_TEXTS.difference(expected.texts).intersection(column.unique())
    return column.mask(column.isin(markers), np.nan) if markers else column


def _refuse_doubtful_points(pairs: Sequence[tuple[Any, Column | None]], place: Place) -> None:
    """Raise on texts such as 1.234 for numbers of a file with decimal commas.

    A text such as 1.5 beside them shows that the points are decimal ones, as in a CSV file.
    """
    texts = [
        column
        for column, expected in pairs
        if expected is not None and expected.holds == "number" and content_of(column) != "number"
    ]
    if any(map(has_sure_points, texts)):
        return
    for column in texts:
        is_doubtful = _stripped(column).str.fullmatch(POINT_OR_THOUSANDS, na=False)
        hint = "Its point may part thousands: give it as a number."
        bad = is_doubtful.to_numpy(dtype=bool)
        refuse_cells(column, bad, "numbers with decimal commas", hint, place)


def has_sure_points(column: Any) -> bool:
    """Return True if a text of a column has a point that can only be a decimal one."""
    texts = _stripped(column)
    pointed = texts.str.contains(".", regex=False, na=False)
    return bool((pointed & ~texts.str.fullmatch(POINT_OR_THOUSANDS, na=False)).any())


def _stripped(column: Any) -> Any:
    return column.astype(object).map(lambda v: v.strip() if isinstance(v, str) else "")


def conform_column(column: Any, expected: Column, place: Place) -> Any:
    """Return a column with the values and the type of training."""
    if expected.holds == "other":
        return column
    try:
        return _conformed(column, expected, place)
    except UnicodeEncodeError:
        hint = "It holds half of a character, which is no text: mend or remove it."
        bad = column.astype(object).map(_is_torn).to_numpy(dtype=bool)
        refuse_cells(column, bad, "text", hint, place)
        raise


def _conformed(column: Any, expected: Column, place: Place) -> Any:
    plain = plain_column(column)
    if expected.holds == "number":
        plain = _without_infinite(plain)
    if expected.categories is not None:
        return _categorical(plain, expected, place, float_of(column.dtype))
    if str(plain.dtype) == expected.dtype and expected.dtype != "object":
        return plain
    values = CONVERSIONS[expected.holds](_of_values(plain), expected, place)
    return _as_kept(values, expected)


def _is_torn(value: object) -> bool:
    return isinstance(value, str) and has_half_character(value)


def _without_infinite(column: Any) -> Any:
    """Return numbers with the infinite ones missing, as they are in training."""
    from pandas.api import types

    if not types.is_float_dtype(column.dtype):
        return column
    is_infinite = np.isinf(column.to_numpy(dtype=float, na_value=np.nan))
    return column.mask(is_infinite) if is_infinite.any() else column


def _of_values(column: Any) -> Any:
    """Return the values of categories themselves."""
    from pandas import CategoricalDtype

    if not isinstance(column.dtype, CategoricalDtype):
        return column
    return inferred(column.astype(object))


def _categorical(column: Any, expected: Column, place: Place, kind: str) -> Any:
    """Return it with the categories of training; new ones come last, unchanged.

    Numbers in floats of this kind and those of training are alike if a file in text has one number
    for them.
    """
    import pandas as pd

    assert expected.categories is not None  # noqa: S101 - who calls has asked
    values = CONVERSIONS[expected.holds](_of_values(column), expected, place)
    kept = values.astype(object).where(values.notna(), None)
    known = list(expected.categories)
    if expected.holds == "number":
        alike = _as_known(set(kept.dropna()) - set(known), expected, kind)
        kept = kept.map(lambda value: alike.get(value, value), na_action="ignore")
    new = sorted(set(kept.dropna()) - set(known))
    categories = pd.Index(known + new).infer_objects()
    found = pd.Categorical(kept, categories=categories, ordered=expected.is_ordered)
    return pd.Series(found, index=column.index, name=column.name)


def _as_known(others: Collection[Any], expected: Column, kind: str) -> dict[Any, Any]:
    """Return the category of training for each other number that is one in another float."""
    assert expected.categories is not None  # noqa: S101 - who calls has asked
    known = {as_written(one, [expected.float_type]): one for one in expected.categories}
    written = {one: as_written(one, [kind, expected.float_type]) for one in others}
    return {one: known[found] for one, found in written.items() if found in known}


def _to_boolean(column: Any, expected: Column, place: Place) -> Any:
    from pandas.api import types

    if types.is_bool_dtype(column.dtype):
        return column
    truths = column.astype(object).map(truth_of, na_action="ignore")
    _refuse_first(column, truths.isna(), expected, place)
    return truths.astype(object).where(column.notna(), np.nan)


def truth_of(value: Any) -> bool | None:
    """Return the truth value of a cell; None for a cell without one."""
    written = str(value).strip().lower() if isinstance(value, (str, numbers.Real, np.bool_)) else ""
    return True if written in TRUE else False if written in FALSE else None


def _to_number(column: Any, expected: Column, place: Place) -> Any:
    from pandas.api import types

    # Truth values in a column of numbers count as 1 and 0, as they do in a file.
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return column.astype(np.int64) if column.dtype == bool else column
    figures = column.astype(object).map(figure_of, na_action="ignore")
    _refuse_first(column, figures.isna(), expected, place)
    exact = _large_whole(column, figures, expected)
    return _without_infinite(figures.astype(float)) if exact is None else exact


def _large_whole(column: Any, figures: Any, expected: Column) -> Any:
    """Return whole numbers that floats would run together, from texts and objects; else None."""
    import pandas as pd

    is_large = bool((figures.abs() >= FIRST_INEXACT).any())
    if expected.dtype.startswith("float") or not is_large:
        return None
    pairs = zip(column.astype(object), column.isna(), strict=True)
    values = [np.nan if is_gap else exact_whole(value) for value, is_gap in pairs]
    if None in values:
        return None
    return inferred(pd.Series(values, index=column.index, name=column.name, dtype=object))


def figure_of(value: Any) -> float | None:
    """Return the number of a cell, of text too; None for a cell without one."""
    if not isinstance(value, (str, numbers.Real, Decimal, np.bool_)):
        return None
    if isinstance(value, str) and "_" in value:  # to Python that is a number, and to no file
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _to_text(column: Any, expected: Column, place: Place) -> Any:
    from pandas.api import types

    if types.is_string_dtype(column.dtype) and not types.is_object_dtype(column.dtype):
        return column
    values = column.astype(object)
    kinds = values.map(lambda value: isinstance(value, str) or None, na_action="ignore")
    _refuse_first(column, kinds.isna(), expected, place)
    return values.where(column.notna(), np.nan)


CONVERSIONS = {"boolean": _to_boolean, "number": _to_number, "text": _to_text}
WORDS = {"boolean": "true or false", "number": "numbers", "text": "text"}
HINTS = {
    "boolean": "Write True, False, or nothing where it is missing.",
    "number": "Write a number, or nothing where it is missing.",
    "text": "Give it as the text that it was in training.",
}
HINT_ON_SIGNS = (
    "Write it without signs between thousands, such as 1234.5, or 1234,5 in a CSV file of decimal "
    "commas."
)


def _refuse_first(column: Any, lost: Any, expected: Column, place: Place) -> None:
    """Raise on the first present value without a conversion."""
    bad = (lost & column.notna()).to_numpy(dtype=bool)
    hint = HINTS[expected.holds]
    if expected.holds == "number" and bad.any() and _is_number_with_signs(column[bad].iloc[0]):
        hint = HINT_ON_SIGNS
    refuse_cells(column, bad, WORDS[expected.holds], hint, place)


def _is_number_with_signs(value: Any) -> bool:
    return isinstance(value, str) and NUMBER_WITH_SIGNS.fullmatch(value.strip()) is not None


def refuse_cells(column: Any, bad: Any, held: str, hint: str, place: Place) -> None:
    """Raise on the first of the cells marked in `bad`; the column held `held` in training."""
    rows = np.flatnonzero(bad)
    if not len(rows):
        return
    shown = say_value(column.iloc[int(rows[0])])
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    more = f" (and {say_count(len(rows) - 1, 'more row')})" if len(rows) > 1 else ""
    raise DataError(
        f"{place(int(rows[0]))}: column '{column.name}' holds {shown}{more}, and held {held} in "
        "training.",
        hint=hint,
    )


def _as_kept(column: Any, expected: Column) -> Any:
    """Return it with the type of training, unless this loses values."""
    if str(column.dtype) == expected.dtype:
        return column
    if expected.dtype == "object":
        return column.astype(object).where(column.notna(), np.nan)
    if expected.holds == "text":
        return _as_default_text(column)
    has_gaps = bool(column.isna().any())
    # No integer and no boolean type of numpy holds a gap.
    if has_gaps and not expected.dtype.startswith("float"):
        # Numbers that are objects here would run together as floats.
        is_kept = expected.holds == "boolean" or column.dtype == object
        return column.astype(object if is_kept else float)
    try:
        with np.errstate(all="ignore"):  # beyond the range of the type
            turned = column.astype(expected.dtype)
    except (TypeError, ValueError, OverflowError):  # halves, for example, where all were whole
        return column
    return _of_least_loss(turned, column)


def _of_least_loss(turned: Any, column: Any) -> Any:
    """Return numbers in the type of training, and those that it has not as they were given.

    Beside one beyond the range of a narrow float the others keep the digits of it.
    """
    # Into a float only digits may be lost; an integer could lose halves or wrap around.
    if turned.dtype.kind != "f":
        return turned if bool((turned == column).all()) else column
    is_beyond = np.isinf(turned)
    return turned.astype(float).mask(is_beyond, column) if is_beyond.any() else turned


def _as_default_text(column: Any) -> Any:
    """Return text in the default type of this pandas; before version 3, objects."""
    import pandas as pd

    texts = column.astype(object).where(column.notna(), np.nan)
    default = pd.Series(["a"]).dtype
    return texts if pd.api.types.is_object_dtype(default) else texts.astype(default)
