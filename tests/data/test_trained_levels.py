"""Categories that a model never met are counted over all parts of a table."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from automl_admm.data.trained_levels import LEVELS, MOST_LEVELS, NewLevels, find_levels


def saved(frame: pd.DataFrame) -> dict[str, object]:
    """The levels of all columns, as a manifest has them."""
    content = {LEVELS: find_levels(frame, list(frame.columns))}
    return json.loads(json.dumps(content))


def told(trained: pd.DataFrame, *parts: pd.DataFrame) -> list[str]:
    new = NewLevels.of_model(saved(trained))
    for part in parts:
        new.add(part)
    return list(new.lines())


def test_known_values_are_not_told_in_any_type() -> None:
    frame = pd.DataFrame(
        {
            "text": ["a", "b", None],
            "truth": pd.Series([True, False, None], dtype=object),
            "whole": pd.Categorical([1, 2, 1]),
        }
    )
    later = frame.iloc[::-1].astype({"text": "category"})
    assert told(frame, later) == []


def test_a_share_is_of_the_cells_that_are_there_in_all_parts() -> None:
    trained = pd.DataFrame({"sex": ["female", "male"]})
    parts = [pd.DataFrame({"sex": values}) for values in (["Female", None, "male"], ["Male"])]
    (line,) = told(trained, *parts)
    assert line.startswith("2 of 3 cells of column 'sex'")
    assert "'Female'" in line


@pytest.mark.parametrize(("new", "lines"), [(10, 1), (9, 0)])
def test_a_few_new_values_are_usual(new: int, lines: int) -> None:
    later = pd.DataFrame({"town": ["Ulm"] * (100 - new) + ["Bonn"] * new})
    assert len(told(pd.DataFrame({"town": ["Ulm"]}), later)) == lines


def test_a_column_of_many_levels_is_not_watched() -> None:
    names = pd.DataFrame({"name": [f"n{number}" for number in range(MOST_LEVELS + 1)]})
    assert told(names, pd.DataFrame({"name": ["somebody"]})) == []


def test_of_many_columns_the_worst_are_told() -> None:
    trained = pd.DataFrame({name: ["x"] * 4 for name in "abcde"})
    later = pd.DataFrame({name: ["y"] * 4 for name in "abcde"})
    later.loc[:1, "a"] = "x"
    lines = told(trained, later)
    assert [line.split("'")[1] for line in lines[:3]] == ["b", "c", "d"]
    assert lines[3].startswith("2 more columns")


def test_a_model_without_levels_and_an_array_tell_nothing() -> None:
    new = NewLevels.of_model({})
    new.add(pd.DataFrame({"sex": ["x"]}))
    assert list(new.lines()) == []
    assert find_levels(pd.DataFrame({"sex": ["x"]}).to_numpy(), [0]) == {}


def test_of_tags_each_one_is_known_in_any_company() -> None:
    trained = pd.DataFrame({"tags": ["blue\x1fgreen", "red", None]})
    assert told(trained, pd.DataFrame({"tags": ["red\x1fblue", "green"]})) == []
    (line,) = told(trained, pd.DataFrame({"tags": ["red\x1fpink", "blue, green", "red"]}))
    assert line.startswith("2 of 3 cells of column 'tags'")
    assert "'pink'" in line


def test_a_value_of_several_lines_is_told_in_one_without_its_middle() -> None:
    later = pd.DataFrame({"note": ["Ulm\n" + "x" * 200]})
    (line,) = told(pd.DataFrame({"note": ["a"]}), later)
    assert "\n" not in line
    assert len(line) < 200


def test_an_empty_cell_of_tags_is_no_new_value() -> None:
    trained = pd.DataFrame({"tags": ["blue", "red"]})
    assert told(trained, pd.DataFrame({"tags": ["", "red", ""]})) == []
