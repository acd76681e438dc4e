"""Cells with a value, in columns of which some have a value for an empty cell, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array


def as_frame(X: Any) -> Any:
    """Return a table as a frame; the columns of an array go by their places."""
    import pandas as pd

    return X if hasattr(X, "columns") else pd.DataFrame(X)


def made_of(frame: Any, origins: Mapping[str, str] | None) -> dict[str, list[Any]]:
    """Return the labels of the columns made of each column of the user."""
    made = dict[str, list[Any]]()
    for label in frame.columns:
        made.setdefault((origins or {}).get(str(label), str(label)), []).append(label)
    return made


def filled_rows(
    frame: Any, labels: list[Any], blanks: Mapping[str, Any] | None
) -> NDArray[np.bool_]:
    """Tell for each row if it has a value in a column of the user, made into those of the labels.

    It has one where any of these differs from what an empty cell is in it: `blanks` has the values
    of empty cells that are not missing ones.
    """
    each = [_filled(frame[label], (blanks or {}).get(str(label))) for label in labels]
    return np.asarray(np.any(each, axis=0), dtype=bool)


def filled_columns(
    X: Any, origins: Mapping[str, str] | None, blanks: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Return the columns of the user that have a value in some row."""
    frame = as_frame(X)
    made = made_of(frame, origins).items()
    return tuple(name for name, labels in made if filled_rows(frame, labels, blanks).any())


def _filled(column: Any, blank: Any) -> Array:
    found = column.notna() if blank is None else column.notna() & (column != blank)
    return np.asarray(found, dtype=bool)
