"""All forms, in the order in which a column is asked for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.boolean import (
    adopt_boolean,
    read_boolean,
    recognise_boolean,
    say_boolean,
)
from automl_admm.data.ingest.forms.date import read_date, recognise_date, say_date
from automl_admm.data.ingest.forms.duration import read_duration, recognise_duration, say_duration
from automl_admm.data.ingest.forms.identifier import recognise_identifier, say_identifier
from automl_admm.data.ingest.forms.mixed import read_mixed, recognise_mixed, say_mixed
from automl_admm.data.ingest.forms.number import read_number, recognise_number, say_number
from automl_admm.data.ingest.forms.ordered import read_ordered, recognise_ordered, say_ordered
from automl_admm.data.ingest.forms.parts import read_parts, recognise_parts, say_parts
from automl_admm.data.ingest.forms.steady import (
    leave_out,
    read_tick,
    recognise_constant,
    recognise_tick,
    say_constant,
    say_tick,
)
from automl_admm.data.ingest.forms.words import (
    adopt_tags,
    adopt_text,
    read_tags,
    read_text,
    recognise_tags,
    recognise_text,
    say_tags,
    say_text,
)
from automl_admm.data.ingest.records import ColumnKind, Facts


@dataclass(frozen=True, slots=True)
class Form:
    """A form of column: `say` returns the line for users on what was recognised.

    `adopt` recognises less certain columns, too: it is asked if the user chose the kind.
    """

    name: str
    kind: ColumnKind
    recognise: Callable[[Any], Facts | None]
    read: Callable[[Any, Facts, Place], dict[str, Any]]
    say: Callable[[Facts], str]
    adopt: Callable[[Any], Facts | None] | None = None

    def facts_if_asked(self, column: Any) -> Facts | None:
        """Return the facts of a column of the kind that the user chose; None if it cannot be."""
        facts = self.recognise(column)
        return self.adopt(column) if facts is None and self.adopt is not None else facts


FORMS: tuple[Form, ...] = (
    Form("constant", "constant", recognise_constant, leave_out, say_constant),
    Form("tick", "boolean", recognise_tick, read_tick, say_tick),
    Form("boolean", "boolean", recognise_boolean, read_boolean, say_boolean, adopt_boolean),
    Form("date", "date", recognise_date, read_date, say_date),
    Form("duration", "duration", recognise_duration, read_duration, say_duration),
    Form("ordered", "ordered", recognise_ordered, read_ordered, say_ordered),
    Form("number", "number", recognise_number, read_number, say_number),
    Form("tags", "tags", recognise_tags, read_tags, say_tags, adopt_tags),
    Form("text", "text", recognise_text, read_text, say_text, adopt_text),
    Form("parts", "text", recognise_parts, read_parts, say_parts),
    Form("identifier", "identifier", recognise_identifier, leave_out, say_identifier),
    Form("mixed", "category", recognise_mixed, read_mixed, say_mixed),
)
