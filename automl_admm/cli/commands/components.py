"""`automl-admm components`: list the components for grammars."""

from __future__ import annotations

import click
from rich.table import Table

from automl_admm.cli.shared.installed import installed
from automl_admm.cli.shared.screen import cells, grid, plain_console
from automl_admm.core.errors import UnknownNameError
from automl_admm.core.space import Choice, Parameter
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.records import TASKS, ComponentPlugin


@click.command("components")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List all components, or the parameters of the component NAME."""
    plugins = installed()
    table = _overview(plugins) if name is None else _parameters(_find(plugins, name))
    plain_console().print(table)


def _overview(plugins: Plugins) -> Table:
    table = grid("component", "role", "tasks", "parameters", "what it is")
    table.columns[3].justify = "right"
    known = {task: {r.name: r for r in plugins.components[task]} for task in TASKS}
    for name in sorted(set().union(*known.values())):
        serving = [task for task in TASKS if name in known[task]]
        record = known[serving[0]][name]
        tasks, count = ", ".join(serving), str(len(record.parameters))
        said = f"{record.summary}; missing: {record.missing}" if record.missing else record.summary
        table.add_row(*cells((name, record.role, tasks, count, said)))
    return table


def _find(plugins: Plugins, name: str) -> list[ComponentPlugin]:
    found = [plugins.components[t].get(name) for t in TASKS if name in plugins.components[t]]
    if not found:
        raise UnknownNameError(
            "component", name, {record.name for t in TASKS for record in plugins.components[t]}
        )
    return found


def _parameters(records: list[ComponentPlugin]) -> Table:
    table = grid("tasks", "parameter", "range", "default")
    for record in {id(record): record for record in records}.values():
        for parameter in record.parameters:
            tasks = ", ".join(record.tasks)
            table.add_row(*cells((tasks, parameter.name, *describe_range(parameter))))
    return table


def describe_range(parameter: Parameter | Choice) -> tuple[str, str]:
    """Return the range of a parameter and its default."""
    if isinstance(parameter, Choice):
        return " | ".join(parameter.alternatives), parameter.alternatives[0]
    default = str(parameter.value(parameter.default_unit()))
    if parameter.values:
        return " | ".join(map(str, parameter.values)), default
    scale = ", log" if parameter.log else ""
    return f"{parameter.kind} {parameter.low:g} to {parameter.high:g}{scale}", default
