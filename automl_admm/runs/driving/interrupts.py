"""Interrupts during a search: noted at once, obeyed at a safe place.

A KeyboardInterrupt raised anywhere may fall into a half-read message, or into a finaliser, and
Python drops it there.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from automl_admm.core.run import StopReason

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Deferral:
    """Note the first interrupt in `came` while entered; raise a second one at once.

    In a block of `at_once` the first is raised, too: there a solver thinks, perhaps for long.
    `number` is the signal, `count` the number of interrupts, `moment` the time of the first. A
    deferral may be entered within itself.

    An interrupt is a signal with a handler that raises KeyboardInterrupt; any other handler is
    called as before. Only the main thread of a process can defer; in others nothing changes. The
    handlers belong to the whole process: the command line defers, a call from Python does not.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.number: int | None = None
        self.count = 0
        self.moment = math.inf
        self._depth = 0
        self._enabled = enabled and threading.current_thread() is threading.main_thread()
        self._is_at_once = False
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    @property
    def came(self) -> bool:
        """True after an interrupt."""
        return self.number is not None

    @property
    def reason(self) -> StopReason:
        """The name of an end by this signal: a terminated process has little time."""
        by_user = self.number in (None, signal.SIGINT)
        return StopReason.INTERRUPT if by_user else StopReason.TERMINATION

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Raise interrupts as they come in this block."""
        self._is_at_once = True
        try:
            yield
        finally:
            self._is_at_once = False

    def __enter__(self) -> Self:
        self._depth += 1
        for number in SIGNALS if self._enabled and self._depth == 1 else ():
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)
        return self

    def __exit__(self, *problem: object) -> None:
        self._depth -= 1
        if self._depth:
            return
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Call the handler, but keep its KeyboardInterrupt for the right moment."""
        is_kept = not (self.came or self._is_at_once)
        try:
            self._handlers[number](number, frame)
        except KeyboardInterrupt:
            self.number = number
            self.count += 1
            self.moment = min(self.moment, time.monotonic())
            if not is_kept:
                raise


def deferral_for(executor: object, given: Deferral | None) -> Deferral:
    """Return the given deferral, if any; only a program may set handlers, not a library.

    Work in this very process is interrupted as its author expects: nothing is deferred.
    """
    is_deferred = given is not None and not getattr(executor, "runs_here", False)
    return given if given is not None and is_deferred else Deferral(enabled=False)
