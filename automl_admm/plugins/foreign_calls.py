"""Calls of the metrics and limits of others, in any process: an exit of theirs is an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from queue import Empty
from typing import Any, TypeVar

from automl_admm.core.evidence import Evidence
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.search.guard.guard import Helper

ResultT = TypeVar("ResultT")

# A call is given so many seconds, however little of the budget is left: large tables take a while.
LEAST_SECONDS = 10.0


class ExitError(RuntimeError):
    """A function of a plugin called sys.exit."""


@contextmanager
def no_exit() -> Iterator[None]:
    """Turn a SystemExit into an error: a plugin does not decide when the program ends."""
    try:
        yield
    except SystemExit as leave:
        raise ExitError(f"it called sys.exit({leave.code!r})") from leave


def measured_by(function: Callable[[Any], Any], evaluated: EvaluatedPipeline) -> Evidence:
    """Return the evidence of the function of a limit, which has frames of its own to write to."""
    with no_exit():
        return as_evidence(function(evaluated.with_own_frames()))


def in_time(call: Callable[[], ResultT], deadline: float | None) -> ResultT:
    """Call in a thread of its own, in this very process; raise TimeoutError after the deadline.

    Here, where no evaluation is supervised yet, a function that hangs would keep the program for
    ever. Without a `deadline`, in seconds of `time.monotonic`, it is called as it is.
    """
    if deadline is None:
        return call()
    helper = Helper(name="trial")
    seconds = max(deadline - time.monotonic(), LEAST_SECONDS)
    try:
        answer, problem = helper.call(partial(copy_context().run, call), seconds)
    except Empty:
        raise TimeoutError(f"it did not come back within {seconds:.3g} s") from None
    finally:
        helper.stop()
    if problem is not None:
        raise problem
    found: ResultT = answer
    return found
