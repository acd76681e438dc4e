"""What columns and targets are taken for, and which are refused."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.columns import (
    check_classes,
    check_columns,
    check_target,
    column_kinds,
    infer_task,
)


@pytest.mark.parametrize(("y", "kind"), [(["a", "a"], "class"), ([2.5, 2.5], "value")])
def test_weights_that_leave_one_value_are_named(y, kind):
    told = rf"one {kind} only beside 3 rows with a weight of 0: {y[0]!r}\. Are the weights right\?"
    with pytest.raises(DataError, match=told):
        check_target(y, "classification" if kind == "class" else "regression", left_out=3)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([True, False, True], "classification"),
        (pd.Categorical([3, 1, 2]), "classification"),
        (pd.Series(["a", None, "b"], dtype="string"), "classification"),
        ([1, 2, 1, 2], "classification"),
        ([1.0, 0.0, np.nan], "classification"),
        (list(range(3)) * 10, "classification"),
        (pd.Series([0, 1, None] * 4, dtype="Int64"), "classification"),
        (list(range(28)) * 100, "regression"),
        (list(range(10)) * 4, "regression"),
        ([0.5, 1.5], "regression"),
        ([1.0, np.inf], "regression"),
        (np.arange(50), "regression"),
        (np.array([1, "a"], dtype=object), "classification"),
    ],
)
def test_the_task_is_told_by_the_target(y, task):
    y = pd.Series(y) if isinstance(y, pd.Categorical) else y
    assert infer_task(y) == task


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([], "classification", "has 0 rows"),
        ([1], "regression", r"has 1 row\."),
        (["a", "a"], "classification", "one class only: 'a'"),
        ([1, 1], "classification", "one class only: 1[.] Is it the right column"),
        ([True, True], "classification", "one class only: True[.]"),
        ([2.5, 2.5, 2.5], "regression", "one value only: 2.5[.] Is it the right column"),
        (["abc", "abc"], "regression", "which are no numbers"),
        ([np.inf, np.inf], "regression", "infinite in 2 of 2 rows"),
        (["a", "b", "c"], "classification", "no two in one class"),
        (["a", None, "b"], "classification", "missing in 1 of 3 rows"),
        (["a", "\0b", "a"], "classification", "which has a zero character"),
        ([0.5, 0.5, 1.5], "classification", "fractions"),
        ([1.0, 1.0, np.inf], "classification", "infinite"),
        (["a", "b"], "regression", "no numbers"),
        ([1.0, np.nan], "regression", "missing in 1"),
        ([1.0, -np.inf], "regression", "infinite in 1 of 2"),
        ([1.0, -1e308], "regression", "beyond 1e.150, where no squared error is finite, in 1 of 2"),
        ([1e-170, -2e-170], "regression", "differ by less than 1e-150"),
        (np.zeros((3, 2)), "regression", "one column"),
    ],
)
def test_a_target_without_anything_to_learn_is_refused(y, task, message):
    with pytest.raises(DataError, match=message):
        check_target(y, task)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([1.0, 2.0, 2.0], "classification"),
        ([1, 2], "regression"),
    ],
)
def test_a_sound_target_passes(y, task):
    check_target(y, task)


def test_the_kinds_of_a_frame():
    frame = pd.DataFrame(
        {
            "whole": [1, 2],
            "half": np.array([1, 2], dtype=np.float16),
            "big": np.array([1, 2], dtype=">f8"),
            "nullable": pd.array([1, None], dtype="Int64"),
            "decimal": [Decimal("1.5"), None],
            "objects": pd.Series([1, 2.5], dtype=object),
            "flag": [True, False],
            "maybe": pd.array([True, None], dtype="boolean"),
            "text": ["a", None],
            "string": pd.array(["a", None], dtype="string"),
            "kind": pd.Categorical(["a", None]),
            "flags": pd.Series([True, None], dtype=object),
            "nothing": pd.Series([None, None], dtype=object),
        }
    )
    numeric, categorical = column_kinds(frame)
    assert numeric == ("whole", "half", "big", "nullable", "decimal", "objects")
    assert categorical == ("flag", "maybe", "text", "string", "kind", "flags", "nothing")


def test_arrays_and_frames_without_names_are_told_by_position():
    assert column_kinds(np.zeros((3, 2))) == ((0, 1), ())
    assert column_kinds(np.array([[1, "a"], [2, "b"]], dtype=object)) == ((0,), (1,))
    assert column_kinds(np.array([["a"], ["b"]])) == ((), (0,))
    assert column_kinds(np.array([[True], [False]])) == ((), (0,))
    assert column_kinds(pd.DataFrame({7: [1, 2], 3: ["a", "b"]})) == ((0,), (1,))


@pytest.mark.parametrize(
    ("column", "cure"),
    [
        (pd.to_datetime(["2024-01-01", "2024-01-02"]), "days since a date"),
        (pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize("UTC"), "days since"),
        (pd.to_timedelta([1, 2], unit="D"), "Turn it into numbers"),
        (pd.period_range("2024", periods=2, freq="Y"), "Turn it into numbers"),
        ([1 + 2j, 3j], "two columns"),
        ([[1], [2, 3]], "Turn it into numbers or text"),
        ([{"a": 1}, None], "Turn it into numbers or text"),
        (pd.Series([1, "a"], dtype=object), r"astype\(str\)"),
        (pd.Series([True, "a"], dtype=object), r"astype\(str\)"),
        ([1.0, np.inf], "missing ones"),
    ],
)
def test_a_column_that_nothing_can_take_is_named_with_the_cure(column, cure):
    frame = pd.DataFrame({"fine": [1, 2], "strange": column})
    with pytest.raises(DataError, match=f"column 'strange'.*{cure}"):
        column_kinds(frame)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 3]), "some column names are text"),
        (pd.DataFrame(index=[0, 1]), "no columns"),
        (np.zeros(3), "must be a table"),
        (np.zeros((2, 2), dtype=complex), "complex"),
        ([[1, 2]], "a list"),
    ],
)
def test_a_table_of_the_wrong_make_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        column_kinds(X)


def test_the_columns_to_predict_from_are_put_in_order():
    frame = pd.DataFrame({"c": [1], "extra": [2], "a": [3]})
    assert list(check_columns(frame, ["a", "c"])) == ["a", "c"]


def test_a_name_that_is_a_whole_file_is_cut() -> None:
    with pytest.raises(DataError, match="columns are missing: 'a'") as problem:
        check_columns(pd.DataFrame({"x" * 9999: [1]}), ["a"])
    assert len(str(problem.value.hint)) < 80


def test_a_missing_column_is_named_with_the_nearest():
    frame = pd.DataFrame({"incme": [1], "age": [2]})
    with pytest.raises(DataError, match=r"missing: 'income'\. Did you mean 'incme'"):
        check_columns(frame, ["income", "age"])
    with pytest.raises(DataError, match="'d', 'e', 'f' and 2 more"):
        check_columns(pd.DataFrame({"a": [1]}), ["a", *"bcdefgh"])


def test_a_column_that_is_the_index_is_told_as_such():
    frame = pd.DataFrame({"age": [2], "income": [3]}).set_index("income")
    with pytest.raises(DataError, match=r"missing: 'income'\. 'income' is the index of the table"):
        check_columns(frame, ["income", "age"])


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float64", "object"])
def test_infinite_numbers_of_any_width_are_refused_by_name(dtype):
    for value in (np.inf, -np.inf):
        with pytest.raises(DataError, match="'far' holds infinite"):
            column_kinds(pd.DataFrame({"far": pd.Series([1.0, np.nan, value]).astype(dtype)}))
    assert column_kinds(pd.DataFrame({"near": pd.Series([1.0, np.nan]).astype(dtype)}))[0] == (
        "near",
    )


def test_whole_numbers_beyond_all_floats_are_refused_by_name():
    with pytest.raises(DataError, match="'far' holds whole numbers beyond all floats"):
        column_kinds(pd.DataFrame({"far": pd.Series([10**400, 1], dtype=object)}))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("\ud800b", r"name '\\ud800b' has half of a character\. Rename it"),
        ("b\0", r"name 'b\\x00' has a zero character\. Rename it"),
    ],
    ids=["half", "zero"],
)
def test_a_name_that_no_file_keeps_is_refused(name, told):
    names = pd.Index(["a", name], dtype=object)
    with pytest.raises(DataError, match=told):
        column_kinds(pd.DataFrame([[1.0, 2.0]], columns=names))


def test_large_whole_numbers_that_are_one_as_floats_are_no_quantities():
    with pytest.raises(DataError, match=r"one as floats\. Subtract the least from all of them"):
        check_target(np.array([2**62 + row for row in range(120)]), "regression")


def test_a_quantity_is_no_target_of_a_classifier() -> None:
    with pytest.raises(DataError, match="Unknown label type: continuous: the target holds a quan"):
        check_classes(np.array([0.1, 0.3, 0.1]))
    check_classes(np.array([1.0, 2.0]))
