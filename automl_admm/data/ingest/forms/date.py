"""Dates and times: in text, as dates of pandas, Python and Arrow, and as periods."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place, refuse_cells
from automl_admm.data.ingest.forms.cells import (
    Cells,
    cells_of,
    is_missing,
    kind_of_cells,
    known_missing,
    refuse_unread,
    say_missing,
    series_like,
    some_are,
    words_between,
)
from automl_admm.data.ingest.forms.moments import (
    NOTHING,
    Moments,
    Order,
    moments_of,
    shape_of,
    zones_of,
)
from automl_admm.data.ingest.records import Facts

ORDERS: tuple[Order, ...] = ("dmy", "mdy")
TYPED = frozenset({"datetime64", "datetime", "date", "period"})
MICROSECONDS_A_DAY = 86_400_000_000
# Years beyond stand for "none" or "for ever": 0001, 9999.
FIRST_YEAR, LAST_YEAR = 1000, 2999
ZEROS = re.compile(r"0{4}[-/.]00[-/.]00(?:[ T][0:.]+Z?)?|00([-/.])00\1(?:00)?00")
HINT = "Write the date as in training, or nothing where it is missing."


def recognise_date(column: Any) -> Facts | None:
    """Return the order of day and month and the varying parts of dates; None for other columns."""
    kind = kind_of_cells(column)
    if kind in TYPED:
        return _facts_of_typed(column) if column.notna().any() else None
    if kind != "string" or not some_are(column, shape_of):
        return None
    cells = cells_of(column)
    texts = [text for text in cells.distinct if not _is_gap(text)]
    return _facts_of_text(cells, _decide(cells, texts))


def _is_gap(text: str) -> bool:
    return is_missing(text) or ZEROS.fullmatch(text) is not None


def _facts_of_typed(column: Any) -> Facts:
    moments = _of_type(column)
    present = column.notna().to_numpy(dtype=bool)
    facts: dict[str, Any] = {"has_zone": bool(_zoned(column)[present].all()), "order": ""}
    if _is_far(moments).any():
        facts["has_sentinel"] = True
    return facts | {"parts": _varying(_near(moments)), "example": str(column.dropna().iloc[0])}


@dataclass(frozen=True, slots=True)
class Decision:
    """The moments of a column's distinct cells by the likeliest order of day and month."""

    moments: Moments
    order: Order = ""
    is_unsure: bool = False


def _facts_of_text(cells: Cells, decision: Decision) -> dict[str, Any] | None:
    """Return the facts if nearly all texts are dates; few others count as missing, and are told."""
    lost = np.isnat(decision.moments)
    missing = words_between(cells, lost, _is_gap)
    if missing is None:
        return None
    known = [text for text, is_lost in zip(cells.distinct, lost, strict=True) if not is_lost]
    facts: dict[str, Any] = {"order": decision.order, "has_zone": bool(zones_of(known).all())}
    if missing:
        facts["missing"] = missing
    if decision.is_unsure:
        facts["is_unsure"] = True
    if _is_far(decision.moments).any():
        facts["has_sentinel"] = True
    return facts | {"parts": _varying(_near(decision.moments)), "example": known[-1]}


