"""The spread of each column of numbers, to say how large noise in it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.data.filled_cells import as_frame
from automl_admm.data.plain_columns import has_numbers


def spreads_of(X: Any) -> Mapping[str, float]:
    """Return the standard deviation of the finite numbers in each column, by its name.

    Columns of an array go by their places. Without two different numbers there is no spread.
    """
    found, frame = {}, as_frame(X)
    for label in numeric_labels(frame):
        numbers = frame[label].to_numpy(dtype=float, na_value=np.nan)
        found[str(label)] = _spread(numbers[np.isfinite(numbers)])
    return {name: spread for name, spread in found.items() if spread > 0.0}


def numeric_labels(frame: Any) -> Iterator[Any]:
    """Return the labels of the columns of numbers; truth values are none."""
    return (label for label in frame.columns if has_numbers(frame[label]))


def _spread(numbers: Array) -> float:
    if not len(numbers) or numbers.min() == numbers.max():
        return 0.0
    # Squares of very large numbers are infinite, and their spread is not.
    largest = float(np.abs(numbers).max())
    return largest * float(np.std(numbers / largest))
