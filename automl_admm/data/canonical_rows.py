"""Canonical hashes of rows: equal for equal values, whatever type a file or a reader has for them.

One cell of another kind turns a whole column to objects or texts. The fingerprints of data hang on
such types, and stay as they are: certificates and the ledger of looks keep them.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.data.distinct_values import find_distinct
from automl_admm.data.fingerprints import Hashes, mix, rounded
from automl_admm.data.table_schema import MISSING_TEXTS

# As readers of files take a text for a number: 007 is a code.
NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.ASCII)
WIDE = np.dtype(float).itemsize
WIDE_TYPE = str(np.dtype(float))
MOST_DIGITS = 9  # of a number in four bytes
FEW_DIGITS = 6  # of a number that was written, not rounded to two bytes
TRUTHS = {"true": 1.0, "false": 0.0}
NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})

# A cell as a number, a moment or a text, whatever its type; None where it is missing.
Reading = float | np.datetime64 | str | None


def hash_canonically(
    columns: Iterable[tuple[str, Any]], rows: int, narrow: Mapping[str, str] = NOTHING_KNOWN
) -> tuple[Hashes, Hashes, Hashes]:
    """Return three hashes of each row, equal for equal values of any type in any order of columns.

    The first does not tell which column a cell stands in, the second goes by their names, too. To
    the third a number that a narrow type holds is the one of the fewest digits there, so 0.1 is
    0.1, whichever types it went through.

    Truth values are the numbers 1 and 0, moments are in UTC, and a text counts without blanks
    around it: as a number, a truth value or a moment if a reader may take it for one. A missing
    cell adds nothing. `narrow` has the types of columns in training, of less than eight bytes, or
    `float64` where a reader made narrow ones of them.
    """
    import pandas as pd

    alone, placed, written = np.zeros((3, rows), dtype=np.uint64)
    for name, column in columns:
        cells = pd.Series(column).reset_index(drop=True)
        found, by_digits = _hash_cells(cells, narrow.get(name))
        in_place = _in_column(found, name)
        alone += found  # wraps around
        placed += in_place
        written += in_place if by_digits is found else _in_column(by_digits, name)
    return alone, placed, written


def _in_column(found: Hashes, name: str) -> Hashes:
    return np.where(found == 0, found, mix(found, _hash_name(name)))


def _hash_name(name: str) -> Hashes:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.array([int.from_bytes(digest, "little")], dtype=np.uint64)


def _hash_cells(values: Any, narrow: str | None) -> tuple[Hashes, Hashes]:
    """Return the hashes of cells, and those by the fewest digits: the same array if none differ."""
    from pandas.api import types

    missing = values.isna().to_numpy(dtype=bool)
    if str(getattr(values.dtype, "pyarrow_dtype", "")).startswith("date"):
        values = values.astype("datetime64[us]")
    if types.is_numeric_dtype(values.dtype) and values.dtype.kind != "c":
        wide = np.where(missing, 0.0, values.to_numpy(dtype=float, na_value=np.nan))
        found, written = _hash_both(np.where(missing, 0.0, _as_written(values, narrow)), wide)
    elif types.is_datetime64_any_dtype(values.dtype):
        in_utc = values if values.dt.tz is None else values.dt.tz_convert(None)
        found = written = _hash_moments(in_utc.to_numpy("datetime64[us]"))
    else:
        found, written = _hash_objects(values)
    known = np.where(missing, np.uint64(0), found)
    return known, known if written is found else np.where(missing, np.uint64(0), written)


def _hash_both(numbers: NDArray[np.float64], wide: NDArray[np.float64]) -> tuple[Hashes, Hashes]:
    found, digits = _hash_numbers(numbers), _by_digits(wide)
    are_same = np.array_equal(digits, numbers, equal_nan=True)
    return found, found if are_same else _hash_numbers(digits)


def _by_digits(wide: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers that a narrow type holds by the fewest digits there, others as they are.

    It hangs on each value alone: not on the type, as a reader that follows a schema has widened
    it, nor on the other rows of a file. Whole numbers are the same in every type, and what has few
    digits, such as 300.25, was written so: to 16 bits it would be 300.2.
    """
    with np.errstate(over="ignore", under="ignore"):
        are_narrow = np.isfinite(wide) & (wide.astype(np.float32) == wide)
    are_narrow &= np.trunc(wide) != wide
    if not are_narrow.any():
        return wide
    values, places = np.unique(wide[are_narrow], return_inverse=True)
    written = _of_fewest_digits(values.astype(np.float32))
    with np.errstate(over="ignore", under="ignore"):
        half = values.astype(np.float16)
    are_half = (half == values) & ~_have_few_digits(values)
    written[are_half] = _of_fewest_digits(half[are_half])
    found = wide.copy()
    found[are_narrow] = written[places]
    return found


