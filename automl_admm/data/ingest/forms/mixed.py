"""Columns of several types, and bytes: read as the text that a file would have."""

from __future__ import annotations

import numbers
from decimal import Decimal
from typing import Any

import numpy as np

from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.ingest.forms.cells import kind_of_cells, series_like
from automl_admm.data.ingest.records import Facts

KINDS = frozenset({"mixed", "mixed-integer", "bytes"})
PLAIN = (str, bytes, numbers.Real, np.bool_, Decimal)
HINT = "Give it as text."


def recognise_mixed(column: Any) -> Facts | None:
    """Return the names of the types in a column; None for one type, or values without a text."""
    if kind_of_cells(column) not in KINDS:
        return None
    present = column.dropna()
    types = {type(value).__name__ for value in present}
    if not all(map(_is_plain, present)):
        return None
    return {"types": sorted(types)}


def _is_plain(value: Any) -> bool:
    return isinstance(value, PLAIN) and _text(value) is not None


def _text(value: Any) -> str | None:
    """Return the text of a value as a CSV file has it; None if it has none."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return str(value) if isinstance(value, PLAIN) else None


def read_mixed(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the texts of all values."""
    del facts
    # Number 1 and truth value True are one value to a table of distinct cells.
    values = column.astype(object).tolist()
    gaps = column.isna().to_numpy(dtype=bool)
    texts = [np.nan if gap else _text(v) for v, gap in zip(values, gaps, strict=True)]
    lost = np.array([text is None for text in texts], dtype=bool)
    refuse_cells(column, lost, "numbers and texts", HINT, place)
    return {"": series_like(column, texts, dtype=object)}


def say_mixed(facts: Facts) -> str:
    """Return a line on the types."""
    types = facts["types"]
    if types == ["bytes"]:
        return "bytes: read as text"
    return f"{', '.join(types[:-1])} and {types[-1]} in one column: all are read as text"
