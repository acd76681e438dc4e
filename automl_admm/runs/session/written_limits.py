"""Limits as `run.json` has them: by name, bound and side, with confidence and groups if any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from automl_admm.constraints.fitted_groups import with_fitted
from automl_admm.constraints.group_comparison import Grouped
from automl_admm.constraints.groups import Grouping
from automl_admm.core.limits import Limit
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.plugins.records import Constraint


def write_limit(constraint: Constraint) -> dict[str, Any]:
    """Return a limit as an item of `run.json`, with its groups and its factor of a baseline."""
    limit, function = constraint.limit, constraint.function
    item: dict[str, Any] = {"name": limit.name, "bound": limit.bound, "at_least": limit.at_least}
    item["by_threshold"] = moves(constraint)
    item["of_baseline"] = constraint.of_baseline
    if limit.confidence is not None:
        item["confidence"] = limit.confidence
    if isinstance(function, Grouped):
        item["groups"] = list(function.names)
    if isinstance(function, Grouped) and function.left_out:
        item["left_out"] = list(function.left_out)
    columns = constraint.groups.columns if isinstance(constraint.groups, Grouping) else ()
    cuts = {column.name: list(column.cuts) for column in columns if column.quantiles}
    return {**item, "cuts": cuts} if cuts else item


def with_its_groups(constraint: Constraint, item: Mapping[str, Any]) -> Constraint:
    """Return a limit with the cut points and the groups left out of its run.

    Raise a ValueError if the limit has quantiles, and the item does not say where they were.
    """
    cuts, groups = item.get("cuts", {}), constraint.groups
    columns = groups.columns if isinstance(groups, Grouping) else ()
    unknown = next((one for one in columns if one.quantiles and not cuts.get(one.name)), None)
    if unknown is not None:
        raise ValueError(f"it does not say where '{unknown}' was cut")
    if isinstance(groups, Grouping):
        names = (*item.get("groups", ()), *item.get("left_out", ()))
        constraint = replace(constraint, groups=replace(groups, known=names))
    return with_fitted(constraint, cuts, tuple(item.get("left_out", ())))


def read_limit(item: Mapping[str, Any]) -> Limit:
    """Return the limit of an item."""
    bound, confidence = float(item["bound"]), item.get("confidence")
    return Limit(item["name"], bound, item["at_least"], confidence=confidence)


def read_moved(items: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the limits that a decision threshold moves."""
    return frozenset(item["name"] for item in items if item["by_threshold"])


def limit_as_text(item: Mapping[str, Any]) -> str:
    """Return the text of an item with every digit, to be read as a user's own.

    >>> limit_as_text({"name": "fpr", "bound": 0.1, "at_least": False, "confidence": 0.99})
    'fpr <= 0.1 @ 0.99'
    """
    text = f"{item['name']} {'>=' if item['at_least'] else '<='} {item['bound']!r}"
    confidence = item.get("confidence")
    return text if confidence is None else f"{text} @ {confidence!r}"
