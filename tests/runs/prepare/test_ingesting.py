"""The readings of columns, and thresholds by them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from automl_admm.core.errors import ConfigurationError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.asking import ask
from automl_admm.data.ingest.records import Ingest
from automl_admm.runs.prepare.ingesting import check_deciding

DAYS = pd.Series(pd.date_range("2020-01-01", periods=4), name="c")
OUT = ", or leave out group_thresholds"


@pytest.mark.parametrize(
    ("column", "word", "advice"),
    [
        (pd.Series([True, False] * 3), "category", "Leave 'c' out of columns: its values are"),
        (pd.Series([1, 2] * 3), "category", "Leave 'c' out of columns: its values are groups"),
        (DAYS, "category", f"Write it as text in the table{OUT}."),
        (DAYS, "date", f"Read it as a category, columns={{'NAME': 'category'}}{OUT}."),
    ],
    ids=["truth values", "numbers", "dates as levels", "dates"],
)
def test_no_advice_is_what_was_done_already(column: Any, word: str, advice: str) -> None:
    reading = ask("c", column.rename("c"), word, row_of)
    with pytest.raises(ConfigurationError, match="no threshold can be by the column 'c'") as found:
        check_deciding(Ingest((reading,)), ["c"])
    assert advice in str(found.value)


@pytest.mark.parametrize(
    ("column", "word"), [(pd.Series(["a", "b"] * 3), "category"), (pd.Series([1, 2]), "number")]
)
def test_a_model_decides_by_columns_as_they_are(column: Any, word: str) -> None:
    check_deciding(Ingest((ask("c", column.rename("c"), word, row_of),)), ["c"])
