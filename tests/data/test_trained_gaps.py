"""Columns of later rows that are empty more often than those of training."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.trained_gaps import TRAINED_GAPS, NewGaps, find_gaps


def told(trained: pd.DataFrame, *parts: pd.DataFrame) -> list[str]:
    new = NewGaps.of_model(json.loads(json.dumps({TRAINED_GAPS: find_gaps(trained)})))
    for part in parts:
        new.add(part)
    return list(new.lines())


def numbers(rows: int, empty: int, name: str = "age") -> pd.DataFrame:
    values = np.arange(rows, dtype=float)
    values[:empty] = np.nan
    return pd.DataFrame({name: values})


def test_a_column_that_is_empty_now_is_told() -> None:
    (line,) = told(numbers(200, 0), numbers(50, 50))
    assert line.startswith("50 of 50 cells of column 'age' are empty, and none was in training")


@pytest.mark.parametrize("later", [numbers(100, 9), numbers(1, 1), numbers(30, 0)])
def test_few_gaps_and_a_single_row_are_usual(later: pd.DataFrame) -> None:
    assert told(numbers(200, 0), later) == []


@pytest.mark.parametrize(("empty", "lines"), [(20, 0), (29, 0), (40, 1), (100, 1)])
def test_a_column_with_gaps_in_training_has_to_have_clearly_more(empty: int, lines: int) -> None:
    found = told(numbers(500, 100), numbers(100, empty))
    assert len(found) == lines
    assert all("20 % were in training" in line for line in found)


def test_more_gaps_by_chance_are_not_told() -> None:
    # Two of five where one in five is usual: P = .26.
    assert told(numbers(500, 100), numbers(5, 2)) == []
    assert len(told(numbers(500, 100), numbers(50, 25))) == 1


def test_gaps_are_counted_over_all_parts() -> None:
    assert told(numbers(200, 0), numbers(50, 4), numbers(50, 0)) == []
    (line,) = told(numbers(200, 0), numbers(50, 50), numbers(150, 0))
    assert line.startswith("50 of 200 cells")


@pytest.mark.parametrize("empty", [None, np.nan, "", pd.NA])
@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_categories_and_texts_have_gaps_as_well(empty: Any, dtype: Any) -> None:
    trained = pd.DataFrame({"town": pd.Series(["Ulm", "Bonn"] * 50, dtype=dtype)})
    later = pd.DataFrame({"town": pd.Series([empty] * 20 + ["Ulm"], dtype=dtype)})
    if isinstance(empty, str) and dtype == "category":
        assert told(trained, later) == []  # a category without a character is a value
        return
    (line,) = told(trained, later)
    assert line.startswith("20 of 21 cells of column 'town'")


def test_of_many_columns_the_worst_are_told() -> None:
    trained = pd.concat([numbers(100, 0, name) for name in "abcde"], axis=1)
    later = pd.concat([numbers(100, 50 + n, name) for n, name in enumerate("abcde")], axis=1)
    lines = told(trained, later)
    assert [line.split("'")[1] for line in lines[:3]] == ["e", "d", "c"]
    assert lines[3].startswith("2 more columns")


def test_columns_made_of_one_column_are_told_once_by_its_name() -> None:
    made = pd.concat([numbers(100, 0, name) for name in ("when", "when.day", "age")], axis=1)
    origins = {"when": "Date", "when.day": "Date", "age": "age"}
    new = NewGaps.of_model(json.loads(json.dumps({TRAINED_GAPS: find_gaps(made, origins)})))
    new.add(made.mask(made >= 0))
    lines = sorted(new.lines())
    assert [line.split("'")[1] for line in lines] == ["Date", "age"]


def test_a_model_of_an_earlier_version_and_an_array_tell_nothing() -> None:
    new = NewGaps.of_model({})
    new.add(numbers(50, 50))
    assert list(new.lines()) == []
    assert find_gaps(numbers(3, 0).to_numpy()) == {}
    assert find_gaps(pd.DataFrame([[1.0]])) == {}
    assert told(numbers(100, 0), pd.DataFrame([[np.nan]] * 30)) == []
