"""Values of a column as names of groups: different values have different names.

A number and a text that are written alike have one name, as a file of text has no other.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MOST_EXACT = 2.0**53  # from here on floats skip whole numbers
BETWEEN = ", "  # the parts of a name by several columns
QUOTE = '"'
# Beyond these, floats of 32 bits have fewer digits or none.
LEAST_NARROW = float(np.finfo(np.float32).tiny)
MOST_NARROW = float(np.finfo(np.float32).max)


def name_value(value: Any) -> str:
    """Return a value as a name; a whole number has one name, stored as float or as integer.

    A column with gaps holds floats, the same column without gaps integers. Any other number has six
    digits where they tell it, else as many as do.

    >>> name_value(2.0), name_value(0.5), name_value(48.137154), name_value(np.float32(0.1))
    ('2', '0.5', '48.137154', '0.1')
    """
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    is_exact = number.is_integer() and abs(number) < MOST_EXACT
    short = str(int(number)) if is_exact else f"{number:g}"
    return short if type(value)(short) == value else str(value)


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


def find_known(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return the known name of each unknown one that is the same in floats of 32 bits.

    A file may hold numbers so, and reading widens them: 1.1 becomes 1.100000023841858. Where
    several known names are the same, none is meant.

    >>> find_known(["1.100000023841858", "1.2000000476837158"], ["1.1", "2"])
    {'1.100000023841858': '1.1'}
    """
    alike = defaultdict(list)
    for name in known:
        alike[_narrow_name(name)].append(name)
    others = set(names).difference(known)
    found = {name: alike.get(_narrow_name(name), []) for name in sorted(others)}
    return {name: those[0] for name, those in found.items() if len(those) == 1}


def _narrow_name(name: str) -> str:
    return BETWEEN.join(map(_narrow_part, name.split(BETWEEN)))


def _narrow_part(part: str) -> str:
    """Return a number as a narrow float has it; texts such as 1.10 and whole numbers stay.

    A whole number may be a code: its neighbours are others.
    """
    try:
        number = float(part)
    except ValueError:
        return part
    if not LEAST_NARROW <= abs(number) <= MOST_NARROW:
        return part
    narrow = np.float32(number)
    is_number = part in (name_value(number), name_value(narrow))
    return name_value(narrow) if is_number and not float(narrow).is_integer() else part


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
