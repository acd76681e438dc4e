"""Columns that tell nothing are left out and said; those that tell something are not."""

from __future__ import annotations

import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.identifier import recognise_identifier, say_identifier
from automl_admm.data.ingest.forms.known import FORMS
from automl_admm.data.ingest.forms.mixed import read_mixed, recognise_mixed, say_mixed
from automl_admm.data.ingest.forms.steady import (
    read_tick,
    recognise_constant,
    recognise_tick,
    say_constant,
    say_tick,
)

GENERATOR = np.random.default_rng(0)


def column(*cells, name="x", **options):
    return pd.Series(list(cells), name=name, **options)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([5, 5, 5], "its only value is 5"),
        (["a"] * 3, "its only value is 'a'"),
        ([None, None], "all its values are missing"),
        ([np.nan, np.nan], "all its values are missing"),
        (["", " ", "NA"], "all its values are missing"),
    ],
)
def test_a_column_of_one_value_is_constant(cells, said):
    assert said in say_constant(recognise_constant(column(*cells)))


@pytest.mark.parametrize("cells", [[1, 2], ["a", None], [], [["a"], ["a"]]])
def test_other_columns_are_not_constant(cells):
    assert recognise_constant(column(*cells, dtype=object)) is None


@pytest.mark.parametrize("kind", [float, object])
@pytest.mark.parametrize(
    ("cells", "constant", "tick"),
    [
        ([0.0, -0.0, 0.0], True, False),
        ([np.inf] * 3, True, False),
        ([np.inf, -np.inf], False, False),
        ([1.5, np.nan, 1.5, np.nan], False, True),
        ([1.5] * 500 + [1.6], False, False),
    ],
)
def test_numbers_are_told_apart_in_any_type(cells, constant, tick, kind):
    numbers = column(*cells, dtype=kind)
    found = recognise_constant(numbers) is not None, recognise_tick(numbers) is not None
    assert found == (constant, tick)


def test_one_value_or_nothing_is_a_truth_value():
    facts = recognise_tick(column("x", None, "x", ""))
    cells = column("x", None, "x", "", "NA")
    assert recognise_tick(cells) is None, "NA may be Namibia"
    assert read_tick(cells, facts, row_of)[""].tolist() == [True, False, True, False, False]
    assert read_tick(column("new", None), facts, row_of)[""].tolist() == [True, False]
    assert "'x' or nothing" in say_tick(facts)
    for others in (["x", "y", None], ["x", "x"], [None, None], ["x", None, None]):
        assert recognise_tick(column(*others)) is None


@pytest.mark.parametrize(
    "cells",
    [
        column(*[str(uuid.UUID(int=number)) for number in range(30)]),
        column(*[f"user{number}" for number in range(30)]),
        column(*range(1, 31)),
        column(*GENERATOR.permutation(30), name="customer_id"),
        column(*GENERATOR.permutation(30), name="PassengerId"),
        column(*GENERATOR.permutation(30), name="Unnamed: 0"),
        column(*[f"{number:05}" for number in range(30)]),
    ],
)
def test_identifiers_are_found(cells):
    assert say_identifier(recognise_identifier(cells)).startswith("left out: an identifier")


@pytest.mark.parametrize(
    "cells",
    [
        column(*GENERATOR.permutation(30)),
        column(*range(1990, 2020), name="year"),
        column(*range(30), name="t"),
        column(*GENERATOR.normal(size=30), name="id"),
        column(*(np.arange(30) * 3600)),
        column(*([1] * 30), name="id"),
        column(*[f"user{number}" for number in range(10)]),
        column(*[f"a word {number}" for number in range(30)]),
        column(*[f"user{number}" for number in range(30)], "user1"),
        column(*range(29), None),
        column(*range(30), name="humid"),
        column(*pd.date_range("2024", periods=30)),
    ],
)
def test_numbers_times_and_names_are_no_identifiers(cells):
    if cells.name == "humid":
        cells = cells.iloc[::-1]
    assert recognise_identifier(cells) is None


