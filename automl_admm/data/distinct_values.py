"""The distinct values of a column, with the place of each cell among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def find_distinct(column: Any, *, sort: bool = False) -> tuple[NDArray[np.intp], Any]:
    """Return the place of each cell among the distinct values, −1 where it is missing, and these.

    pandas 2 looks for dates among the objects of a column and fails on whole numbers beyond all
    floats, but not on those of an array.
    """
    import pandas as pd

    is_object = pd.api.types.is_object_dtype(column.dtype)
    codes, distinct = pd.factorize(column.to_numpy() if is_object else column, sort=sort)
    return np.asarray(codes, dtype=np.intp), distinct