def _have_few_digits(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return True for numbers, not 0, with no more digits than somebody writes."""
    scale = 10.0 ** (FEW_DIGITS - 1 - np.floor(np.log10(np.abs(values))))
    return np.asarray(np.rint(values * scale) / scale == values)


def _as_written(values: Any, narrow: str | None) -> NDArray[np.float64]:
    """Return numbers as a file in text has them: there a narrow 0.1 is the same as a wide one.

    One number beyond a `narrow` type has made its column wide: others are as this type has them.
    """
    size = getattr(values.dtype, "itemsize", WIDE)  # sparse ones do not say it
    if values.dtype.kind == "f" and size < WIDE and narrow != WIDE_TYPE:
        return _of_fewest_digits(values.to_numpy(dtype=f"f{size}", na_value=np.nan))
    wide = np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
    if narrow in (None, WIDE_TYPE):
        return wide
    with np.errstate(over="ignore"):
        held = wide.astype(narrow)
    return np.where(held == wide, _of_fewest_digits(held), wide)


def _of_fewest_digits(narrow: NDArray[Any]) -> NDArray[np.float64]:
    """Return narrow numbers with the fewest digits that are the same number there."""
    found = narrow.astype(float)
    left = np.flatnonzero(np.isfinite(found) & (found != 0.0))
    power = np.floor(np.log10(np.abs(found[left])))
    for digits in range(1, MOST_DIGITS + 1):
        scale = 10.0 ** (digits - 1 - power)
        tried = np.rint(narrow[left].astype(float) * scale) / scale
        with np.errstate(over="ignore"):
            fits = tried.astype(narrow.dtype) == narrow[left]
        found[left[fits]] = tried[fits]
        left, power = left[~fits], power[~fits]
    return found


def _hash_objects(values: Any) -> tuple[Hashes, Hashes]:
    """Read and hash every distinct cell once."""
    try:
        places, distinct = find_distinct(values)
    except TypeError:  # lists, for example, are known by their texts
        places, distinct = find_distinct(values.map(str))
    readings = [*map(_read, distinct)]
    found = np.zeros(len(readings) + 1, dtype=np.uint64)  # the place of a missing one is -1
    chosen = {
        kind: [place for place, one in enumerate(readings) if isinstance(one, kind)]
        for kind in HASHED
    }
    for kind, hash_all in HASHED.items():
        if chosen[kind]:
            found[chosen[kind]] = hash_all([readings[place] for place in chosen[kind]])
    written, numbers = found.copy(), np.array([readings[place] for place in chosen[float]], float)
    written[chosen[float]] = _hash_both(numbers, numbers)[1]
    return found[places], written[places]


def _read(cell: Any) -> Reading:
    if isinstance(cell, np.floating):
        return float(str(cell))
    if isinstance(cell, (numbers.Real, Decimal, np.bool_)):
        try:
            return float(cell)
        except (OverflowError, ValueError):  # beyond all floats it is known by its digits
            return str(cell)
    if isinstance(cell, (dt.date, np.datetime64)):
        return _known_moment(cell)
    return _read_text(str(cell).strip())


def _read_text(text: str) -> Reading:
    if text in MISSING_TEXTS:
        return None
    if NUMBER.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    if MOMENT.fullmatch(text):
        try:
            return _moment(dt.datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            return text
    return TRUTHS.get(text.casefold(), text)


def _moment(cell: Any) -> np.datetime64:
    if getattr(cell, "tzinfo", None) is not None:
        cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(cell, "us")


def _known_moment(cell: Any) -> Reading:
    try:
        return _moment(cell)
    except (OverflowError, ValueError):  # in UTC it is before the first year, or after the last
        return str(cell)


def _hash_numbers(values: Any) -> Hashes:
    return _of_kind(1, rounded(np.asarray(values, dtype=float)))


def _hash_moments(values: Any) -> Hashes:
    return _of_kind(2, np.asarray(values, dtype="datetime64[us]").astype(np.int64))


def _hash_texts(values: Any) -> Hashes:
    # No hash takes half of a character.
    texts = [text.encode("utf-8", "backslashreplace").decode("utf-8") for text in values]
    return _of_kind(3, np.array(texts, dtype=object))


def _of_kind(kind: int, values: NDArray[Any]) -> Hashes:
    """Hash cells of one kind: no number is a moment, and 0 is not missing."""
    import pandas as pd

    found = pd.util.hash_array(values, categorize=False)
    return mix(found, np.array([kind], dtype=np.uint64))


HASHED: dict[type, Callable[[Sequence[Any]], Hashes]] = {
    float: _hash_numbers,
    np.datetime64: _hash_moments,
    str: _hash_texts,
}
