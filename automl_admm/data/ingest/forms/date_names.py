"""Names of dates, the same whichever type or text a file has for them, for groups of limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.data.ingest.forms.date import MICROSECONDS_A_DAY


def name_dates(days: Any) -> Any:
    """Return the names of days since 1970, as `2020-01-31` or `2020-01-31 08:30:00`."""
    import pandas as pd

    distinct, places = np.unique(days.to_numpy(dtype=float), return_inverse=True)
    names = np.array([_name(day) for day in distinct], dtype=object)
    return pd.Series(names[places], index=days.index, name=days.name, dtype=object)


def _name(day: float) -> Any:
    if np.isnan(day):
        return np.nan
    date, time = str(np.datetime64(round(day * MICROSECONDS_A_DAY), "us")).split("T")
    time = time.rstrip("0").rstrip(".")
    return date if time == "00:00:00" else f"{date} {time}"
