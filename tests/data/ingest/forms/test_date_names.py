"""One name for a date, whichever type or text a file has for it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.ingest.answers import PLAIN, read_sensitive, with_sensitive
from automl_admm.data.ingest.applying import take_in
from automl_admm.data.ingest.deciding import decide
from automl_admm.data.ingest.forms.date_names import name_dates

DAYS = ["2020-01-31", "2021-03-06", None, "1999-12-31"]
COLUMNS = {
    "text": pd.Series(DAYS),
    "day first": pd.Series(["31.01.2020", "06.03.2021", None, "31.12.1999"]),
    "datetime64": pd.Series(pd.to_datetime(DAYS)),
    "date": pd.Series([one and dt.date.fromisoformat(one) for one in DAYS], dtype=object),
    "period": pd.Series(pd.PeriodIndex(DAYS, freq="D")),
    "categorical": pd.Series(pd.Categorical(pd.to_datetime(DAYS))),
}


def test_names_tell_the_time_only_where_it_is_not_midnight():
    days = pd.Series(
        [18292.0, 18292.5, np.nan, 18292 + 30600.25 / 86400], name="day", index=[3, 1, 0, 2]
    )
    named = name_dates(days)
    assert named.tolist()[:2] == ["2020-01-31", "2020-01-31 12:00:00"]
    assert pd.isna(named[0])
    assert named[2] == "2020-01-31 08:30:00.25"
    assert named.index.equals(days.index)


@pytest.mark.parametrize("first", COLUMNS)
@pytest.mark.parametrize("later", COLUMNS)
def test_sensitive_dates_of_any_type_have_the_names_of_training(first, later):
    answers = with_sensitive(PLAIN, COLUMNS[first].to_frame("day"))
    read = read_sensitive(COLUMNS[later].to_frame("day"), answers)
    assert read["day"].fillna("").tolist() == [one or "" for one in DAYS]


def test_dates_of_features_have_these_names_for_limits():
    frame = COLUMNS["datetime64"].to_frame("day").assign(a=[1.0, 2.0, 3.0, 4.0])
    taken = take_in(frame, decide(frame))
    assert taken.for_limits()["day"].fillna("").tolist() == [one or "" for one in DAYS]
    assert taken.raw["day"].dtype.kind == "M"
