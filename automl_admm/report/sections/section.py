"""A section of a report: the record of its numbers, how they are measured, how they look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from automl_admm.report.document.html import Markup
from automl_admm.report.view import RunView

# The metadata of a field of many records: `report.json` has a list for each field of theirs. A name
# for each number of each of thousands of records would be most of the file.
BY_COLUMN: Mapping[str, bool] = MappingProxyType({"by_column": True})


@dataclass(frozen=True, slots=True)
class Section:
    """One section; `key` is its place in `report.json` and its anchor on the page.

    `measure` returns a `record`, a frozen dataclass of plain values; `draw` gets that record alone,
    so the page and the JSON have the same numbers. A section without a record is not on the page.
    """

    key: str
    title: str
    record: Any
    measure: Callable[[RunView], Any]
    draw: Callable[[Any], Markup]
