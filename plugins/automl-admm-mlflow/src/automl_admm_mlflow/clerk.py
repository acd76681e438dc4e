"""Calls to a tracking server in a thread of their own: a missing server delays nobody."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

from automl_admm.plugin_api import say_error

logger = logging.getLogger(__name__)

# The longest time that the end of the program waits for what has not been logged yet.
LAST_SECONDS = 10.0
THREAD = "automl-admm-mlflow"
# Loggers with handlers of their own or for every retry: of this thread one line is enough.
TALKATIVE = ("mlflow", "alembic", "urllib3.connectionpool", "")
# Thread pools, which MLflow uploads by, refuse work when the interpreter ends: wait before they do.
_at_exit: Callable[..., object] = getattr(threading, "_register_atexit", atexit.register)


class Clerk:
    """Carries out calls one after the other, and tells the first failure, its last call."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._lock = threading.Lock()
        self._waiting = 0
        self._has_failed = False
        threading.Thread(target=self._work, name=THREAD, daemon=True).start()
        _at_exit(self._leave)

    def do(self, call: Callable[[], None]) -> None:
        """Have a call carried out soon."""
        with self._lock:
            self._waiting += 1
            self._idle.clear()
        self._calls.put(call)

    def wait(self, seconds: float) -> bool:
        """Wait until all calls are carried out; return False if the time is over first."""
        return self._idle.wait(seconds)

    def _leave(self) -> None:
        if not self.wait(LAST_SECONDS):
            self._fail(f"no answer for {LAST_SECONDS:g} s at the end")

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if not self._has_failed:
                self._carry_out(call)
            with self._lock:
                self._waiting -= 1
                if not self._waiting:
                    self._idle.set()

    def _carry_out(self, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception as problem:  # noqa: BLE001 - a server may fail in any way
            self._fail(say_error(problem))

    def _fail(self, reason: str) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.warning("%s is no longer logged in MLflow: %s", self._title, reason)


class Hush(logging.Filter):
    """Drops records of libraries in the thread of a clerk: it tells a failure itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True for records of other threads, and for the clerk's own."""
        return record.threadName != THREAD or record.name == __name__


_HUSH = Hush()


def hush() -> None:
    """Keep libraries from writing to the screen from threads of clerks."""
    for name in TALKATIVE:
        found = logging.getLogger(name)
        for place in (found, *found.handlers):
            place.addFilter(_HUSH)
