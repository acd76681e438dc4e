"""`automl-admm plugins`: list, show and check the installed plugins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.listing import (
    AS_JSON,
    Entry,
    entry_of,
    option_entries,
    print_entries,
    print_options,
)
from automl_admm.cli.shared.plugin_check import ask_promises, subjects_of, tell_promises
from automl_admm.cli.shared.plugin_package import KINDS as NEW
from automl_admm.cli.shared.plugin_package import check_name, write_package
from automl_admm.cli.shared.screen import hand_on_json, plain_console, say
from automl_admm.cli.shared.text_table import print_table
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.plugins.loading import RECORDS, PluginInfo, Plugins
from automl_admm.plugins.registry import Registry
from automl_admm.runs.prepare.suggestions import whence, with_article

KINDS = {hook.replace("_", "-"): hook for hook in RECORDS}
NO_HOOK = "nothing: none of its functions is marked @hookimpl"
COLUMNS = {"name": "name", "from": "provider", "options": "options", "what it is": "summary"}


def _hyphened(token: str) -> str:
    return token.replace("_", "-")


@click.group("plugins", invoke_without_command=True)
@AS_JSON
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list", context_settings={"token_normalize_func": _hyphened})
@click.argument("kind", required=False, type=click.Choice(sorted(KINDS)), metavar="[KIND]")
@AS_JSON
def list_command(kind: str | None, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides.

    With KIND, such as theta-solvers or executors, list its records with their options instead.
    """
    if kind is None:
        _list(as_json=as_json)
    else:
        print_entries(_entries(installed(), KINDS[kind]), COLUMNS, as_json=as_json)


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
        print_options(record)


@command.command("check")
@click.argument("request", metavar="NAME[:k=v,…]")
@click.option("--no-progress", is_flag=True, help="A solver or strategy is not meant to learn.")
@AS_JSON
def check_command(request: str, no_progress: bool, as_json: bool) -> int:  # noqa: FBT001 - as above
    """Hold NAME to its contract: all that a run relies on.

    NAME is a solver, a component, a limit, a metric, a grammar, or anything else that a plugin
    provides. With the name of a plugin all that it provides is checked. The exit code is 0 if every
    promise is kept, 1 if one is broken, and 2 if nothing can be checked.
    """
    subjects = subjects_of(installed(), request)
    promises = ask_promises(request, subjects, learns=not no_progress)
    return tell_promises(request, promises, as_json=as_json)


@command.command("new")
@click.argument("name")
@click.option(
    "--kind", required=True, type=click.Choice(sorted(NEW)), help="Kind of record it provides."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the package. [default: NAME]",
)
def new_command(name: str, kind: str, out: Path | None) -> None:
    """Write a package with the plugin NAME: a module that works, tests, a README and a CI file."""
    check_name(name, NEW[kind], installed())
    folder = Path(name) if out is None else out
    write_package(name, NEW[kind], folder)
    say(f"{folder}: a package with {with_article(NEW[kind].words)}")
    say(f'next: cd {folder} && pip install -e ".[dev]" && pytest')


def _list(*, as_json: bool) -> None:
    infos = installed().infos
    if as_json:
        hand_on_json([asdict(info) for info in infos])
        return
    rows = [_row(info) for info in infos]
    print_table(("plugin", "from", "state", "provides"), rows)


def _row(info: PluginInfo) -> tuple[str, str, str, str]:
    """Return the cells of a plugin; a long reason stands last, where it widens no column."""
    state, _, reason = info.state.partition(": ")
    parts = [part for part in (_provided(info), reason) if part]
    return info.name, info.provider, state, "; ".join(parts) or NO_HOOK


def _entries(plugins: Plugins, hook: str) -> Iterator[Entry]:
    """Yield the records of a hook, each once."""
    seen: set[int] = set()
    for registry, _ in plugins.registries(hook):
        for record in registry:
            if id(record) not in seen:
                seen.add(id(record))
                yield entry_of(registry, record.name, options=option_entries(record))


def _provided(info: PluginInfo) -> str:
    kinds = {**info.provides, "hears": info.hears, "unknown hooks": info.unknown_hooks}
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)


def _registries(plugins: Plugins) -> list[Registry[Any]]:
    return [registry for hook in RECORDS for registry, _ in plugins.registries(hook)]


def _find(plugins: Plugins, name: str) -> Iterator[tuple[Registry[Any], Any]]:
    """Yield the records with this name, one of each kind."""
    seen: set[int] = set()
    for registry in _registries(plugins):
        if name in registry and id(registry.get(name)) not in seen:
            seen.add(id(registry.get(name)))
            yield registry, registry.get(name)