def test_mixed_types_are_read_as_the_text_of_a_file(tmp_path):
    cells = column("low", 1, 2.5, True, b"raw", Decimal("1.50"), None)
    facts = recognise_mixed(cells)
    found = read_mixed(cells, facts, row_of)[""]
    assert found.tolist()[:-1] == ["low", "1", "2.5", "True", "raw", "1.50"]
    assert found.isna().iloc[-1]
    assert "all are read as text" in say_mixed(facts)
    # A file has the same texts, but for bytes.
    cells.drop(4).to_csv(tmp_path / "mixed.csv", index=False)
    again = pd.read_csv(
        tmp_path / "mixed.csv", dtype=str, keep_default_na=False, skip_blank_lines=False
    )
    assert again["x"].tolist()[:-1] == found.drop(4).tolist()[:-1]


def test_values_without_a_text_are_not_recognised_and_refused_later():
    assert recognise_mixed(column([1], "a")) is None
    assert recognise_mixed(column(b"\xff", b"a")) is None
    facts = recognise_mixed(column(1, "a"))
    with pytest.raises(DataError, match=r"row 1 .*numbers and texts"):
        read_mixed(column("a", {}, dtype=object), facts, row_of)


@pytest.mark.parametrize(
    "cells",
    [
        column(1.5, 2.5, 2.5),
        column(3, 1, 3),
        column("red", "blue", "red"),
        column("red", "blue", "red", dtype="category"),
        column(True, False, None),
        column("yes", "no", "yes"),
        column(1.5, None, 2.5, dtype="Float64"),
        column(*["Paris", "Rome"] * 30),
    ],
)
def test_plain_columns_are_of_no_form(cells):
    assert [form.name for form in FORMS if form.recognise(cells) is not None] == []


HOSTILE = [
    column(*cells, dtype=object)
    for cells in (
        [],
        [None],
        [{}, {"a": 1}],
        [object(), object()],
        [1j, 2j],
        [[], [[]]],
        ["\x00", "\n", "1\n2"],
        ["\ud800", "a"],
        [10**400, 1],
        ["9" * 5000, "1"],
        [Decimal("NaN"), Decimal("Infinity")],
        [float("inf"), "inf", "-inf"],
        [pd.NaT, pd.NA, None],
        [pd.Timestamp(0), "2024-01-01"],
        [np.datetime64("NaT"), np.timedelta64(1, "s")],
        ["9" * 400 + ":00", "1:00"],
        ["99999-01-01", "0000-01-01", "2024-01-01"],
        ["²", "½", "Ⅷ"],
        [pd.Interval(0, 1), pd.Interval(1, 2), pd.Interval(2, 3)],
        [range(3), range(4)],
    )
]


@pytest.mark.parametrize("cells", HOSTILE, ids=range(len(HOSTILE)))
def test_every_column_is_recognised_or_not_and_later_read_or_refused(cells):
    samples = {
        "number": column("1,5", "2,5"),
        "date": column("2024-01-01", "2024-05-06"),
        "duration": column("1:00", "2:00"),
        "ordered": column("low", "medium", "high"),
        "boolean": column("yes", "Yes", "no"),
        "tags": column(["a"], ["b"]),
        "text": column(*[f"one or more words {number}" for number in range(30)]),
        "tick": column("x", "x", None, None),
        "mixed": column("a", 1),
    }
    for form in FORMS:
        for facts in (form.recognise(cells), form.recognise(samples.get(form.name, cells))):
            if facts is None:
                continue
            assert form.say(facts)
            made = read_or_refuse(form, cells, facts)
            assert all(len(found) == len(cells) for found in made.values())


def read_or_refuse(form, cells, facts):
    """Return the made columns; none if a cell was refused by its place."""
    try:
        return form.read(cells, facts, row_of)
    except DataError as refused:
        if "row " not in str(refused):
            raise
        return {}
