"""Durations and sizes as people write them: `30s`, `10m`, `1h`, `500MB`, `2GB`."""

from __future__ import annotations

import math
import re
from typing import Any

import click

NUMBER_AND_UNIT = re.compile(r"\s*(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>[a-zA-Z]*)\s*")

SHOWN = 20


class Quantity(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A number with a unit; a bare number is in the first unit."""

    def __init__(self, name: str, units: dict[str, float], example: str) -> None:
        self.name = name
        self._units = units
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        if isinstance(value, int | float):
            return float(value)
        match = NUMBER_AND_UNIT.fullmatch(str(value))
        unit = self._units.get(match["unit"].lower()) if match else None
        if match is None or unit is None:
            self.fail(f"'{value}' is no {self.name}. Write it like {self._example}.", param, ctx)
        number = float(match["number"]) * unit
        if not math.isfinite(number):
            self.fail(f"'{str(value)[:SHOWN]}…' is too large for a {self.name}.", param, ctx)
        return number


DURATION = Quantity("duration", {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}, "30s, 10m or 1h")
MEMORY = Quantity("size", {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}, "500MB or 2GB")


def in_words(seconds: float) -> str:
    """Write minutes and seconds as on a clock."""
    whole = max(round(seconds), 0)
    return f"{whole // 60:d}:{whole % 60:02d}"
