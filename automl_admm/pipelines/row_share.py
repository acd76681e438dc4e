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
    turns, present = np.empty(len(rows), dtype=float), np.unique(kinds)
    for kind in present:
        members = np.flatnonzero(kinds == kind)
        # Every class's first row has turn 0, so none is missing.
        turns[members] = np.arange(len(members)) / len(members)
    count = max(math.ceil(share * len(rows)), min(FEWEST, len(rows)), len(present))
    return np.asarray(shuffled[_first_of(turns, count)], dtype=np.intp)


def _first_of(turns: NDArray[np.float64], count: int) -> Rows:
    """Return the places of the least turns in their order, equal ones in the order of places.

    A small share of many rows needs no order of the others.
    """
    if count >= len(turns):
        return np.argsort(turns, kind="stable")
    early = np.flatnonzero(turns <= np.partition(turns, count - 1)[count - 1])
    return early[np.argsort(turns[early], kind="stable")[:count]]
