"""Connections to SQLite for reading and for writing, and the meaning of their errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from automl_admm.core.errors import NO_ROOM, DiskFullError, StoreError
from automl_admm.store.files import beside, damaged
from automl_admm.store.sqlite.rows import RowError

BUSY_SECONDS = 5.0  # a reader beside may hold up the writer for a moment
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
    # Locked from the start: a read that turns into a write may fail instead of waiting.
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        # A full disk has rolled it back already.
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


@contextmanager
def not_waiting(database: sqlite3.Connection) -> Iterator[None]:
    """Commits within it do not wait for the disk: a power cut may take them, a kill does not."""
    database.execute("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        database.execute("PRAGMA synchronous=FULL")


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
        hint = "Free some, or raise the quota, and go on: what is written is kept."
        return DiskFullError(f"no room left for '{path}'.", hint=hint)
    if code & PRIMARY_CODE in DAMAGE or isinstance(problem, UnicodeDecodeError | RowError):
        return damaged(path, str(problem))
    return StoreError(f"the store '{path}' cannot be used: {problem}.")
