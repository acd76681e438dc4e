"""Numbers in text, and sensitive dates: columns that are no features are read as features are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place, refuse_rows, row_of
from automl_admm.data.ingest.applying import read_by_facts
from automl_admm.data.ingest.doubts import amounts_in
from automl_admm.data.ingest.forms.chosen import BY_NAME
from automl_admm.data.ingest.forms.date import recognise_date
from automl_admm.data.ingest.forms.date_names import name_dates
from automl_admm.data.ingest.forms.number import HINT, recognise_number
from automl_admm.data.ingest.records import FORM, Facts, Ingest, Reading
from automl_admm.data.table_schema import content_of
from automl_admm.plugins.records import LearningTask

PLAIN = Ingest()
# A feature may be missing; a target may not.
HINT_ON_TARGET = "Write it as in training; every row needs its target."
NUMBER = BY_NAME["number"]
DATE = "date"


def decide_answers(
    y: Any, weight: Any, task: LearningTask | None, decimal: str | None = None
) -> Ingest:
    """Return readings of the target and of the weights, of those that hold numbers in text.

    Without a `task` the target is a quantity if its amounts are too many for classes. A target that
    can be read in two ways has no reading, unless the user named the `decimal` sign: it is refused.
    """
    found = (
        _target(y, task, decimal),
        None if weight is None else _reading(weight, _facts(weight)),
    )
    return Ingest(tuple(one for one in found if one is not None))


def with_sensitive(answers: Ingest, sensitive: Any) -> Ingest:
    """Return the answers with readings of the sensitive columns of numbers in text, and of dates.

    A column that has a reading, such as one with the weights, keeps it.
    """
    known, found = answers.by_name(), []
    for place, name in enumerate(() if sensitive is None else sensitive.columns):
        column = sensitive.iloc[:, place]
        if str(name) not in known:
            found += [_reading(column, _facts(column)) or _reading_of_dates(column)]
    return Ingest((*answers.readings, *(one for one in found if one is not None)))


def _reading_of_dates(column: Any) -> Reading | None:
    """Return a reading that gives a date one name, whichever type a file has for it."""
    facts = recognise_date(column.astype(object) if column.dtype == "category" else column)
    if facts is None or facts.get("is_unsure"):
        return None
    name, known = str(column.name), {FORM: DATE, **facts, "parts": []}
    note = f"dates such as {say_value(facts['example'])}; groups are named as 2020-01-31"
    return Reading(name, "date", known, (name,), note)


def _target(y: Any, task: LearningTask | None, decimal: str | None) -> Reading | None:
    if task == "classification" or getattr(y, "name", None) is None:
        return None
    facts = amounts_in(y) if task is None else _facts(y)
    # Weights that are a thousand times as large in all rows weigh the same; a target does not.
    is_doubtful = facts is None or (facts.get("is_unsure") and facts["decimal"] != decimal)
    return None if is_doubtful else _reading(y, facts)


def _facts(column: Any) -> Facts | None:
    texts = column.astype(object)
    return recognise_number(texts) if content_of(texts) == "text" else None


def _reading(column: Any, facts: Facts | None) -> Reading | None:
    """Return the reading of a column; None if words stand between its numbers."""
    if facts is None or "words" in facts:
        return None
    known = {FORM: NUMBER.name, **facts}
    name = str(column.name)
    return Reading(name, "number", known, (name,), f"{NUMBER.say(facts)}; {_say_first(known)}")


def _say_first(facts: Facts) -> str:
    import pandas as pd

    example = pd.Series([facts["example"]], dtype=object)
    figure = float(read_by_facts(example, facts, row_of)[""].iloc[0])
    return f"read as plain numbers, here {figure:.15g}"


def read_answer(column: Any, answers: Ingest, place: Place = row_of) -> Any:
    """Return a column that is no feature by its reading; one without a reading stays as it is.

    A cell that cannot be read as in training raises a DataError with its place.
    """
    reading = answers.by_name().get(str(getattr(column, "name", None)))
    if reading is None:
        return column
    read = read_by_facts(column, reading.facts, place)[""]
    return name_dates(read) if reading.kind == "date" else read


def read_sensitive(sensitive: Any, answers: Ingest, place: Place = row_of) -> Any:
    """Return the sensitive columns, numbers in text as numbers and dates by name; others stay."""
    if sensitive is None or not set(map(str, sensitive.columns)) & set(answers.by_name()):
        return sensitive
    frame = sensitive.copy(deep=False)
    for name in frame.columns:
        frame[name] = read_answer(frame[name], answers, place)
    return frame


def read_target(y: Any, answers: Ingest, place: Place = row_of) -> Any:
    """Return the numbers of a target; raise if a word in it stands for a missing one."""
    try:
        found = read_answer(y, answers, place)
    except DataError as problem:
        if problem.hint != HINT:
            raise
        raise DataError(problem.message, hint=HINT_ON_TARGET) from problem
    if found is not y:
        refuse_rows(np.isnan(found), f"the target '{y.name}' is missing", place)
    return found


def tell_answers(answers: Ingest, target: str | None, sensitive: Collection[str] = ()) -> list[str]:
    """Return a line for each reading, and say what the predictions are."""
    return [
        f"target '{one.name}': {one.note}; predictions are such plain numbers"
        if one.name == target
        else f"{'sensitive' if one.name in sensitive else 'weight'} '{one.name}': {one.note}"
        for one in answers.readings
    ]
