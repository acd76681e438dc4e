"""The report as JSON, and its schema: both are made from the records of the sections."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass
from functools import partial
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from automl_admm.report.page import SECTIONS, Measured
from automl_admm.report.sections.section import BY_COLUMN

# It grows by one when a key goes or changes its meaning, not when one is added.
VERSION = 4
# Significant digits of numbers in columns: more than any figure shows.
DIGITS = 6
PLAIN: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    NoneType: "null",
}


def encode(measured: Measured) -> bytes:
    """Return the content of `report.json`, a section a line; NaN and infinities are null."""
    content = {"schema": VERSION, **{key: as_plain(record) for key, record in measured.items()}}
    compact = partial(json.dumps, allow_nan=False, separators=(",", ":"))
    lines = (f'"{key}":{compact(value)}' for key, value in content.items())
    return ("{" + ",\n".join(lines) + "}\n").encode()


def as_plain(value: Any) -> Any:
    """Return a record as plain JSON data."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _field(value, one) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _field(record: Any, one: Field[Any]) -> Any:
    value = getattr(record, one.name)
    if one.metadata != BY_COLUMN:
        return as_plain(value)
    names = [each.name for each in fields(_kind(type(record), one))]
    return {name: [_short(as_plain(getattr(each, name))) for each in value] for name in names}


def _kind(owner: Any, one: Field[Any]) -> Any:
    """Return the type of the records in a field."""
    return get_args(get_type_hints(owner)[one.name])[0]


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return [_short(one) for one in value] if isinstance(value, list) else value


def describe() -> dict[str, Any]:
    """Return the JSON Schema of `report.json`."""
    sections = {one.key: _schema(one.record) for one in SECTIONS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The report of a run of automl-admm",
        **_object({"schema": {"const": VERSION}, **sections}),
    }


def _schema(kind: Any) -> dict[str, Any]:
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return _object(
            {
                one.name: _columns(_kind(kind, one))
                if one.metadata == BY_COLUMN
                else _schema(hints[one.name])
                for one in fields(kind)
            }
        )
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one) for one in inner]}
    if origin is tuple and inner[-1] is Ellipsis:
        return _array(_schema(inner[0]))
    if origin is tuple:
        return {"type": "array", "prefixItems": [_schema(one) for one in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    raise TypeError(kind)


def _columns(record: Any) -> dict[str, Any]:
    hints = get_type_hints(record)
    return _object({one.name: _array(_schema(hints[one.name])) for one in fields(record)})


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}
