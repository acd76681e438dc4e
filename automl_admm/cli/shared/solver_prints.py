"""Prints of solvers go to the log, as those of plugins that are loaded do."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from automl_admm.search.guard.guard import SOLVER

logger = logging.getLogger(__name__)


class _Parted(io.TextIOBase):
    """A stream that logs the lines of solvers, which have threads of their own."""

    def __init__(self, others: TextIO) -> None:
        self._others = others
        self._parts = threading.local()

    def write(self, text: str) -> int:
        if threading.current_thread().name != SOLVER:
            return self._others.write(text)
        *lines, rest = (getattr(self._parts, "rest", "") + text).split("\n")
        self._parts.rest = rest
        for line in filter(str.strip, lines):
            logger.info("a solver says: %s", line)
        return len(text)

    def flush(self) -> None:
        self._others.flush()

    def isatty(self) -> bool:
        return self._others.isatty()


@contextmanager
def solver_prints_logged() -> Iterator[None]:
    """Send what solvers print to the log within a block, and all else to where it went.

    The stream belongs to the whole process, so only the program itself may do this.
    """
    with redirect_stdout(_Parted(sys.stdout)):
        yield
