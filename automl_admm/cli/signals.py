"""Ctrl-C, SIGTERM and a terminal that hangs up end a run well; the exit code says which it was."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

INTERRUPTED = 130
CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class Interrupts:
    """While it is entered, SIGTERM and SIGHUP are a KeyboardInterrupt too.

    One that is ignored stays so: whoever starts a program with nohup wants it to go on.
    """

    def __init__(self) -> None:
        self.exit_code = INTERRUPTED
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Self:
        for number in CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._terminate)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.exit_code = CODES[signal.Signals(number)]
        raise KeyboardInterrupt
