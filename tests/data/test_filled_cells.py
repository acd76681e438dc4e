"""Cells with a value: what an empty cell is depends on the reading of its column."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automl_admm.data.filled_cells import as_frame, filled_columns, filled_rows, made_of

ROWS = pd.DataFrame(
    {
        "flag": [True, False, False],
        "temp": [1.5, np.nan, np.nan],
        "temp.broken": [0.0, 1.0, 0.0],
        "text": ["a", "", None],
        "size": [0.0, np.nan, 2.0],
    }
)
ORIGINS = {"temp.broken": "temp"}
BLANKS = {"flag": False, "temp.broken": 0.0, "text": ""}


def test_a_row_has_a_value_where_any_made_column_differs_from_an_empty_cell() -> None:
    made = made_of(ROWS, ORIGINS)
    assert made["temp"] == ["temp", "temp.broken"]
    filled = {name: filled_rows(ROWS, labels, BLANKS).tolist() for name, labels in made.items()}
    assert filled == {
        "flag": [True, False, False],
        "temp": [True, True, False],
        "text": [True, False, False],
        "size": [True, False, True],
    }
    assert filled_rows(ROWS, ["flag"], None).all()


def test_columns_without_a_value_in_any_row_are_not_among_those_with_one() -> None:
    assert filled_columns(ROWS, ORIGINS, BLANKS) == ("flag", "temp", "text", "size")
    assert filled_columns(ROWS[2:], ORIGINS, BLANKS) == ("size",)
    assert filled_columns(np.array([[1.0, np.nan]]), None, None) == ("0",)
    assert list(as_frame(np.eye(2)).columns) == [0, 1]
