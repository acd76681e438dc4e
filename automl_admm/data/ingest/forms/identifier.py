"""Identifiers: a number or a word for each row, of which a later row has another."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.ingest.forms.cells import kind_of_cells, sample_of
from automl_admm.data.ingest.records import Facts

FEWEST_ROWS = 20  # fewer distinct values are nothing to conclude from
WORD = "id|uuid|guid|key|index|idx|pk|rowid"
# customer_id and customerId, but not humid.
NAMED = re.compile(rf"(?:^|[_\W])(?i:{WORD})$|(?<=[a-z])(?:Id|ID|Key|KEY|Index|Uuid|UUID)$")
UNNAMED = re.compile(r"Unnamed: \d+|")
# A running number of these is a trend.
OF_TIME = re.compile(
    r"year|month|week|day|hour|minute|second|time|date|step|period|quarter|age|(?:^|_)t$",
    re.IGNORECASE,
)


def recognise_identifier(column: Any) -> Facts | None:
    """Return an example of an identifier; None for other columns.

    Texts of one word each, no two alike, are identifiers. Whole numbers are if they count the rows,
    or if the name says so and no two are alike; numbers with decimals never are.
    """
    kind = kind_of_cells(column)
    if kind not in ("integer", "string") or len(column) < FEWEST_ROWS or column.hasnans:
        return None
    if not _is_distinct(column):
        return None
    is_one = _is_number(column) if kind == "integer" else _is_word(column)
    return {"example": str(column.iloc[0])} if is_one else None


def _is_distinct(column: Any) -> bool:
    sample = sample_of(column)
    return len(set(sample)) == len(sample) and bool(column.is_unique)


def _is_number(column: Any) -> bool:
    name = str(column.name)
    if NAMED.search(name) or UNNAMED.fullmatch(name):
        return True
    try:
        steps = np.diff(column.to_numpy(dtype=float))
    except OverflowError:  # whole numbers beyond all floats, which whoever reads them refuses
        return False
    return bool((steps == 1).all()) and OF_TIME.search(name) is None


def _is_word(column: Any) -> bool:
    return all(len(str(value).split()) == 1 for value in sample_of(column))


def say_identifier(facts: Facts) -> str:
    """Return a line on a column left out."""
    return f"left out: an identifier such as {say_value(facts['example'])}, no two rows alike"
