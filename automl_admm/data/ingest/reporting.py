"""The kinds of columns in words: lines for a screen, and a table of all columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_count
from automl_admm.data.columns import check_labels
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.ingest.applying import make_columns
from automl_admm.data.ingest.deciding import Asked, reading_of, with_made
from automl_admm.data.ingest.records import Ingest, Reading

MOST_LINES = 12
REFUSED = "refused"
INSPECT = "automl-admm inspect DATA"


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column of a user's table: its kind, its missing share, its distinct values, and a note.

    `made` are the names of the columns that pipelines get. The kind is `refused` if no pipeline
    can take the column as it is; the note then says what to do.
    """

    name: str
    kind: str
    missing: float
    distinct: int
    made: tuple[str, ...]
    note: str


def tell_readings(ingest: Ingest) -> list[str]:
    """Return a line for each column that is not plain, and after some of them how many more."""
    told = [reading for reading in ingest.readings if reading.note]
    lines = [f"column '{reading.name}': {_words(reading)}" for reading in told[:MOST_LINES]]
    if len(told) > MOST_LINES:
        lines.append(f"and {say_count(len(told) - MOST_LINES, 'more column')}: {INSPECT}")
    if any(not reading.is_asked for reading in told):
        lines.append(f'to read a column otherwise: --column "{told[0].name}=category"')
    return lines


def _words(reading: Reading) -> str:
    is_said = reading.is_asked or reading.is_left_out or reading.note.startswith(reading.kind)
    return reading.note if is_said else f"{reading.kind}: {reading.note}"


def inspect_columns(
    frame: Any, asked: Asked | None = None, place: Place = row_of
) -> list[ColumnFacts]:
    """Return the facts of all columns of a table, also of those that a run would refuse.

    A column that cannot be of the kind that the user asked for raises a DataError.
    """
    check_labels(frame)
    kinds = {str(name): kind for name, kind in (asked or {}).items()}
    found: list[tuple[Any, Reading | DataError]] = []
    for name, column in frame.items():
        try:
            found.append((column, reading_of(name, column, kinds.get(str(name)), place)))
        except DataError as problem:
            if str(name) in kinds:
                raise
            found.append((column, problem))
    readings = with_made([one for _, one in found if isinstance(one, Reading)], frame)
    known = {reading.name: reading for reading in readings}
    return [_facts(column, known.get(column.name, one)) for column, one in found]


def _facts(column: Any, found: Reading | DataError) -> ColumnFacts:
    name, distinct = str(column.name), _distinct(column)
    if isinstance(found, DataError):
        return ColumnFacts(name, REFUSED, _missing(column), distinct, (), str(found))
    missing = _missing(column)
    if not found.is_plain and not found.is_left_out:
        made = make_columns(column.to_frame(), Ingest((found,)))
        first = made.iloc[:, 0]
        # Free text and tags have no gaps of their own when they are made.
        missing = float(((first == "") | first.isna()).mean())
    return ColumnFacts(name, found.kind, missing, distinct, found.made, found.note)


def _missing(column: Any) -> float:
    return float(column.isna().mean())


def _distinct(column: Any) -> int:
    present = column.dropna()
    try:
        return int(present.nunique())
    except TypeError:  # lists and the like
        return int(present.map(repr).nunique())


def table_of(ingest: Ingest) -> Any:
    """Return a frame with a line for each column of the user: its kind, a note, what is made."""
    import pandas as pd

    readings: Sequence[Reading] = ingest.readings
    return pd.DataFrame(
        {
            "kind": [reading.kind for reading in readings],
            "note": [reading.note for reading in readings],
            "made": [", ".join(reading.made) for reading in readings],
        },
        # A name may be a tuple: of several pandas would make levels.
        index=pd.Index([reading.name for reading in readings], name="column", tupleize_cols=False),
    )
