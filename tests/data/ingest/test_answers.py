"""Numbers in text in columns that are no features."""

from __future__ import annotations

import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.ingest.answers import PLAIN, read_sensitive, tell_answers, with_sensitive
from automl_admm.data.ingest.records import Ingest, Reading

PEOPLE = pd.DataFrame(
    {
        "income": ["$1,234", "$950", None, "$12,000"],
        "share": ["12%", "30.5%", "n.d.", "7%"],
        "age": [30, 40, 50, 60],
        "sex": ["f", "m", "f", "m"],
        "code": ["007", "012", "101", "003"],
    }
)


def test_sensitive_numbers_in_text_are_numbers_and_others_stay():
    answers = with_sensitive(PLAIN, PEOPLE)
    assert list(answers.by_name()) == ["income", "share"]
    read = read_sensitive(PEOPLE, answers)
    assert read["income"].tolist()[:2] == [1234, 950]
    assert read["income"].isna().tolist() == [False, False, True, False]
    assert read["share"].tolist()[1] == 30.5
    assert read[["age", "sex", "code"]].equals(PEOPLE[["age", "sex", "code"]])
    assert PEOPLE["income"][0] == "$1,234"
    assert tell_answers(answers, "y", ("income",))[0].startswith("sensitive 'income': numbers")


def test_words_between_numbers_are_groups_of_their_own():
    mixed = pd.DataFrame({"age": ["1", "2", "3", "4", "5", "retired", "child"] * 4})
    assert with_sensitive(PLAIN, mixed).readings == ()


@pytest.mark.parametrize("cell", ["a lot", "€5", "12.000,5 $"])
def test_a_later_cell_that_is_no_such_number_is_refused_by_its_place(cell):
    answers = with_sensitive(PLAIN, PEOPLE)
    later = PEOPLE.assign(income=["$1", cell, "$2", "$3"])
    with pytest.raises(DataError, match=r"row 1 .*column 'income' holds"):
        read_sensitive(later, answers)


def test_a_column_with_weights_keeps_its_reading():
    weights = Ingest((Reading("income", "number", {"form": "number"}, ("income",), "own"),))
    found = with_sensitive(weights, PEOPLE).by_name()
    assert found["income"].note == "own"
    assert "share" in found


def test_nothing_sensitive_is_nothing_to_read():
    assert with_sensitive(PLAIN, None) == PLAIN
    assert read_sensitive(None, PLAIN) is None
    assert read_sensitive(PEOPLE, PLAIN) is PEOPLE
