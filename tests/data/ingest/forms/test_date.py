"""Dates in every spelling and type mean the same moments."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.forms.date import read_date, recognise_date, say_date

EPOCH = dt.datetime(1970, 1, 1)


def column(*cells, **options):
    return pd.Series(list(cells), name="x", **options)


def read(cells, facts=None):
    cells = cells if isinstance(cells, pd.Series) else column(*cells)
    facts = recognise_date(cells) if facts is None else facts
    assert facts is not None
    return read_date(cells, json.loads(json.dumps(facts)), row_of)


def days(*moments):
    return [(moment - EPOCH) / dt.timedelta(days=1) for moment in moments]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2024-12-31", "2025-02-01"], [(2024, 12, 31), (2025, 2, 1)]),
        (["2024/12/31", "2025/2/1"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31.12.2024", "1.2.2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31.12.24", "01.02.68"], [(2024, 12, 31), (2068, 2, 1)]),
        (["12/31/2024", "2/1/2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31/12/2024", "1/2/2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31-12-2024", "1-2-2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["20241231", "20250201"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31 Dec 2024", "1 February 2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["31-DEC-24", "01-FEB-25"], [(2024, 12, 31), (2025, 2, 1)]),
        (["Dec 31, 2024", "February 1st, 2025"], [(2024, 12, 31), (2025, 2, 1)]),
        (["Tue, 31 Dec 2024 10:30:00 GMT"], [(2024, 12, 31, 10, 30)]),
        (["Dec-2024", "Feb-2025"], [(2024, 12, 1), (2025, 2, 1)]),
        (["2024-12", "2025-02"], [(2024, 12, 1), (2025, 2, 1)]),
        (["2024Q4", "2025Q1"], [(2024, 10, 1), (2025, 1, 1)]),
        (
            ["2024-12-31T10:30", "2025-02-01 00:00:01.5"],
            [(2024, 12, 31, 10, 30), (2025, 2, 1, 0, 0, 1, 500000)],
        ),
        (["12/31/24 3:45 PM", "2/1/25 12:00 AM"], [(2024, 12, 31, 15, 45), (2025, 2, 1)]),
        (
            ["2024-12-31T10:30:00+02:00", "2024-12-31T10:30:00Z"],
            [(2024, 12, 31, 8, 30), (2024, 12, 31, 10, 30)],
        ),
        (
            ["2024-12-31 10:30:00-05", "2024-12-31 10:30:00+0530"],
            [(2024, 12, 31, 15, 30), (2024, 12, 31, 5)],
        ),
    ],
)
def test_dates_in_text_are_read(cells, expected):
    assert read(cells)[""].tolist() == days(*(dt.datetime(*parts) for parts in expected))


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "10.4.12"],
        ["12:30", "13:45"],
        ["20241231", "20241301"],
        ["31/12/2024", "12/31/2024"],
        ["2024-13-01", "2024-14-01"],
        ["abc", "def"],
        ["2024", "2025"],
        [1704067200, 1704153600],
        [None, None],
        ["", ""],
        [["2024-01-01"]],
        ["May", "June"],
    ],
)
def test_other_things_are_no_dates(cells):
    assert recognise_date(column(*cells)) is None


def test_parts_that_vary_in_training_are_made():
    assert list(read(["2024-01-05", "2024-01-06"])) == ["", ".day", ".weekday"]
    assert list(read(["2024-01-05 10:00", "2024-01-05 11:00"])) == ["", ".hour"]
    made = read(["2023-12-31", "2024-01-01"])
    assert {suffix: found.tolist() for suffix, found in made.items() if suffix} == {
        ".year": [2023, 2024],
        ".month": [12, 1],
        ".day": [31, 1],
        ".weekday": [6, 0],
    }


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["01/01/2024", "01/02/2024", "01/03/2024"], "day, month"),  # one day of the month
        (["02/03/2024", "05/03/2024", "01/04/2024"], "day, month"),  # sorted
        (["03/02/2024", "03/05/2024", "04/01/2024"], "month, day"),
        (["05/06/2024", "01/02/2024", "07/03/2024"], "month, day"),
    ],
)
def test_an_undecidable_order_is_said(cells, first):
    said = say_date(recognise_date(column(*cells)))
    assert f"read as {first}, which no date tells for certain" in said


def test_the_order_of_training_holds_for_later_cells():
    facts = recognise_date(column("31/12/2024", "1/2/2025"))
    assert read(["03/04/2024"], facts)[""].tolist() == days(dt.datetime(2024, 4, 3))
    with pytest.raises(DataError, match="12/31/2024"):
        read(["12/31/2024"], facts)


def test_a_date_of_unknown_order_is_refused():
    facts = recognise_date(column("2024-12-31", "2025-01-01"))
    with pytest.raises(DataError, match=r"row 0 .*'03/04/2024'.*held dates such as"):
        read(["03/04/2024"], facts)


@pytest.mark.parametrize("junk", ["31.02.2024", "soon", "2024-01-01T25:00", "45000", 45000])
def test_a_cell_without_a_date_is_refused(junk):
    facts = recognise_date(column("31.12.2024", "1.2.2025"))
    with pytest.raises(DataError, match=r"row \d .*holds .*dates such as"):
        read(
            column("1.1.2024", junk, dtype=object) if isinstance(junk, str) else column(junk), facts
        )


def test_zones_must_be_as_in_training():
    plain = recognise_date(column("2024-12-31 10:00", "2025-01-01 11:00"))
    zoned = recognise_date(column("2024-12-31 10:00Z", "2025-01-01 11:00+01:00"))
    with pytest.raises(DataError, match="without a time zone"):
        read(["2024-12-31 10:00Z"], plain)
    with pytest.raises(DataError, match="with a time zone"):
        read(["2024-12-31 10:00"], zoned)
    with pytest.raises(DataError, match="with a time zone"):
        read(pd.Series(pd.to_datetime(["2024-12-31"]), name="x"), zoned)


BERLIN = dt.datetime(2024, 7, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=2)))
PLAIN = dt.datetime(2024, 7, 1, 8)


@pytest.mark.parametrize("kind", ["object", "category"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_zone_that_one_of_the_objects_has_not_is_no_utc(kind, order):
    mixed = pd.Series([BERLIN, PLAIN, None][::order], name="x", dtype=object).astype(kind)
    zoned = recognise_date(column(BERLIN, BERLIN + dt.timedelta(days=1), dtype=object))
    plain = recognise_date(column(PLAIN, PLAIN + dt.timedelta(days=1), dtype=object))
    with pytest.raises(DataError, match=r"2024, 7, 1, 8, 0\), and held dates with a time zone"):
        read(mixed, zoned)
    for facts in (plain, recognise_date(mixed)):
        with pytest.raises(DataError, match="held dates without a time zone"):
            read(mixed, facts)


def test_words_zeros_and_far_years_are_missing_and_said():
    cells = column("2024-12-31", "n/a", "unknown", "0000-00-00", "9999-12-31", None, "2024-11-30")
    facts = recognise_date(cells)
    assert read(cells)[""].isna().tolist() == [False, True, True, True, True, True, False]
    assert "years such as 9999 count as missing" in say_date(facts)
    assert "'0000-00-00', 'unknown' count as missing" in say_date(facts)
    with pytest.raises(DataError, match="9999"):
        read(["9999-12-31"], recognise_date(column("2024-12-31", "2024-11-30")))


def test_a_few_impossible_dates_of_training_are_missing_and_said():
    cells = column(*["2024-12-31", "2024-11-30"] * 60, "2024-02-30")
    assert "'2024-02-30' count as missing" in say_date(recognise_date(cells))
    assert read(cells)[""].isna().sum() == 1


MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
SPELLINGS = [
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.000",
    "%d.%m.%Y %H:%M:%S",
    "%d %b %Y %H:%M:%S",
    "%B %d, %Y %I:%M:%S %p",
    "%Y%m%dT%H:%M:%S",
]


@given(st.lists(MOMENTS, min_size=1, max_size=20), st.sampled_from(SPELLINGS))
def test_any_spelling_reads_back_exactly(moments, spelling):
    found = read([moment.strftime(spelling) for moment in moments])
    np.testing.assert_allclose(found[""], days(*moments), rtol=0, atol=1e-11)


AS_TYPES = [
    lambda moments: pd.Series(moments, name="x"),
    lambda moments: pd.Series(moments, name="x").astype(object),
    lambda moments: pd.Series(moments, name="x").astype(str),
    lambda moments: pd.Series(moments, name="x").astype(str).astype("category"),
    lambda moments: pd.Series(moments, name="x").astype("category"),
    lambda moments: pd.Series(moments, name="x").astype("timestamp[ms][pyarrow]"),
    lambda moments: pd.Series([m.isoformat() for m in moments], name="x", dtype="string[pyarrow]"),
]


@given(st.lists(MOMENTS, min_size=2, max_size=10), st.sampled_from(AS_TYPES))
def test_every_type_of_the_same_dates_reads_alike(moments, make):
    cells = make(moments)
    own, others = read(cells), read(cells, recognise_date(AS_TYPES[0](moments)))
    for made in (own, others):
        expected = read(AS_TYPES[0](moments))
        assert list(made) == list(expected)
        for suffix, found in expected.items():
            pd.testing.assert_series_equal(made[suffix], found)


@given(st.lists(MOMENTS, min_size=1, max_size=10))
def test_zones_of_every_type_mean_the_same_moment(moments):
    utc = pd.Series(moments, name="x").dt.tz_localize("UTC")
    facts = recognise_date(utc)
    berlin = utc.dt.tz_convert("Europe/Berlin")
    for cells in (berlin, berlin.astype(str), berlin.astype("timestamp[us, UTC][pyarrow]")):
        np.testing.assert_array_equal(read(cells, facts)[""], read(utc)[""])


def test_periods_and_days_are_their_first_moment():
    months = pd.Series(pd.period_range("2024-01", periods=3, freq="M"), name="x")
    assert read(months)[""].tolist() == read(months.astype(str))[""].tolist()
    assert read(column(dt.date(2024, 1, 1), None))[""].iloc[0] == days(dt.datetime(2024, 1, 1))[0]


def test_a_column_of_arrow_may_begin_with_a_gap():
    moments = [None, *pd.date_range("2024-01-01", periods=3).to_pydatetime()]
    cells = pd.Series(moments, dtype="timestamp[us][pyarrow]", name="x")
    facts = recognise_date(cells)
    assert facts is not None
    assert read_date(cells, facts, row_of)[""].isna().tolist() == [True, False, False, False]
