"""Rows with new texts and with gaps, to compare predictions on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pandas.api.types import infer_dtype

from automl_admm.core.errors import ConfigurationError

MOST_ROWS = 100
NEW_TEXT, GAP = "a text that training did not have", "a gap"


def with_new_cells(frame: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each column of text with rows of new texts, then of gaps, and the name of the cell."""
    few = frame.iloc[:MOST_ROWS]
    for name, column in frame.items():
        # In a column of truth values with gaps no text can be.
        if infer_dtype(column, skipna=True) == "string":
            longest = max(column.dropna(), key=len)
            yield name, NEW_TEXT, _filled(few, name, f"{longest} (new)")
            yield name, GAP, _filled(few, name, None)


def _filled(frame: Any, name: str, cell: str | None) -> Any:
    """Return rows with one cell in all of a column, of the column's type."""
    column = frame[name].astype(object)
    column[:] = float("nan") if cell is None else cell
    return frame.assign(**{name: column.astype(frame[name].dtype)})


def refusal_of_new(name: str, cell: str) -> ConfigurationError:
    """Return an error on a column: for such a cell a session has no answer, or another one."""
    return ConfigurationError(
        f"for {cell} in '{name}' the model in ONNX does not predict as the model does.",
        hint=f'Fit with --column "{name}=drop", or use pipeline.py of the run.',
    )
