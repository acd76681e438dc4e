"""Interrupts during a search: noted at once, acted on between two steps of the driver.

Raised wherever the program happens to be, a KeyboardInterrupt may fall into a message that is half
read, or into a finaliser, where Python drops it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Deferral:
    """While it is entered the first interrupt only sets `came`; a second one is raised at once.

    An interrupt is a signal whose handler raises KeyboardInterrupt; any other handler is called
    as before. Only the main thread of a process can defer, in others nothing changes.
    """

    def __init__(self, *, enabled: bool) -> None:
        self.came = False
        self._enabled = enabled and threading.current_thread() is threading.main_thread()
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS if self._enabled else ():
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Let the handler do its work, but keep what it raises unless it has come before."""
        if self.came:
            self._handlers[number](number, frame)
            return
        try:
            self._handlers[number](number, frame)
        except KeyboardInterrupt:
            self.came = True
