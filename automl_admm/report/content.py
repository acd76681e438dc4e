"""The report as JSON, and its schema: both are made from the records of the sections."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from automl_admm.report.page import SECTIONS, Measured

# It grows by one when a key goes or changes its meaning, not when one is added.
VERSION = 2
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
    lines = (f'"{key}":{_compact(value)}' for key, value in content.items())
    return ("{" + ",\n".join(lines) + "}\n").encode()


def _compact(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def as_plain(value: Any) -> Any:
    """Return a record as plain JSON data."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


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
        return _object({one.name: _schema(hints[one.name]) for one in fields(kind)})
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(one) for one in inner]}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_schema(one) for one in inner]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    raise TypeError(kind)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}
