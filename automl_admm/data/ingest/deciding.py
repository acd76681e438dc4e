"""Find the kind of each column and the facts to read it again, without the target."""

from __future__ import annotations

from typing import Any

from automl_admm.data.columns import column_kinds
from automl_admm.data.ingest.records import ColumnKind, Ingest, Reading
from automl_admm.data.table_schema import content_of


def decide(frame: Any) -> Ingest:
    """Return the readings of the feature columns of a frame."""
    numeric, _ = column_kinds(frame)
    wanted = set(numeric)
    return Ingest(
        tuple(
            Reading(name, _plain_kind(column, is_number=name in wanted), made=(str(name),))
            for name, column in frame.items()
        )
    )


def _plain_kind(column: Any, *, is_number: bool) -> ColumnKind:
    if is_number:
        return "number"
    return "boolean" if content_of(column) == "boolean" else "category"
