"""Truth values in several spellings are one pair of values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.boolean import (
    adopt_boolean,
    read_boolean,
    recognise_boolean,
    say_boolean,
)


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


def read(cells, facts):
    return read_boolean(cells, json.loads(json.dumps(facts)), row_of)[""]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["yes", "Y", "no", " N "], [True, True, False, False]),
        (["TRUE", "true", "False"], [True, True, False]),
        (["on", "ON", "off"], [True, True, False]),
        (["ja", "Nein", "JA"], [True, False, True]),
        (["oui", "Non", "Oui"], [True, False, True]),
        (["1", "yes", "0", "no"], [True, True, False, False]),
        ([True, "no", "yes", 0], [True, False, True, False]),
    ],
)
def test_spellings_of_one_language_are_read(cells, expected):
    cells = column(*cells)
    found = read(cells, recognise_boolean(cells))
    assert found.tolist() == expected
    assert found.dtype == bool


@pytest.mark.parametrize(
    "cells",
    [
        ["yes", "no"],  # a plain category
        ["yes", "no", "maybe"],
        ["yes", "Yes", "YES"],
        ["ja", "no", "JA"],
        ["0", "1", "0.0"],
        [0, 1, 0],
        ["m", "f", "M"],
        [None, None],
    ],
)
def test_other_columns_are_none(cells):
    assert recognise_boolean(column(*cells)) is None


def test_missing_ones_stay_missing_and_are_said():
    cells = column("yes", "Y", "no", "unknown", None)
    facts = recognise_boolean(cells)
    found = read(cells, facts)
    assert found.isna().tolist() == [False, False, False, True, True]
    assert found.dtype == object
    assert "'unknown' count as missing" in say_boolean(facts)


def test_every_type_of_the_same_values_reads_alike():
    facts = recognise_boolean(column("yes", "Y", "no"))
    for cells in (
        column(True, False),
        column(1, 0),
        column(1.0, 0.0),
        column("Yes", "NO"),
        column("y", "n", dtype="category"),
        column(True, False, dtype="boolean"),
        column(True, False, dtype="bool[pyarrow]"),
        column(np.bool_(True), "f", dtype=object),
    ):
        assert read(cells, facts).tolist() == [True, False]


def test_another_word_is_refused_with_its_place():
    facts = recognise_boolean(column("yes", "Y", "no"))
    with pytest.raises(
        DataError, match=r"row 1 \(from 0\): column 'x' holds 'maybe'.*Write one of"
    ):
        read(column("no", "maybe"), facts)


def test_a_chosen_kind_takes_one_spelling_and_figures():
    for cells, expected in (
        (column("yes", "no"), [True, False]),
        (column("y", "y"), [True, True]),
        (column(1, 0), [True, False]),
        (column("0", "1"), [False, True]),
    ):
        assert read(cells, adopt_boolean(cells)).tolist() == expected
    assert adopt_boolean(column("m", "f")) is None
    assert adopt_boolean(column(None, None)) is None
