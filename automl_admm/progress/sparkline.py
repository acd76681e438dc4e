"""A small line of convergence in one row of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A new best at a count of evaluations; a higher value is better."""

    count: int
    value: float


def sparkline(turns: Sequence[Turn], end: int, width: int, levels: str) -> str:
    """Return the best value over the evaluations up to `end`; blank before the first turn.

    >>> sparkline([Turn(3, 0.5), Turn(7, 0.9)], 8, 4, "_-=#")
    ' __#'
    """
    values = [_value_at(turns, end * (place + 1) / width) for place in range(width)]
    known = [one for one in values if one is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    return "".join(" " if one is None else levels[_level(one, low, high, levels)] for one in values)


def _value_at(turns: Sequence[Turn], count: float) -> float | None:
    return next((turn.value for turn in reversed(turns) if turn.count <= count), None)


def _level(value: float, low: float, high: float, levels: str) -> int:
    if high <= low:
        return 0
    return round((value - low) / (high - low) * (len(levels) - 1))
