"""The data: its columns, their kinds, and the notes on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.core.messages import say_count
from automl_admm.data.ingest.records import read_ingest
from automl_admm.data.row_roles import NAMES
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, name, tag, together
from automl_admm.report.document.tables import facts, folded, table
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView


@dataclass(frozen=True, slots=True)
class Column:
    """One raw column: its kind, the number of columns made of it, and a note for its user."""

    name: str
    kind: str
    made: int
    note: str
    is_asked: bool


@dataclass(frozen=True, slots=True)
class Data:
    """The table of a run without the rows held out; evaluations use `searched_rows` of its rows."""

    source: str | None
    rows: int
    searched_rows: int
    columns: int
    split: str
    target: str | None
    sensitive: tuple[str, ...]
    share_read: str | None
    rows_taken: str | None
    described: tuple[Column, ...]


def measure(view: RunView) -> Data:
    """Read the kinds of the columns from `run.json`."""
    request, settings = view.content["request"], view.settings
    return Data(
        source=request.get("source"),
        rows=view.learned_rows,
        searched_rows=view.searched_rows,
        columns=view.content["data"]["columns"],
        split=settings.get("split") or f"{settings.get('folds', '?')} folds",
        target=settings["target"],
        sensitive=tuple(settings["sensitive"]),
        share_read=request.get("share"),
        rows_taken=request.get("portion"),
        described=tuple(_columns(view)),
    )


def _columns(view: RunView) -> Iterator[Column]:
    """Yield the columns by their readings; a table of plain columns has its schema alone."""
    ingest = read_ingest(view.content)
    if ingest is not None:
        for one in ingest.readings:
            yield Column(str(one.name), one.kind, len(one.made), one.note, one.is_asked)
        return
    settings = view.settings
    apart = {*settings["sensitive"], *(settings.get(role) for role in NAMES)}
    for described in view.content.get("schema") or ():
        if described["name"] == settings["target"]:
            continue
        note = "no pipeline is given it" if described["name"] in apart else ""
        kind = "category" if described["holds"] == "text" else described["holds"]
        yield Column(str(described["name"]), kind, 0 if note else 1, note, is_asked=False)


def draw(found: Data) -> Markup:
    """Draw the facts, the columns with notes, and all columns."""
    kinds = Counter(one.kind for one in found.described)
    rows = numbers.searched(found.searched_rows, found.rows)
    is_share = found.searched_rows < found.rows
    noted = [one for one in found.described if one.note or one.is_asked or not one.made]
    return together(
        facts(
            [
                ("Data", None if found.source is None else name(found.source)),
                ("Searched on", f"{rows} rows, {say_count(found.columns, 'column')}"),
                ("Fitted on", say_count(found.rows, "row") if is_share else None),
                ("Validation", found.split),
                ("Target", None if found.target is None else name(found.target)),
                ("For limits only", name(", ".join(found.sensitive)) if found.sensitive else None),
                ("Share of the file read", found.share_read),
                ("Rows taken", found.rows_taken),
                ("Kinds", ", ".join(f"{n} {kind}" for kind, n in kinds.items()) or None),
            ]
        ),
        _noted(noted),
        folded("All columns", _table(found.described)) if found.described else None,
    )


def _noted(columns: list[Column]) -> Markup:
    if not columns:
        return tag("p", "No column needed a note: all were taken as they are.")
    return together(tag("h3", "Columns with a note"), _table(columns))


def _table(columns: list[Column] | tuple[Column, ...]) -> Markup:
    rows = (
        (
            name(one.name, 120),
            one.kind + (" (as you asked)" if one.is_asked else ""),
            name(one.note),
            one.made or "left out",
        )
        for one in columns
    )
    return table(("Column", "Kind", "Note", "Columns made of it"), rows, text_columns=3)


SECTION = Section("data", "Data", Data, measure, draw)
