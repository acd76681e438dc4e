"""Work for a store during a search: signs of life, and backups."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.store.files import Manifest, StoreFiles, write_manifest
from automl_admm.store.rescue.backup import Pause, back_up, no_pause
from automl_admm.store.sqlite.connection import connect_writing, not_waiting
from automl_admm.store.sqlite.lock import this_process
from automl_admm.store.sqlite.schema import VERSION


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Intervals: a backup every so many seconds, and at most a fiftieth of the time.

    The duration of a session is noted at each `tick`: a kill loses at most one tick of it.
    """

    tick: float = 1.0
    heartbeat: float = 30.0
    backup: float = 120.0
    rest: float = 50.0
    pause: float = 0.02


@dataclass(frozen=True, slots=True)
class StoreState:
    """The number of evaluations in a store, of changes since it was opened, and its generation."""

    rows: int
    changes: int
    generation: str = ""


class _StoppedError(Exception):
    """The store is closed: the backup in progress is abandoned for the last one."""


class Keeper:
    """A thread of its own beside the search, with connections of its own.

    After a failure it waits for the next time: the last backup stays, and the store itself is
    safe by its own commits.
    """

    def __init__(
        self,
        files: StoreFiles,
        run: str,
        progress: Callable[[], StoreState],
        note_time: Callable[[], None],
        rhythm: Rhythm | None = None,
    ) -> None:
        self._files = files
        self._run = run
        self._progress = progress
        self._note_time = note_time
        self._rhythm = rhythm or Rhythm()
        self._saved = -1  # never yet: even an unchanged store gets a backup
        self._next = time.monotonic() + self._rhythm.backup
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="store-keeper", daemon=True)
        # Where no thread can be started a run goes on without, and is backed up at its end.
        with suppress(RuntimeError):
            self._thread.start()

    def stop(self) -> None:
        """End the thread, and make the last backup."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._save(no_pause)

    def _keep(self) -> None:
        beat = time.monotonic() + self._rhythm.heartbeat
        while not self._stop.wait(min(self._rhythm.tick, self._rhythm.heartbeat)):
            self._note_time()
            if time.monotonic() >= beat:
                self._beat()
                beat = time.monotonic() + self._rhythm.heartbeat
            if time.monotonic() >= self._next:
                self._save(self._pause)

    def _pause(self) -> None:
        if self._stop.wait(self._rhythm.pause):
            raise _StoppedError
        self._note_time()

    def _beat(self) -> None:
        """Renew the sign of life of the running evaluations of this process."""
        me = this_process()
        query = "UPDATE running SET heartbeat = ? WHERE pid = ? AND host = ?"
        with (
            suppress(sqlite3.Error),
            closing(connect_writing(self._files.store)) as database,
            not_waiting(database),
        ):
            database.execute(query, (time.time(), me.pid, me.host))

    def _save(self, pause: Pause) -> None:
        begun, progress = time.monotonic(), self._progress()
        if progress.changes != self._saved:
            with suppress(sqlite3.Error, OSError, AutomlAdmmError, _StoppedError):
                said = Manifest(self._run, VERSION, progress.rows, is_open=True)
                write_manifest(self._files.manifest, replace(said, generation=progress.generation))
                back_up(self._files, pause)
                self._saved = progress.changes
        # A backup of a large store takes long, and then comes less often.
        rest = self._rhythm.rest * (time.monotonic() - begun)
        self._next = time.monotonic() + max(self._rhythm.backup, rest)
