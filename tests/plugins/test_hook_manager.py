"""The manager finds the hooks that pluggy finds, in modules and in objects."""

from __future__ import annotations

import math
from types import ModuleType

import pluggy
import pytest

from automl_admm.plugins import specs
from automl_admm.plugins.hook_manager import HookManager
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.specs import hookimpl


class Watcher:
    """A plugin that is an object."""

    @hookimpl
    def run_started(self, info: object) -> None:
        del info

    def run_finished(self, info: object) -> None:
        """Bear the name of a hook, without being one."""


def module_of_all_kinds() -> ModuleType:
    @hookimpl
    def commands() -> list[object]:
        return []

    @hookimpl(specname="constraints", optionalhook=True)
    def limits() -> list[object]:
        return []

    module = ModuleType("of_all_kinds")
    inside = {"plain": len, "own": lambda: None, "kind": Watcher, "bound": Watcher().run_started}
    module.__dict__.update(inside, math=math, number=1, commands=commands, limits=limits)
    return module


def installed() -> list[object]:
    return [plugin for _, plugin in load_plugins(quietly=True).manager.list_name_plugin()]


def name_of(plugin: object) -> str:
    return str(getattr(plugin, "__name__", type(plugin).__name__))


@pytest.mark.parametrize("plugin", [module_of_all_kinds(), Watcher(), *installed()], ids=name_of)
def test_the_hooks_of_a_plugin_are_those_that_pluggy_finds(plugin: object) -> None:
    ours, theirs = HookManager(specs.PROJECT), pluggy.PluginManager(specs.PROJECT)
    found, expected = (
        {name: manager.parse_hookimpl_opts(plugin, name) for name in dir(plugin)}
        for manager in (ours, theirs)
    )
    assert any(found.values())
    assert found == expected
