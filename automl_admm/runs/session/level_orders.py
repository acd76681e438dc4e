"""The order of the levels of category columns: encoders go by it, and no hash of cells tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def other_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features with their levels in another order than in the `run.json` before.

    Nothing is told of a column without levels in one of both.
    """
    ordered = before.get("ordered_columns", [])
    lost = {*ordered} - {*now.get("ordered_columns", ordered)}
    was, is_now = _levels(before), _levels(now)
    found = [name for name in was if name in is_now and _differ(was[name], is_now[name])]
    # A level between two others gives these other numbers, even if no row has it.
    longer = [name for name in ordered if name in was and was[name] != is_now.get(name, was[name])]
    return sorted({*found, *longer, *lost})


def _levels(side: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the levels of features by their names; in a schema features stand first."""
    features = len(side["ingest"]) if "ingest" in side else side["data"]["columns"]
    described = (side.get("schema") or ())[:features]
    return {str(one["name"]): one["categories"] for one in described if one.get("categories")}


def _differ(was: Sequence[Any], is_now: Sequence[Any]) -> bool:
    """Return True if common levels stand in another order."""
    both = {*was} & {*is_now}
    old, new = ([level for level in side if level in both] for side in (was, is_now))
    return old != new
