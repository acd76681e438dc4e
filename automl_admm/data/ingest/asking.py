"""Kinds of columns that the user chose, in place of what would be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, DataError, Remedy, suggest
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place
from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.ingest.forms.chosen import LEVELS, NUMBERS
from automl_admm.data.ingest.forms.known import FORMS, Form
from automl_admm.data.ingest.records import FORM, ColumnKind, Facts, Reading
from automl_admm.data.table_schema import content_of

DROP = "drop"
# The word of the user for each kind, and the kind.
WORDS: Mapping[str, ColumnKind] = MappingProxyType(
    {
        "number": "number",
        "category": "category",
        "ordered": "ordered",
        "text": "text",
        "tags": "tags",
        "date": "date",
        "duration": "duration",
        "boolean": "boolean",
        DROP: "dropped",
    }
)
MOST_TRIED = 2000
TARGET = "the one to predict"


def check_asked(asked: Mapping[Any, Any], names: Iterable[Any]) -> None:
    """Raise for a column that is not there, and for an unknown kind."""
    known = list(map(str, names))
    for name, kind in asked.items():
        if str(name) not in known:
            raise ConfigurationError(
                f"there is no column {say_value(str(name))} to be read as {say_value(kind)}.",
                hint=suggest(str(name), known),
            )
        if kind not in WORDS:
            raise ConfigurationError(
                f"column '{name}' cannot be read as {say_value(kind)}.",
                hint=suggest(str(kind), WORDS),
            )


def refuse_kind_of_others(asked: Mapping[Any, Any], others: Mapping[str, str]) -> None:
    """Raise if the kind of a column is chosen that is no feature; `others` has what each is."""
    for name in map(str, asked):
        if name in others:
            raise ConfigurationError(
                f"column '{name}' is {others[name]}: only features have a kind.",
                hint=Remedy(f"Leave '{name}' out of {{columns}}."),
            )


def ask(name: Any, column: Any, word: str, place: Place) -> Reading:
    """Return the reading of a column as the kind that the user chose; raise if it cannot be."""
    kind = WORDS[word]
    if kind == "dropped":
        return Reading(name, kind, note="left out, as you asked", is_asked=True)
    if _is_plain(column, kind):
        return Reading(name, kind, made=(str(name),), note=f"{word}, as you asked", is_asked=True)
    for form in _forms_for(kind):
        facts = form.facts_if_asked(column)
        if facts is not None:
            note = f"{form.say(facts)}, as you asked"
            return Reading(name, kind, {FORM: form.name, **facts}, (), note, is_asked=True)
    raise _refused(name, column, word, place)


def _is_plain(column: Any, kind: ColumnKind) -> bool:
    """Return True if pipelines take the column as this kind already."""
    holds = content_of(column)
    if kind == "category":
        return holds == "text"
    return {"number": "number", "boolean": "boolean"}.get(kind) == holds


def _forms_for(kind: ColumnKind) -> list[Form]:
    own = {"number": [NUMBERS], "category": [LEVELS]}.get(kind, [])
    return [*(form for form in FORMS if form.kind == kind), *own]


def _refused(name: Any, column: Any, word: str, place: Place) -> DataError:
    """Return the error that names the first cell in the way."""
    found = _first_unlike(column, _forms_for(WORDS[word]))
    where = "" if found is None else f"{place(found)}: "
    shown = "" if found is None else f"; it holds {say_value(column.iloc[found])}"
    return DataError(
        f"{where}column '{name}' cannot be read as {word}{shown}.",
        hint=Remedy(f"Leave it out of {{columns}}, or choose another kind: {', '.join(WORDS)}."),
    )


def _first_unlike(column: Any, forms: Iterable[Form]) -> int | None:
    """Return the place of the first cell that is of none of the forms by itself."""
    import pandas as pd

    codes, distinct = find_distinct(column.astype(object))
    recognise: list[Callable[[Any], Facts | None]] = [form.facts_if_asked for form in forms]
    for code, value in enumerate(distinct[:MOST_TRIED]):
        # Twice: one cell alone is too little for some forms.
        alone = pd.Series([value, value], name=column.name)
        if all(one(alone) is None for one in recognise):
            return int(np.flatnonzero(codes == code)[0])
    return None
