"""Values of limits on a fitted pipeline; a failure makes the outcome invalid, with the reason."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.core.fold_means import mean_over_folds
from automl_admm.core.messages import say_error
from automl_admm.core.unknown_values import explain_unknown
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.records import Constraint


def refuse_cheaply(constraints: Sequence[Constraint], steps: Any) -> None:
    """Refuse the steps of a pipeline if a limit on a value known without training excludes them."""
    for constraint in constraints:
        if constraint.cheap is None:
            continue
        value = float(constraint.cheap(steps))
        if not math.isnan(value) and not constraint.limit.holds(value):
            raise InvalidOutcome(
                f"not trained: the limit '{constraint.limit}' excludes it ({value:g})"
            )


def evidence_of(constraint: Constraint, part: EvaluatedPipeline, where: str) -> Evidence:
    """Return the evidence of one constraint; an exception in it makes the outcome invalid."""
    try:
        found = measured_by(constraint.function, part)
    except (MemoryError, InvalidOutcome):
        raise
    except Exception as problem:
        reason = say_error(problem)
        message = f"constraint '{constraint.limit.name}' failed{where}: {reason}"
        raise InvalidOutcome(message) from problem
    if constraint.kind == "statistical" and _has_times(found):
        reason = "it returned times, and is not declared as measured"
        raise InvalidOutcome(f"constraint '{constraint.limit.name}' is at fault: {reason}{where}")
    return found


def _has_times(evidence: Evidence) -> bool:
    parts = getattr(evidence, "parts", getattr(evidence, "groups", None))
    inner = parts.values() if isinstance(parts, Mapping) else ()
    return isinstance(evidence, Timing) or any(map(_has_times, inner))


def value_of(constraint: Constraint, evidence: Evidence, where: str) -> float:
    """Return the value of one constraint; without a value the outcome is invalid, with the reason.

    A limit without a value never counts as satisfied.
    """
    value = float(evidence.value)
    if not math.isfinite(value):
        reason = explain_unknown(evidence) or f"it is {value}"
        name = constraint.limit.name
        raise InvalidOutcome(f"constraint '{name}' has no value: {reason}{where}")
    _demand_declared(constraint, value, where)
    return value


def _demand_declared(constraint: Constraint, value: float, where: str) -> None:
    """Raise for a value that the constraint's own record rules out: it is a fault of its author."""
    declared = constraint.declared or constraint.limit.declared
    fault = declared.fault(constraint.limit.name, value, where)
    if fault is not None:
        raise InvalidOutcome(fault)


def value_or_nan(constraint: Constraint, part: EvaluatedPipeline) -> float:
    """Return the value of one constraint; NaN, within no limit, if it has none."""
    try:
        return value_of(constraint, evidence_of(constraint, part, ""), "")
    except InvalidOutcome:
        return math.nan


def mean_values(
    constraints: Sequence[Constraint], parts: Sequence[EvaluatedPipeline]
) -> list[float]:
    """Return the values of the limits, each the mean of the folds that it is measured on.

    Every fold needs a value of its own.
    """
    found: list[list[Evidence]] = [[] for _ in constraints]
    for number, part in enumerate(parts, start=1):
        fold = f" in fold {number} of {len(parts)}" if len(parts) > 1 else ""
        for constraint, values in zip(constraints, found, strict=True):
            if not (constraint.first_fold and values):
                values.append(evidence_of(constraint, part, fold))
                value_of(constraint, values[-1], fold)
    return [mean_over_folds(values) for values in found]
