"""Pipelines side by side: their shapes, and the parameters in which they differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from automl_admm.report.pipeline_text import shape_of, steps_in


@dataclass(frozen=True, slots=True)
class ParameterValues:
    """A parameter of a step, and its value in each pipeline as text; None where no such step is."""

    name: str
    values: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        """True if not all pipelines have the same value."""
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The shape of each pipeline, and the values of all parameters in any of them."""

    shapes: tuple[str, ...]
    parameters: tuple[ParameterValues, ...]

    @property
    def differences(self) -> tuple[ParameterValues, ...]:
        """The parameters with different values."""
        return tuple(one for one in self.parameters if one.differs)

    def rows(self, nothing: str) -> list[tuple[str, ...]]:
        """Return what differs: the shapes, and the parameters, with a word where there is none."""
        shapes = [("shape", *self.shapes)] if len(set(self.shapes)) > 1 else []
        named = ((one.name, [value or nothing for value in one.values]) for one in self.differences)
        return [*shapes, *((name, *values) for name, values in named)]


def put_side_by_side(texts: Sequence[str]) -> SideBySide:
    """Compare pipelines by their texts."""
    found = [parameters_by_step(text) for text in texts]
    names = list(dict.fromkeys(name for one in found for name in one))
    rows = (ParameterValues(name, tuple(one.get(name) for one in found)) for name in names)
    return SideBySide(tuple(map(shape_of, texts)), tuple(rows))


def parameters_by_step(text: str) -> Mapping[str, str]:
    """Return the parameters as `component.name`, a second such component as `component#2.name`."""
    seen: Counter[str] = Counter()
    found = {}
    for step in steps_in(text):
        seen[step.component] += 1
        count = seen[step.component]
        title = step.component if count == 1 else f"{step.component}#{count}"
        for argument in step.arguments:
            found[f"{title}.{argument.name}"] = json.dumps(argument.value, ensure_ascii=False)
    return found
