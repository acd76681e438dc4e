"""The JSON of a report is as its published schema says."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from report_runs import an_evaluation, write_run

from automl_admm.report.content import as_plain, describe
from automl_admm.report.writing import make_report

ROOT = Path(__file__).parents[2]
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


def test_the_published_schema_is_that_of_the_records() -> None:
    published = json.loads((ROOT / "docs/reference/report.schema.json").read_text(encoding="utf-8"))
    assert published == describe()


@pytest.mark.parametrize("name", ["stacked", "group_thresholds"])
def test_a_finished_run_has_valid_numbers(name: str) -> None:
    found = json.loads(make_report(ROOT / "tests/runs/old_run" / name).content)
    for key, schema in describe()["properties"].items():
        assert is_valid(found[key], schema), key
    assert not is_valid({**found, "limits": None}, describe())


@pytest.mark.parametrize("count", [0, 20])
def test_a_killed_run_has_valid_numbers(tmp_path: Path, count: int) -> None:
    run = write_run(tmp_path / "run", map(an_evaluation, range(1, count + 1)))
    assert is_valid(json.loads(make_report(run).content), describe())


def test_numbers_that_are_not_finite_are_null() -> None:
    assert as_plain({"a": (math.nan, math.inf, 1.5)}) == {"a": [None, None, 1.5]}
