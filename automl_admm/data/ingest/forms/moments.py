"""Dates and times in text: the patterns, and the moments that texts mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

# The order of day and month where the signs between them do not tell it.
Order = Literal["", "dmy", "mdy"]
Moments = NDArray[np.datetime64]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}\.?,? )?"
TIME = (
    r"(?:(?:T|,? )(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?)?"
    r"(?: ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?)?"
)
D2, D12, Y4 = r"(\d{2})", r"(\d{1,2})", r"(\d{4})"
# A pattern, and the meaning of its groups: `?` and `!` are day and month in the column's order.
SHAPES: tuple[tuple[str, str], ...] = (
    (f"{Y4}-{D12}-{D12}", "Ymd"),
    (rf"{Y4}([/.]){D12}\2{D12}", "Y-md"),
    (rf"{D12}\.{D12}\.{Y4}", "dmY"),
    (rf"{D2}\.{D2}\.{D2}", "dmy"),
    (f"{D12}([/-]){D12}\\2{Y4}", "?-!Y"),
    (f"{D12}([/-]){D12}\\2{D2}", "?-!y"),
    (f"{Y4}{D2}{D2}", "Ymd"),
    (f"{D12}(?:st|nd|rd|th)?[ -]?{MONTH}[ ,-]*{Y4}", "dbY"),
    (f"{D12}[ -]?{MONTH}[ -]{D2}", "dby"),
    (f"{MONTH}[ -]{D12}(?:st|nd|rd|th)?,? {Y4}", "bdY"),
    (f"{Y4}[ -]{MONTH}[ -]{D12}", "Ybd"),
    (f"{MONTH}[ -]{Y4}", "bY"),
    (f"{Y4}-{D2}", "Ym"),
    (f"{D12}/{Y4}", "mY"),
    (f"{Y4}[ -]?Q([1-4])", "Yq"),
    (f"Q([1-4])[ /-]{Y4}", "qY"),
)
DIGIT = re.compile(r"[0-9]")
ISO = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?"
ISO_LINES = re.compile(rf"(?:{ISO}\n)*+{ISO}", re.ASCII)
# Two digits of a year, as in POSIX: 69 is 1969, 68 is 2068.
FIRST_OF_CENTURY = 69
# The parts of a moment, in the order of the columns of `_Table`.
PARTS = "Ymdhisuz"
NOTHING = np.datetime64("NaT", "us")


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    # Compiling them takes longer than reading most columns, of which none may have a date.
    flags = re.IGNORECASE | re.ASCII
    return [(re.compile(WEEKDAY + shape + TIME, flags), letters) for shape, letters in SHAPES]


def shape_of(text: str) -> str | None:
    """Return the letters of a text's shape; None for no date."""
    if DIGIT.search(text) is None:
        return None
    return next((letters for pattern, letters in _patterns() if pattern.fullmatch(text)), None)


def zones_of(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return True for each text of a date with a time zone."""
    if _are_iso(texts):
        return np.zeros(len(texts), dtype=bool)
    return np.array([_has_zone(text) for text in texts], dtype=bool)


def _has_zone(text: str) -> bool:
    # The last group of each pattern is the zone.
    found = (pattern.fullmatch(text) for pattern, _ in _patterns())
    return next((bool(match[match.re.groups]) for match in found if match), False)


def _are_iso(texts: Sequence[str]) -> bool:
    joined = "\n".join(texts)
    # A newline within a text would count as two lines.
    return bool(ISO_LINES.fullmatch(joined)) and joined.count("\n") == len(texts) - 1


def moments_of(texts: Sequence[str], order: Order) -> Moments:
    """Return the moments in UTC that texts mean, NaT for texts that are no dates.

    A date with an unclear order of day and month needs `order`.
    """
    if _are_iso(texts):
        try:
            return np.array(texts, dtype="datetime64[us]")
        except ValueError:  # such as the 30th of February
            pass
    rows = [_row(text, order) for text in texts]
    return _moments(np.array(rows, dtype=np.int64).reshape(len(texts), len(PARTS)))


def _row(text: str, order: Order) -> tuple[int, ...]:
    for pattern, letters in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return _parts(letters, found.groups(), order)
    return (0,) * len(PARTS)


def _parts(letters: str, groups: Sequence[Any], order: Order) -> tuple[int, ...]:
    """Return the numbers of a date and its time; a month 0 makes it invalid."""
    day_first = order != "mdy"
    names = letters.replace("?", "d" if day_first else "m").replace("!", "m" if day_first else "d")
    is_unclear = "?" in letters and not order
    found = dict(zip(names, groups, strict=False))
    hour, minute, second, fraction, half, zone = groups[len(letters) :]
    return (
        _year(found),
        0 if is_unclear else _month(found),
        int(found.get("d", 1)),
        _hour(hour, half),
        int(minute or 0),
        int(second or 0),
        int((fraction or "0")[:6].ljust(6, "0")),
        _offset(zone),
    )


def _year(found: dict[str, str]) -> int:
    if "Y" in found:
        return int(found["Y"])
    short = int(found["y"])
    return short + (1900 if short >= FIRST_OF_CENTURY else 2000)


def _month(found: dict[str, str]) -> int:
    if "b" in found:
        return MONTHS.index(found["b"][:3].lower()) + 1
    return int(found["m"]) if "m" in found else 3 * int(found["q"]) - 2


def _hour(hour: str | None, half: str | None) -> int:
    if half is None:
        return int(hour or 0)
    # 12 AM is midnight; 13 PM is nothing.
    return 99 if not 1 <= int(hour or 0) <= 12 else int(hour or 0) % 12 + 12 * (half in "pP")


def _offset(zone: str | None) -> int:
    """Return the minutes of a zone ahead of UTC."""
    if zone is None or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (int(digits[:2]) * 60 + int(digits[2:])) * (-1 if zone[0] == "-" else 1)


def _moments(table: NDArray[np.int64]) -> Moments:
    year, month, day, hour, minute, second, micro, offset = table.T
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    is_time = (hour < 24) & (minute < 60) & (second < 60) & (year > 0)
    seconds = (hour * 60 + minute - offset) * 60 + second
    found = days.astype("datetime64[us]") + (seconds * 1_000_000 + micro)
    return np.where(is_day & is_time, found, NOTHING)
