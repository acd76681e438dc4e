"""Columns of one name get names of their own, the same ones in every table."""

from __future__ import annotations

import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.unique_names import unique_header, unique_names, with_unique_names


@pytest.mark.parametrize(
    ("names", "made"),
    [
        ("a b a", "a b a.1"),
        ("a a a.1", "a a.2 a.1"),
        ("a.1 a a", "a.1 a a.2"),
        ("a a.1 a a.1 a", "a a.1 a.2 a.1.1 a.3"),
        ("a a a.1.1 a.1 a.1", "a a.2 a.1.1 a.1 a.1.2"),
    ],
)
def test_a_made_name_is_never_one_that_is_there(names: str, made: str) -> None:
    found = unique_names(names.split())
    assert found is not None
    assert found.names == tuple(made.split())


def test_unique_names_stay() -> None:
    assert unique_names(["a", "b", "a.1"]) is None


@pytest.mark.parametrize(
    ("names", "sole", "known", "said"),
    [
        ("a a b", ["a"], None, "two columns .* 'a', and one is meant. Rename .*'a.1' is"),
        ("a a b", [], ["a", "b"], "two columns are named 'a', and in training there was 1"),
        ("a a a", [], ["a", "a.1"], "3 columns are named 'a', and in training there were 2"),
        ("a a a.1", [], ["a", "a.1"], "two columns are named 'a', and in training there was 1"),
    ],
)
def test_what_may_be_either_column_is_refused(
    names: str, sole: list[str], known: list[str] | None, said: str
) -> None:
    frame = pd.DataFrame([[1] * 3], columns=names.split())
    with pytest.raises(DataError, match=said):
        with_unique_names(frame, sole, known)


def test_other_columns_of_a_later_table_may_be_doubled() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "id", "id"])
    found, said = with_unique_names(frame, known=["a"])
    assert list(found) == ["a", "id", "id.1"]
    assert said == "X has 2 columns named 'id' (read as 'id', 'id.1')"


@pytest.mark.parametrize(
    ("header", "known", "made"),
    [
        (",a,", None, ["Unnamed: 0", "a", "Unnamed: 2"]),
        ("a,", None, ["a", "Unnamed: 1"]),
        (",Unnamed: 0", None, ["Unnamed: 0.1", "Unnamed: 0"]),
        (",a,,a", None, ["Unnamed: 0", "a", "Unnamed: 2", "a.1"]),
        # The target stood before them in training.
        (",a,", ["Unnamed: 1", "a", "Unnamed: 10"], ["Unnamed: 1", "a", "Unnamed: 10"]),
        # A run of an earlier release.
        (",a,", ["", "a", ".1"], ["", "a", ".1"]),
    ],
)
def test_columns_without_a_name_are_called_as_by_pandas(
    header: str, known: list[str] | None, made: list[str]
) -> None:
    found = unique_header(header.split(","), known)
    assert found is not None
    assert list(found.names) == made


def test_another_number_of_columns_without_a_name_is_refused() -> None:
    with pytest.raises(DataError, match=r"without a name: 2; in training there were 3\. Name them"):
        unique_header(["", "a", ""], ["Unnamed: 0", "Unnamed: 2", "Unnamed: 3"])
