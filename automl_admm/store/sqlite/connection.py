"""Connections to SQLite for reading and for writing, and the meaning of their errors."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automl_admm.core.errors import FREE_ROOM, NO_ROOM, DiskFullError, StoreError
from automl_admm.core.messages import resume_command
from automl_admm.store.files import beside, damaged
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.rows import RowError

BUSY_SECONDS = 5.0  # a reader beside may hold up the writer for a moment
# Another program with an open change, such as a database browser, is waited for so long.
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.05
# A quota, or a limit on the size of files, is told by SQLite as a failed write.
TOLD_AS_FULL = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
)
DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
PRIMARY_CODE = 0xFF  # the low byte of an extended code
# What reading a damaged file may raise: text may have become what no text is,
# and whoever forged a row may have given it the right hash.
READING_ERRORS = (sqlite3.Error, UnicodeDecodeError, RowError)


def connect_reading(path: Path) -> sqlite3.Connection:
    """Open a connection that never changes the file.

    The one exception is a file with an unfinished change of a dead writer: SQLite must roll it back
    by its journal before anybody can read.
    """
    mode = "rw" if beside(path, "-journal").exists() else "ro"
    return _connect(path, mode)


def connect_writing(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open a connection with durable commits."""
    database = _connect(path, "rwc" if create else "rw")
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # `as_uri` escapes a ? or # in a path; isolation_level=None leaves transactions to us.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    # Several threads may use a store, one at a time: a study has a lock for that.
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False
    )


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run all statements within it, or none."""
    _begin(database)
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk has rolled it back already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _begin(database: sqlite3.Connection) -> None:
    """Begin a transaction, with patience for another program that holds a lock.

    SQLite waits for a few seconds at a time: signals are noticed in between.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            # Locked from the start: a read that turns into a write may fail instead of waiting.
            database.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as problem:
            if not _is_busy(problem) or time.monotonic() >= deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _is_busy(problem: Exception) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & PRIMARY_CODE == sqlite3.SQLITE_BUSY


@contextmanager
def not_waiting(database: sqlite3.Connection) -> Iterator[None]:
    """Commits within it do not wait for the disk: a power cut may take them, a kill does not."""
    database.execute("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        database.execute("PRAGMA synchronous=FULL")


class UnreadableStoreError(StoreError):
    """A store that you may not read; its content may be sound."""


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into ours."""
    try:
        yield
    except (*READING_ERRORS, OSError) as problem:
        raise explain(problem, path) from problem


def explain(problem: Exception, path: Path) -> StoreError | DiskFullError:
    """Return our error for an unusable store."""
    code = getattr(problem, "sqlite_errorcode", 0)
    is_full = isinstance(problem, OSError) and problem.errno in NO_ROOM
    if code in TOLD_AS_FULL or is_full:
        return DiskFullError(f"no room left for '{path}'.", hint=FREE_ROOM)
    if code & PRIMARY_CODE in DAMAGE or isinstance(problem, UnicodeDecodeError | RowError):
        return damaged(path, str(problem))
    if _is_busy(problem):
        return _locked(path)
    for place, right, mode in ((path.parent, os.X_OK, "u+rwx"), (path, os.R_OK, "u+rw")):
        if os.access(place, os.F_OK) and not os.access(place, right):
            hint = f"Let yourself read it: chmod {mode} '{place}'."
            return UnreadableStoreError(f"the store '{path}' may not be read by you.", hint=hint)
    return StoreError(f"the store '{path}' cannot be used: {problem}.")


def _locked(path: Path) -> StoreError:
    hint = "Close that program."
    if RunFolder(path.parent).settings.exists():
        hint = f"Close it; a run goes on by `{resume_command(path.parent)}`."
    return StoreError(
        f"the store '{path}' cannot be used: another program holds a lock on it.", hint=hint
    )
