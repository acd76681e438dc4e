"""The ends of tasks as an executor tells them, checked where they come in.

An executor may be anybody's: what it tells goes to the log, the store and the files of a run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Status
from automl_admm.core.messages import say_count, say_error, say_value, text_of
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.results import ANSWERED, asked_of
from automl_admm.runs.driving.judgement import problem_of_form

KINDS: Mapping[str, tuple[Any, str]] = {
    "number": (Integral, "a whole number"),
    "status": (Status, "a Status"),
    "result": (Mapping, "a mapping"),
    "message": (str, "a text"),
    "seconds": (Real, "a number"),
    "folder": (Path | None, "a Path or None"),
}
CANDIDATE = "candidate"
# The methods of the work with a fit or a choice as their result.
FITS = frozenset({"refit", "fit_folds", "settle", "assemble", "fall_back", "choose_ensemble"})
NOT_KILLED = "the executor cancelled it, and the run had not killed it"


def fault_of(told: object, tasks: Mapping[int, Task], limits: int = 0) -> str | None:
    """Say what is wrong with a told end of a task; None if nothing. Its run has so many limits."""
    if not isinstance(told, Finished):
        return f"it says that {say_value(told)} has ended"
    found = _fault_of_kind(told)
    if found is None:
        task = tasks.get(told.number)
        found = _fault_of_value(told, task) or _fault_of_result(told, task, limits)
    return None if found is None else f"it says that task {say_value(told.number)} ended {found}"


def as_agreed(told: Finished, killed: Container[int]) -> Finished:
    """Return a told end with plain values; a cancellation that the run did not ask for is `lost`.

    Clocks of two machines differ: a time below 0 is 0.
    """
    number, seconds = int(told.number), max(float(told.seconds), 0.0)
    told = _with_plain_result(replace(told, number=number, seconds=seconds))
    if told.status is Status.CANCELLED and number not in killed:
        return replace(told, status=Status.LOST, message=told.message or NOT_KILLED)
    return told


def _fault_of_kind(told: Finished) -> str | None:
    for name, (kind, wanted) in KINDS.items():
        value = getattr(told, name)
        if not isinstance(value, kind):
            return f"with {name}={say_value(value)}, which is not {wanted}"
    return None


def _fault_of_value(told: Finished, task: Task | None) -> str | None:
    if not _is_finite(told.seconds):
        return f"with seconds={say_value(told.seconds)}, which is not finite"
    is_wanted = task is not None and task.keep and told.status is Status.SUCCESS
    if is_wanted and told.folder is not None and _is_missing(told.folder):
        return f"with its files in '{told.folder}', and there is no such folder"
    return None


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _is_missing(folder: Path) -> bool:
    """Return True if a folder is not there, and did not go with all others of a removed run."""
    return folder.parent.is_dir() and not folder.is_dir()


def _fault_of_result(told: Finished, task: Task | None, limits: int) -> str | None:
    """Say why a result is none of this task; an evaluation tells what it was asked for."""
    if task is None:
        return None
    if told.status is Status.SUCCESS and (wrong := _unread(told.result, task, limits)):
        return f"with a wrong result of the task '{task.method}': {wrong}"
    if ANSWERED not in told.result or CANDIDATE not in task.arguments:
        return None
    answered = told.result[ANSWERED]
    if not isinstance(answered, list | tuple):
        return f"with {ANSWERED}={say_value(answered)}, which is no list"
    is_its = list(answered) == asked_of(task.arguments)
    return None if is_its else "with the result of another task"


def _unread(result: Mapping[str, Any], task: Task, limits: int) -> str | None:
    """Say why the result of a fit cannot be read; an evaluation that cannot is an invalid one."""
    if task.method not in FITS:
        return None
    # They bring scikit-learn, and the tasks of a black box have no such results.
    from automl_admm.pipelines.ensembles.task import EnsembleResult
    from automl_admm.pipelines.fit_results import FallbackResult, FinalFitResult

    readers: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
        "fall_back": FallbackResult.from_json,
        "choose_ensemble": EnsembleResult.from_json,
    }
    try:
        read = readers.get(task.method, FinalFitResult.from_json)(result)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        return say_error(problem)
    members = len(task.arguments.get("predictions", ()))
    if members and isinstance(read, EnsembleResult) and len(read.choice.counts) != members:
        return f"{len(read.choice.counts)} counts of {members} members"
    return _misfit(read, limits)


def _misfit(read: Any, limits: int) -> str | None:
    """Say which part of a fit or an ensemble has another number of limits; None if none has."""
    evaluation, fit = getattr(read, "evaluation", None), getattr(read, "fit", read)
    if evaluation is not None and (wrong := problem_of_form(evaluation, limits)):
        return wrong
    for name in ("held_out_constraints", "costs"):
        values = len(getattr(fit, name, ()))
        if values not in (0, limits):
            return f"{values} {name} for {say_count(limits, 'limit')}"
    return None


def _with_plain_result(told: Finished) -> Finished:
    """Return an end with its result as JSON gives it back, or as `invalid`."""
    try:
        return replace(told, result=json.loads(json.dumps(dict(told.result), default=_plain)))
    except (TypeError, ValueError, OverflowError, RecursionError) as problem:
        if told.status is not Status.SUCCESS:
            return replace(told, result={})
        reason = f"the result cannot be written as JSON: {text_of(problem)}"
        return replace(told, status=Status.INVALID, message=reason, result={})


def _plain(value: Any) -> Any:
    """Turn a mapping, a number or an array of numpy into something for JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.integer | np.bool_ | np.ndarray):
        return value.tolist()
    if isinstance(value, Real | Decimal):  # a longdouble has no plain form of its own
        return float(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
