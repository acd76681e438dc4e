"""Measures made of another one: over classes, and compared between groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from automl_admm.constraints.class_views import EachClass, Joining
from automl_admm.constraints.group_comparison import GapOf, RatioOf, WorstOf
from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.records import ConstraintPlugin

GAP, RATIO = "_gap", "_ratio"


def over_classes(base: ConstraintPlugin, joining: Joining) -> ConstraintPlugin:
    """Return NAME joined over the classes: min_NAME, max_NAME or macro_NAME."""
    words = {"min": "smallest", "max": "largest", "macro": "mean"}
    function = base.function or base.grouped
    if function is None:
        raise ConfigurationError(
            f"'{base.name}' is measured by a column of numbers, and not class by class.",
            hint=f"Write '{base.name}[column]'.",
        )
    each = EachClass(function, joining, are_apart=base.rows_apart and base.function is not None)
    return replace(
        base,
        name=f"{joining}_{base.name}",
        summary=f"{words[joining]} {base.name} of a class against the others",
        function=None if base.function is None else each,
        grouped=None if base.grouped is None else each,
        target="classes",
    )


def of_worst_group(base: ConstraintPlugin, joining: Literal["min", "max"]) -> ConstraintPlugin:
    """Return the NAME of the worst group: min_NAME or max_NAME."""
    assert base.function is not None  # noqa: S101 - the resolver has checked it
    return replace(
        base,
        name=f"{joining}_{base.name}",
        summary=f"{'smallest' if joining == 'min' else 'largest'} {base.name} of a group",
        function=None,
        grouped=WorstOf(base.function, joining),
        rows_apart=False,
    )


def gap_of(base: ConstraintPlugin) -> ConstraintPlugin:
    """Return NAME_gap: how far the groups differ in NAME."""
    assert base.function is not None  # noqa: S101 - the resolver has checked it
    known = base.lowest is not None and base.highest is not None
    return ConstraintPlugin(
        name=f"{base.name}{GAP}",
        summary=f"largest {base.name} of a group minus the smallest",
        grouped=GapOf(base.function),
        setting=base.setting,
        highest=(base.highest or 0.0) - (base.lowest or 0.0) if known else None,
        kind="statistical",
        target=base.target,
        better="smaller",
        uses_decisions=base.uses_decisions,
        takes_weights=base.takes_weights,
        counts_undecided=base.counts_undecided,
        asks_model=base.asks_model,
    )


def ratio_of(base: ConstraintPlugin) -> ConstraintPlugin:
    """Return NAME_ratio: the smallest NAME of a group by the largest."""
    assert base.function is not None  # noqa: S101 - the resolver has checked it
    # min / max orders groups only if both are non-negative.
    if base.lowest is None or base.lowest < 0:
        raise ConfigurationError(
            f"'{base.name}' may be negative, and a ratio of such values says nothing.",
            hint=f"Use '{base.name}{GAP}'.",
        )
    return ConstraintPlugin(
        name=f"{base.name}{RATIO}",
        summary=f"smallest {base.name} of a group divided by the largest",
        grouped=RatioOf(base.function),
        highest=1.0,
        kind="statistical",
        target=base.target,
        better="larger",
        uses_decisions=base.uses_decisions,
        takes_weights=base.takes_weights,
        counts_undecided=base.counts_undecided,
        asks_model=base.asks_model,
    )
