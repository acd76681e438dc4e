"""A manager of hooks with a quick look at the names of a module."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pluggy

from automl_admm.plugins import specs

ABSENT = object()
MARK = f"{specs.PROJECT}_impl"  # what `hookimpl` writes to a function


class HookManager(pluggy.PluginManager):
    """A manager of hooks; of what stands in a module, only functions with the mark are hooks.

    pluggy looks up every name of a plugin along the classes of its type, and a module has some
    hundred names: at each start of a run that took a third of the time to load the plugins.
    """

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        """Return the options of a hook, or None for another thing."""
        if name.startswith("__"):
            return None
        item = vars(plugin).get(name, ABSENT) if isinstance(plugin, ModuleType) else ABSENT
        if inspect.isfunction(item) and not hasattr(item, MARK):
            return None
        # Constants and classes are no hooks to any version of pluggy; a cached function is to some.
        if isinstance(item, type):
            return None
        if item is not ABSENT and not (callable(item) or isinstance(item, classmethod)):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def new_manager() -> HookManager:
    """Return a manager with the hooks of this version, and no plugin."""
    manager = HookManager(specs.PROJECT)
    manager.add_hookspecs(specs)
    return manager
