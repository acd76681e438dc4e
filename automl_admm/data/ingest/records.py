"""Records of the ingest: the kind of each raw column, and the facts to read it again."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from automl_admm.core.errors import StoreError

ColumnKind = Literal[
    "number",
    "category",
    "ordered",
    "text",
    "tags",
    "date",
    "duration",
    "boolean",
    "identifier",
    "constant",
    "dropped",
]
KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
LEFT_OUT: frozenset[ColumnKind] = frozenset({"identifier", "constant", "dropped"})
# Columns of these kinds may be as pipelines take them; the schema of the table describes them.
PLAIN: frozenset[ColumnKind] = frozenset({"number", "category", "boolean"})
# The key of the facts with the name of the form that reads the column.
FORM = "form"
# The keys of a manifest with the readings of features, and of the target, the weights and the
# sensitive columns.
FEATURES, ANSWERS = "ingest", "answers"
# Plain JSON data: all that a form needs to read a column again.
Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading of one raw column.

    `made` has the names of the columns made of it; a column that is left out makes none. `note` is
    one line for users, empty for a plain column. `is_asked` is True if the user chose the kind.
    """

    name: Any
    kind: ColumnKind
    facts: Facts = field(default_factory=dict, hash=False)
    made: tuple[str, ...] = ()
    note: str = ""
    is_asked: bool = False

    @property
    def is_plain(self) -> bool:
        """True if pipelines take the column as the schema describes it."""
        return self.kind in PLAIN and not self.facts

    @property
    def is_left_out(self) -> bool:
        """True if no pipeline sees anything of the column."""
        return self.kind in LEFT_OUT

    def describe(self) -> dict[str, Any]:
        """Return it as plain JSON data, defaults left out."""
        name = int(self.name) if isinstance(self.name, numbers.Integral) else str(self.name)
        described: dict[str, Any] = {"name": name, "kind": self.kind}
        if self.facts:
            described["facts"] = dict(self.facts)
        if self.made != (str(self.name),):
            described["made"] = list(self.made)
        if self.note:
            described["note"] = self.note
        if self.is_asked:
            described["is_asked"] = True
        return described


@dataclass(frozen=True, slots=True)
class Ingest:
    """The readings of all feature columns of a table, in their order."""

    readings: tuple[Reading, ...] = ()

    @property
    def is_plain(self) -> bool:
        """True if pipelines take the table as it is."""
        return all(reading.is_plain for reading in self.readings)

    @property
    def formed(self) -> tuple[Any, ...]:
        """The names of raw columns that a form reads, whatever types a later table has in them."""
        read = (one for one in self.readings if not one.is_plain and not one.is_left_out)
        return tuple(one.name for one in read)

    @property
    def left_out(self) -> frozenset[str]:
        """The names of raw columns of which pipelines see nothing."""
        return frozenset(str(one.name) for one in self.readings if one.is_left_out)

    @property
    def numeric(self) -> tuple[str, ...]:
        """The names of made columns of numbers."""
        return self._made("number", "date", "duration")

    @property
    def categorical(self) -> tuple[str, ...]:
        """The names of made columns of categories and truth values."""
        return self._made("category", "ordered", "boolean")

    @property
    def text(self) -> tuple[str, ...]:
        """The names of made columns of free text, "" for a missing one."""
        return self._made("text")

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of made columns of sorted tags, joined by the sign U+001F."""
        return self._made("tags")

    @property
    def dates(self) -> tuple[str, ...]:
        """The names of columns of numbers made of dates."""
        return self._made("date")

    def _made(self, *kinds: ColumnKind) -> tuple[str, ...]:
        chosen = (reading for reading in self.readings if reading.kind in kinds)
        return tuple(name for reading in chosen for name in reading.made)

    def by_name(self) -> dict[str, Reading]:
        """Return the readings by the names of raw columns, as a file has them."""
        return {str(reading.name): reading for reading in self.readings}

    def origins(self) -> dict[str, str]:
        """Return the name of the raw column of each made one."""
        return {made: str(reading.name) for reading in self.readings for made in reading.made}

    def as_content(self, key: str = FEATURES) -> dict[str, list[dict[str, Any]]]:
        """Return it as the part of a JSON file; nothing if all columns are plain."""
        if self.is_plain:
            return {}
        return {key: [reading.describe() for reading in self.readings]}


def read_ingest(manifest: Mapping[str, Any], key: str = FEATURES) -> Ingest | None:
    """Return the ingest of a manifest; None for plain columns."""
    described = manifest.get(key)
    if described is None:
        return None
    try:
        found = Ingest(tuple(map(_read_reading, described)))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise StoreError(
            f"the kinds of the run's columns make no sense: {problem!r}.",
            hint="They were changed after the run: fit again.",
        ) from problem
    _refuse_doubles(found)
    return found


def _read_reading(described: Mapping[str, Any]) -> Reading:
    name, kind = described["name"], described["kind"]
    if kind not in KINDS:
        raise ValueError(f"column {name!r} is of the kind {kind!r}")
    made = tuple(map(str, described.get("made", (str(name),))))
    if bool(made) is (kind in LEFT_OUT):
        raise ValueError(f"column {name!r} is of the kind {kind!r} and makes {len(made)} columns")
    return Reading(
        name,
        kind,
        dict(described.get("facts", {})),
        made,
        str(described.get("note", "")),
        bool(described.get("is_asked", False)),
    )


def _refuse_doubles(ingest: Ingest) -> None:
    made = [name for reading in ingest.readings for name in reading.made]
    if len(set(made)) < len(made) or len(ingest.by_name()) < len(ingest.readings):
        raise StoreError(
            "the kinds of the run's columns make no sense: one name stands twice.",
            hint="They were changed after the run: fit again.",
        )
