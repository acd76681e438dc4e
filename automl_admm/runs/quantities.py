"""Durations and sizes as people write them: `30s`, `10m`, `1h`, `500MB`, `2GB`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

NUMBER_AND_UNIT = re.compile(r"\s*(?P<number>\d+(\.\d*)?|\.\d+)\s*(?P<unit>[a-zA-Z]*)\s*")
LONGEST_SHOWN = 20


@dataclass(frozen=True)
class Measure:
    """A kind of quantity with its units; a number without a unit is in the first one."""

    name: str
    units: Mapping[str, float]
    example: str

    def read(self, text: str) -> float:
        """Return the number in the first unit; raise a ValueError with the reason.

        >>> DURATION.read("10m")
        600.0
        """
        match = NUMBER_AND_UNIT.fullmatch(text)
        unit = self.units.get(match["unit"].lower()) if match else None
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
        if match is None or unit is None:
            raise ValueError(f"'{shown}' is no {self.name}. Write it like {self.example}.")
        number = float(match["number"]) * unit
        if not math.isfinite(number):
            raise ValueError(f"'{shown}' is too large for a {self.name}.")
        return number


DURATION = Measure("duration", {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}, "30s, 10m or 1h")
MEMORY = Measure("size", {"": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9}, "500MB or 2GB")
