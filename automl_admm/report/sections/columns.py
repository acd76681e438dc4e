"""Permutation importance of the user's columns on labelled rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from automl_admm.data.ingest.records import read_ingest
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.report.document import numbers
from automl_admm.report.document.html import Markup, Part, name, tag, together
from automl_admm.report.document.tables import bar, folded, table
from automl_admm.report.rows.given import GivenRows
from automl_admm.report.rows.shuffling import (
    MOST_ROWS,
    MOST_SECONDS,
    REPEATS,
    Shuffled,
    measure_columns,
)
from automl_admm.report.sections.section import Section
from automl_admm.report.view import RunView
from automl_admm.runs.finish.model_file import rows_for_the_model

SHOWN = 20


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """The loss of the score by shuffling each column, on at most so many `rows` of `given`.

    `unreached` columns were not measured at all before the time was over. `reason` says why there
    is no score that could be lost, else None.
    """

    metric: str
    rows: int
    given: int
    repeats: int
    is_cut_short: bool
    columns: tuple[Shuffled, ...]
    unreached: tuple[str, ...]
    reason: str | None


def measure(view: RunView) -> ColumnImportance | None:
    """Shuffle column by column; None without rows, or with a metric of the user's own."""
    rows = view.rows
    if rows is None or rows.metric is None:
        return None
    metric, seed = rows.metric, int(view.settings["seed"])
    part, columns = _part(rows.table, seed), _made(rows)

    def score(X: Any) -> float:
        return score_of(metric, rows.run.pipeline, replace(part, X=X))

    reason = None
    with unheard_warnings(), rows_for_the_model(rows.run.pipeline, part.X):
        if math.isnan(score(part.X)):
            reason = _undefined(view.metric, rows, len(part.y))
            columns = {}
        found = measure_columns(part.X, columns, score, seed)
    reached = {one.name for one in found}
    unreached = tuple(column for column in columns if column not in reached)
    done = min((one.repeats for one in found), default=0)
    is_cut_short = bool(unreached) or done < REPEATS
    return ColumnImportance(
        metric=view.metric,
        rows=len(part.y),
        given=len(rows.table.y),
        repeats=REPEATS,
        is_cut_short=is_cut_short and bool(columns),
        columns=found,
        unreached=unreached,
        reason=reason,
    )


def _undefined(metric: str, rows: GivenRows, count: int) -> str:
    if rows.only_class is not None:
        among = f"Only class '{rows.only_class}' is among these rows"
        return f"{among}, so there is no {metric} that a shuffle could lose."
    counted = "one row has" if count == 1 else f"these {count} rows have"
    return f"{counted.capitalize()} no {metric} that a shuffle could lose."


def _part(table: Table, seed: int) -> Table:
    """Return at most so many rows; of two classes or more each keeps its share by chance."""
    if len(table.y) <= MOST_ROWS:
        return table
    drawn = np.random.default_rng(seed).permutation(len(table.y))[:MOST_ROWS]
    part = table.part(np.sort(drawn))
    return replace(part, X=part.X.reset_index(drop=True))


def _made(rows: GivenRows) -> dict[str, tuple[str, ...]]:
    """Return the columns of the model by the user's column that they were made of."""
    ingest, known = read_ingest(rows.run.manifest), list(rows.table.X.columns)
    if ingest is None:
        return {str(column): (column,) for column in known}
    pairs = ((str(one.name), tuple(c for c in one.made if c in known)) for one in ingest.readings)
    return {column: made for column, made in pairs if made}


def draw(found: ColumnImportance) -> Markup:
    """Draw a bar for each column, with its spread."""
    if found.reason is not None:
        return tag("p", found.reason)
    if not found.columns:
        return tag("p", "The time was over before a column was measured.")
    most = max(0.0, *(one.mean for one in found.columns)) or 1.0
    rows = [_row(one, most) for one in found.columns]
    headings = ("Column", "", "Loss of score", "Least", "Largest", "Repeats")
    more = None
    if len(rows) > SHOWN:
        more = folded("The other columns", table(headings, rows[SHOWN:], text_columns=2))
    return together(
        tag("p", _said(found)),
        table(headings, rows[:SHOWN], text_columns=2),
        more,
        tag(
            "p",
            "A column may look unimportant because another says the same, and a shuffle makes rows "
            "that do not exist. It is no statement of causes.",
        ),
    )


def _said(found: ColumnImportance) -> str:
    rows = f"{found.rows} rows"
    if found.rows < found.given:
        rows = f"{found.rows} of the {found.given} rows, drawn at random"
    said = (
        f"{found.metric} lost when the values of a column change places among {rows}: the mean of "
        f"{found.repeats} repeats, with the least and the largest."
    )
    if found.is_cut_short:
        said += f" After {MOST_SECONDS:g} s it was ended: some columns have fewer repeats"
        left = len(found.unreached)
        said += f", and {left} were not reached." if left else "."
    return said


def _row(one: Shuffled, most: float) -> tuple[Part, ...]:
    spread = (numbers.signed(one.least), numbers.signed(one.largest))
    return (name(one.name), bar(one.mean / most), numbers.signed(one.mean), *spread, one.repeats)


SECTION = Section("columns", "Importance of columns", ColumnImportance | None, measure, draw)
