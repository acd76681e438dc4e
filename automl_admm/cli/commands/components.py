"""`automl-admm components`: list the components for grammars."""

from __future__ import annotations

from collections.abc import Iterator

import click

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.listing import (
    AS_JSON,
    Entry,
    describe_range,
    entry_of,
    parameter_entry,
    print_entries,
)
from automl_admm.cli.shared.text_table import print_table
from automl_admm.core.errors import UnknownNameError
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin

COLUMNS = {
    "component": "name",
    "role": "role",
    "tasks": "tasks",
    "parameters": "parameters",
    "what it is": "told",
}


@click.command("components")
@click.argument("name", required=False)
@AS_JSON
def command(name: str | None, as_json: bool) -> None:  # noqa: FBT001 - click passes it by name
    """List all components, or the parameters of the component NAME."""
    plugins = installed()
    if name is None or as_json:
        chosen = _names(plugins) if name is None else {_find(plugins, name)[0].name}
        entries = [entry for each in sorted(chosen) for entry in _entries(plugins, each)]
        told = [entry if as_json else {**entry, "told": _told(entry)} for entry in entries]
        print_entries(told, COLUMNS, as_json=as_json, right=(3,))
        return
    rows = [
        [", ".join(record.tasks), parameter.name, *describe_range(parameter)]
        for record in _find(plugins, name)
        for parameter in record.parameters
    ]
    print_table(("tasks", "parameter", "range", "default"), rows)


def _names(plugins: Plugins) -> set[str]:
    return {record.name for task in TASKS for record in plugins.components[task]}


def _find(plugins: Plugins, name: str) -> list[ComponentPlugin]:
    """Return the records of a name: one for all of its tasks, or one for each."""
    found = [plugins.components[t].get(name) for t in TASKS if name in plugins.components[t]]
    if not found:
        raise UnknownNameError("component", name, _names(plugins))
    return list({id(record): record for record in found}.values())


def _entries(plugins: Plugins, name: str) -> Iterator[Entry]:
    """Yield an entry for each record of a component's name."""
    for record in _find(plugins, name):
        yield entry_of(
            plugins.components[record.tasks[0]],
            name,
            role=record.role,
            tasks=list(record.tasks),
            needs=sorted(record.needs),
            missing=record.missing,
            parameters=[parameter_entry(one) for one in record.parameters],
        )


def _told(entry: Entry) -> str:
    missing = f"; missing: {entry['missing']}" if entry["missing"] else ""
    return f"{entry['summary']}{missing}"
