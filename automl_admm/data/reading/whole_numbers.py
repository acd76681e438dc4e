"""Whole numbers that a parser's floats would run together, in columns with gaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from automl_admm.data.plain_types import FIRST_INEXACT, WHOLE, exact_whole, inferred
from automl_admm.data.reading.decimals import text_columns
from automl_admm.data.reading.dialects import Dialect
from automl_admm.data.table_schema import MISSING_TEXTS

PLAIN = re.compile(r"\s*[+-]?(?:0|[1-9]\d*)\s*")  # with a zero before it, it is a code
DIGITS = re.compile(r"\s*[+-]?\d+\s*")
LEAST_WIDE = len(str(2**63))


def with_whole_numbers(
    frame: Any,
    parse_as: Callable[[Dialect, Sequence[str]], Any],
    dialect: Dialect,
    text: Sequence[str] = (),
) -> Any:
    """Return a frame with large whole numbers as they are written.

    For the sake of a missing one a parser makes floats of a column, of which 2⁵³ and 2⁵³ + 1 are
    one. `parse_as` takes a dialect and the columns to read as text, `text` are those in any case.
    """
    doubtful = [str(name) for name in frame.columns if _is_doubtful(frame[name])]
    if not doubtful:
        return frame
    written = parse_as(dialect, [*text, *doubtful])
    for name in doubtful:
        whole = written[name].dropna().map(exact_whole).astype(object)
        if whole.notna().all():
            frame[name] = whole.reindex(frame.index)
    return frame


def with_wide_numbers(frame: Any, text: Collection[str]) -> Any:
    """Return a frame with numbers for whole ones that 63 bits do not hold, beside missing ones.

    pandas leaves such a column as text, even what is missing in it; without gaps it makes numbers.
    The columns in `text` were asked for as text.
    """
    import pandas as pd

    asked = set(text)
    for name in text_columns(frame):
        if name not in asked and _may_be_wide(frame[name]):
            present = ~frame[name].isin(MISSING_TEXTS) & frame[name].notna()
            cells = frame[name].where(present, np.nan)
            if cells[present].str.fullmatch(PLAIN).all():
                wholes = [exact_whole(cell) if isinstance(cell, str) else np.nan for cell in cells]
                cells = inferred(pd.Series(wholes, index=cells.index, name=name, dtype=object))
            frame[name] = cells
    return frame


def _may_be_wide(column: Any) -> bool:
    """Return True for text of digits and gaps alone, with more digits than floats have."""
    first = next((cell for cell in column.dropna() if cell not in MISSING_TEXTS), None)
    if not isinstance(first, str) or not WHOLE.fullmatch(first.strip()):
        return False
    present = column[column.notna() & ~column.isin(MISSING_TEXTS)]
    return bool(present.str.fullmatch(DIGITS).all() and present.str.len().max() >= LEAST_WIDE)


def _is_doubtful(column: Any) -> bool:
    if column.dtype != float:
        return False
    figures = column.to_numpy()
    present = figures[np.isfinite(figures)]
    if not len(present) or np.abs(present).max() < FIRST_INEXACT:
        return False
    return len(present) < len(figures) and bool((present == np.trunc(present)).all())
