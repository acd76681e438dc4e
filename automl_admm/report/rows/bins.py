"""Rows of similar value, such as a score or a prediction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

BINS = 10


def part_by(values: Any) -> Iterator[Any]:
    """Yield a mask of the rows of each bin, in the order of their values.

    There are at most ten bins of about as many rows, or one for each of few values: equal ones stay
    together.
    """
    distinct = np.unique(values)
    inner = distinct[1:]
    if len(distinct) > BINS:
        inner = np.unique(np.quantile(values, np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
    places = np.searchsorted(inner, values, side="right")
    for place in range(len(inner) + 1):
        inside = places == place
        if inside.any():
            yield inside
