"""Copies of a store during writes, without delays for the writer.

A copy is made from a snapshot over its own connection; under a write-ahead log this blocks nobody.
It is synced piece by piece, because one sync of a large file would delay the syncs of the writer.
Only an intact copy replaces the last one, so damage never spreads to the backup.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.store.files import StoreFiles, damaged
from automl_admm.store.sqlite.connection import READING_ERRORS, connect_reading, explain
from automl_admm.store.sqlite.rows import is_intact
from automl_admm.store.sqlite.schema import SELECT, inspect
from automl_admm.store.whole_files import sync_folder

PAGES_AT_ONCE = 256  # 1 MB between two syncs
ROWS_AT_ONCE = 1000
# What is left on the disk belongs to the search first.
ROOM_FACTOR = 2
Pause = Callable[[], None]


def no_pause() -> None:
    """Go on at once."""


def back_up(files: StoreFiles, pause: Pause = no_pause) -> None:
    """Replace the last backup by a copy of the store, if the copy is intact.

    `pause` is called again and again; an exception in it ends the attempt.
    """
    size = files.store.stat().st_size
    if shutil.disk_usage(files.store.parent).free < ROOM_FACTOR * size:
        raise StoreError(f"there is no room for a backup of '{files.store}'.")
    partial = files.backup.with_name(f".{files.backup.name}.partial")
    try:
        copy_pages(files.store, partial, pause)
        verify(partial, pause)
        partial.replace(files.backup)
        sync_folder(files.backup.parent)
        files.repaired.unlink(missing_ok=True)  # a killed repair left it, and the store was whole
    finally:
        partial.unlink(missing_ok=True)


def copy_pages(source: Path, target: Path, pause: Pause = no_pause) -> None:
    """Copy a snapshot of a database, and bring it to the disk; the copy needs no second file."""
    target.unlink(missing_ok=True)
    with (
        closing(connect_reading(source)) as reading,
        closing(sqlite3.connect(target, isolation_level=None)) as writing,
        target.open("rb") as file,
    ):

        def go_on(status: int, remaining: int, total: int) -> None:
            del status, remaining, total
            os.fdatasync(file.fileno())
            pause()

        # `go_on` syncs, at a pace that leaves room for the writer.
        writing.execute("PRAGMA synchronous=OFF")
        # A transaction that is open keeps the snapshot: else each write would begin it anew.
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reading.backup(writing, pages=PAGES_AT_ONCE, progress=go_on)
        writing.execute("PRAGMA journal_mode=DELETE")
        os.fsync(file.fileno())


def verify(path: Path, pause: Pause = no_pause) -> None:
    """Raise if a database of this version is not in order: its structure, and all of its rows."""
    with closing(connect_reading(path)) as database:
        try:
            inspect(database, path)
            # Without the check of indices, the slowest part; the hashes of the rows follow.
            (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise damaged(path, str(verdict))
            rows = database.execute(SELECT)
            while some := rows.fetchmany(ROWS_AT_ONCE):
                if not all(is_intact(values, sha256) for *values, sha256 in some):
                    raise damaged(path, "a row is not what was written")
                pause()
        except READING_ERRORS as problem:
            raise explain(problem, path) from problem
