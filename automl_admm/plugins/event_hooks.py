"""The hooks that are told about a run, and the plugins that listen to them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

import pluggy

from automl_admm.plugins import specs

# The first argument of each is `info`.
EVENT_HOOKS = tuple(
    name
    for name, item in vars(specs).items()
    if inspect.isfunction(item) and "info" in inspect.signature(item).parameters
)


def heard_hooks(callers: Iterable[pluggy.HookCaller]) -> tuple[str, ...]:
    """Return those of a plugin's hooks by which it listens to runs."""
    heard = {caller.name for caller in callers}
    return tuple(hook for hook in EVENT_HOOKS if hook in heard)
