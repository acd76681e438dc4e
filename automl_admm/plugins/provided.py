"""The records of the hooks of a plugin, each checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value
from automl_admm.plugins.configured import configure
from automl_admm.plugins.plugin_options import check_options
from automl_admm.plugins.records import ConstraintPlugin


def ask_provider(provider: Callable[..., Any], wanted: type[Any]) -> tuple[Any, ...]:
    """Return the records of a hook, all of the `wanted` class."""
    return tuple(_checked(record, wanted) for record in provider())


@cache
def ask_once(provider: Callable[..., Any], wanted: type[Any]) -> tuple[Any, ...]:
    """Return the records of a built-in hook: they are the same at every start of a run."""
    return ask_provider(provider, wanted)


def _checked(record: Any, wanted: type[Any]) -> Any:
    if not isinstance(record, wanted):
        raise PluginError(f"a {wanted.__name__} was expected, not {say_value(record)}.")
    if hasattr(record, "options"):
        check_options(record.name, record.options)
    if isinstance(record, ConstraintPlugin):
        configure(record, {})
    return record
