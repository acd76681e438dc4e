"""Values of a column as names of groups: different values have different names.

A number and a text that are written alike have one name, as a file of text has no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST_EXACT = 2.0**53  # from here on floats skip whole numbers
BETWEEN = ", "  # the parts of a name by several columns
QUOTE = '"'


def name_value(value: Any) -> str:
    """Return a value as a name; a whole number has one name, stored as float or as integer.

    A column with gaps holds floats, the same column without gaps integers. Any other number has six
    digits where they tell it, else as many as do.

    >>> name_value(2.0), name_value(0.5), name_value(48.137154), name_value(np.float32(0.1))
    ('2', '0.5', '48.137154', '0.1')
    """
    short = short_name(value)
    if not isinstance(value, float | np.floating) or type(value)(short) == value:
        return short
    return str(value)


def short_name(value: Any) -> str:
    """Return a value as earlier versions named it: numbers of more digits may share a name.

    >>> short_name(48.137154), short_name(48.137158)
    ('48.1372', '48.1372')
    """
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    is_exact = number.is_integer() and abs(number) < MOST_EXACT
    return str(int(number)) if is_exact else f"{number:g}"


def set_apart(name: str, taken: str) -> str:
    """Return the name of a value, in quotes where something else has it.

    >>> set_apart("f", "sex missing"), set_apart("sex missing", "sex missing")
    ('f', '"sex missing"')
    """
    return _quoted(name) if name == taken or name.startswith(QUOTE) else name


def join_names(parts: Iterable[str]) -> str:
    """Return names by several columns as one; a part is in quotes where its end would be unclear.

    >>> join_names(["x, y", "z"]), join_names(["x", "y"])
    ('"x, y", z', 'x, y')
    """
    return BETWEEN.join(
        _quoted(part) if BETWEEN in part or part.startswith(QUOTE) else part for part in parts
    )


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def plain_values(distinct: Any) -> Sequence[Any]:
    """Return the distinct values of a column, floats in their own precision.

    An index of pandas gives those of 32 bits with the digits of 64.
    """
    values = distinct.categories[distinct.codes] if hasattr(distinct, "codes") else distinct
    kind = getattr(values.dtype, "numpy_dtype", values.dtype)
    is_float = getattr(kind, "kind", "") == "f"
    found: Sequence[Any] = list(values.to_numpy(dtype=kind)) if is_float else values
    return found
