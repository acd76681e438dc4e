"""A share of the training rows, for an evaluation of low fidelity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
FEWEST = 10  # rows: fewer say nothing, whatever the share


def share_of_rows(rows: Rows, classes: Any | None, share: float, seed: int) -> Rows:
    """Return the first ⌈share · n⌉ rows in an order with every class dealt out evenly.

    Each class brings its first row before any brings its second, in step with its size; so no
    class is missing, and a small share is a part of a larger one. `classes`
    are the class numbers of all rows, None in a regression.
    """
    if share >= 1.0:
        return rows
    shuffled = np.random.default_rng(seed).permutation(rows)
    kinds = np.zeros(len(rows), dtype=np.intp) if classes is None else np.asarray(classes)[shuffled]
    turns = np.empty(len(rows), dtype=float)
    for kind in np.unique(kinds):
        members = np.flatnonzero(kinds == kind)
        # Every class's first row has turn 0, so none is missing.
        turns[members] = np.arange(len(members)) / len(members)
    count = max(math.ceil(share * len(rows)), min(FEWEST, len(rows)), len(np.unique(kinds)))
    return np.asarray(shuffled[np.argsort(turns, kind="stable")[:count]], dtype=np.intp)
