"""Rows that Python gives: in any order, of any type, right or refused."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.columns import column_kinds, quantities_of
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.python_rows import (
    check_quantities,
    follow,
    plain_rows,
    plain_target,
    put_in_order,
    schema_of_rows,
)
from automl_admm.pipelines.labels import number_classes

FRAME = pd.DataFrame(
    {
        "flag": [True, False, True],
        "maybe": pd.Series([True, np.nan, False], dtype=object),
        "whole": [1, 2, 3],
        "half": [0.5, np.nan, 2.0],
        "text": ["a", "b", "a"],
        "kind": pd.Categorical(["u", "v", "u"]),
        "grade": pd.Categorical([3, 1, 2]),
    }
)


def again(given):
    """Rows as `predict` brings them to those of FRAME."""
    schema = schema_of_rows(FRAME)
    return follow(put_in_order(plain_rows(given), schema), schema)


@pytest.mark.parametrize(
    "given",
    [
        FRAME.astype(object),
        FRAME.astype(str).replace("nan", None),
        FRAME.convert_dtypes(),
        FRAME.convert_dtypes(dtype_backend="pyarrow"),
        FRAME.assign(flag=[1, 0, 1], whole=["1", "2", " 3 "], half=[Decimal("0.5"), None, 2]),
        FRAME.assign(flag=["true", "FALSE", "1"], maybe=[1.0, None, 0.0], kind=list("uvu")),
        FRAME.astype({"whole": "float32", "half": "Float64", "grade": "int8"}),
    ],
    ids=["objects", "texts", "nullable", "arrow", "numbers", "truths", "widths"],
)
def test_other_types_of_the_same_values_are_put_right(given):
    pd.testing.assert_frame_equal(again(given), FRAME)


def test_whatever_has_no_other_reading_stays(tmp_path):
    new = FRAME.assign(whole=[1.5, 2, None], kind=pd.Categorical(["u", "w", None]), text=None)
    found = again(new)
    assert found["whole"].tolist()[:2] == [1.5, 2.0]
    assert list(found["kind"].cat.categories) == ["u", "v", "w"]
    assert found["kind"].isna().tolist() == [False, False, True]
    assert found["text"].isna().all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": [1, 2, 3]}, r"row 0 .* column 'text' holds 1 \(and 2 more rows\), and held text"),
        ({"text": ["a", 7, None]}, r"row 1 .* 'text' holds 7, and held text"),
        ({"text": [True, False, True]}, "'text' holds True"),
        ({"whole": ["1", "n.d.", "3"]}, r"row 1 .* 'whole' holds 'n\.d\.', and held numbers"),
        ({"whole": ["1", "1_000", "3"]}, "'whole' holds '1_000'"),
        ({"half": pd.to_datetime(["2024-01-01"] * 3)}, "'half' holds .*, and held numbers"),
        ({"flag": [1, 2, 0]}, r"row 1 .* 'flag' holds 2, and held true or false"),
        ({"maybe": ["yes", None, "no"]}, r"'maybe' holds 'yes' \(and 1 more row\)"),
        ({"kind": [1, 2, 3]}, "'kind' holds 1"),
        ({"grade": ["x", "1", "2"]}, "'grade' holds 'x', and held numbers"),
    ],
)
def test_a_value_that_cannot_be_what_it_was_is_named(changes, said):
    with pytest.raises(DataError, match=said):
        again(FRAME.assign(**changes))


def test_columns_named_by_numbers_are_put_in_order_or_refused():
    frame = pd.DataFrame({7: [1.0, 2.0], 3: ["a", "b"], 5: [0.1, 0.2]})
    schema = schema_of_rows(frame)
    for given in (frame[[3, 5, 7]], frame[[5, 7, 3]].rename(columns=str)):
        ordered = put_in_order(given, schema)
        pd.testing.assert_frame_equal(follow(ordered, schema), frame)
    for names in ([7, 3, 6], ["a", "b", "c"], [7, 7, 3]):
        with pytest.raises(DataError, match="not those of fit: there is no column"):
            put_in_order(frame.set_axis(names, axis=1), schema)


def test_columns_in_another_order_are_taken_by_their_names() -> None:
    schema = schema_of_rows(FRAME)
    pd.testing.assert_frame_equal(follow(FRAME[FRAME.columns[::-1]], schema), FRAME)


def test_a_frame_without_columns_is_refused() -> None:
    for given in (FRAME[[]], pd.DataFrame()):
        with pytest.raises(DataError, match=r"^the rows have no columns\. Give a frame"):
            again(given)


def test_a_frame_after_an_array_goes_by_its_places():
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    schema = schema_of_rows(rows)
    for given in (pd.DataFrame(rows)[[2, 0, 1]], pd.DataFrame(rows, columns=list("abc")), rows):
        found = follow(put_in_order(plain_rows(given), schema), schema)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == rows.tolist()


def test_an_array_after_a_frame_gets_its_names():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    schema = schema_of_rows(frame)
    pd.testing.assert_frame_equal(follow(frame.to_numpy(), schema), frame)


@pytest.mark.parametrize("make", [list, np.array, tuple])
def test_lists_with_text_keep_their_numbers(make):
    rows = [[1.5, "a", True], [2.0, "b", False], [None, None, True]]
    fitted = plain_rows(rows)
    assert column_kinds(fitted) == ((0,), (1, 2))
    schema = schema_of_rows(fitted)
    found = follow(plain_rows(make([[2.5, "b", False]])), schema)
    assert found.tolist() == [[2.5, "b", False]]


def test_an_array_of_text_with_numbers_in_it_is_refused_in_fit():
    with pytest.raises(DataError, match=r"column 0 of X holds numbers written as text, .*'1\.5'"):
        schema_of_rows(np.array([[1.5, "a"], [2.0, "b"]]))
    assert schema_of_rows(np.array([["x", "a"], ["y", "b"]])).columns[0].holds == "text"


def test_digits_with_an_underscore_are_text_in_rows_and_in_a_target_as_they_are_in_a_file():
    assert schema_of_rows(np.array([["1_000", "a"], ["2_000", "b"]])).columns[0].holds == "text"
    with pytest.raises(DataError, match="'1_000' in row 1"):
        check_quantities(["5", "1_000"])
    with pytest.raises(DataError, match="'1_000', which is no plain number"):
        quantities_of(["5", "1_000"], "the target")
    assert number_classes(["1_000", "1000", "1_000"], "1e3")[0].tolist() == ["1_000", "1000"]


def test_categories_of_nullable_types_hold_no_strange_gaps():
    column = pd.Series(["a", None], dtype="string").astype("category")
    plain = plain_missing(pd.DataFrame({"kind": column}))
    assert [type(value) for value in np.asarray(plain["kind"])] == [str, float]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.array([True, False], dtype=object), [True, False]),
        ([True, False], [True, False]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (pd.Series(["a", "b"], dtype="string"), ["a", "b"]),
        (pd.Series(["a", "b"]).convert_dtypes(dtype_backend="pyarrow"), ["a", "b"]),
        (pd.Series([True, False]).convert_dtypes(dtype_backend="pyarrow"), [True, False]),
        (pd.Series([1.5, 2], dtype=object), [1.5, 2.0]),
        (pd.Categorical(["b", "a"]), ["b", "a"]),
    ],
)
def test_a_target_is_of_one_type(y, expected):
    plain = np.asarray(plain_target(y))
    assert plain.tolist() == expected
    assert plain.dtype == np.asarray(expected).dtype or plain.dtype == object
    assert not isinstance(expected[0], bool) or plain.dtype == bool


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", None, "b"], "missing in 1 of 3 rows.*pandas.isna"),
        (pd.Series(["a", pd.NA], dtype="string"), "missing in 1 of 2"),
        ([1.0, np.nan], "missing in 1 of 2"),
        (
            pd.Series(pd.arrays.FloatingArray(np.array([1.0, np.nan]), np.zeros(2, dtype=bool))),
            "missing in 1 of 2",
        ),
        (np.array([1, "a"], dtype=object), r"the target holds int, str\."),
    ],
)
def test_a_target_with_gaps_or_of_two_types_is_refused(y, said):
    with pytest.raises(DataError, match=said):
        plain_target(y)


LARGE = 2**63 + 5


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(np.array([LARGE, 7], dtype="u8"), dtype="UInt64"),
        pd.Series(np.array([LARGE, 7], dtype="u8"), dtype="uint64[pyarrow]"),
        np.array([LARGE, 7], dtype=object),
        [LARGE, 7],
    ],
)
def test_large_whole_numbers_keep_their_values(y):
    found = plain_target(y)
    assert found.dtype == np.uint64
    assert found.tolist() == [LARGE, 7]


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([10**20, 1], "holds 100000000000000000000, which 64 bits cannot hold"),
        ([-1, 2**63], "holds 9223372036854775808, which 64 bits cannot hold"),
        ([-(2**63) - 1, 5], "holds -9223372036854775809, which 64 bits cannot hold"),
        (np.array([2**53 + 1, 1.5], dtype=object), "holds 9007199254740993, beside fractions"),
        ([2**53 + 1, 0.5], "holds 9007199254740993, beside fractions"),
        (np.array([10**400, 1.5], dtype=object), "holds 1000+, beside fractions"),
    ],
)
def test_numbers_that_would_become_others_are_refused(y, said):
    with pytest.raises(DataError, match=said):
        plain_target(y)


def test_a_label_with_half_of_a_character_is_refused():
    with pytest.raises(DataError, match="which has half of a character"):
        plain_target(np.array(["\ud800x", "a"], dtype=object))


def test_a_target_of_two_columns_of_one_name_is_told_in_one_line() -> None:
    column = pd.Series(["a", "b"], name="state")
    with pytest.raises(DataError) as told:
        plain_target(pd.concat([column, column], axis=1))
    assert str(told.value) == (
        "the target is one column, not 2: two of them are named 'state'. Give y as a column."
    )
    assert plain_target(column.to_frame()).shape == (2, 1)


@pytest.mark.parametrize("values", [[[1.0, 7.0], [2.0, 3.0]], [["a", "b"], ["c", "d"]]])
def test_rows_of_a_masked_table_keep_their_gaps(values):
    masked = np.ma.array(values, mask=[[False, True], [False, False]])
    found = np.asarray(plain_rows(list(masked)), dtype=object)
    assert pd.isna(found).tolist() == masked.mask.tolist()
    assert found[1].tolist() == values[1]
