"""Durations and times of day, in text and as types of pandas, Python and Arrow, in seconds."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.ingest.forms.cells import (
    cells_of,
    kind_of_cells,
    known_missing,
    refuse_unread,
    say_missing,
    series_like,
    some_are,
    words_between,
)
from automl_admm.data.ingest.forms.dialects import (
    Dialect,
    dialect_of,
    figure_pattern,
    is_unsure,
    say_unsure,
)
from automl_admm.data.ingest.records import Facts

TYPED = frozenset({"timedelta64", "timedelta", "time"})
SECONDS = {
    **dict.fromkeys(("ns",), 1e-9),
    **dict.fromkeys(("us", "µs"), 1e-6),
    **dict.fromkeys(("ms",), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 604800.0),
}
UNIT = "|".join(sorted(SECONDS, key=len, reverse=True))
CLOCK = r"(?P<a>\d{1,4}):(?P<b>\d{2})(?::(?P<c>\d{2}(?:[.,]\d{1,9})?))?"
CLOCKS = re.compile(
    rf"(?:(?P<days>-?\d+) days?,? ?\+?)?(?P<minus>-)?{CLOCK}(?: ?(?P<half>[ap])\.?m\.?)?",
    re.IGNORECASE | re.ASCII,
)
# A number in any dialect.
FIGURE = r"(?:[1-9]\d{0,2}(?:[.,' ]\d{2,3})*[.,' ]\d{3}(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
AMOUNT = re.compile(rf"({FIGURE}) ?({UNIT})\b", re.IGNORECASE | re.ASCII)
AMOUNTS = re.compile(
    rf"(-)?(?:{FIGURE} ?(?:{UNIT})\b(?:,? (?:and )?|,)?)+", re.IGNORECASE | re.ASCII
)
ISO = re.compile(
    r"(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?(?<![PT])"
)
IN_ISO = (604800, 86400, 3600, 60, 1)
# `5 m` is as well five metres.
METRES = re.compile(rf"-?{FIGURE} ?m", re.IGNORECASE)
PLAIN = Dialect(".")
MARKED = re.compile(r"\d[.,' ]\d")
HINT = "Write it as in training, or nothing where it is missing."


def recognise_duration(column: Any) -> Facts | None:
    """Return how durations and times of day are written; None for other columns."""
    kind = kind_of_cells(column)
    if kind in TYPED:
        first = column.dropna().head(1)
        return _typed_facts(str(first.iloc[0]), kind) if len(first) else None
    if kind != "string" or not some_are(column, _is_like):
        return None
    cells = cells_of(column)
    if all(METRES.fullmatch(text) for text in cells.distinct if _is_like(text)):
        return None
    facts = _facts_of_texts(cells.distinct)
    if facts is None:
        return None
    seconds = np.array([_as_in_training(text, facts) for text in cells.distinct])
    missing = words_between(cells, np.isnan(seconds))
    if missing is None:
        return None
    facts["example"] = _example(list(compress(cells.distinct, ~np.isnan(seconds))))
    return facts | ({"missing": missing} if missing else {})


def _typed_facts(example: str, kind: str) -> dict[str, Any]:
    """Return the facts of a column with a type; only beside times of day is `11:16` one."""
    facts = {"is_short": False, "example": example} | _signs(PLAIN)
    return facts | ({} if kind == "time" else {"has_seconds": True})


def _facts_of_texts(texts: Sequence[str]) -> dict[str, Any] | None:
    """Return the facts but for the example; None if the numbers have no dialect in common.

    With `has_seconds` every clock has them, and `11:16` may be anything.
    """
    figures = _figures_in(texts)
    dialect = dialect_of(figures) if figures else PLAIN
    if dialect is None:
        return None
    clocks = [found for found in map(CLOCKS.fullmatch, texts) if found]
    are_times = any(found["half"] for found in clocks)
    is_short = not are_times and any(map(_is_beyond_hours, texts))
    facts: dict[str, Any] = {"is_short": is_short} | _signs(dialect)
    if clocks and all(found["c"] is not None for found in clocks):
        facts["has_seconds"] = True
    return facts | ({"is_unsure": True} if is_unsure(figures, dialect) else {})


def _signs(dialect: Dialect) -> dict[str, str]:
    return {"decimal": dialect.decimal, "thousands": dialect.thousands}


def _figures_in(texts: Sequence[str]) -> list[str]:
    """Return the numbers beside units; clocks and ISO texts cannot be misread."""
    amounts = (AMOUNT.findall(text) for text in texts if AMOUNTS.fullmatch(text))
    return [figure for found in amounts for figure, _ in found]


def _example(texts: Sequence[str]) -> str:
    """Return the first text with a sign in a number, which shows the dialect, or else the first."""
    return next(filter(MARKED.search, texts), texts[0])


def _is_like(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in (CLOCKS, AMOUNTS, ISO))


def _is_beyond_hours(text: str) -> bool:
    """Return True for `59:30`: no hour of a day, so these are minutes and seconds."""
    found = CLOCKS.fullmatch(text)
    return found is not None and found["c"] is None and int(found["a"]) > 24


def _seconds(text: str, facts: Facts) -> float:
    """Return the seconds of a text; NaN for one that is no duration."""
    if found := CLOCKS.fullmatch(text):
        return _of_clock(found, is_short=facts["is_short"] and found["half"] is None)
    if found := AMOUNTS.fullmatch(text):
        total = sum(_figure(a, facts) * SECONDS[u.lower()] for a, u in AMOUNT.findall(text))
        return -total if found[1] else total
    if found := ISO.fullmatch(text):
        parts = zip(found.groups()[1:], IN_ISO, strict=True)
        total = sum(float(part or 0) * unit for part, unit in parts)
        return -total if found[1] else total
    return np.nan


def _figure(text: str, facts: Facts) -> float:
    """Return a number in the dialect of training; NaN for one in another."""
    decimal, thousands = facts["decimal"], facts["thousands"]
    if re.fullmatch(figure_pattern(Dialect(decimal, thousands)), text) is None:
        return np.nan
    return float(text.replace(thousands, "").replace(decimal, "."))


def _of_clock(found: re.Match[str], *, is_short: bool) -> float:
    first, second = int(found["a"]), int(found["b"])
    third = float((found["c"] or "0").replace(",", "."))
    if found["half"]:
        if not 1 <= first <= 12:
            return np.nan
        first = first % 12 + 12 * (found["half"] in "pP")
    if second > 59 or third >= 60:
        return np.nan
    total = first * 3600 + second * 60 + third
    if is_short and found["c"] is None:
        total = first * 60 + second
    return int(found["days"] or 0) * 86400 + (-total if found["minus"] else total)


def read_duration(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return durations, and times of day since midnight, in seconds."""
    kind = kind_of_cells(column)
    if kind == "empty":
        return {"": series_like(column, np.full(len(column), np.nan))}
    held = f"times such as {say_value(facts['example'])}"
    if kind not in ("string", *TYPED):
        refuse_cells(column, column.notna().to_numpy(), held, HINT, place)
    cells = cells_of(column)
    if kind in TYPED:
        found = np.array([_of_type(value) for value in cells.distinct], dtype=float)
        return {"": series_like(column, cells.spread(found))}
    texts = list(map(str, cells.distinct))
    found = np.array([_as_in_training(text, facts) for text in texts], dtype=float)
    is_gap = known_missing(facts)
    lost = [bool(np.isnan(f)) and not is_gap(t) for f, t in zip(found, texts, strict=True)]
    refuse_unread(column, cells, lost, held, HINT, place)
    return {"": series_like(column, cells.spread(found))}


def _as_in_training(text: str, facts: Facts) -> float:
    """Return the seconds of a later text; NaN for one that training leaves open.

    Beside `1:02:03` alone, `11:16` may be minutes and seconds or hours and minutes; and `59:30` is
    no time of a column of hours and minutes.
    """
    clock = CLOCKS.fullmatch(text)
    is_open = clock is not None and clock["c"] is None and clock["half"] is None
    if is_open and (facts.get("has_seconds") or (not facts["is_short"] and _is_beyond_hours(text))):
        return np.nan
    return _seconds(text, facts)


def _of_type(value: Any) -> float:
    if isinstance(value, dt.time):
        whole = (value.hour * 60 + value.minute) * 60 + value.second
        return whole + value.microsecond / 1e6
    if isinstance(value, np.timedelta64 | int):
        value = dt.timedelta(microseconds=int(np.timedelta64(value, "us").astype(np.int64)))
    return float(value.total_seconds())


def say_duration(facts: Facts) -> str:
    """Return a line on durations."""
    said = f"times such as {say_value(facts['example'])}, made into seconds"
    if facts["is_short"]:
        said += "; two parts are minutes and seconds"
    return said + say_unsure(facts) + say_missing(facts)
