"""Columns that tell nothing, and those that only tell if there is a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.cells import kind_of_cells, sample_of, series_like
from automl_admm.data.ingest.records import Facts
from automl_admm.data.table_schema import MISSING_TEXTS

NUMBERS = "iuf"  # kinds of numpy's types
BEGINNING = 1000  # rows to look at first: most columns have several values there
LEAST_TICKS = 2  # rows with a value, and as many without


def recognise_constant(column: Any) -> Facts | None:
    """Return the only value of a column; None for a column with several, or with gaps."""
    if not len(column) or _has_several(column):
        return None
    present = _present(column)
    if not present.any():
        return {"value": ""}
    if not present.all() or not _is_one_value(column):
        return None
    return {"value": say_value(column.iloc[0])}


def recognise_tick(column: Any) -> Facts | None:
    """Return the only value of a column with gaps; None for other columns.

    A word such as NA is no gap here: what it means besides one value cannot be told.
    """
    if not _is_one_value(column) or _has_words_for_gaps(column):
        return None
    present = _present(column)
    if present.sum() < LEAST_TICKS or (~present).sum() < LEAST_TICKS:
        return None
    return {"value": say_value(column[present].iloc[0])}


def _present(column: Any) -> Any:
    present = column.notna().to_numpy(dtype=bool)
    if kind_of_cells(column) == "string":
        blank = [value for value in column.dropna().unique() if _is_blank(value)]
        if blank:
            present = present & ~column.isin(blank).to_numpy(dtype=bool)
    return present


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and (not value.strip() or value.strip() in MISSING_TEXTS)


def _has_several(column: Any) -> bool:
    """Return True if a sample has several values: it dismisses most columns without a long look."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in NUMBERS:
        values = column.to_numpy()
        return _differ(values[:BEGINNING]) or _differ(values)
    try:
        return len({value for value in sample_of(column) if not _is_blank(value)}) > 1
    except TypeError:  # lists and the like are not to be compared
        return False


def _differ(values: Any) -> bool:
    present = values[~np.isnan(values)]
    return bool(present.size and (present != present[0]).any())


def _is_one_value(column: Any) -> bool:
    """Return True for one distinct value, gaps aside."""
    if _has_several(column):
        return False
    try:
        distinct = [value for value in column.dropna().unique() if not _is_blank(value)]
    except TypeError:  # lists and the like are not to be compared
        return False
    return len(distinct) == 1


def _has_words_for_gaps(column: Any) -> bool:
    words = (value for value in column.dropna().unique() if isinstance(value, str))
    return any(word.strip() and word.strip() in MISSING_TEXTS for word in words)


def leave_out(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return nothing: the column is left out."""
    del column, facts, place
    return {}


def read_tick(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return True for each row with a value."""
    del facts, place
    return {"": series_like(column, _present(column), dtype=bool)}


def say_constant(facts: Facts) -> str:
    """Return a line on a column left out."""
    if not facts["value"]:
        return "left out: all its values are missing"
    return f"left out: its only value is {facts['value']}"


def say_tick(facts: Facts) -> str:
    """Return a line on the only value."""
    return f"{facts['value']} or nothing: made into true or false"
