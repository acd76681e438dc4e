"""Open a store: create, read or continue it; a wrong one is refused.

A refused store is never changed: it is opened read-only for the check.
"""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.core.messages import as_argument, say_count
from automl_admm.store.files import (
    Manifest,
    StoreFiles,
    beside,
    damaged,
    partial_name,
    read_manifest,
    write_manifest,
)
from automl_admm.store.sqlite.connection import connect_reading, connect_writing, transaction
from automl_admm.store.sqlite.lock import Holder, read_holder
from automl_admm.store.sqlite.schema import VERSION, Facts, create_tables, inspect
from automl_admm.store.whole_files import sync_folder


@dataclass(frozen=True, slots=True)
class Expected:
    """The required content of a store, by its manifest and the notes of its last writer."""

    manifest: Manifest | None
    holder: Holder | None

    @property
    def run(self) -> str:
        """The name of the run, if the manifest has it."""
        return "" if self.manifest is None else self.manifest.run

    @property
    def generation(self) -> str | None:
        """The generation of the store, if the manifest has it."""
        return None if self.manifest is None else self.manifest.generation

    @property
    def rows(self) -> int:
        """The least number of evaluations."""
        at_checkpoint = 0 if self.manifest is None else self.manifest.rows
        return max(at_checkpoint, self.holder.rows if self.holder and self.is_counted else 0)

    @property
    def is_counted(self) -> bool:
        """Return True if the last writer has counted the evaluations of this run."""
        return self.holder is not None and self.holder.run == self.run


def expect(files: StoreFiles) -> Expected:
    """Read the required content before the store itself: the store may grow at the same time."""
    return Expected(read_manifest(files.manifest), read_holder(files.lock))


def compare(files: StoreFiles, facts: Facts, expected: Expected) -> None:
    """Refuse a store with lost rows, of another run, or from before it was begun anew."""
    if expected.manifest is None:
        raise damaged(files.store, f"its manifest {files.manifest.name} is missing")
    if expected.manifest.version != VERSION:
        raise damaged(files.store, f"its manifest is of version {expected.manifest.version}")
    if facts.run != expected.run:
        raise damaged(files.store, f"it is not of the run that {files.manifest.name} names")
    if expected.generation not in (None, facts.generation):
        log = beside(files.store, "-wal").name
        told = f"it is from before the run was changed, as a copy without {log} is"
        raise damaged(files.store, told)
    if facts.rows < expected.rows:
        found = say_count(facts.rows, "evaluation")
        raise damaged(files.store, f"it holds {found} of {expected.rows}")
    if may_lack_rows(files, expected):
        log, folder = beside(files.store, "-wal").name, as_argument(files.store.parent)
        raise StoreError(
            f"'{files.store}' may lack evaluations: it was not closed, {log} is gone, and "
            f"{files.lock.name} does not say how many there were.",
            hint="Copy all files of the folder that it is from, or go on with what is here after "
            f"`automl-admm store repair {folder}`.",
        )


def may_lack_rows(files: StoreFiles, expected: Expected) -> bool:
    """Return True if the log of a writer is gone, and nothing says how much was in it."""
    if expected.manifest is None or not expected.manifest.is_open or expected.is_counted:
        return False
    log = beside(files.store, "-wal")
    # A reader may have made an empty one.
    return not log.exists() or log.stat().st_size == 0


def new_name() -> str:
    """Return a unique name for a run, or for a generation of its store."""
    return secrets.token_hex(8)


def create(files: StoreFiles) -> tuple[sqlite3.Connection, Facts]:
    """Make a new store; it appears under its name when it is complete."""
    expected = expect(files)
    if files.store.exists() or expected.rows:
        hint = "A new run needs a folder of its own."
        raise StoreError(f"there is or was a store '{files.store}' already.", hint=hint)
    run = new_name()
    build(files.store, run)
    # The manifest first: without a store it demands nothing, a store without it is refused.
    write_manifest(files.manifest, Manifest(run, VERSION, 0))
    publish(files.store)
    return connect_writing(files.store), Facts(run, 0)


def build(store: Path, run: str, generation: str = "") -> None:
    """Make an empty store under a temporary name, until it is published."""
    partial = partial_name(store)
    partial.unlink(missing_ok=True)
    try:
        connection = sqlite3.connect(partial, isolation_level=None)
        with closing(connection) as database, transaction(database):
            create_tables(database, run, generation)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def publish(store: Path) -> None:
    """Give a built store its final name."""
    partial_name(store).replace(store)
    sync_folder(store.parent)


def open_reading(files: StoreFiles) -> tuple[sqlite3.Connection, Facts]:
    """Open an intact store, as far as can be seen without reading all of it."""
    expected = expect(files)
    refuse_absent(files, expected)
    database = connect_reading(files.store)
    try:
        facts = inspect(database, files.store)
        compare(files, facts, expected)
    except BaseException:
        database.close()
        raise
    return database, facts


def open_writing(files: StoreFiles) -> tuple[sqlite3.Connection, Facts]:
    """A store to go on with: all of its structure is checked."""
    database, facts = open_reading(files)
    with closing(database):
        # In full only before writing: a damaged index would spread to what is written.
        (verdict,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise damaged(files.store, str(verdict))
    return connect_writing(files.store), facts


def refuse_absent(files: StoreFiles, expected: Expected) -> None:
    """Refuse a missing or empty store."""
    if not files.store.is_file():
        raise absent(files, expected)
    if files.store.stat().st_size == 0:
        raise damaged(files.store, "it is empty")


def absent(files: StoreFiles, expected: Expected) -> StoreError:
    """Return the error for a store whose file is not there."""
    held = f", and held {say_count(expected.rows, 'evaluation')}" if expected.rows else ""
    if files.sources:
        return damaged(files.store, f"it is gone{held}")
    if not held:
        return StoreError(f"there is no store '{files.store}'.", hint="Name the folder of a run.")
    hint = f"There is no {files.backup.name} to repair it from: restore it from a copy."
    return StoreError(f"'{files.store}' is gone{held}.", hint=hint)


def remove_logs(path: Path) -> None:
    """Remove the files of SQLite beside a vanished database."""
    for ending in ("-wal", "-shm", "-journal"):
        with suppress(OSError):
            beside(path, ending).unlink()
