"""The hooks that are told about a run, and the plugins that listen to them."""

from __future__ import annotations

import inspect

import pluggy

from automl_admm.plugins import specs

# The first argument of each is `info`.
EVENT_HOOKS = tuple(
    name
    for name, item in vars(specs).items()
    if inspect.isfunction(item) and "info" in inspect.signature(item).parameters
)


def heard_hooks(manager: pluggy.PluginManager, name: str) -> tuple[str, ...]:
    """Return the hooks by which the plugin of a name listens to runs."""
    plugin = manager.get_plugin(name)
    callers = [] if plugin is None else manager.get_hookcallers(plugin) or []
    heard = {caller.name for caller in callers}
    return tuple(hook for hook in EVENT_HOOKS if hook in heard)
