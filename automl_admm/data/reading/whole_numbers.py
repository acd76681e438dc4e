"""Whole numbers that a parser's floats would run together, in columns with gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from automl_admm.data.plain_types import FIRST_INEXACT, exact_whole
from automl_admm.data.reading.dialects import Dialect


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


def _is_doubtful(column: Any) -> bool:
    if column.dtype != float:
        return False
    figures = column.to_numpy()
    present = figures[np.isfinite(figures)]
    if not len(present) or np.abs(present).max() < FIRST_INEXACT:
        return False
    return len(present) < len(figures) and bool((present == np.trunc(present)).all())
