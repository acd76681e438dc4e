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
from automl_admm.pipelines.thresholds.single import Aimed, thresholds_for_each
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
    """
    moved = [Aimed(one.constraint, one.constraint.limit) for one in decider.aimed]
    chosen = found.details.get("threshold")
    places = [constraints.index(one.constraint) for one in moved]
    values = [found.constraints[place] for place in places]
    is_kept = all(one.limit.holds(value) for one, value in zip(moved, values, strict=True))
    if chosen is None or is_kept or len(moved) < 2:
        return {}
    others = thresholds_for_each([one.part for one in seen], moved, chosen)
    told = [
        _told(threshold, dict(zip(places, map(float, there), strict=True)), found)
        | {"loss": decider.loss(seen, threshold)}
        for threshold, there in others.items()
        if threshold != chosen
    ]
    return {ELSEWHERE: told} if told else {}


def _told(threshold: float, there: dict[int, float], found: EvaluationResult) -> dict[str, Any]:
    values = [there.get(place, value) for place, value in enumerate(found.constraints)]
    return {"threshold": threshold, "values": values}


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
