"""Listings of records: as a table without cut names, or as JSON of one shape."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import click

from automl_admm.cli.shared.screen import hand_on
from automl_admm.cli.shared.text_table import print_table
from automl_admm.core.space import Choice, Parameter
from automl_admm.plugins.plugin_options import list_options
from automl_admm.plugins.records import NoOptions
from automl_admm.plugins.registry import Registry

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
Entry = Mapping[str, Any]


def entry_of(registry: Registry[Any], name: str, **more: object) -> Entry:
    """Return what every listing tells of a record, and more of one kind."""
    # A name that two plugins claim cannot be asked for, and a listing is no place to stop at it.
    summary = next(record.summary for record in registry if record.name == name)
    provider = registry.provider(name)
    return {"kind": registry.kind, "name": name, "summary": summary, "provider": provider} | more


def print_entries(
    entries: Iterable[Entry],
    columns: Mapping[str, str],
    *,
    as_json: bool,
    right: Sequence[int] = (),
) -> None:
    """Print entries: as JSON all of them, as a table the keys that have a heading."""
    listed = list(entries)
    if as_json:
        hand_on(json.dumps(listed, indent=2, ensure_ascii=False) + "\n")
        return
    rows = [[_cell(entry[key]) for key in columns.values()] for entry in listed]
    print_table(list(columns), rows, right)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        are_records = any(isinstance(item, dict) for item in value)
        return str(len(value)) if are_records else ", ".join(map(str, value))
    return "" if value is None else str(value)


def print_options(record: object) -> None:
    """Print the options of a record as an indented table, if it has any."""
    options = getattr(record, "options", NoOptions)
    if fields(options):
        rows = [(f"  {key}", kind, default) for key, kind, default in list_options(options)]
        print_table(("  option", "type", "default"), rows)


def option_entries(record: object) -> list[dict[str, str]]:
    """Return the options of a record: names, types and defaults."""
    listed = list_options(getattr(record, "options", NoOptions))
    return [{"name": key, "type": kind, "default": str(default)} for key, kind, default in listed]


def parameter_entry(parameter: Parameter | Choice) -> Entry:
    """Return the name, the range in words and the default of a parameter."""
    described, default = describe_range(parameter)
    return {"name": parameter.name, "range": described, "default": default}


def describe_range(parameter: Parameter | Choice) -> tuple[str, str]:
    """Return the range of a parameter and its default."""
    if isinstance(parameter, Choice):
        return " | ".join(parameter.alternatives), parameter.alternatives[0]
    default = str(parameter.value(parameter.default_unit()))
    if parameter.values:
        return " | ".join(map(str, parameter.values)), default
    scale = ", log" if parameter.log else ""
    return f"{parameter.kind} {parameter.low:.12g} to {parameter.high:.12g}{scale}", default
