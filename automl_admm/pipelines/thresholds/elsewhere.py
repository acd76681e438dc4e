"""The limits of an evaluation that keeps not all of them, at other thresholds than its own.

Its own thresholds are chosen for all limits together, so they say nothing of a limit alone. Without
the values elsewhere a limit on recall would seem out of reach beside one on false positives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.thresholds.by_group import NAMES
from automl_admm.pipelines.thresholds.decider import Decider
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.pipelines.thresholds.single import Aimed, Fold, mean_values, thresholds_for_each
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

# The key of these values in the details of an evaluation.
ELSEWHERE = "other_thresholds"


def measure_elsewhere(
    seen: Sequence[Seen],
    decider: Decider,
    constraints: Sequence[Constraint],
    found: EvaluationResult,
) -> dict[str, Any]:
    """Return the thresholds at which each limit alone is exceeded least, as details for the log.

    Empty if the evaluation is within the limits, or fewer than two of them hang on one threshold.
    Those relative to the baseline choose none of these thresholds, and are measured there.
    """
    moved = [Aimed(one.constraint, one.constraint.limit) for one in decider.aimed]
    chosen = found.details.get("threshold")
    places = [constraints.index(one.constraint) for one in moved]
    values = [found.constraints[place] for place in places]
    is_kept = all(one.limit.holds(value) for one, value in zip(moved, values, strict=True))
    if chosen is None or is_kept or len(moved) < 2:
        return {}
    parts = [one.part for one in seen]
    others = [one for one in thresholds_for_each(parts, moved, chosen) if one != chosen]
    there = _values_at(others, parts, constraints, found) if others else []
    told = [
        {"threshold": one, "values": values, "loss": decider.loss(seen, one)}
        for one, values in zip(others, there, strict=True)
    ]
    return {ELSEWHERE: told} if told else {}


def _values_at(
    thresholds: Sequence[float],
    parts: Sequence[EvaluatedPipeline],
    constraints: Sequence[Constraint],
    found: EvaluationResult,
) -> list[list[float]]:
    """Return the values of all limits at each threshold; only those that none moves stay."""
    places = [place for place, one in enumerate(constraints) if moves(one)]
    functions = [constraints[place].function for place in places]
    folds = [Fold.of_functions(part, functions) for part in parts]
    told = []
    for threshold in thresholds:
        measured = map(float, mean_values(folds, [threshold] * len(folds)))
        there = dict(zip(places, measured, strict=True))
        told.append([there.get(place, value) for place, value in enumerate(found.constraints)])
    return told


def at_other_thresholds(evaluation: Evaluation) -> Iterator[Evaluation]:
    """Yield an evaluation as it would be at each of its other thresholds."""
    left_out = (ELSEWHERE, "decisions", *NAMES)
    rest = {name: one for name, one in evaluation.details.items() if name not in left_out}
    for one in evaluation.details.get(ELSEWHERE, ()):
        yield replace(
            evaluation,
            loss=one["loss"],
            constraints=tuple(one["values"]),
            details={**rest, "threshold": one["threshold"]},
        )
