"""The number of distinct values of category columns, as far as a part of the rows tells."""

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


def _column(frame: Any, label: Any) -> Any:
    return frame[label] if isinstance(label, str) else frame.iloc[:, label]
