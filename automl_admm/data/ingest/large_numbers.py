"""Whole numbers so large that pipelines, which reckon in floats, take neighbours for one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from automl_admm.data.filled_cells import as_frame
from automl_admm.data.plain_types import FIRST_INEXACT
from automl_admm.data.table_schema import content_of


def doubts_of_large_numbers(X: Any, numbers: Collection[str]) -> tuple[str, ...]:
    """Return a line for each column of numbers whose values run together as floats.

    `numbers` are the names of the columns that pipelines get as numbers. Values that were floats
    from the start tell nothing.
    """
    columns = as_frame(X).items()
    known = [(str(name), column) for name, column in columns if str(name) in numbers]
    found = ((name, *_run_together(column)) for name, column in known)
    return tuple(
        f"column '{name}' has {whole} distinct whole numbers, but only {floats} as floats, since "
        "those from 2**53 on run together: if they are codes or identifiers, choose the kind "
        "category for it"
        for name, whole, floats in found
        if floats < whole
    )


def _run_together(column: Any) -> tuple[int, int]:
    """Return how many whole numbers a column has, and how many floats; none if it has no large."""
    from pandas.api import types

    is_doubtful = types.is_integer_dtype(column.dtype) or types.is_object_dtype(column.dtype)
    if not is_doubtful or content_of(column) != "number":
        return 0, 0
    present = column.dropna()
    floats = present.astype(float)
    if not len(floats) or floats.abs().max() < FIRST_INEXACT:
        return 0, 0
    return int(present.nunique()), len(np.unique(floats))
