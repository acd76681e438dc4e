"""Limits as `run.json` has them: by name, bound, side and, if they have it, their confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.core.limits import Limit


def write_limit(limit: Limit) -> dict[str, Any]:
    """Return a limit as an item of `run.json`."""
    item = {"name": limit.name, "bound": limit.bound, "at_least": limit.at_least}
    return item if limit.confidence is None else {**item, "confidence": limit.confidence}


def read_limit(item: Mapping[str, Any]) -> Limit:
    """Return the limit of an item; older versions had no confidences."""
    bound, confidence = float(item["bound"]), item.get("confidence")
    return Limit(item["name"], bound, item["at_least"], confidence=confidence)


def limit_as_text(item: Mapping[str, Any]) -> str:
    """Return the text of an item with every digit, to be read as a user's own.

    >>> limit_as_text({"name": "fpr", "bound": 0.1, "at_least": False, "confidence": 0.99})
    'fpr <= 0.1 @ 0.99'
    """
    text = f"{item['name']} {'>=' if item['at_least'] else '<='} {item['bound']!r}"
    confidence = item.get("confidence")
    return text if confidence is None else f"{text} @ {confidence!r}"
