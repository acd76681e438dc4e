"""`automl-admm plugins`: what is installed, where it is from, and what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from automl_admm.plugins import PluginInfo, load_plugins


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List every plugin with its version, state and what it provides."""
    infos = load_plugins().infos
    if as_json:
        click.echo(json.dumps([asdict(info) for info in infos], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("plugin", "from", "state", "provides"):
        table.add_column(heading, overflow="fold")
    for info in infos:
        table.add_row(info.name, info.provider, Text(info.state), Text(_provided(info)))
    Console(highlight=False).print(table)


def _provided(info: PluginInfo) -> str:
    return "\n".join(f"{hook}: {', '.join(names)}" for hook, names in info.provides.items())
