"""Arrays and frames that several parts of an evaluation see, and that none of them may change."""

from __future__ import annotations

from typing import Any

import numpy as np


def read_only(values: Any) -> Any:
    """Return a view of an array that refuses writing; nothing is copied.

    Anything else, such as a frame or None, is returned as it is.

    >>> read_only(np.array([1, 2])).flags.writeable
    False
    """
    if not isinstance(values, np.ndarray) or not values.flags.writeable:
        return values
    # A view: its owner may still write to the array itself.
    seen = values.view()
    seen.flags.writeable = False
    return seen


def own_array(values: Any) -> Any:
    """Return a copy of an array, for a function that may write to it; other values as they are."""
    return values.copy() if isinstance(values, np.ndarray) else values


def own_frame(values: Any) -> Any:
    """Return a frame with the same cells, for one that may change them; other values as they are.

    pandas 3 copies a column once it is written to. Before pandas 3 a cell that is written changes
    in the given frame, too; a column that is set does not.
    """
    return values.copy(deep=False) if hasattr(values, "iloc") else values
