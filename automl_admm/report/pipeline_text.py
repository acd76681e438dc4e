"""Pipelines as the log writes them, read back into steps and branches.

No plugin is loaded for it: a report can be made where the run's components are not installed.
"""

from __future__ import annotations

from functools import lru_cache

from automl_admm.core.messages import shorten
from automl_admm.core.space import Value
from automl_admm.grammar.text.parser import (
    Row,
    TextError,
    WrittenBranches,
    WrittenStep,
    read_row,
    steps_of,
)

LONGEST_STEP = 60


@lru_cache(maxsize=20_000)
def read_pipeline(text: str) -> Row | None:
    """Return the pipeline of a text; None for any other text, such as that of a makeshift model."""
    try:
        return read_row(text)
    except TextError:
        return None


def steps_in(text: str) -> tuple[WrittenStep, ...]:
    """Return all steps of a pipeline, those in branches included; none for any other text."""
    row = read_pipeline(text)
    return () if row is None else tuple(steps_of(row))


def components_of(text: str) -> tuple[str, ...]:
    """Return the names of the components of a pipeline, in their order."""
    return tuple(step.component for step in steps_in(text))


def shape_of(text: str) -> str:
    """Return a pipeline without its parameters; another text is shortened."""
    row = read_pipeline(text)
    return shorten(text, LONGEST_STEP) if row is None else _shape(row)


def _shape(row: Row) -> str:
    return " → ".join(map(_shape_of_item, row.items)) or "none"


def _shape_of_item(item: WrittenStep | WrittenBranches) -> str:
    if isinstance(item, WrittenStep):
        return item.component
    return f"{item.kind}{{{', '.join(map(_shape, item.parts))}}}"


def parameters_of(text: str) -> dict[tuple[str, str], Value]:
    """Return the value of each parameter by its component and name; the first of equal ones."""
    found: dict[tuple[str, str], Value] = {}
    for step in steps_in(text):
        for argument in step.arguments:
            found.setdefault((step.component, argument.name), argument.value)
    return found
