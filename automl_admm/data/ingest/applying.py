"""Read any table by the facts of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, DataError, StoreError, suggest
from automl_admm.core.messages import say_error, say_value
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.ingest.forms.chosen import BY_NAME
from automl_admm.data.ingest.forms.date_names import name_dates
from automl_admm.data.ingest.records import FORM, Facts, Ingest, Reading
from automl_admm.data.plain_types import inferred_columns, with_columns


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A table of a user, and the table that pipelines see instead: the same one if all is plain."""

    raw: Any
    made: Any
    ingest: Ingest

    def for_limits(self) -> Any:
        """Return the columns of the user for limits: numbers in text as numbers, dates by name."""
        names = {one.name: one.kind for one in self.ingest.readings if _is_for_limits(one)}
        if not names:
            return self.raw
        frame = self.raw.copy(deep=False)
        for name, kind in names.items():
            made = self.made[str(name)]
            frame[name] = name_dates(made) if kind == "date" else made
        return frame


def _is_for_limits(reading: Reading) -> bool:
    is_read = reading.kind in ("number", "date") and not reading.is_plain
    return is_read and str(reading.name) in reading.made


def take_in(X: Any, ingest: Ingest, place: Place = row_of) -> TakenIn:
    """Return a frame or an array together with the table made of it."""
    import pandas as pd

    if hasattr(X, "iloc"):
        X = _with_floats(X, ingest)
    if ingest.is_plain:
        return TakenIn(X, X, ingest)
    frame = X if hasattr(X, "iloc") else inferred_columns(pd.DataFrame(X))
    return TakenIn(frame, make_columns(frame, ingest, place), ingest)


def _with_floats(frame: Any, ingest: Ingest) -> Any:
    """Return a frame with floats for numbers that are objects, as a later table has them."""
    from pandas.api.types import is_object_dtype

    plain = {str(one.name) for one in ingest.readings if one.kind == "number" and one.is_plain}
    before = [column for _, column in frame.items()]
    after = [
        column.astype(float) if str(column.name) in plain and is_object_dtype(column) else column
        for column in before
    ]
    is_same = all(one is other for one, other in zip(before, after, strict=True))
    return frame if is_same else with_columns(frame, after)


def make_columns(frame: Any, ingest: Ingest, place: Place = row_of) -> Any:
    """Return the columns that pipelines take, made of the raw columns of a frame.

    Plain columns are expected in the types of training already. Columns without a reading are left
    out. A cell that cannot be read raises a DataError with its place.
    """
    import pandas as pd

    if ingest.is_plain:
        return frame
    labels = {str(label): label for label in frame.columns}
    made: dict[str, Any] = {}
    for reading in ingest.readings:
        if not reading.is_left_out:
            made |= _made_of(frame[_label_of(reading, labels)], reading, place)
    return pd.DataFrame(made, index=frame.index, copy=False)


def _label_of(reading: Reading, labels: dict[str, Any]) -> Any:
    name = str(reading.name)
    if name not in labels:
        raise DataError(f"columns are missing: '{name}'.", hint=suggest(name, labels))
    return labels[name]


def _made_of(column: Any, reading: Reading, place: Place) -> dict[str, Any]:
    """Return the values of the columns made of one, under their names."""
    import pandas as pd

    if reading.is_plain:
        return {reading.made[0]: column.array}
    # Without its index, which may have equal labels; and with the name as files have it.
    alone = pd.Series(column.array, dtype=column.dtype, name=str(reading.name), copy=False)
    made = read_by_facts(alone, reading.facts, place)
    wanted = [f"{reading.name}{suffix}" for suffix in made]
    pairs = zip(reading.made, wanted, strict=False)
    if len(made) != len(reading.made) or not all(one.startswith(name) for one, name in pairs):
        raise _unreadable(reading.name, f"it makes {', '.join(wanted)}")
    return {name: one.array for name, one in zip(reading.made, made.values(), strict=True)}


def read_by_facts(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the columns that a form makes of one, by the ends of their names."""
    form = BY_NAME.get(str(facts.get(FORM)))
    if form is None:
        raise _unreadable(column.name, f"there is no form {say_value(facts.get(FORM))}")
    try:
        return form.read(column, facts, place)
    except AutomlAdmmError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise _unreadable(column.name, say_error(problem)) from problem


def blanks_of(ingest: Ingest) -> dict[str, Any]:
    """Return what an empty cell is in each made column where it is a value, and no missing one.

    Each form says it: one empty cell is read by it.
    """
    import pandas as pd

    found: dict[str, Any] = {}
    for reading in ingest.readings:
        if not reading.is_plain and not reading.is_left_out:
            empty = pd.Series([None], dtype=object, name=reading.name)
            found |= {name: made[0] for name, made in _made_of(empty, reading, row_of).items()}
    return {name: value for name, value in found.items() if not pd.isna(value)}


def _unreadable(name: Any, reason: str) -> StoreError:
    return StoreError(
        f"column '{name}' cannot be read as in training: {reason}.",
        hint="The facts of the run were changed after it, or are of another version: fit again.",
    )
