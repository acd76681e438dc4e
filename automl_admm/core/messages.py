"""Values in messages: one line of plain Python, never a long one."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

LONGEST = 160


class _Words(reprlib.Repr):
    """Write numpy's scalars as the numbers and texts that users gave, also within lists."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = LONGEST

    def repr1(self, x: Any, level: int) -> str:
        if isinstance(x, np.datetime64 | np.timedelta64 | np.longdouble):
            # `item` would change their type or lose digits.
            return str(x)
        return super().repr1(x.item() if isinstance(x, np.generic) else x, level)

    def repr_instance(self, x: Any, level: int) -> str:
        """Write an object by its own text; any code may stand behind that, and it may raise."""
        del level
        try:
            return repr(x)
        except Exception:  # noqa: BLE001 - a failing repr is no reason to stop
            return f"a {type(x).__name__}"


_words = _Words()


def say_value(value: object) -> str:
    """Return a value on one line as a user would write it: 1 and 'a', not np.int64(1)."""
    line = " ".join(_words.repr(value).split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