def _decide(cells: Cells, texts: Sequence[str]) -> Decision:
    """Return the order of day and month with the fewest unreadable cells."""
    some = [shape_of(text) for text in texts[:: max(len(texts) // 2000, 1)]]
    if not any("?" in (shape or "") for shape in some):
        return Decision(moments_of(cells.distinct, ""))
    both: dict[Order, Moments] = {}
    for order in ORDERS:
        both[order] = moments_of(cells.distinct, order)
    lost = {order: int(np.isnat(found).sum()) for order, found in both.items()}
    if lost["dmy"] == lost["mdy"]:
        likelier = _likelier(cells, both, texts)
        return Decision(both[likelier], likelier, is_unsure=True)
    better: Order = "dmy" if lost["dmy"] < lost["mdy"] else "mdy"
    return Decision(both[better], better)


def _likelier(cells: Cells, both: Mapping[Order, Moments], texts: Sequence[str]) -> Order:
    """Return the order with sorted rows or one day of the month; else that of the sign's users."""
    is_sorted = [_is_sorted(cells.spread(both[order], NOTHING)) for order in ORDERS]
    is_one_day = ["day" not in _varying(both[order]) for order in ORDERS]
    for dmy, mdy in (is_sorted, is_one_day):
        if dmy != mdy:
            return "dmy" if dmy else "mdy"
    return "mdy" if "/" in texts[0] else "dmy"


def _is_sorted(moments: Moments) -> bool:
    steps = np.diff(moments[~np.isnat(moments)].astype(np.int64))
    return bool(len(steps) and ((steps >= 0).all() or (steps <= 0).all()))


def _is_far(moments: Moments) -> NDArray[np.bool_]:
    year = moments.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.asarray(~np.isnat(moments) & ((year < FIRST_YEAR) | (year > LAST_YEAR)))


def _near(moments: Moments) -> Moments:
    return np.where(_is_far(moments), NOTHING, moments)


PARTS = ("year", "month", "day", "weekday", "hour", "minute")
# The unit to count since 1970, the count then (it was a Thursday), and the length of the cycle.
CYCLES = {
    "year": ("Y", 1970, 0),
    "month": ("M", 0, 12),
    "weekday": ("D", 3, 7),
    "hour": ("h", 0, 24),
    "minute": ("m", 0, 60),
}


def _varying(moments: Moments) -> list[str]:
    present = moments[~np.isnat(moments)]
    return [part for part in PARTS if len(present) and np.ptp(_part(present, part)) > 0]


def _part(moments: Moments, part: str) -> NDArray[np.float64]:
    """Return one part of moments as numbers; Monday is 0."""
    if part == "day":
        found = _count(moments, "D") - _count(moments.astype("datetime64[M]"), "D") + 1
    else:
        unit, first, size = CYCLES[part]
        found = _count(moments, unit) + first
        found = found % size + (part == "month") if size else found
    return np.where(np.isnat(moments), np.nan, found)


def _count(moments: NDArray[Any], unit: str) -> NDArray[np.int64]:
    return np.asarray(moments.astype(f"datetime64[{unit}]").astype(np.int64))


def read_date(column: Any, facts: Facts, place: Place) -> dict[str, Any]:
    """Return the days since 1970 in UTC and the parts of dates that varied in training."""
    kind = kind_of_cells(column)
    if kind in TYPED:
        moments = _checked_zone(column, facts, place)
    elif kind in ("string", "empty"):
        moments = _of_text(column, facts, place)
    else:
        moments = np.full(len(column), NOTHING)
        refuse_cells(column, column.notna().to_numpy(), _held(facts), HINT, place)
    far = _is_far(moments)
    if not facts.get("has_sentinel"):
        refuse_cells(column, far, f"dates from {FIRST_YEAR} to {LAST_YEAR}", HINT, place)
    moments = np.where(far, NOTHING, moments)
    days = np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / MICROSECONDS_A_DAY)
    made = {f".{part}": _part(moments, part) for part in facts["parts"]}
    return {suffix: series_like(column, found) for suffix, found in ({"": days} | made).items()}


def _held(facts: Facts) -> str:
    return f"dates such as {say_value(facts['example'])}"


def _of_text(column: Any, facts: Facts, place: Place) -> Moments:
    cells = cells_of(column)
    texts = [str(value) for value in cells.distinct]
    moments = moments_of(texts, facts["order"])
    is_gap = known_missing(facts)
    lost = [
        is_lost and not (is_gap(text) or (ZEROS.fullmatch(text) is not None))
        for text, is_lost in zip(texts, np.isnat(moments), strict=True)
    ]
    refuse_unread(column, cells, lost, _held(facts), HINT, place)
    zoned = zones_of(texts)
    _refuse_zone(
        column,
        cells.spread(zoned, missing=False),
        ~np.isnat(cells.spread(moments, NOTHING)),
        facts,
        place,
    )
    return cells.spread(moments, NOTHING)


def _refuse_zone(column: Any, zoned: Any, present: Any, facts: Facts, place: Place) -> None:
    """Refuse a zone where training had none, and the other way round: hours would shift."""
    if facts["has_zone"]:
        refuse_cells(
            column,
            present & ~zoned,
            "dates with a time zone",
            "Add the zone, such as Z for UTC.",
            place,
        )
    else:
        refuse_cells(
            column, present & zoned, "dates without a time zone", "Leave the zone away.", place
        )


def _checked_zone(column: Any, facts: Facts, place: Place) -> Moments:
    present = column.notna().to_numpy(dtype=bool)
    _refuse_zone(column, _zoned(column), present, facts, place)
    return _of_type(column)


def _zoned(column: Any) -> NDArray[np.bool_]:
    """Return for each cell if it has a time zone: objects of Python may differ in that."""
    from pandas import CategoricalDtype

    if column.dtype != object and not isinstance(column.dtype, CategoricalDtype):
        return np.full(len(column), any(map(_has_zone, column.dropna().head(1))))
    cells = cells_of(column.astype(object))
    return cells.spread(np.array([*map(_has_zone, cells.distinct)], dtype=bool), missing=False)


def _has_zone(value: Any) -> bool:
    return getattr(value, "tzinfo", None) is not None


def _of_type(column: Any) -> Moments:
    import pandas as pd

    if isinstance(column.dtype, pd.PeriodDtype):
        return np.asarray(column.dt.to_timestamp(how="start").to_numpy("datetime64[us]"))
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return np.asarray(column.to_numpy("datetime64[us]"))
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return np.asarray(column.dt.tz_convert(None).to_numpy("datetime64[us]"))
    cells = cells_of(column.astype(object))
    return cells.spread(
        np.array(list(map(_moment, cells.distinct)), dtype="datetime64[us]"), NOTHING
    )


def _moment(value: Any) -> np.datetime64:
    """Return the moment in UTC of one date of Python's, numpy's or pandas'."""
    if hasattr(value, "to_timestamp"):
        value = value.to_timestamp(how="start")
    if _has_zone(value):
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def say_date(facts: Facts) -> str:
    """Return a line on dates and what is made of them."""
    made = ", ".join(("days", *facts["parts"]))
    said = f"dates such as {say_value(facts['example'])}, made into {made}"
    if facts["order"]:
        said += f"; read as {'day, month' if facts['order'] == 'dmy' else 'month, day'}"
        said += ", which no date tells for certain" if facts.get("is_unsure") else ""
    if facts["has_zone"]:
        said += "; in UTC"
    if facts.get("has_sentinel"):
        said += "; years such as 9999 count as missing"
    return said + say_missing(facts)
