"""`automl-admm plugins`: list, show and check the installed plugins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.plugin_check import (
    ask_promises,
    refuse_no_progress,
    subjects_of,
    tell_promises,
)
from automl_admm.cli.shared.screen import cells, grid, hand_on, plain_console
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.plugins.loading import RECORDS, PluginInfo, Plugins
from automl_admm.plugins.plugin_options import list_options
from automl_admm.plugins.records import NoOptions
from automl_admm.plugins.registry import Registry
from automl_admm.progress.visible_text import visible
from automl_admm.runs.prepare.suggestions import whence

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("plugins", invoke_without_command=True)
@JSON
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list")
@JSON
def list_command(as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides."""
    _list(as_json=as_json)


@command.command("show")
@click.argument("name")
def show_command(name: str) -> None:
    """Show the kind of NAME, its provider, and its options with their defaults."""
    bare, colon, _ = name.partition(":")
    if colon:
        message = f"'plugins show' takes a name without options, not '{name}'."
        raise ConfigurationError(message, hint=f"Write: automl-admm plugins show {bare}")
    plugins = installed()
    found = list(_find(plugins, name))
    if not found:
        names = {record.name for registry in _registries(plugins) for record in registry}
        raise UnknownNameError("plugin", name, names, hint=whence(name, plugins))
    console = plain_console()
    for registry, record in found:
        provider = registry.provider(name)
        console.print(Text(f"{registry.kind} {name}, from {provider}"), soft_wrap=True)
        console.print(Text(f"  {record.summary}"), soft_wrap=True)
        options = getattr(record, "options", NoOptions)
        if fields(options):
            console.print(_options(options))


@command.command("check")
@click.argument("request", metavar="NAME[:k=v,…]")
@click.option("--no-progress", is_flag=True, help="The solver or strategy is not meant to learn.")
@JSON
def check_command(request: str, no_progress: bool, as_json: bool) -> int:  # noqa: FBT001 - as above
    """Hold NAME to its contract: all that a run relies on.

    NAME is a solver, a component, a limit, a metric, a grammar, or anything else that a plugin
    provides. With the name of a plugin all that it provides is checked. The exit code is 0 if every
    promise is kept, 1 if one is broken, and 2 if nothing can be checked.
    """
    subjects = subjects_of(installed(), request)
    if no_progress:
        refuse_no_progress(subjects)
    promises = ask_promises(request, subjects, learns=not no_progress)
    return tell_promises(request, promises, as_json=as_json)


def _list(*, as_json: bool) -> None:
    infos = installed().infos
    if as_json:
        hand_on(json.dumps([asdict(info) for info in infos], indent=2) + "\n")
        return
    table = _table("plugin", "from", "state", "provides")
    for info in infos:
        provided = Text(visible(_provided(info)))  # one line a hook
        table.add_row(*cells((info.name, info.provider, info.state)), provided)
    plain_console().print(table)


def _provided(info: PluginInfo) -> str:
    return "\n".join(f"{hook}: {', '.join(names)}" for hook, names in info.provides.items())


def _registries(plugins: Plugins) -> list[Registry[Any]]:
    return [registry for hook in RECORDS for registry, _ in plugins.registries(hook)]


def _find(plugins: Plugins, name: str) -> Iterator[tuple[Registry[Any], Any]]:
    """Yield the records with this name, one of each kind."""
    seen: set[int] = set()
    for registry in _registries(plugins):
        if name in registry and id(registry.get(name)) not in seen:
            seen.add(id(registry.get(name)))
            yield registry, registry.get(name)


def _options(options: type[Any]) -> Table:
    table = _table("  option", "type", "default")
    for key, kind, default in list_options(options):
        table.add_row(*cells((f"  {key}", kind, str(default))))
    return table


def _table(*headings: str) -> Table:
    table = grid(*headings)
    for column in table.columns:
        column.overflow = "fold"
    return table
