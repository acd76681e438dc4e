"""The distinct values of category columns: their number, and their order if they have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

# Counting all values of a long table of texts takes longer than the first evaluation.
MOST_ROWS = 20_000


def count_levels(X: Any, columns: Sequence[Any]) -> tuple[int, ...]:
    """Count the distinct values of columns of a frame or an array; a missing one is a value.

    A longer table is counted in rows from all over it: a level that none of them has is rare.
    """
    import pandas as pd

    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    if len(frame) > MOST_ROWS:
        # Drawn, not every so many: the rows of a table may repeat in the same step.
        frame = frame.iloc[np.random.default_rng(0).integers(0, len(frame), MOST_ROWS)]
    return tuple(_column(frame, label).nunique(dropna=False) for label in columns)


def orders_of(X: Any, columns: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    """Return the levels of columns from the least, NaN last if one is missing; () without an order.

    Numbers have their own order, in which encoders keep them.
    """
    import pandas as pd

    if not isinstance(X, pd.DataFrame):
        return ()
    return tuple(_order(_column(X, label)) for label in columns)


def _order(column: Any) -> tuple[Any, ...]:
    if not getattr(column.dtype, "ordered", False):
        return ()
    levels = tuple(column.dtype.categories)
    if not all(isinstance(level, str) for level in levels):
        return ()
    return (*levels, np.nan) if column.isna().any() else levels


def _column(frame: Any, label: Any) -> Any:
    return frame[label] if isinstance(label, str) else frame.iloc[:, label]
