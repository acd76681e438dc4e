"""One process a run: a lock released by the kernel at any death of its holder.

The lock file names its holder. It also has the number of written evaluations, noted after each one
without waiting for the disk, so a lost write-ahead log is detected after any kill. The same holds
for the duration of its session, by the session's own clock: file times change with copies, backups
and clock settings.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import psutil

from automl_admm.core.errors import StoreError
from automl_admm.store.json_content import read_content
from automl_admm.store.store_schemas import HOLDER

# All records have this length, so that one is written over another in one go.
RECORD_BYTES = 512
# Two programs compute the moment at which a process started to within a second.
SAME_START_SECONDS = 2.0
# Whoever asks for a lock shares it for microseconds, or longer where the machine is busy.
TRIES, PAUSE_SECONDS = 20, 0.01


@dataclass(frozen=True, slots=True)
class Holder:
    """The present or last holder of a lock, its number of evaluations, and its seconds."""

    host: str
    pid: int
    start: float
    run: str = ""
    rows: int = 0
    # Which session of the run it is, counted from 1, and how long that had lasted at the last note.
    session: int = 0
    seconds: float = 0.0

    @property
    def is_alive(self) -> bool:
        """Return True if this very process runs on this host."""
        return self.host == socket.gethostname() and is_running(self.pid, self.start)

    def __str__(self) -> str:
        return f"process {self.pid} on host {self.host}"


def this_process() -> Holder:
    """This process as a holder."""
    return Holder(socket.gethostname(), os.getpid(), psutil.Process().create_time())


def is_running(pid: int, start: float) -> bool:
    """Return True if the process with this start time runs; its pid may be reused by another."""
    try:
        return bool(abs(psutil.Process(pid).create_time() - start) < SAME_START_SECONDS)
    except psutil.Error:
        return False


def read_holder(path: Path) -> Holder | None:
    """Read a lock file; None for a missing or damaged one."""
    try:
        content = read_content(path, HOLDER)
    except (OSError, StoreError):
        return None
    return Holder(
        **{item.name: content[item.name] for item in fields(Holder) if item.name in content}
    )


class RunLock:
    """Held from its making to its release; a second one is refused with the name of the first."""

    def __init__(self, path: Path) -> None:
        try:
            # Python's descriptors are closed in whatever is executed: no child keeps the lock.
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem
        try:
            _take(self._descriptor)
        except OSError as problem:
            os.close(self._descriptor)
            raise _refusal(path, problem) from problem
        me, last = this_process(), read_holder(path)
        # What the last session took is kept until this one, which has read it, counts its own time.
        self._holder = replace(last or me, host=me.host, pid=me.pid, start=me.start)
        self._begun: float | None = None
        self._noting = threading.Lock()
        self.note(self._holder.run, self._holder.rows)

    def note(self, run: str, rows: int) -> None:
        """Say how many evaluations of the run are written for good."""
        with self._noting:
            self._holder = replace(self._holder, run=run, rows=rows)
            self._write()

    def count_time(self, session: int, begun: float) -> None:
        """Say from now on how long this session has lasted since then, by the monotonic clock."""
        with self._noting:
            self._begun = begun
            self._holder = replace(self._holder, session=session)
            self._write()

    def note_time(self) -> None:
        """Say how long the session has lasted, if it counts."""
        with self._noting:
            if self._begun is not None:
                self._write()

    def _write(self) -> None:
        if self._begun is not None:
            seconds = max(time.monotonic() - self._begun, 0.0)
            self._holder = replace(self._holder, seconds=round(seconds, 3))
        record = json.dumps(asdict(self._holder)).ljust(RECORD_BYTES - 1) + "\n"
        # What was to be kept is kept already; a note that cannot be made is only missed.
        with suppress(OSError):
            # One write of a fixed length: a reader sees the old record or the new one.
            os.pwrite(self._descriptor, record.encode(), 0)

    def sync(self) -> None:
        """Bring the record to the disk: a note alone does not wait for it."""
        os.fsync(self._descriptor)

    def release(self) -> None:
        """Let the next one in; the file stays, since removing it would let in two."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _take(descriptor: int) -> None:
    """Take the lock, also where `is_held` shares it for a moment; raise OSError if it is held."""
    for _ in range(TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(PAUSE_SECONDS)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(path: Path) -> bool:
    """Return True if a process holds this lock; none holds one that is not there.

    To ask is to share it for a moment.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _refusal(path: Path, problem: OSError) -> StoreError:
    if not isinstance(problem, BlockingIOError):
        hint = "Put the run on a local disk."
        return StoreError(f"'{path}' cannot be locked: {problem.strerror}.", hint=hint)
    holder = read_holder(path) or "another process"
    hint = "Wait until it has ended, or end it."
    return StoreError(f"the run '{path.parent}' is being written by {holder}.", hint=hint)
