"""Find the kind of each column and the facts to read it again, without the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from automl_admm.core.errors import DataError, Remedy
from automl_admm.data.columns import check_labels, frame_of, kind_of_column
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.ingest.applying import read_by_facts
from automl_admm.data.ingest.asking import ask, check_asked
from automl_admm.data.ingest.forms.chosen import LARGE_LEVELS
from automl_admm.data.ingest.forms.known import FORMS
from automl_admm.data.ingest.records import FORM, LEFT_OUT, ColumnKind, Ingest, Reading
from automl_admm.data.plain_types import inferred_columns
from automl_admm.data.table_schema import content_of

Asked = Mapping[Any, str]
MOST_TOLD = 5


def decide(X: Any, asked: Asked | None = None, place: Place = row_of) -> Ingest:
    """Return the readings of the feature columns of a frame or an array, without the target.

    `asked` are the kinds chosen by the user, by column. An array of numbers has no names that tell
    of it, and is taken as it is.
    """
    if not asked and not hasattr(X, "iloc") and X.dtype.kind in "fiub":
        return plain_ingest(X)
    frame = X if hasattr(X, "iloc") else inferred_columns(frame_of(X))
    check_labels(frame)
    check_asked(asked or {}, frame.columns)
    kinds = {str(name): kind for name, kind in (asked or {}).items()}
    readings = [
        reading_of(name, column, kinds.get(str(name)), place) for name, column in frame.items()
    ]
    named = with_made(readings, frame)
    _refuse_nothing(named)
    return Ingest(named)


def reading_of(name: Any, column: Any, word: str | None, place: Place) -> Reading:
    """Return the reading of a column: the kind that the user asked for, or what it looks like."""
    return _recognised(name, column) if word is None else ask(name, column, word, place)


def plain_ingest(X: Any) -> Ingest:
    """Return readings that leave all columns as they are; raise for one unfit for pipelines."""
    frame = frame_of(X)
    check_labels(frame)
    return Ingest(tuple(plain_reading(name, column) for name, column in frame.items()))


def plain_reading(name: Any, column: Any) -> Reading:
    """Return the reading of a column that stays as it is."""
    kind: ColumnKind = "number"
    if kind_of_column(column, f"column '{name}'") == "categorical":
        kind = "boolean" if content_of(column) == "boolean" else "category"
    return Reading(name, kind, made=(str(name),))


def _recognised(name: Any, column: Any) -> Reading:
    for form in (*FORMS, LARGE_LEVELS):
        facts = form.recognise(column)
        if facts is not None:
            return Reading(name, form.kind, {FORM: form.name, **facts}, (), form.say(facts))
    return plain_reading(name, column)


def with_made(readings: Sequence[Reading], frame: Any) -> tuple[Reading, ...]:
    """Return the readings of columns with the names that they make, each name once."""
    taken = {str(name) for name in frame.columns}
    named = []
    for reading in readings:
        if reading.made or reading.kind in LEFT_OUT:
            named.append(reading)
            continue
        column = frame[reading.name]
        # The names hang on the facts alone, so one row tells them.
        ends = read_by_facts(column.rename(str(reading.name)).head(1), reading.facts, row_of)
        made = tuple(_free_name(f"{reading.name}{end}", taken, is_own=not end) for end in ends)
        named.append(replace(reading, made=made))
    return tuple(named)


def _free_name(name: str, taken: set[str], *, is_own: bool) -> str:
    numbered = (f"{name}_{number}" for number in count(2))
    free = name if is_own or name not in taken else next(n for n in numbered if n not in taken)
    taken.add(free)
    return free


def _refuse_nothing(readings: Sequence[Reading]) -> None:
    """Raise if all columns are left out."""
    if all(reading.is_left_out for reading in readings):
        notes = "; ".join(f"'{one.name}': {one.note}" for one in readings[:MOST_TOLD])
        raise DataError(
            f"no column is left to learn from ({notes}).",
            hint=Remedy(
                "Say how to read one: {columns=NAME=category}.",
                python="Say how to read one: columns={'NAME': 'category'}.",
            ),
        )
