"""Columns that tell the target in every row: a model of them is right here and nowhere else."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.filled_cells import as_frame
from automl_admm.data.plain_columns import has_numbers

Array = NDArray[Any]

# Looked at first: nearly every column differs from the target within a few rows.
FIRST_ROWS = 200


def find_leaks(X: Any, y: Any, left_out: Container[str]) -> tuple[str, ...]:
    """Return the names of columns that are the target itself, also under other names of classes.

    A target in which hardly two rows are alike is found by equal numbers alone: every identifier
    has as many values.
    """
    import pandas as pd

    frame = as_frame(X)
    beginning = y.iloc[:FIRST_ROWS] if hasattr(y, "iloc") else y[:FIRST_ROWS]
    first = _Answers.of(pd.Series(np.asarray(beginning)))
    likely = [
        name
        for name, column in frame.items()
        if str(name) not in left_out and first.are_told_by(column.iloc[:FIRST_ROWS])
    ]
    if not likely:
        return ()
    whole = _Answers.of(pd.Series(np.asarray(y)))
    return tuple(str(name) for name in likely if whole.are_told_by(frame[name]))


def tell_leaks(names: tuple[str, ...]) -> list[str]:
    """Return a line for each column that tells the target."""
    return [
        f"column '{name}' tells the target in every row: leave it out, unless it is known before "
        "the target is"
        for name in names
    ]


@dataclass(frozen=True, slots=True)
class _Answers:
    """The values of a target, made ready once for all columns.

    It has no `codes` if hardly two of its rows are alike.
    """

    numbers: Array | None
    codes: Array | None

    @classmethod
    def of(cls, target: Any) -> _Answers:
        """Return the values of a target."""
        are_numbers = _are_numbers(target) and len(target) > 1
        codes, classes = find_distinct(target)
        has_classes = 2 <= len(classes) <= len(target) // 2
        return cls(target.to_numpy(float) if are_numbers else None, codes if has_classes else None)

    def are_told_by(self, column: Any) -> bool:
        """Return True if a column tells the target in every row."""
        if self.numbers is not None and _are_numbers(column):
            return bool(np.array_equal(column.to_numpy(float), self.numbers))
        if self.codes is None or column.isna().any():
            return False
        try:
            return bool(np.array_equal(find_distinct(column)[0], self.codes))
        except TypeError:  # lists and the like are no classes
            return False


def _are_numbers(values: Any) -> bool:
    from pandas.api import types

    is_real = has_numbers(values) and not types.is_complex_dtype(values.dtype)
    return is_real and not values.isna().any()
