"""Levels have an order only where there is no doubt."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.ordered import read_ordered, recognise_ordered, say_ordered


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


def read(cells, facts=None):
    facts = recognise_ordered(cells) if facts is None else facts
    assert facts is not None
    return read_ordered(cells, json.loads(json.dumps(facts)), row_of)[""]


@pytest.mark.parametrize(
    "levels",
    [
        ["low", "medium", "high"],
        ["Very Low", "Low", "Med", "High"],
        ["XS", "S", "M", "XXL"],
        ["never", "sometimes", "always"],
        ["strongly disagree", "agree", "strongly agree"],
        ["C-", "B", "B+", "A"],
        ["CCC", "BB", "A-", "AAA"],
        ["niedrig", "mittel", "hoch"],
        ["<5", "5-10", "10-20", "20+"],
        ["under 18", "18 to 64", "65 and over"],
        ["0", "1", "2", "3+"],
        ["< 1 year", "1 year", "2 years", "10+ years"],
        ["$0-$9,999", "$10,000-$49,999", "$50,000+"],
        ["(0, 10]", "(10, 20]", "(20, 100]"],
        ["18–24", "25–34", "35–44"],
    ],
)
def test_levels_are_put_in_order(levels):
    shuffled = column(*levels[::-1], *levels[1:], None)
    found = read(shuffled)
    assert list(found.cat.categories) == levels
    assert found.cat.ordered
    assert found.isna().tolist() == shuffled.isna().tolist()
    assert found.dropna().tolist() == shuffled.dropna().tolist()


@pytest.mark.parametrize(
    "cells",
    [
        ["A", "B", "C"],
        ["low", "high"],
        ["low", "medium", "blue"],
        ["1", "2", "3"],
        ["5 kg", "6 kg", "7 kg"],
        ["1-5", "3-8", "6-9"],
        ["3-1", "2-0", "1-1"],
        ["red", "green", "blue"],
        ["Mon", "Tue", "Wed"],
        [str(number) for number in range(30)] + ["<5"],
        [None, None, None],
        [1, 2, 3],
    ],
)
def test_without_certainty_there_is_no_order(cells):
    assert recognise_ordered(column(*cells)) is None


def test_spellings_of_one_level_are_one():
    cells = column("low", "Low", "medium", "HIGH", "high")
    found = read(cells)
    assert found.tolist() == ["Low", "Low", "medium", "HIGH", "HIGH"]
    assert say_ordered(recognise_ordered(cells)) == "ordered: Low < medium < HIGH"


def test_intervals_of_pandas_read_as_their_text():
    cut = pd.cut(pd.Series([1.0, 12.0, 50.0, np.nan], name="x"), [0, 10, 20, 100])
    as_text = cut.astype(str).where(cut.notna(), None)
    # pandas writes the same interval as (0, 10] and as (0.0, 10.0].
    for facts in (recognise_ordered(cut), recognise_ordered(as_text)):
        assert read(cut, facts).tolist() == read(as_text, facts).tolist()
        assert read(as_text, facts).cat.codes.tolist() == [0, 1, 2, -1]


@pytest.mark.parametrize(
    ("cell", "level"),
    [("15-20", "5-10"), ("7", "5-10"), ("25-30", "20-30"), ("40+", "20-30"), ("<3", "4-5")],
)
def test_a_new_interval_counts_as_the_last_that_begins_no_later(cell, level):
    facts = recognise_ordered(column("4-5", "5-10", "20-30"))
    found = read(column(cell, "4-5"), facts)
    assert found.tolist() == [level, "4-5"]
    assert list(found.cat.categories) == ["4-5", "5-10", "20-30"]


def test_other_text_than_a_level_is_refused():
    facts = recognise_ordered(column("<5", "5-10", "20+"))
    with pytest.raises(DataError, match=r"row 1 .*'many'.*Write one of '<5'"):
        read(column("<5", "many"), facts)


def test_words_for_missing_values_are_missing():
    facts = recognise_ordered(column("low", "medium", "high", "unknown"))
    assert read(column("unknown", "low"), facts).isna().tolist() == [True, False]
    assert "'unknown' count as missing" in say_ordered(facts)


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=20, unique=True), st.randoms())
def test_neighbouring_intervals_are_ordered_by_their_ends(ends, random):
    ends = sorted(ends)
    levels = [f"{low}-{high}" for low, high in itertools.pairwise(ends)]
    cells = levels * 2
    random.shuffle(cells)
    assert list(read(column(*cells)).cat.categories) == levels
