"""Labelled rows that the user gave: which they are, the score, the limits, the confusion table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import facts, table
from automl_admm.report.rows.given import GivenRows
from automl_admm.report.sections.limits import say_vacuous
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView
from automl_admm.runs.saved.row_origin import ALL, HELD_OUT, LEARNED, OF_THE_FILE, Origin

# A table of more classes is a list of its largest cells.
MOST_CLASSES = 10
MOST_CELLS = 25


@dataclass(frozen=True, slots=True)
class LimitOnRows:
    """A limit: its value on these rows, and on validation rows; None where they cannot tell.

    A model with one class for all rows `holds` no limit, whatever its value.
    """

    limit: str
    value: float | None
    validation: float | None
    holds: bool | None


@dataclass(frozen=True, slots=True)
class OnRows:
    """The model on the rows of the user; `confusion` counts actual classes by predicted ones.

    So many rows are left `undecided`, and stand in no cell of it. `right` is the share of each
    class that is called so, by the weights of rows if they have any. `one_class` is the class that
    the model gives to all rows, of its run or of these, if it is only one.
    """

    origin: Origin
    metric: str
    score: float | None
    validation_score: float | None
    held_out_score: float | None
    limits: tuple[LimitOnRows, ...]
    classes: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    right: tuple[float | None, ...]
    undecided: int
    has_weights: bool
    one_class: str | None


def measure(view: RunView) -> OnRows | None:
    """Gather the score and the counts; None without rows."""
    rows = view.rows
    if rows is None:
        return None
    manifest = view.manifest or {}
    return OnRows(
        origin=rows.origin,
        metric=view.metric,
        score=numbers.finite(rows.score),
        validation_score=numbers.finite(manifest.get("validation_score")),
        held_out_score=numbers.finite(manifest.get("held_out_score")),
        limits=tuple(
            LimitOnRows(str(one.limit), numbers.finite(one.value), one.validation, one.holds)
            for one in rows.limits
        ),
        classes=rows.classes,
        confusion=tuple(tuple(map(int, row)) for row in _confusion(rows, None)),
        right=tuple(_right(rows)),
        undecided=int((~rows.is_decided).sum()),
        has_weights=rows.table.roles.weights is not None,
        one_class=rows.one_class,
    )


def _confusion(rows: GivenRows, weights: Any) -> Any:
    """Return the weight of the decided rows of each class by what they are called, else a count."""
    count = len(rows.classes)
    cells = np.zeros((count, count))
    if count:
        decided = rows.is_decided
        more = 1 if weights is None else weights[decided]
        np.add.at(cells, (rows.table.y[decided], rows.decisions[decided]), more)
    return cells


def _right(rows: GivenRows) -> Iterator[float | None]:
    cells = _confusion(rows, rows.table.roles.weights)
    for place, whole in enumerate(cells.sum(axis=1)):
        yield float(cells[place, place] / whole) if whole else None


def draw(found: OnRows) -> Markup:
    """Say which rows these are, then the score, the limits and the confusion table."""
    origin, held_out = found.origin, found.held_out_score
    held_out_score = None if held_out is None else numbers.score(held_out)
    look = "good" if origin.kind in (HELD_OUT, OF_THE_FILE) else "fair"
    if origin.kind in (LEARNED, ALL) or origin.known:
        look = "bad"
    return together(
        tag("p", _said(origin), class_=f"verdict {look}"),
        tag("p", origin.doubt) if origin.doubt else None,
        facts(
            [
                ("File", name(origin.file)),
                ("sha256 of the file", origin.sha256),
                ("sha256 of the rows", origin.rows_sha256),
                (f"{found.metric}, these rows", numbers.score(found.score)),
                (f"{found.metric}, validation rows", numbers.score(found.validation_score)),
                (f"{found.metric}, rows held out", held_out_score),
            ]
        ),
        tag(
            "p",
            "Rows have weights: scores, curves, errors and rates count them, numbers of rows do "
            "not.",
        )
        if found.has_weights
        else None,
        _limits(found),
        _confusion_table(found),
    )


def _said(origin: Origin) -> str:
    rows, order = f"{origin.measured} rows", ", in another order" if origin.is_shuffled else ""
    recognised = {
        HELD_OUT: f"These {rows} are those that the run held out{order}: nothing of the search saw "
        "them.",
        OF_THE_FILE: f"Of the {origin.given} rows of the run's table, exactly the "
        f"{origin.measured} that it held out are measured here: nothing of the search saw them.",
        LEARNED: f"These rows were learned from: the {rows} are those that the run searched on and "
        f"fitted the model to{order}. All numbers of them are too good. Give rows that it never "
        "saw.",
        ALL: f"These {rows} are all rows of the run{order}, those that it held out as well as "
        "those that the model learned from. All numbers of them are too good. Give the file in the "
        "order of the run: then exactly the rows held out are measured.",
    }
    return recognised.get(origin.kind) or _said_of_others(origin, rows)


def _said_of_others(origin: Origin, rows: str) -> str:
    if origin.known:
        return (
            f"{origin.known} of the {rows} equal rows that the model learned from: the numbers of "
            "them may be too good."
        )
    if origin.known == 0:
        return f"These {rows} are others: none of them equals a row that the model learned from."
    return f"These {rows} are not, as a whole, those that the run learned from or held out."


def _limits(found: OnRows) -> Markup | None:
    if not found.limits:
        return None
    words = {True: ("holds", "good"), False: ("broken", "bad"), None: ("cannot tell", "fair")}
    rows = [
        (
            name(one.limit),
            tag("span", words[one.holds][0], class_=words[one.holds][1]),
            numbers.plain(one.value),
            numbers.plain(one.validation),
        )
        for one in found.limits
    ]
    return together(
        tag("h3", "Limits on these rows"),
        table(("Limit", "On these rows", "Value", "On validation rows"), rows, text_columns=2),
        say_vacuous("The model", found.one_class),
        tag("p", "A measurement, and no proof: a certificate is under Limits, if there is one."),
    )


def _confusion_table(found: OnRows) -> Markup | None:
    if not found.classes:
        return None
    title: Part = tag("h3", "Confusion table")
    if found.undecided:
        left = f"{found.undecided} rows are left undecided, and are in no cell."
        title = together(title, tag("p", left))
    if len(found.classes) > MOST_CLASSES:
        return together(title, tag("p", "The most frequent mistakes:"), _mistakes(found))
    headings = ("Actually ↓, called →", *found.classes, "Right")
    rows: list[tuple[Part, ...]] = [
        (name(label), *cells, numbers.share(right))
        for label, cells, right in zip(found.classes, found.confusion, found.right, strict=True)
    ]
    return together(title, table(headings, rows))


def _mistakes(found: OnRows) -> Markup:
    cells = [
        (count, actual, called)
        for actual, row in enumerate(found.confusion)
        for called, count in enumerate(row)
        if actual != called and count
    ]
    cells.sort(key=lambda cell: -cell[0])
    rows = [
        (name(found.classes[actual]), name(found.classes[called]), count)
        for count, actual, called in cells[:MOST_CELLS]
    ]
    return table(("Actually", "Called", "Rows"), rows, text_columns=2)


SECTION = Section("rows", "On labelled rows", OnRows | None, measure, draw)
