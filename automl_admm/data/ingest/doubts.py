"""Signs that a table is not what it seems: its target, and its header."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_value
from automl_admm.core.percentages import percent
from automl_admm.data.columns import LEAST_ROWS_A_CLASS, MOST_CLASSES, infer_task
from automl_admm.data.conforming import figure_of
from automl_admm.data.ingest.forms.number import recognise_number
from automl_admm.data.ingest.records import Facts
from automl_admm.data.table_schema import content_of
from automl_admm.plugins.records import LearningTask

FEWEST = 2  # classes, however few the rows
MOST_TOLD = 5


def task_of(y: Any) -> LearningTask:
    """Return the task that the target tells; raise if its classes would be numbers in text.

    As classes nearly each amount of `$3,530.00`, `12.3%` and the like would be one of its own.
    """
    task = infer_task(y)
    if task == "classification" and (facts := amounts_in(y)) is not None:
        raise DataError(
            f"the target{_named(y)} holds numbers in text, such as {say_value(facts['example'])}, "
            f"too many of them for classes{_unreadable(facts)}.",
            # The estimators are told the task by their class, so only the command line comes here.
            hint="Write them as plain numbers, say which with --decimal point, or fit with "
            "--task classification to keep each of them as a class.",
        )
    return task


def _unreadable(facts: Facts) -> str:
    """Say why numbers in text cannot be read; plain ones could, if the task were another."""
    if facts.get("is_unsure"):
        sign = facts["thousands"] or facts["decimal"]
        return f", and cannot be read: '{sign}' may part thousands or stand before decimals"
    words = ", ".join(map(say_value, facts.get("words", ())))
    return f", and cannot be read: {words} stand between them" if words else ""


def find_doubts(y: Any, task: LearningTask) -> tuple[str, ...]:
    """Return a line for each sign that a target is not what it seems."""
    if task != "classification":
        return ()
    classes = _distinct(y)
    of_number = _doubt_of_number(y, classes)
    of_few = None if of_number else _doubt_of_few_rows(y)
    doubts = (of_number, of_few, _doubt_of_spelling(y, classes))
    return tuple(line for line in doubts if line is not None)


def doubts_of_header(names: Sequence[Any], target: Any = None) -> tuple[str, ...]:
    """Return a line if the names of all columns are numbers, as in a file without a header.

    `target` is the name of the column to predict if it is not among the others. Names that count
    the columns, or years, are names all the same.
    """
    everything = [*names, *([] if target is None else [target])]
    if not everything or not all(map(_is_number, everything)) or _are_counted(names, everything):
        return ()
    listed = ", ".join(everything[:MOST_TOLD])
    more = ", ..." if len(everything) > MOST_TOLD else ""
    named = f"the names of the columns are numbers alone ({listed}{more})"
    return (f"{named}: is the first row data? Then put a line with names above it",)


def _is_number(name: Any) -> bool:
    figure = figure_of(name) if isinstance(name, str) else None
    return figure is not None and math.isfinite(figure)


def _are_counted(names: Sequence[str], everything: Sequence[str]) -> bool:
    """Return True for whole numbers one after another; the target may stand anywhere."""
    own, whole = [float(name) for name in names], sorted(map(float, everything))
    return own == sorted(own) and whole == [whole[0] + place for place in range(len(whole))]


def _doubt_of_number(y: Any, classes: Sequence[Any]) -> str | None:
    if len(classes) <= MOST_CLASSES or len(y) >= LEAST_ROWS_A_CLASS * len(classes):
        return None
    many = f"the target{_named(y)} has {len(classes)} classes in {len(y)} rows"
    return f"{many}, such as {say_value(classes[0])}: is it a number, a date or an identifier?"


def _doubt_of_few_rows(y: Any) -> str | None:
    """Return a line on classes of one row: no fold could measure a model that knows them."""
    import pandas as pd

    counts = pd.Series(y).value_counts()
    alone = list(counts.index[counts == 1])
    if not alone:
        return None
    share = f"{percent(len(alone) / len(y))} of the rows"
    several = f"{len(alone)} classes of one row each, such as"
    many = "a class of one row," if len(alone) == 1 else several
    return (
        f"the target{_named(y)} has {many} {say_value(alone[0])} ({share}): parts made by "
        "class leave such rows out, so that scores are too good for new rows like them; rows set "
        "aside for a certificate have their share"
    )


def _doubt_of_spelling(y: Any, classes: Sequence[Any]) -> str | None:
    """Return a line on classes that are perhaps one, written in several ways."""
    alike: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            alike.setdefault("".join(label.split()).casefold(), []).append(label)
    # With every blank: these may be all that differs.
    written = [[f"{label!r:.60}" for label in each] for each in alike.values() if len(each) > 1]
    several = [" and ".join(each) for each in written]
    if not several:
        return None
    more = f" and {len(several) - MOST_TOLD} more" if len(several) > MOST_TOLD else ""
    return (
        f"the target{_named(y)} has classes that differ only in case or blanks: "
        f"{', '.join(several[:MOST_TOLD])}{more}; each is learned as a class of its own, so write "
        "them alike if they are one"
    )


def amounts_in(y: Any) -> Facts | None:
    """Return the facts of numbers in text in a target; None if they are few, or no numbers.

    A few amounts, such as 5 % and 10 %, make good classes.
    """
    import pandas as pd

    classes = _distinct(y)
    is_few = len(classes) <= MOST_CLASSES and len(classes) * LEAST_ROWS_A_CLASS <= len(y)
    if is_few or len(classes) <= FEWEST:
        return None
    # Categories of pandas are as good as text here.
    texts = pd.Series(y).astype(object)
    return recognise_number(texts) if content_of(texts) == "text" else None


def _distinct(y: Any) -> list[Any]:
    import pandas as pd

    values: Iterable[Any] = pd.unique(pd.Series(y).dropna())
    return list(values)


def _named(y: Any) -> str:
    name = getattr(y, "name", None)
    return "" if name is None else f" '{name}'"
