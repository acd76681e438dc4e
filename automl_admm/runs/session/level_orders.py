"""The order of the levels of category columns: encoders go by it, and no hash of cells tells it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def other_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features with their levels in another order than in the `run.json` before.

    Nothing is told of a column without levels in one of both.
    """
    ordered = frozenset(before["ordered_columns"])
    was, is_now = _levels(before), _levels(now)
    return [
        name
        for name in sorted({*was} & {*is_now})
        if _differ(was[name], is_now[name], by_place=name in ordered)
    ]


def lost_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features whose levels had an order in the `run.json` before, and have none."""
    return sorted({*before["ordered_columns"]} - {*now["ordered_columns"]})


def new_orders(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the features whose levels have an order, and had none in the `run.json` before."""
    return lost_orders(now, before)


def _levels(side: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the levels of features by their names; in a schema features stand first."""
    features = len(side["ingest"]) if "ingest" in side else side["data"]["columns"]
    described = side["schema"][:features]
    return {str(one["name"]): one["categories"] for one in described if one.get("categories")}


def _differ(was: Sequence[Any], is_now: Sequence[Any], *, by_place: bool) -> bool:
    """Return True if common levels stand in another order, or `by_place` in other places.

    A level between two others gives these other numbers, even if no row has it.
    """
    both = {*was} & {*is_now}
    old, new = (
        [(place if by_place else 0, level) for place, level in enumerate(side) if level in both]
        for side in (was, is_now)
    )
    return old != new
