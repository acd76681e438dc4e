"""The spread of each column of numbers, to say how large noise in it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.space import Array


def spreads_of(X: Any) -> Mapping[str, float]:
    """Return the standard deviation of the finite numbers in each column, by its name.

    Columns of an array go by their places. Without two different numbers there is no spread.
    """
    import pandas as pd

    found = {}
    frame = X if hasattr(X, "columns") else pd.DataFrame(X)
    for label in numeric_labels(frame):
        numbers = frame[label].to_numpy(dtype=float, na_value=np.nan)
        found[str(label)] = _spread(numbers[np.isfinite(numbers)])
    return {name: spread for name, spread in found.items() if spread > 0.0}


def numeric_labels(frame: Any) -> Iterator[Any]:
    """Yield the labels of the columns of numbers; truth values are none."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for label in frame.columns:
        dtype = frame[label].dtype
        if is_numeric_dtype(dtype) and not is_bool_dtype(dtype):
            yield label


def _spread(numbers: Array) -> float:
    if not len(numbers) or numbers.min() == numbers.max():
        return 0.0
    # Squares of very large numbers are infinite, and their spread is not.
    largest = float(np.abs(numbers).max())
    return largest * float(np.std(numbers / largest))
