"""Constraints with options: from a record and the options of a limit to the record of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from automl_admm.core.errors import ConfigurationError, PluginError
from automl_admm.plugins.factories import expect, make
from automl_admm.plugins.plugin_options import build_options
from automl_admm.plugins.records import ConstraintPlugin


def configure(record: ConstraintPlugin, given: Mapping[str, Any]) -> ConstraintPlugin:
    """Return the constraint that the options of a limit make; one without options as it is."""
    options = build_options(record.name, record.options, given)
    if record.configured is None:
        return record
    title = f"constraint '{record.name}'"
    found: ConstraintPlugin = make(title, _made, record, options)
    expect(title, "ConstraintPlugin", found, is_one=isinstance(found, ConstraintPlugin))
    if not any((found.function, found.grouped, found.columned, found.changing)):
        raise PluginError(f"{title}: with its options it has no function of any kind.")
    for what in ("kind", "target"):
        here, there = getattr(found, what), getattr(record, what)
        if here != there:
            raise PluginError(f"{title}: with its options its {what} is '{here}', not '{there}'.")
    return replace(found, name=record.name)


def _made(record: ConstraintPlugin, options: Any) -> Any:
    assert record.configured is not None  # noqa: S101 - `configure` has checked it
    try:
        return record.configured(options)
    except ValueError as problem:
        message = f"there is no limit on '{record.name}' with these options: {problem}."
        raise ConfigurationError(message) from problem
