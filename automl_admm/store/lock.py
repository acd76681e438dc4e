"""One process a run: a lock that the kernel lets go of when its holder dies, however it dies.

The lock file names its holder. It also says how many evaluations were written: that is noted after
each one, without waiting for the disk, so a write-ahead log that vanished is found out after any
kill.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from automl_admm.errors import StoreError

# All records have this length, so that one is written over another in one go.
RECORD_BYTES = 512
# Two programs compute the moment at which a process started to within a second.
SAME_START_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock, or held it last, and how much of which run it had written."""

    host: str
    pid: int
    start: float
    run: str = ""
    rows: int = 0

    @property
    def is_alive(self) -> bool:
        """Whether this very process runs on this host."""
        return self.host == socket.gethostname() and is_running(self.pid, self.start)

    def __str__(self) -> str:
        return f"process {self.pid} on host {self.host}"


def this_process() -> Holder:
    """This process as a holder."""
    return Holder(socket.gethostname(), os.getpid(), psutil.Process().create_time())


def is_running(pid: int, start: float) -> bool:
    """Whether the process that started then runs; its pid may have been given to another since."""
    try:
        return bool(abs(psutil.Process(pid).create_time() - start) < SAME_START_SECONDS)
    except psutil.Error:
        return False


def read_holder(path: Path) -> Holder | None:
    """What a lock file says; nothing, where it is missing or makes no sense."""
    try:
        return Holder(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


class RunLock:
    """Held from its making to its release; a second one is refused with the name of the first."""

    def __init__(self, path: Path) -> None:
        try:
            # Python's descriptors are closed in whatever is executed: no child keeps the lock.
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            os.close(self._descriptor)
            raise _refusal(path, problem) from problem
        me, last = this_process(), read_holder(path)
        self._holder = me if last is None else replace(me, run=last.run, rows=last.rows)
        self.note(self._holder.run, self._holder.rows)

    def note(self, run: str, rows: int) -> None:
        """Say how many evaluations of the run are written for good."""
        self._holder = replace(self._holder, run=run, rows=rows)
        record = json.dumps(asdict(self._holder)).ljust(RECORD_BYTES - 1) + "\n"
        # What was to be kept is kept already; a note that cannot be made is only missed.
        with suppress(OSError):
            os.pwrite(self._descriptor, record.encode(), 0)

    def release(self) -> None:
        """Let the next one in; the file stays, since removing it would let in two."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _refusal(path: Path, problem: OSError) -> StoreError:
    if not isinstance(problem, BlockingIOError):
        hint = "Put the run on a local disk."
        return StoreError(f"'{path}' cannot be locked: {problem.strerror}.", hint=hint)
    holder = read_holder(path) or "another process"
    hint = "Wait until it has ended, or end it."
    return StoreError(f"the run '{path.parent}' is being written by {holder}.", hint=hint)
