"""A manager of hooks with a quick look at the names of a module."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pluggy

from automl_admm.plugins import specs

MARK = f"{specs.PROJECT}_impl"  # what `hookimpl` writes to a function


class HookManager(pluggy.PluginManager):
    """A manager of hooks; functions without a mark, classes and modules are plainly none.

    pluggy looks up every name of a plugin along the classes of its type, and a module has some
    hundred names: at each start of a run that took a fifth of the time to load the plugins.
    """

    def parse_hookimpl_opts(self, plugin: object, name: str) -> Any:
        """Return the options of a hook, or None for another thing."""
        item = vars(plugin).get(name) if isinstance(plugin, ModuleType) else None
        is_plain = inspect.isfunction(item) and not hasattr(item, MARK)
        if is_plain or isinstance(item, (type, ModuleType)) or name.startswith("__"):
            return None
        return super().parse_hookimpl_opts(plugin, name)


def new_manager() -> HookManager:
    """Return a manager with the hooks of this version, and no plugin."""
    manager = HookManager(specs.PROJECT)
    manager.add_hookspecs(specs)
    return manager
