"""The end of a task, judged: a success to learn from, or a failure and its reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from automl_admm.core.evaluations import FOLDS_LEFT, Status
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_count, say_error
from automl_admm.core.protocols import Finished
from automl_admm.core.results import EvaluationResult
from automl_admm.store.sqlite.rows import wrong_details


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """The end of an evaluation, with the reason if it was no success.

    The message says so, too, if a success was stopped early. The details of a failure are its
    traceback, or the last lines printed.
    """

    status: Status
    message: str = ""
    result: EvaluationResult = field(default_factory=EvaluationResult)


def check_end(finished: Finished, limits: Sequence[Limit], *, until_deadline: bool) -> TaskEnd:
    """Judge a task: a success needs a finite loss and a finite value for every limit.

    A task killed because the whole budget ended had no time limit of its own to break.
    """
    if finished.status is Status.SUCCESS:
        try:
            return _end_of_success(finished, limits)
        except (TypeError, ValueError, OverflowError) as wrong:
            return TaskEnd(Status.INVALID, f"the result is no evaluation: {say_error(wrong)}")
    is_sound = not wrong_details(finished.result)  # a store would not read them again
    failed = EvaluationResult(details=dict(finished.result) if is_sound else {})
    out_of_budget = finished.status is Status.TIMEOUT and until_deadline
    if out_of_budget or finished.status is Status.CANCELLED:
        return TaskEnd(Status.CANCELLED, "the search ended first", failed)
    return TaskEnd(finished.status, finished.message, failed)


def _end_of_success(finished: Finished, limits: Sequence[Limit]) -> TaskEnd:
    result = EvaluationResult.from_json(finished.result)
    if wrong := problem_of_form(result, len(limits)):
        kept = EvaluationResult() if wrong_details(result.details) else result
        return TaskEnd(Status.INVALID, wrong, kept)
    if problem := _problem_of(finished, result, limits):
        return TaskEnd(Status.INVALID, problem, result)
    return TaskEnd(Status.SUCCESS, _say_if_stopped(result), result)


def problem_of_form(result: EvaluationResult, limits: int) -> str:
    """Say why a result is no evaluation of a run with so many limits; return "" if it is one."""
    if wrong := wrong_details(result.details):
        named = " and ".join(f"'{name}'" for name in wrong)
        return f"not valid in the details: {named}"
    if len(result.constraints) != limits:
        found = say_count(len(result.constraints), "constraint value")
        return f"{found} for {say_count(limits, 'limit')}"
    return ""


def _say_if_stopped(result: EvaluationResult) -> str:
    left, done = result.details.get(FOLDS_LEFT, 0), len(result.details.get("scores", ()))
    return f"clearly behind, stopped after {done} of {done + left} folds" if left else ""


def _problem_of(finished: Finished, result: EvaluationResult, limits: Sequence[Limit]) -> str:
    """Say why a result counts for nothing; return "" if it counts."""
    if not math.isfinite(result.loss):
        return f"the loss is {finished.result.get('loss')}"
    for limit, value in zip(limits, result.constraints, strict=True):
        if not math.isfinite(value):
            return f"constraint '{limit.name}' is {value}"
    return ""
