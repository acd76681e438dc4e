"""Lists of tags and free text, apart from categories."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.words import (
    JOINT,
    adopt_tags,
    adopt_text,
    read_tags,
    read_text,
    recognise_tags,
    recognise_text,
    say_tags,
    say_text,
)

GENRES = ["drama", "comedy", "war", "crime", "music"]
PAIRS = [list(pair) for size in (1, 2, 3) for pair in itertools.combinations(GENRES, size)]
PROSE = [f"the {a} {b} of {c} was {d}" for a in "xyz" for b in GENRES for c in GENRES for d in "pq"]


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


@pytest.mark.parametrize("separator", ["|", "; ", ", ", ","])
def test_tags_in_text_and_in_lists_read_alike(separator):
    texts = column(*[separator.join(tags) for tags in PAIRS], None)
    lists = column(*PAIRS, None)
    written = column(*[str(tags) for tags in PAIRS], None)
    expected = [JOINT.join(sorted(tags)) for tags in PAIRS] + [""]
    facts = recognise_tags(texts)
    for cells in (
        texts,
        lists,
        column(*map(tuple, PAIRS), None),
        column(*map(np.array, PAIRS), None),
    ):
        assert read_tags(cells, facts, row_of)[""].tolist() == expected
    assert read_tags(lists, recognise_tags(lists), row_of)[""].tolist() == expected
    assert read_tags(written, recognise_tags(written), row_of)[""].tolist() == expected
    assert "lists of tags" in say_tags(facts)


@pytest.mark.parametrize(
    "cells",
    [
        GENRES * 5,
        PROSE,
        [f"{name}, {number}" for name, number in zip(GENRES * 5, range(25), strict=True)],
        ["yes, definitely", "no, never"] * 10,
        [[0.5, 1.5], [2.5, 1.0]],
        [1, 2, 3],
        [None, None],
    ],
)
def test_other_columns_have_no_tags(cells):
    assert recognise_tags(column(*cells)) is None


NUMBERS = [[*pair] for pair in itertools.product("01234", repeat=2)]


@pytest.mark.parametrize("separator", ["/", ";", ", ", "|"])
@pytest.mark.parametrize(
    "more",
    [
        [],
        ["n.d.", None],
        ["3"],  # one half of a pair is forgotten
    ],
)
def test_pairs_of_numbers_are_no_set_for_their_order_counts(separator, more):
    assert recognise_tags(column(*map(separator.join, NUMBERS), *more)) is None


@pytest.mark.parametrize(
    "cells",
    [
        [f"{high}/{low}" for high in (110, 120, 130, 140) for low in (60, 70, 80, 90)],
        [f"{a:+.1f}/{b:.1f}" for a in (-1.5, 0.5, 2) for b in (-1.5, 0.5, 2)],
        ["/".join(three) for three in itertools.product("123", repeat=3)],
        ["1|1", "1|2", "2", "3|1|2", "3", "1|3", "2|2", "1", "2|3|3"],  # of several counts
    ],
)
def test_numbers_with_places_are_no_set(cells):
    assert recognise_tags(column(*cells)) is None


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_lists_of_one_count_of_numbers_are_tags_only_if_asked(kind):
    cells = column(*(kind([int(a), int(b)]) for a, b in NUMBERS))
    assert recognise_tags(cells) is None
    assert adopt_tags(cells)["separator"] == ","
    assert recognise_tags(column(*({int(a), int(b) + 5} for a, b in NUMBERS))) is not None


def test_numbers_of_several_counts_are_tags():
    chosen = [c for size in (1, 2, 3) for c in itertools.combinations("12345", size)]
    assert recognise_tags(column(*["|".join(tags) for tags in chosen]))["separator"] == "|"


def test_a_number_is_no_list_of_tags():
    facts = recognise_tags(column(*["|".join(tags) for tags in PAIRS]))
    with pytest.raises(DataError, match=r"row 1 .*held lists of tags"):
        read_tags(column("war", 5, dtype=object), facts, row_of)
    assert read_tags(column("new|war"), facts, row_of)[""].tolist() == [f"new{JOINT}war"]


def test_free_text_keeps_its_words_and_is_empty_where_missing():
    cells = column(*PROSE, None)
    facts = recognise_text(cells)
    assert read_text(cells, facts, row_of)[""].tolist() == [*PROSE, ""]
    assert read_text(column(np.nan), facts, row_of)[""].tolist() == [""]
    assert read_text(cells.astype("category"), facts, row_of)[""].tolist() == [*PROSE, ""]
    assert "free text such as" in say_text(facts)
    with pytest.raises(DataError, match=r"row 0 .*held text"):
        read_text(column(5), facts, row_of)


@pytest.mark.parametrize("cells", [GENRES * 50, PROSE[:4] * 50, list(map(str, range(100))), [1, 2]])
def test_levels_and_single_words_are_no_free_text(cells):
    assert recognise_text(column(*cells)) is None


def test_a_chosen_kind_needs_no_certainty():
    few = column("war;crime", "war", None)
    assert adopt_tags(few)["separator"] == ";"
    assert read_tags(few, adopt_tags(few), row_of)[""].tolist() == [f"crime{JOINT}war", "war", ""]
    assert read_text(few, adopt_text(few), row_of)[""].tolist() == ["war;crime", "war", ""]
    for others in (column(1, 2), column(None, None)):
        assert adopt_tags(others) is None
        assert adopt_text(others) is None
