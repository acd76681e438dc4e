"""Ctrl-C and SIGTERM both end a run well; the exit code says which it was."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

INTERRUPTED = 130
TERMINATED = 143


class Interrupts:
    """While it is entered, SIGTERM is a KeyboardInterrupt too."""

    def __init__(self) -> None:
        self.exit_code = INTERRUPTED

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGTERM, self._terminate)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGTERM, self._before)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.exit_code = TERMINATED
        raise KeyboardInterrupt
