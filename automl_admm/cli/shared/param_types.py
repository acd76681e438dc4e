"""Click's types for durations, sizes and shares."""

from __future__ import annotations

from typing import Any

import click

from automl_admm.runs import validation


class Quantity(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A number with a unit; a bare number is in the first unit."""

    def __init__(self, measure: validation.Measure) -> None:
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


class Share(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A share, as a number or in percent."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a share such as 0.95 or 95%."""
        said = str(value).strip()
        try:
            return float(said[:-1]) / 100.0 if said.endswith("%") else float(said)
        except ValueError:
            self.fail(f"'{value}' is no number; write a share as 0.95 or 95%.", param, ctx)


DURATION = Quantity(validation.DURATION)
MEMORY = Quantity(validation.MEMORY)
SHARE = Share()
