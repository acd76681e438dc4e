"""The end of a trial as its user tells it, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.evaluations import Status
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_error, say_value
from automl_admm.runs.validation import check_number

AS_FAILED = "If it has none, write tell(trial, failed=True), or the reason as a text."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a trial: a loss with a value for each limit, or a failure with its message."""

    status: Status
    loss: float = math.nan
    constraints: tuple[float, ...] = ()
    message: str = ""


def read_outcome(
    what: str, limits: Sequence[Limit], loss: Any, values: Any, failed: Any
) -> Outcome:
    """Return the outcome of `what`, such as "trial 3"; raise for anything that is no result."""
    failed = _plain(failed)
    if failed is not None and failed is not False:
        if loss is not None:
            raise ConfigurationError(f"{what} has a loss and has failed.", hint="Give one of both.")
        return Outcome(Status.ERROR, message=_reason(what, failed))
    if isinstance(loss, Mapping):
        loss, values = _divided(what, loss, values)
    if loss is None:
        raise ConfigurationError(f"{what} has no loss.", hint=AS_FAILED)
    number = _finite(f"the loss of {what}", loss)
    return Outcome(Status.SUCCESS, number, _constraints(what, limits, values))


def read_seconds(what: str, seconds: Any) -> float | None:
    """Return the time of an evaluation as it is told."""
    if seconds is None:
        return None
    found = _finite(f"seconds of {what}", seconds, "Leave them out where they are not known.")
    if found < 0.0:
        raise ConfigurationError(f"seconds of {what} must be 0 or more, not {found:g}.")
    return found


def _reason(what: str, failed: Any) -> str:
    if isinstance(failed, BaseException):
        return say_error(failed)
    if failed is True:
        return "told as failed"
    if not isinstance(failed, str):
        kinds = "True, a text or an exception"
        raise ConfigurationError(f"failed of {what} must be {kinds}, not {say_value(failed)}.")
    return failed


def _divided(what: str, answer: Mapping[Any, Any], values: Any) -> tuple[Any, Any]:
    """Divide the answer of an objective into its loss and the other quantities."""
    if values is not None:
        raise ConfigurationError(
            f"the limits of {what} are given twice.", hint="Write them in one mapping."
        )
    return answer.get("loss"), {name: one for name, one in answer.items() if name != "loss"}


def _constraints(what: str, limits: Sequence[Limit], values: Any) -> tuple[float, ...]:
    """Return a value for each limit, in their order."""
    given = {} if values is None else values
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"the limits of {what} must be a dict of values by name, not {say_value(values)}."
        )
    names = [limit.name for limit in limits]
    for name in given:
        if name not in names:
            raise UnknownNameError("limit", str(name), names)
    for name in names:
        if name not in given:
            hint = f"Write limits={{'{name}': …}}."
            raise ConfigurationError(f"{what} has no value for the limit '{name}'.", hint=hint)
    return tuple(_finite(f"'{name}' of {what}", given[name]) for name in names)


def _plain(value: Any) -> Any:
    """Return the scalar of an array without dimensions, and a truth value of NumPy as Python's.

    >>> _plain(np.array(True)), float(_plain(np.array(0.5)))
    (True, 0.5)
    """
    scalar = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return bool(scalar) if isinstance(scalar, np.bool_) else scalar


def _finite(what: str, value: Any, hint: str = AS_FAILED) -> float:
    value = _plain(value)
    check_number(what, value)
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise ConfigurationError(f"{what} is {number}.", hint=hint)
    return number
