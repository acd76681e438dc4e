"""Click's types for durations and sizes."""

from __future__ import annotations

from typing import Any

import click

from automl_admm.runs import quantities


class Quantity(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A number with a unit; a bare number is in the first unit."""

    def __init__(self, measure: quantities.Measure) -> None:
        self.name = measure.name
        self._measure = measure

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        if isinstance(value, int | float):
            return float(value)
        try:
            return self._measure.read(str(value))
        except ValueError as problem:
            self.fail(str(problem), param, ctx)


DURATION = Quantity(quantities.DURATION)
MEMORY = Quantity(quantities.MEMORY)
