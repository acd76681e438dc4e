"""A process forked from this program, in place of a new interpreter: nothing is imported twice.

It is for programs of our own on Linux: a fork is only safe as long as this process has one thread,
and the memory of anybody else's process may hold locks that nobody will ever release.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from automl_admm.execution.child.process_tree import MARK
from automl_admm.execution.task_report import exit_code
from automl_admm.execution.threads import limit_threads

HIGHEST = 65_536
STREAMS = 3  # stdin, stdout and stderr
LOOK_SECONDS = 0.005
# Of /proc/PID/stat, counted from the state on, which is the third field.
ENVIRONMENT_BEGINS, ENVIRONMENT_ENDS = 47, 48


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a forked process: environment, log, threads and the one open socket."""

    environment: Mapping[str, str]
    log: int
    threads: int
    socket: int


def can_fork() -> bool:
    """Return True if this process may be forked: Linux, one thread, and room for the mark."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    begins, ends = _environment_shown()
    return ends - begins > len(_entry("0" * 16))


class ForkedProcess:
    """A child of this process, with the methods of `Popen` that a server needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code as `Popen` does; raise `TimeoutExpired` if it does not end."""
        until = None if timeout is None else time.monotonic() + timeout
        while self._code is None:
            try:
                pid, status = os.waitpid(self.pid, 0 if until is None else os.WNOHANG)
            except ChildProcessError:  # this program ignores its dead children
                pid, status = self.pid, 0
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("the fork server", timeout or 0.0)
            else:
                time.sleep(LOOK_SECONDS)
        return self._code

    def _signal(self, number: signal.Signals) -> None:
        # Until it is waited for, its number is nobody else's.
        if self._code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)


def fork_process(serve: Callable[[], None], surroundings: Surroundings) -> ForkedProcess:
    """Fork this process; the child only serves, and ends without any handler of this program."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    # No signal may meet the child before it has let go of this program's handlers.
    held = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _be_server(serve, surroundings, held)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    return ForkedProcess(pid)


def _be_server(
    serve: Callable[[], None], surroundings: Surroundings, held: set[signal.Signals | int]
) -> NoReturn:
    code = 1
    try:
        os.setsid()
        _forget_signals()
        _take_streams(surroundings)
        _take_environment(surroundings.environment)
        limit_threads(surroundings.threads)
        warnings.simplefilter("ignore")
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        serve()
        code = 0
    except SystemExit as leave:
        code = exit_code(leave)
    except BaseException:  # noqa: BLE001 - nothing may run on into the program that was forked
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(code)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _take_streams(surroundings: Surroundings) -> None:
    """Close what the program has open, and write to the log."""
    nothing = copy_above_streams(os.open(os.devnull, os.O_RDONLY))
    log = copy_above_streams(surroundings.log)
    for ours, number in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(ours, number)
    os.closerange(STREAMS, surroundings.socket)
    os.closerange(surroundings.socket + 1, HIGHEST)
    # The objects of the program may be wrappers, and hold what it has not written yet.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def copy_above_streams(descriptor: int) -> int:
    """Return a copy whose number is none of stdin, stdout and stderr.

    A program without these streams gives their numbers to what it opens next.
    """
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, STREAMS)


def _take_environment(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it was found in the environment
    _show_mark(environment[MARK])


def _show_mark(mark: str) -> None:
    """Write the mark where /proc shows the environment of this process and of all its forks.

    That is where the program was given its own, however the environment changed since then.
    """
    begins, _ = _environment_shown()
    entry = _entry(mark)
    ctypes.memmove(begins, entry, len(entry))


def _environment_shown() -> tuple[int, int]:
    """Return the addresses between which the environment lay when this process began."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[ENVIRONMENT_BEGINS]), int(fields[ENVIRONMENT_ENDS])


def _entry(mark: str) -> bytes:
    return f"{MARK}={mark}\0".encode()
