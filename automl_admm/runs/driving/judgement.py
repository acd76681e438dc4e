"""From what an executor says of a task to a line of the log: was it a success, and if not, why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from automl_admm.core.problem import Evaluation, Limit, Status
from automl_admm.core.protocols import Finished
from automl_admm.core.space import Candidate


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How an evaluation ended, and why if it was no success."""

    status: Status
    message: str = ""


def check_end(finished: Finished, limits: Sequence[Limit], *, until_deadline: bool) -> TaskEnd:
    """A success must have a finite loss and a number for every limit.

    What was killed because the whole budget ended had no time limit of its own to break.
    """
    out_of_budget = finished.status is Status.TIMEOUT and until_deadline
    if out_of_budget or finished.status is Status.CANCELLED:
        return TaskEnd(Status.CANCELLED, "the search ended first")
    if finished.status is not Status.SUCCESS:
        return TaskEnd(finished.status, finished.message)
    if not math.isfinite(float(finished.result.get("loss", math.nan))):
        return TaskEnd(Status.INVALID, f"the loss is {finished.result.get('loss')}")
    values = finished.result.get("constraints", ())
    if len(values) != len(limits):
        reason = f"{len(values)} constraint values for {len(limits)} limits"
        return TaskEnd(Status.INVALID, reason)
    for limit, value in zip(limits, values, strict=True):
        if not math.isfinite(float(value)):
            return TaskEnd(Status.INVALID, f"constraint '{limit.name}' is {value}")
    return TaskEnd(Status.SUCCESS)


def make_record(
    finished: Finished, verdict: TaskEnd, key: str, candidate: Candidate, text: str
) -> Evaluation:
    """The line of the log; of a failure it holds the traceback, or what was printed last."""
    result = finished.result
    is_success = finished.status is Status.SUCCESS
    return Evaluation(
        number=finished.number,
        key=key,
        candidate=candidate,
        status=verdict.status,
        loss=float(result.get("loss", math.nan)),
        constraints=tuple(float(value) for value in result.get("constraints", ())),
        seconds=finished.seconds,
        text=text,
        message=verdict.message,
        details=result.get("details", {}) if is_success else dict(result),
    )
