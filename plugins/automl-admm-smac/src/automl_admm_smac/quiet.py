"""Keeping SMAC off the terminal, in as many threads as there are."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

SILENT = logging.CRITICAL + 1


class Quiet:
    """Keeps SMAC from logging and warning as long as at least one thread is inside.

    SMAC logs at the level of warnings what is none, and without a handler that goes to stderr.
    The level of a logger and the filters of warnings belong to the whole process: if each thread
    saved and restored them, one that came second and left last would restore what the first had
    set. So the first one in saves, and the last one out restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before.enter_context(_silenced())
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._before.close()


@contextmanager
def _silenced() -> Iterator[None]:
    smac = logging.getLogger("smac")
    level = smac.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smac.setLevel(SILENT)
        yield
    smac.setLevel(level)


# One for all, since there is one set of filters for all.
quiet = Quiet()
