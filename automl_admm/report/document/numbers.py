"""Numbers as people read them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from automl_admm.core.percentages import percent, percent_of_confidence, percent_of_risk

NONE = "–"


def plain(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits; a dash for none.

    >>> plain(0.123456), plain(None), plain(12345678.0)
    ('0.1235', '–', '1.235e+07')
    """
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.{digits}g}"


def score(value: float | None) -> str:
    """Return a score with four decimals, as the leaderboard does.

    >>> score(0.79)
    '0.7900'
    """
    if value is None or math.isnan(value):
        return NONE
    return f"{value:.4f}" if abs(value) < 1e5 else plain(value)


def signed(value: float | None) -> str:
    """Return a difference with its sign.

    >>> signed(0.01)
    '+0.0100'
    """
    if value is None or math.isnan(value):
        return NONE
    return f"{value:+.4f}" if abs(value) < 1e5 else f"{value:+.4g}"


def share(part: float | None) -> str:
    """Return a share in percent; only the whole is 100 %.

    >>> share(0.25), share(0.9995), share(None)
    ('25 %', '99.95 %', '–')
    """
    return NONE if part is None or math.isnan(part) else percent(part)


def confidence(part: float | None) -> str:
    """Return a confidence in percent, rounded down.

    >>> confidence(0.95), confidence(0.9999)
    ('95 %', '99.99 %')
    """
    return NONE if part is None or math.isnan(part) else percent_of_confidence(part)


def risk(part: float | None) -> str:
    """Return a chance of an error in percent, rounded up.

    >>> risk(0.003125)
    '0.3125 %'
    """
    return NONE if part is None or math.isnan(part) else percent_of_risk(part)


def rough_share(part: float) -> str:
    """Return a share of something long in percent, roughly.

    >>> rough_share(0.00377), rough_share(0.8), rough_share(0.0001), rough_share(0.999)
    ('0.4 %', '80 %', '< 0.1 %', '99.9 %')
    """
    if 0 < part < 0.0005:
        return "< 0.1 %"
    if 0.995 <= part < 1:
        return percent(part)
    return f"{100 * part:.{0 if part >= 0.0995 else 1}f} %"


def searched(rows: int, learned: int) -> str:
    """Return the number of rows searched on, with that of the final fit if it has more.

    >>> searched(500, 500), searched(500, 2000)
    ('500', '500 of 2000')
    """
    return str(rows) if rows == learned else f"{rows} of {learned}"


def duration(seconds: float | None) -> str:
    """Return seconds as a duration.

    >>> duration(0.5), duration(75.0), duration(7500.0)
    ('0.50 s', '1 min 15 s', '2 h 5 min')
    """
    if seconds is None or not math.isfinite(seconds):
        return NONE
    if seconds < 60:
        return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def moment(text: str) -> str:
    """Return a time of day without its parts of a second; another text as it is.

    >>> moment("2026-11-23T17:41:08.616+00:00")
    '2026-11-23 17:41:08 UTC'
    """
    try:
        known = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return text
    return f"{known:%Y-%m-%d %H:%M:%S} UTC"


def finite(value: float | None) -> float | None:
    """Return a number as JSON can hold it: None for NaN and infinities."""
    return None if value is None or not math.isfinite(value) else float(value)
