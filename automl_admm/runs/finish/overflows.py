"""Large numbers in rows, on which a step of a fitted model overflows."""

from __future__ import annotations

from typing import Any

from automl_admm.execution.shared_state import unheard_warnings

# The square of a larger number is none in single precision.
LARGE = 1.8e19


def has_gaps(X: Any) -> bool:
    """Return True if a cell of the rows is empty."""
    import pandas as pd

    return bool(pd.DataFrame(X).isna().to_numpy().any())


def overflow_of(model: Any, X: Any) -> str | None:
    """Name the largest number of the rows if a model takes them without such numbers.

    It is asked to predict them once more, with zeros in the places of large ones.
    """
    import pandas as pd

    frame = pd.DataFrame(X)
    sizes = {place: _sizes(frame.iloc[:, place]) for place in range(frame.shape[1])}
    largest = {place: size.max() for place, size in sizes.items() if (size > LARGE).any()}
    if not largest or not _takes(model, _tamed(X, frame, sizes, largest)):
        return None
    place = max(largest, key=lambda one: largest[one])
    value = frame.iloc[int(sizes[place].to_numpy().argmax()), place]
    return f"large numbers, such as {value:.6g} in column '{frame.columns[place]}'"


def _sizes(column: Any) -> Any:
    """Return the absolute values of a column of numbers, 0 for what is none."""
    import numpy as np
    import pandas as pd

    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    values = column.to_numpy(dtype=float, na_value=np.nan) if is_number else np.zeros(len(column))
    sizes = np.abs(values)
    return pd.Series(np.where(np.isfinite(sizes), sizes, 0.0), index=column.index)


def _tamed(X: Any, frame: Any, sizes: Any, largest: Any) -> Any:
    found = frame.copy()
    for place in largest:
        found.isetitem(place, found.iloc[:, place].mask(sizes[place] > LARGE, 0))
    return found if hasattr(X, "columns") else found.to_numpy()


def _takes(model: Any, X: Any) -> bool:
    try:
        with unheard_warnings():
            model.predict(X)
    except (Exception, SystemExit):  # noqa: BLE001 - a model may raise anything
        return False
    return True
