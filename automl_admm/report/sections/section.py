"""A section of a report: the record of its numbers, how they are measured, how they look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from automl_admm.report.document.html import Markup
from automl_admm.report.view import RunView


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
