"""JSON Schema, as far as the schema of reports uses it."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """Return True if a value is as a schema says, by the keywords that ours uses."""
    if "const" in schema:
        return bool(value == schema["const"])
    if "anyOf" in schema:
        return any(is_valid(value, one) for one in schema["anyOf"])
    if schema["type"] == "array":
        kinds = schema.get("prefixItems") or [schema["items"]] * len(value)
        return isinstance(value, list) and all(map(is_valid, value, kinds))
    if schema["type"] == "object":
        return isinstance(value, dict) and is_object(value, schema)
    is_flag = schema["type"] == "boolean"
    return isinstance(value, TYPES[schema["type"]]) and isinstance(value, bool) == is_flag


def is_object(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    known, missing = schema.get("properties", {}), {"type": "null"}
    other = schema.get("additionalProperties", missing)
    is_whole = set(schema.get("required", ())) <= value.keys()
    return is_whole and all(is_valid(item, known.get(key, other)) for key, item in value.items())
