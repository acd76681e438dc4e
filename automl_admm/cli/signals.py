"""Signals: Ctrl-C, SIGTERM and SIGHUP end a run well, each with an exit code of its own."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

# A shell reports a program ended by signal n as 128 + n; SIGINT is 2.
INTERRUPTED = 130
CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class Interrupts:
    """A context in which SIGTERM and SIGHUP raise KeyboardInterrupt too.

    An ignored signal stays ignored: with nohup the program is to go on.
    """

    def __init__(self) -> None:
        self.exit_code = INTERRUPTED
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Self:
        for number in CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._terminate)
        return self

    def __exit__(self, *problem: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.exit_code = CODES[signal.Signals(number)]
        raise KeyboardInterrupt
