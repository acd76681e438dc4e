"""All forms, in the order in which a column is asked for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automl_admm.data.conforming import Place
from automl_admm.data.ingest.forms.boolean import read_boolean, recognise_boolean, say_boolean
from automl_admm.data.ingest.forms.date import read_date, recognise_date, say_date
from automl_admm.data.ingest.forms.number import read_number, recognise_number, say_number
from automl_admm.data.ingest.records import ColumnKind, Facts


@dataclass(frozen=True, slots=True)
class Form:
    """A form of column: `say` returns the line for users on what was recognised."""

    name: str
    kind: ColumnKind
    recognise: Callable[[Any], Facts | None]
    read: Callable[[Any, Facts, Place], dict[str, Any]]
    say: Callable[[Facts], str]


FORMS: tuple[Form, ...] = (
    Form("boolean", "boolean", recognise_boolean, read_boolean, say_boolean),
    Form("date", "date", recognise_date, read_date, say_date),
    Form("number", "number", recognise_number, read_number, say_number),
)
