"""Calls of an executor with limited patience: a cluster may be gone, and hang for ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty
from typing import TypeVar

from automl_admm.core.errors import PluginError
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.search.guard.guard import Helper

ResultT = TypeVar("ResultT")

HINT = "Is its cluster still there? A run goes on by `resume`, with another --executor, too."
# Seconds that a call may take longer than it was asked to wait. After an interrupt only SHORT ones
# are left, as for closing an executor after it has hung.
LONGEST = 120.0
SHORT = 20.0


class PatientCaller:
    """Make all calls in one thread of their own, in the context of the run.

    A call without an end is left behind, and so is its thread.
    """

    def __init__(self, title: str, interrupts: Deferral) -> None:
        self._title, self._interrupts = title, interrupts
        self._begin()
        self._longest = LONGEST
        self._is_broken_off = False

    def call(self, name: str, function: Callable[[], ResultT], seconds: float = 0.0) -> ResultT:
        """Return the result of the function, or raise its error; `seconds` is its own wait."""
        begun = time.monotonic()
        try:
            result, problem = self._helper.call(
                lambda: self._context.run(function),
                seconds + self._longest,
                lambda: self._is_late(begun),
            )
        except Empty:
            self._is_broken_off = True
            passed = time.monotonic() - begun
            reason = f"{self._title} failed: `{name}` has not come back for {passed:.0f} s."
            raise PluginError(reason, hint=HINT) from None
        except BaseException:  # a second interrupt
            self._is_broken_off = True
            raise
        if problem is not None:
            raise problem
        found: ResultT = result
        return found

    def close(self, function: Callable[[], object]) -> None:
        """Make the last call; where one hangs, another thread makes it."""
        if self._is_broken_off:
            self._helper.stop()
            self._begin()
            self._longest = SHORT
        try:
            self.call("close", function)
        finally:
            self._helper.stop()

    def _begin(self) -> None:
        """Begin a thread with a context of its own: no two threads may be in one."""
        self._helper, self._context = Helper(name=self._title), copy_context()

    def _is_late(self, begun: float) -> bool:
        """Return True if a call has taken too long since an interrupt."""
        since = max(begun, self._interrupts.moment)
        return self._interrupts.came and time.monotonic() - since > SHORT
