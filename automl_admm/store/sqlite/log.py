"""The log of a run in SQLite: write-ahead log, synchronous=FULL, one row an evaluation.

A row is on the disk before `append` returns: neither kill -9 nor a power cut loses it. Each carries
the hash of its values; a damaged row is an error, never another value.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, StoreError, folder_is_gone
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import (
    StoreFiles,
    beside,
    damaged,
    free_name,
    mark_manifest,
    partial_name,
)
from automl_admm.store.rescue.backup import copy_pages
from automl_admm.store.sqlite.connection import (
    connect_reading,
    explaining,
    not_waiting,
    transaction,
)
from automl_admm.store.sqlite.exchange import exchange
from automl_admm.store.sqlite.keeper import Keeper, StoreState
from automl_admm.store.sqlite.lock import Holder, RunLock, this_process
from automl_admm.store.sqlite.opening import create as create_store
from automl_admm.store.sqlite.opening import (
    new_name,
    open_reading,
    open_writing,
    publish,
)
from automl_admm.store.sqlite.rows import (
    UNFINISHED,
    Begun,
    digest,
    from_rows,
    is_intact,
    is_readable,
    storable,
    to_row,
)
from automl_admm.store.sqlite.schema import (
    BEGIN,
    BEGUN,
    INSERT,
    SELECT,
    Names,
    names_in,
)

# Readers beside may keep the log; it then stays, and nothing is lost.
LAST_PATIENCE_MS = 200
# A process on another host that has given no sign of life for so long is taken for dead.
SILENT_SECONDS = 300.0


class SqliteStore:
    """The evaluations of one run in one file.

    `create` makes it, `write` continues it: either takes the lock of the run, for one process at a
    time. Without them it is read-only, at any time and beside its writer.
    """

    def __init__(self, path: Path, *, create: bool = False, write: bool = False) -> None:
        self._files = StoreFiles(path)
        self._lock = RunLock(self._files.lock) if create or write else None
        self._keeper: Keeper | None = None
        self._me = this_process()
        try:
            with explaining(path):
                opening = create_store if create else open_writing if write else open_reading
                self._database, facts = opening(self._files)
        except BaseException:
            self._release()
            raise
        self.run = facts.run
        self._place = _place_of(path)
        self._progress = StoreState(facts.rows, 0, facts.generation)
        self._begun: set[str] = set()
        if self._lock is not None:
            self._begin_writing(self._lock)

    def _begin_writing(self, lock: RunLock) -> None:
        """Mark the store as open, and start its keeper."""
        # The lock first: it counts what is written, so a kill between both loses nothing.
        lock.note(self.run, self._progress.rows)
        try:
            with explaining(self._files.lock):
                lock.sync()
            mark_manifest(self._files.manifest, is_open=True)
        except BaseException:
            self.close()
            raise
        self._keeper = Keeper(self._files, self.run, lambda: self._progress, lock.note_time)

    def count_time(self, session: int, begun: float) -> None:
        """Note from now on how long this session of the run, counted from 1, has lasted."""
        if self._lock is not None:
            self._lock.count_time(session, begun)

    def begin(self, number: int, key: str, text: str) -> None:
        """Note the start of an evaluation; `append` of its key ends it."""
        self._demand_its_file()
        me = self._me
        row = (key, number, storable(text), me.host, me.pid, me.start)
        database = self._database
        with explaining(self._files.store), not_waiting(database), transaction(database):
            # An earlier session may have died in the middle of the same evaluation.
            database.execute("DELETE FROM running WHERE key = ?", (key,))
            database.execute(BEGIN, (*row, digest(row), time.time()))
        self._begun.add(key)

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation for good before returning.

        A known key is ignored, unless its evaluation was stopped before its end (`cancelled`,
        `lost`): then the later result takes its place.
        """
        self._demand_its_file()
        with explaining(self._files.store), transaction(self._database):
            added = self._put(evaluation)
        self._begun.discard(evaluation.key)
        self._note(replace(self._progress, rows=self._progress.rows + added))

    def _note(self, progress: StoreState) -> None:
        """Tell the keeper and the lock what a change has left."""
        self._progress = replace(progress, changes=progress.changes + 1)
        if self._lock is not None:
            self._lock.note(self.run, progress.rows)

    def _demand_its_file(self) -> None:
        """Raise if the file was removed or replaced: SQLite would write to a deleted one."""
        if _place_of(self._files.store) != self._place:
            raise folder_is_gone(self._files.store)

    def _put(self, evaluation: Evaluation) -> int:
        """Write a row, and return the number of added ones."""
        key = (evaluation.key,)
        self._database.execute("DELETE FROM running WHERE key = ?", key)
        query = "SELECT status FROM evaluations WHERE key = ?"
        known = self._database.execute(query, key).fetchone()
        if known is not None and known[0] not in UNFINISHED:
            return 0
        # One that was cut short has neither key nor number for ever: a later session, to which it
        # never happened, gives both anew.
        cut_short = "DELETE FROM evaluations WHERE key = ? OR (number = ? AND status IN (?, ?))"
        values = (evaluation.key, evaluation.number, *sorted(UNFINISHED))
        replaced = self._database.execute(cut_short, values).rowcount
        row = to_row(evaluation)
        if not is_readable(row):  # else nobody could open the store again
            said = f"evaluation {evaluation.number} has impossible values"
            raise StoreError(f"the store '{self._files.store}' cannot keep it: {said}.")
        added = self._database.execute(INSERT, (*row, digest(row))).rowcount
        return added - replaced

    def read(self) -> Sequence[Evaluation]:
        """All evaluations in the order of their numbers."""
        with explaining(self._files.store):
            rows = self._database.execute(f"{SELECT} ORDER BY number")
            return from_rows(map(self._checked, rows))

    def interrupted(self) -> Sequence[Begun]:
        """Return evaluations begun by a dead process, without a result."""
        found = []
        with explaining(self._files.store):
            for *row, heartbeat in self._database.execute(f"{BEGUN} ORDER BY number"):
                key, number, text, host, pid, start = self._checked(row)
                if not self._is_under_way(key, Holder(host, pid, start), heartbeat):
                    found.append(Begun(number, key, text, host, pid))
        return found

    def _is_under_way(self, key: str, by: Holder, heartbeat: float) -> bool:
        """Return True for a live evaluation; the lock holder knows its own."""
        if self._lock is not None:
            return key in self._begun
        if by.host == self._me.host:
            return by.is_alive
        return time.time() - heartbeat < SILENT_SECONDS

    def _checked(self, row: Sequence[Any]) -> Sequence[Any]:
        """Return the values of a row after a check of the hash at its end."""
        *values, sha256 = row
        if not is_intact(values, sha256):
            raise damaged(self._files.store, f"the row of '{row[0]}' is not what was written")
        return values

    def begin_anew(self, evaluations: Sequence[Evaluation], *, copy: Path | None = None) -> Path:
        """Continue with these evaluations alone; return the path of a copy of the old store.

        It is `copy`, by default a free name beside the store.
        """
        kept = copy or free_name(self._files.store)
        with explaining(self._files.store):
            copy_pages(self._files.store, partial_name(kept))
            publish(kept)
        self._exchange(new_name(), lambda: sum(map(self._put, evaluations)))
        return kept

    def bring_back(self, kept: Path) -> None:
        """Continue with the evaluations of a copy that `begin_anew` has made."""
        with explaining(kept), closing(connect_reading(kept)) as database:
            generation = names_in(database).generation
            rows = list(map(tuple, database.execute(SELECT)))
        self._exchange(generation, lambda: self._put_back(rows))

    def _put_back(self, rows: Sequence[Sequence[Any]]) -> int:
        self._database.executemany(INSERT, rows)
        return len(rows)

    def _exchange(self, generation: str, put: Callable[[], int]) -> None:
        """Replace all evaluations by those that `put` writes, and counts."""
        # It may count fewer than there are, never more.
        if self._lock is not None:
            self._lock.note(self.run, 0)
        with explaining(self._files.store):
            rows = exchange(self._database, self._files, Names(self.run, generation), put)
        self._note(replace(self._progress, rows=rows, generation=generation))

    def close(self) -> None:
        """Let go of the file, after a last backup."""
        has_written = self._keeper is not None
        if self._keeper is not None:
            self._keeper.stop()
            self._keeper = None
            with suppress(sqlite3.Error):
                # So the file is all there is, for whoever copies it or reads it from a CD.
                self._database.execute(f"PRAGMA busy_timeout={LAST_PATIENCE_MS}")
                # A connection that has read nothing yet does not see the log that a backup made.
                self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                self._database.execute("PRAGMA journal_mode=DELETE")
        with suppress(sqlite3.Error):
            self._database.close()
        if has_written and not beside(self._files.store, "-wal").exists():
            # An open mark that stays is harmless: the lock has counted what is in the file.
            with suppress(AutomlAdmmError):
                mark_manifest(self._files.manifest, is_open=False)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _place_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from any other, whatever its name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
