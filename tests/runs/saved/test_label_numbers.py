"""The labels of later rows: each is a class of the run, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.pipelines.labels import text_of
from automl_admm.runs.saved.rows_of_run import number_labels

LARGE = ["1152921504606846976", "1152921504606846977"]


def numbered(labels: list[Any], classes: list[str]) -> list[int]:
    return list(map(int, number_labels(labels, classes, "y", lambda row: f"row {row + 1}")))


@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], [np.int8(1), np.float32(0)], ["1", "0"]])
def test_whole_numbers_are_classes_in_any_type(labels: list[Any]) -> None:
    assert numbered(labels, ["0", "1"]) == [1, 0]


def test_large_whole_numbers_keep_their_digits() -> None:
    assert numbered([2**60 + 1, np.int64(2**60)], LARGE) == [1, 0]
    assert numbered([float(2**53)], [str(2**53), "7"]) == [0]


@pytest.mark.parametrize("label", [float(2**60), np.float64(2**60 + 1), 2**60 + 2])
def test_a_float_that_stands_for_several_is_no_class(label: Any) -> None:
    with pytest.raises(DataError, match="which is no class of the run") as raised:
        numbered([label], LARGE)
    assert "row 1: column 'y' holds" in str(raised.value)


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (["2021-01-01", "2020-01-01 00:00:00"], ["2020-01-01", "2021-01-01"]),
        (["2 days", "1 days 00:00:00"], ["1 days", "2 days"]),
    ],
)
def test_moments_are_classes_as_predict_writes_them(labels: list[Any], values: list[Any]) -> None:
    kind = pd.Timedelta if "day" in values[0] else pd.Timestamp
    assert numbered(labels, [text_of(kind(one)) for one in values]) == [1, 0]
    assert numbered(labels[:1], [labels[0], text_of(kind(labels[0]))]) == [0]
