"""The values of limits that predictions do not tell, measured on a model as it ships."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.limit_values import evidence_of, value_of
from automl_admm.plugins.records import Constraint

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

SHIPPED = "model.skops"


def is_fact(constraint: Constraint) -> bool:
    """Return True for a limit that is the same on any rows."""
    return constraint.kind == "checked"


def is_cost(constraint: Constraint) -> bool:
    """Return True for a fact or a cost: it may be measured on rows that the model learned from."""
    return not constraint.is_told and not constraint.needs_unseen


def is_untold(constraint: Constraint) -> bool:
    """Return True for a limit that needs the model: a fact, a cost, or answers to changed rows."""
    return not constraint.is_told


def measure_costs(
    work: PipelineWork,
    model: Any,
    is_wanted: Callable[[Constraint], bool],
    folder: Path,
    fit_seconds: float,
    peak_mb: float = 0.0,
    place: int = 0,
) -> tuple[float, ...]:
    """Measure the wanted limits on a model that was written; all others are NaN.

    The seconds are those of all its fits, and the memory is the largest of one. The rows are those
    that the split at a `place` validates: a model of other splits, or of all rows, has seen them. A
    limit without a value makes the outcome invalid.
    """
    if not any(is_wanted(one) for one in work.constraints):
        return (math.nan,) * len(work.constraints)
    size = (folder / SHIPPED).stat().st_size if work.persist else None
    with unheard_warnings():
        rows = work.table.part(work.splits[place][1])
        part = work.measure(model, rows, fit_seconds).part
        part = replace(part, peak_mb=max(part.peak_mb, peak_mb), saved_bytes=size)
        return tuple(
            value_of(one, evidence_of(one, part, ""), "") if is_wanted(one) else math.nan
            for one in work.constraints
        )
