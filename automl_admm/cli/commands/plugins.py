"""`automl-admm plugins`: list, show and check the installed plugins."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.screen import cells, grid, hand_on, plain_console, say
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.execution.task_report import describe_exit
from automl_admm.plugins.loading import RECORDS, PluginInfo, Plugins
from automl_admm.plugins.plugin_options import build_options, list_options, split_request
from automl_admm.plugins.records import NoOptions
from automl_admm.plugins.registry import Registry
from automl_admm.progress.visible_text import visible
from automl_admm.runs.prepare.suggestions import whence, with_article

BROKEN = 1


@click.group("plugins", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides."""
    if context.invoked_subcommand is None:
        _list(as_json=as_json)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
@click.option(
    "--no-progress", is_flag=True, help="The solver is not meant to learn from its observations."
)
def check_command(request: str, no_progress: bool) -> int:  # noqa: FBT001 - as above
    """Hold the solver NAME to its contract: all that a run relies on.

    The exit code is 1 if it breaks a promise.
    """
    kinds = _kinds_of_solver(installed(), request)
    if find_spec("pytest") is None:
        raise ConfigurationError(
            "'plugins check' needs pytest.", hint="Install it: pip install pytest"
        )
    # In a process of its own: a solver that hangs or crashes breaks only the check.
    # -P: a py.py in the working folder must not be taken for a module that pytest needs.
    flags = ["--no-progress"] if no_progress else []
    with tempfile.TemporaryDirectory(prefix="automl-admm-check-") as folder:
        module = "automl_admm.testing.check"
        done = subprocess.run(  # noqa: S603 - this interpreter, our own module
            [sys.executable, "-P", "-m", module, *flags, request, folder, *kinds],
            capture_output=True,
            text=True,
            check=False,
        )
        results = Path(folder) / "promises.json"
        promises = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    if not promises:
        message = f"the check of '{request}' broke off ({describe_exit(done.returncode)}):"
        raise ConfigurationError(message, hint=_last(done.stderr))
    plain_console().print(_promises(promises))
    broken = sum(not promise["kept"] for promise in promises)
    say(f"{request}: {len(promises) - broken} promises kept, {broken} broken")
    return BROKEN if broken or done.returncode else 0


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


def _kinds_of_solver(plugins: Plugins, request: str) -> list[str]:
    """Return the kinds of solver with this name; raise for an unknown name or a wrong option."""
    name, given = split_request(request)
    solvers: dict[str, Registry[Any]] = {
        "theta": plugins.theta_solvers,
        "z": plugins.z_solvers,
    }
    kinds = [kind for kind, registry in solvers.items() if name in registry]
    for kind in kinds:
        build_options(name, solvers[kind].get(name).options, given)
    if kinds:
        return kinds
    others = [registry.kind for registry, _ in _find(plugins, name)]
    if others:
        raise ConfigurationError(
            f"'{name}' is no solver but {with_article(others[0])}.",
            hint="Only solvers have a contract.",
        )
    names = {record.name for registry in solvers.values() for record in registry}
    raise UnknownNameError("solver", name, names, hint=whence(name, plugins))


def _options(options: type[Any]) -> Table:
    table = _table("  option", "type", "default")
    for key, kind, default in list_options(options):
        table.add_row(*cells((f"  {key}", kind, str(default))))
    return table


def _promises(promises: list[Mapping[str, Any]]) -> Table:
    table = _table("solver", "promise", "", "why")
    for promise in promises:
        state = Text("kept", "green") if promise["kept"] else Text("broken", "bold red")
        kind, name, why = cells(promise[key] for key in ("kind", "name", "why"))
        table.add_row(kind, name, state, why)
    return table


def _table(*headings: str) -> Table:
    table = grid(*headings)
    for heading, column in zip(headings, table.columns, strict=True):
        column.overflow, column.no_wrap = "fold", heading == "promise"
    return table


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["nothing was said."])[-1]
