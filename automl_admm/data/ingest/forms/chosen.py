"""Forms that a user chooses: bare numbers, and levels of anything, of which large are guessed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.conforming import Place, figure_of, refuse_cells, truth_of
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.ingest.forms.known import FORMS, Form
from automl_admm.data.ingest.records import Facts
from automl_admm.data.narrow_floats import as_written, float_of, float_of_values
from automl_admm.data.plain_types import FIRST_INEXACT, exact_whole
from automl_admm.data.table_schema import MISSING_TEXTS, content_of

Cell = Callable[[Any], Any]

# The key of the facts with the float that the numbers had in training.
FLOAT = "float"


def recognise_figures(column: Any) -> Facts | None:
    """Return facts for a column of bare numbers, as text or not, also with leading zeros."""
    holds_truths = content_of(column) == "boolean"
    facts: Facts = {"truths": True} if holds_truths else {}
    _, lost = _by_value(column, _figure_by(facts))
    return None if lost.any() else facts


def read_figures(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the numbers; truth values count as 1 and 0."""
    found, lost = _by_value(column, _figure_by(facts))
    refuse_cells(column, lost, "bare numbers", "Write a number, or nothing.", place)
    return {"": found.astype(float)}


def say_figures(facts: Facts) -> str:
    """Return a line on them."""
    return "truth values as numbers" if facts.get("truths") else "bare numbers"


def _figure_by(facts: Facts) -> Cell:
    return _figure_or_truth if facts.get("truths") else _figure


def _figure_or_truth(value: Any) -> float | None:
    truth = truth_of(value)
    return _figure(value) if truth is None else float(truth)


def _figure(value: Any) -> float | None:
    """Return a number; None for a cell without one, NaN for a missing one in text."""
    if isinstance(value, str):
        value = value.strip()
        if value in MISSING_TEXTS:
            return np.nan
    figure = figure_of(value)
    return figure if figure is None or np.isfinite(figure) else np.nan


def recognise_levels(column: Any) -> Facts | None:
    """Return the way to the same levels from any type that a file has for them."""
    holds, of_numbers = content_of(column), {FLOAT: float_of_values(column)}
    if holds != "other":
        return {"of": holds} | (of_numbers if holds == "number" else {})
    for form in FORMS:
        if form.kind in ("date", "duration") and (facts := form.recognise(column)) is not None:
            return {"of": form.name, "facts": facts}
    _, lost = _by_value(column, LEVELS_OF["text"])
    return None if lost.any() else {"of": "text"} | of_numbers


def recognise_large_levels(column: Any) -> Facts | None:
    """Return facts of categories that are whole numbers from 2**53 on; None for other columns.

    Beside a missing one scikit-learn has floats for them, of which two neighbours are one.
    """
    categories = getattr(column.dtype, "categories", ())
    wholes = (exact_whole(category) for category in categories)
    is_large = any(whole is not None and abs(whole) >= FIRST_INEXACT for whole in wholes)
    return {"of": "number"} if is_large and content_of(column) == "number" else None


def read_levels(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the levels as texts: 7, 7.0 and "07" are one level of a column of numbers.

    So is 0.1 in floats of any width.
    """
    of = facts["of"]
    if of not in LEVELS_OF:
        form = next(form for form in FORMS if form.name == of)
        column, of = form.read(column, facts["facts"], place)[""], "number"
    found, lost = _by_value(column, _level_by(facts, of, column.dtype))
    hint = "Write it as in training, or nothing where it is missing."
    refuse_cells(column, lost, f"levels of {of}s", hint, place)
    return {"": found}


def _level_by(facts: Facts, of: str, dtype: Any) -> Cell:
    """Return the way from a cell of this type to its level."""
    cell: Cell = LEVELS_OF[of]
    if FLOAT not in facts:
        return cell
    kinds = (float_of(dtype), facts[FLOAT])
    if of != "number":
        return lambda value: cell(as_written(value, kinds))
    return lambda value: cell(as_written(_number_in(value), kinds))


def _number_in(value: Any) -> Any:
    """Return the number in a text; whole ones keep all their digits there."""
    figure = _figure(value) if isinstance(value, str) and exact_whole(value) is None else None
    return value if figure is None else figure


def say_levels(facts: Facts) -> str:
    """Return a line on them."""
    return "each value is a category" if facts["of"] in LEVELS_OF else "each moment is a category"


def _level_of_number(value: Any) -> Any:
    """Return the digits of a whole number, however large: a float may not tell it from the next."""
    whole = exact_whole(value)
    if whole is not None:
        return str(whole)
    figure = _figure(value)
    if figure is None or np.isnan(figure):
        return figure
    return str(int(figure)) if figure.is_integer() else repr(figure)


def _level_of_truth(value: Any) -> Any:
    is_gap = isinstance(value, str) and value.strip() in MISSING_TEXTS
    truth = truth_of(value)
    return np.nan if is_gap else None if truth is None else str(truth)


def _level_of_text(value: Any) -> Any:
    return value if isinstance(value, str) else _level_of_number(value)


LEVELS_OF: dict[str, Cell] = {
    "number": _level_of_number,
    "boolean": _level_of_truth,
    "text": _level_of_text,
}
NUMBERS = Form("figures", "number", recognise_figures, read_figures, say_figures)
LEVELS = Form("levels", "category", recognise_levels, read_levels, say_levels)
# One form by its facts, so that `BY_NAME` has it once.
LARGE_LEVELS = replace(LEVELS, recognise=recognise_large_levels)
BY_NAME = {form.name: form for form in (*FORMS, NUMBERS, LEVELS)}


def _by_value(column: Any, cell: Cell) -> tuple[Any, NDArray[np.bool_]]:
    """Return what a function finds for each cell, and marks for cells of which it finds None."""
    import pandas as pd

    codes, distinct = find_distinct(column.astype(object))
    found = [cell(value) for value in distinct]
    # The last place is that of missing cells, whose code is -1.
    values = np.array([*(np.nan if one is None else one for one in found), np.nan], dtype=object)
    lost = np.array([*(one is None for one in found), False], dtype=bool)
    return pd.Series(values[codes], index=column.index, name=column.name), lost[codes]
