"""Calls of the code of others, in any process: an exit of theirs is an error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from queue import Empty
from typing import Any, TypeVar

from automl_admm.core.errors import PluginError, is_full_disk, is_own_error
from automl_admm.core.evidence import Evidence
from automl_admm.core.messages import say_error
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.search.guard.guard import Helper

ResultT = TypeVar("ResultT")

# A call is given so many seconds, however little of the budget is left: large tables take a while.
LEAST_SECONDS = 10.0


class ExitError(RuntimeError):
    """A function of a plugin called sys.exit, or raised what is no `Exception`."""


@contextmanager
def no_exit() -> Iterator[None]:
    """Turn a SystemExit into an error: a plugin does not decide when the program ends.

    So is any other exception that passes by `except Exception`, but for an interrupt.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except SystemExit as leave:
        raise ExitError(f"it called sys.exit({leave.code!r})") from leave
    except BaseException as problem:
        raise ExitError(f"it raised {say_error(problem)}") from problem


@contextmanager
def naming_failures(title: str) -> Iterator[None]:
    """Tell errors of a plugin by its title; errors of ours and a full disk pass."""
    try:
        yield
    except BaseException as problem:
        if is_full_disk(problem) or not is_own_error(problem):
            raise
        raise PluginError(f"{title} failed: {say_error(problem)}.") from problem


def measured_by(function: Callable[[Any], Any], evaluated: EvaluatedPipeline) -> Evidence:
    """Return the evidence of the function of a limit, which has frames of its own to write to."""
    with no_exit():
        return as_evidence(function(evaluated.with_own_frames()), len(evaluated.y))


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
