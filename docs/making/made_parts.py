"""The parts of pages that are made from the code: commands, components, hooks, public names."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable

import click

import automl_admm
from automl_admm import plugin_api
from automl_admm.cli.shared.listing import describe_range
from automl_admm.constraints.options import written_name
from automl_admm.core.space import Choice, Parameter
from automl_admm.grammar.locate import packaged_grammars
from automl_admm.plugins import specs
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.plugin_options import list_options
from automl_admm.plugins.records import TASKS, ComponentPlugin

OURS = "automl-admm "
ESTIMATORS = ("AutoMLClassifier", "AutoMLRegressor")
FUNCTIONS = ("minimize", "Study", "load", "read_run", "monitor")
# A heading of a docstring in the form of numpy.
HEADING = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def commands() -> str:
    """Return every command with its arguments and options."""
    return "\n".join(
        _command(f"automl-admm {record.name}", record.factory(), level=2)
        for record in sorted(load_plugins().commands, key=lambda record: record.name)
    )


def _command(name: str, command: click.Command, level: int) -> str:
    context = click.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [_option(one, context) for one in command.params if isinstance(one, click.Option)]
    parts = [
        f"{'#' * level} {name.removeprefix('automl-admm ')}\n",
        f"```text\n{usage}\n```\n",
        f"{inspect.cleandoc(command.help or '')}\n",
        table(("option", "meaning"), (row for row in rows if row)),
    ]
    inner = command.commands if isinstance(command, click.Group) else {}
    parts += [_command(f"{name} {one}", inner[one], level + 1) for one in sorted(inner)]
    return "\n".join(part for part in parts if part)


def _option(option: click.Option, context: click.Context) -> tuple[str, str] | None:
    shown = option.get_help_record(context)
    return None if shown is None else (f"`{shown[0]}`", shown[1])


def components() -> str:
    """Return every component that ships, with its role, tasks, parameters and ranges."""
    registries = load_plugins().components
    names = {
        record.name
        for task in TASKS
        for record in registries[task]
        if registries[task].provider(record.name).startswith(OURS)
    }
    parts = []
    for name in sorted(names):
        known = [registries[task].get(name) for task in TASKS if name in registries[task]]
        records = list({id(record): record for record in known}.values())
        parts.append(_component(name, records))
    return "\n".join(parts)


def _component(name: str, records: list[ComponentPlugin]) -> str:
    first = records[0]
    tasks = " and ".join(sorted({task for record in records for task in record.tasks}))
    needs = f" Needs: {', '.join(sorted(first.needs))}." if first.needs else ""
    head = f"## {name}\n\n{first.role.capitalize()} for {tasks}: {first.summary}.{needs}\n\n"
    # A component with other ranges for each task has a record for each.
    serving: dict[Parameter | Choice, list[str]] = {}
    for record in records:
        for parameter in record.parameters:
            serving.setdefault(parameter, []).extend(record.tasks)
    rows = [
        (f"`{one.name}`", *describe_range(one), ", ".join(for_tasks))
        for one, for_tasks in serving.items()
    ]
    return head + table(("parameter", "range", "default", "for"), rows)


def constraints() -> str:
    """Return the quantities that can be limited."""
    rows = [
        (
            f"`{written_name(record)}`",
            record.kind,
            "" if record.target == "any" else record.target,
            record.summary,
        )
        for record in load_plugins().constraints
    ]
    return table(("name", "kind", "needs", "meaning"), rows)


def solvers() -> str:
    """Return every solver that ships with its options and their defaults."""
    plugins = load_plugins()
    parts = []
    for title, registry in (
        ("θ-solvers", plugins.theta_solvers),
        ("z-solvers", plugins.z_solvers),
        ("strategies", plugins.strategies),
    ):
        parts.append(f"## The {title} that ship\n")
        for record in registry:
            if registry.provider(record.name).startswith(OURS):
                rows = [(f"`{k}`", kind, f"`{d}`") for k, kind, d in list_options(record.options)]
                parts.append(f"### {record.name}\n\n{record.summary}\n")
                parts.append(table(("option", "type", "default"), rows))
    return "\n".join(parts)


def grammars() -> str:
    """Return the grammars that ship."""
    parts = []
    for path in packaged_grammars():
        text = path.read_text(encoding="utf-8").rstrip()
        parts.append(f"### {path.stem}\n\n```lark\n{text}\n```\n")
    return "\n".join(parts)


def hooks() -> str:
    """Return every hook with its arguments and the example of its docstring."""
    found = [
        (name, item)
        for name, item in vars(specs).items()
        if inspect.isfunction(item) and item.__module__ == specs.__name__
    ]
    return "\n".join(
        f"## {name}\n\n`{name}({', '.join(inspect.signature(item).parameters)})`\n\n"
        f"{told(inspect.getdoc(item) or '')}\n"
        for name, item in found
    )


def public_names() -> str:
    """Return every public name for plugins with its docstring and its example."""
    return "\n".join(
        f"## {name}\n\n{told(inspect.getdoc(getattr(plugin_api, name)) or '')}\n"
        for name in plugin_api.__all__
        if name not in {"Array", "Search", "WAIT", "hookimpl"}
    )


def estimators() -> str:
    """Return the estimators and functions of Python with their parameters."""
    parts = []
    for name in (*ESTIMATORS, *FUNCTIONS):
        text = inspect.getdoc(getattr(automl_admm, name)) or ""
        parts.append(f"## {name}\n\n{_sections(text)}\n")
        if name == "Study":
            parts.append(_members(automl_admm.Study))
    return "\n".join(parts).replace("docs/reference/options.md", "[options](options.md)")


def _members(kind: type) -> str:
    """Return the public methods and properties of a class, each with its docstring."""
    found = inspect.getmembers(
        kind, lambda one: inspect.isroutine(one) or inspect.isdatadescriptor(one)
    )
    rows = [
        (f"`{name}`", " ".join((inspect.getdoc(one) or "").split()))
        for name, one in found
        if not name.startswith("_")
    ]
    return table(("member", "meaning"), rows)


def _sections(text: str) -> str:
    """Return a docstring in the form of numpy as Markdown."""
    summary, *rest = HEADING.split(text)
    parts = [told(summary)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts.append(f"### {title}\n")
        parts.append(told(body) if ">>>" in body else _entries(body))
    return "\n".join(parts)


def _entries(body: str) -> str:
    """Return `name : type` with an indented text as rows of a table."""
    found = re.findall(r"^(\S[^\n]*)\n((?:[ ]+[^\n]*\n?|\n)*)", body.strip() + "\n", re.MULTILINE)
    rows = []
    for head, text in found:
        name, _, kind = head.partition(" : ")
        rows.append((f"`{name}`", kind, " ".join(text.split())))
    return table(("name", "type", "meaning"), rows)


def told(text: str) -> str:
    """Return a docstring as Markdown: its examples become blocks of code."""
    prose, _, example = text.partition("Example::")
    parts = [_with_sessions(prose.rstrip())]
    if example:
        parts.append(f"```python\n{textwrap.dedent(example).strip()}\n```\n")
    return "\n".join(parts)


def _with_sessions(text: str) -> str:
    """Put a fence around each session of the interpreter."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        is_session = block.lstrip().startswith(">>>")
        blocks.append(f"```pycon\n{textwrap.dedent(block)}\n```" if is_session else block)
    return "\n\n".join(blocks) + "\n"


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of Markdown, or nothing if it has no rows."""
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|", *lines, ""])


def _cell(text: str) -> str:
    """Keep bars out of a cell, and angles out of its HTML."""
    parts = " ".join(text.split()).replace("|", "\\|").split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "`".join(parts)


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "components": components,
    "constraints": constraints,
    "estimators": estimators,
    "grammars": grammars,
    "hooks": hooks,
    "public-names": public_names,
    "solvers": solvers,
}
