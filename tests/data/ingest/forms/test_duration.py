"""Durations and times of day are seconds, however they are written."""

from __future__ import annotations

import datetime as dt
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.duration import (
    read_duration,
    recognise_duration,
    say_duration,
)


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


def read(cells, facts=None):
    facts = recognise_duration(cells) if facts is None else facts
    assert facts is not None
    return read_duration(cells, json.loads(json.dumps(facts)), row_of)[""]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1:23:45", "0:10:00.5"], [5025, 600.5]),
        (["12:30", "13:00"], [45000, 46800]),
        (["12:30", "59:59"], [750, 3599]),
        (["3:45 PM", "12:00 am"], [56700, 0]),
        (["3 days", "1 day, 2:03:04"], [259200, 93784]),
        (["-1 days +23:59:59"], [-1]),
        (["2h 15m", "90 min", "1.5 h"], [8100, 5400, 5400]),
        (["PT1H30M", "P3D"], [5400, 259200]),
        ([dt.time(12, 30), dt.time(0, 0, 1)], [45000, 1]),
        ([dt.timedelta(days=1, microseconds=500000)], [86400.5]),
    ],
)
def test_durations_are_read(cells, expected):
    assert read(column(*cells)).tolist() == expected


@pytest.mark.parametrize(
    "cells", [["5 m", "6 m"], ["3:1"], ["P"], ["abc"], ["12:75"], [1, 2], [None], ["2024-01-01"]]
)
def test_other_things_are_none(cells):
    assert recognise_duration(column(*cells)) is None


def test_missing_words_are_said_and_others_refused():
    facts = recognise_duration(column("1:00", "2:00", "n.a.", "unknown"))
    assert read(column("1:00", "unknown", None), facts).isna().tolist() == [False, True, True]
    assert "'n.a.', 'unknown' count as missing" in say_duration(facts)
    for junk in ("later", "1:75", 5):
        with pytest.raises(DataError, match=r"row 0 .*held times such as '1:00'"):
            read(column(junk), facts)


@given(st.lists(st.timedeltas(dt.timedelta(-9000), dt.timedelta(9000)), min_size=1, max_size=10))
def test_every_type_of_the_same_durations_reads_alike(values):
    typed = pd.Series(pd.to_timedelta(values), name="x")
    expected = [value.total_seconds() for value in values]
    texts = typed.astype(str)
    for cells in (typed, typed.astype(object), typed.astype("duration[us][pyarrow]"), texts):
        for facts in (None, recognise_duration(typed)):
            assert read(cells, facts).tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("trained", "later"),
    [
        (["2:09:36", "0:11:16"], "11:16"),  # minutes and seconds, or hours and minutes?
        ([dt.timedelta(minutes=11)], "11:16"),
        (["12:30", "13:00"], "55:44"),  # no time of a column of hours and minutes
    ],
)
def test_a_clock_that_training_leaves_open_is_refused(trained, later):
    facts = recognise_duration(column(*trained))
    with pytest.raises(DataError, match=f"holds '{later}'"):
        read(column(trained[0] if isinstance(trained[0], str) else "0:11:00", later), facts)


@pytest.mark.parametrize(
    ("trained", "later", "seconds"),
    [
        (["12:30", "59:59"], "1:02:03", 3723),
        (["12:30", "59:59"], "3:45 PM", 56700),
        (["12:30", "13:00"], "12:30:15", 45015),
        (["2:09:36"], "3 days", 259200),
        (["2:09:36"], "3:45 PM", 56700),
        ([dt.time(12, 30)], "12:30", 45000),
    ],
)
def test_a_clock_that_means_one_thing_is_read(trained, later, seconds):
    facts = recognise_duration(column(*trained))
    assert read(column(later), facts).tolist() == [seconds]


@pytest.mark.parametrize("kind", ["duration[us][pyarrow]", "time64[us][pyarrow]"])
def test_a_column_of_arrow_may_begin_with_a_gap(kind):
    value = dt.timedelta(seconds=90) if "duration" in kind else dt.time(0, 1, 30)
    cells = pd.Series([None, value, value], dtype=kind, name="x")
    assert read(cells).tolist()[1:] == [90, 90]
    assert read(cells.iloc[:1], recognise_duration(cells)).isna().all()


@pytest.mark.parametrize(
    ("cells", "expected", "is_unsure"),
    [
        (["975 ms", "1,824 ms"], [0.975, 1.824], True),
        (["1,824 ms", "1,234,567 ms"], [1.824, 1234.567], False),
        (["1,824.5 ms", "12 ms"], [1.8245, 0.012], False),
        (["1.824,5 ms", "12 ms"], [1.8245, 0.012], False),
        (["1 824,5 ms", "12 ms"], [1.8245, 0.012], False),
        (["1,824 s", "2,5 s"], [1.824, 2.5], False),
        (["1,824 s", "2000 s"], [1.824, 2000], False),
        (["1.824 s", "12 s"], [1.824, 12], True),
        (["1 h, 1,824 ms", "-2 h 5 ms"], [3601.824, -7200.005], True),
        (["0:00:01,250", "1,824 ms"], [1.25, 1.824], True),
    ],
)
def test_signs_of_a_column_part_thousands_or_decimals(cells, expected, is_unsure):
    facts = recognise_duration(column(*cells))
    assert read(column(*cells), facts).tolist() == pytest.approx(expected)
    assert ("taken for granted" in say_duration(facts)) == is_unsure


def test_numbers_of_two_dialects_are_no_durations():
    assert recognise_duration(column("1,5 h", "1.5 h")) is None


@pytest.mark.parametrize(
    ("trained", "later"),
    [
        (["975 ms", "20 ms"], "1,824 ms"),
        (["1,5 h", "2 h"], "1.5 h"),
        (["1.5 h", "2 h"], "1,5 h"),
        (["975 ms", "1,824 ms"], "2,5 ms"),
        (["1:02:03"], "1,824 ms"),
        ([dt.timedelta(seconds=1)], "1,824 ms"),
    ],
)
def test_another_sign_than_in_training_is_refused(trained, later):
    facts = recognise_duration(column(*trained))
    with pytest.raises(DataError, match=f"holds '{later}'"):
        read(column(str(trained[0]), later), facts)


def test_a_clock_with_am_or_pm_is_never_minutes_and_seconds():
    times = [f"{hour}:15 {half}" for hour in range(1, 13) for half in ("am", "pm")] * 10
    facts = recognise_duration(column(*times, "25:10"))
    assert facts["missing"] == ["25:10"]
    assert read(column("3:45 pm", "25:10"), facts).fillna(-1).tolist() == [56700, -1]
    assert recognise_duration(column("3:45 pm", "59:30")) is None
