"""Repair: a new store from the intact rows of a damaged one and its backup.

The damaged files are kept under another name, as they are. Nothing is guessed: an evaluation with a
damaged row is lost, and counted.

A kill or a full disk at any point loses nothing, as all that can be saved is in one whole file that
the next repair reads too: until the new store is built, in the files as they were; then in
`store.repaired.sqlite`, on the disk before any other file is renamed; then in the store, of which
that file is the new one. Another repair builds in a folder of its own, so an attempt that fails
takes nothing away. The manifest and the lock come last: until then they demand, and count as lost,
what the damaged store had.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError, StoreError
from automl_admm.store.files import Manifest, StoreFiles, beside, partial_name, write_manifest
from automl_admm.store.rescue.backup import back_up, verify
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.salvage import Row, begun_of, choose, copies_of, names_of, rows_of
from automl_admm.store.run_folder import RunFolder, named_run
from automl_admm.store.sqlite.connection import explaining, transaction
from automl_admm.store.sqlite.lock import RunLock, read_holder
from automl_admm.store.sqlite.opening import (
    Expected,
    absent,
    build,
    expect,
    may_lack_rows,
    new_name,
    remove_logs,
)
from automl_admm.store.sqlite.schema import BEGIN, INSERT, VERSION, Names, count_rows
from automl_admm.store.whole_files import sync_folder

# Numbers may have gaps, so the highest may lie above the count.
MORE_NUMBERS = 1000
SCRATCH = ".repair-"
# The names that `tempfile` makes of it.
SCRATCH_FOLDER = re.compile(rf"{re.escape(SCRATCH)}[a-z0-9_]{{8}}")


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair; `lost` is None if the former number of rows is unknown."""

    saved: int
    lost: int | None
    kept: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Salvaged:
    names: Names
    rows: tuple[Row, ...]
    begun: tuple[Row, ...]


def repair(path: Path) -> Repaired | None:
    """Make a new store from the remains of one; None for an intact store, left alone."""
    files = StoreFiles(path)
    if not files.sources:
        raise absent(files, _expected(files))
    lock = RunLock(files.lock)
    try:
        with explaining(path):
            return _repair(files, lock) if check(path).problems else None
    finally:
        lock.release()


def _repair(files: StoreFiles, lock: RunLock) -> Repaired:
    expected = _expected(files)
    is_unsure = may_lack_rows(files, expected)
    # The lock is held: what is there is of a repair that was killed.
    for left in files.store.parent.glob(f"{SCRATCH}*"):
        if SCRATCH_FOLDER.fullmatch(left.name):
            shutil.rmtree(left, ignore_errors=True)  # leaves files and links alone
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=files.store.parent) as scratch:
        salvaged = _salvage(files, expected, Path(scratch))
        if not salvaged.rows and (expected.rows or not expected.run):
            hint = "Nothing was changed."
            raise StoreError(f"not one evaluation of '{files.store}' can be saved.", hint=hint)
        built = Path(scratch) / "built"
        saved = _write(built, salvaged)
        _rename(partial_name(built), files.repaired)
    kept = tuple(_set_aside(files))
    # A log that stays under its name after a power cut would be put into the new store.
    sync_folder(files.store.parent)
    _rename(files.repaired, files.store)
    run, generation = salvaged.names.run, salvaged.names.generation
    write_manifest(files.manifest, Manifest(run, VERSION, saved, generation=generation))
    lock.note(run, saved)
    # Without a backup the new store is as good; the next run makes one.
    with suppress(AutomlAdmmError, OSError, sqlite3.Error):
        back_up(files)
    lost = None if is_unsure else _count_lost(expected, run, saved)
    return Repaired(saved, lost, kept)


def _count_lost(expected: Expected, run: str, saved: int) -> int | None:
    holder = expected.holder
    if expected.manifest is None and (holder is None or holder.run != run):
        return None
    manifest = expected.manifest or Manifest(run, VERSION, 0)
    return max(Expected(manifest, holder).rows - saved, 0)


def _expected(files: StoreFiles) -> Expected:
    try:
        return expect(files)
    except StoreError:
        return Expected(None, read_holder(files.lock))


def _salvage(files: StoreFiles, expected: Expected, scratch: Path) -> _Salvaged:
    """Return all intact rows of the run and the generation that the manifest names."""
    template = scratch / "template"
    build(template, "")
    highest = expected.rows + MORE_NUMBERS
    settings = RunFolder(files.store.parent).settings
    run, generation = expected.run or named_run(settings) or "", expected.generation
    rows, begun = dict[str, Row](), dict[str, Row]()
    for source in files.sources:
        for copy in copies_of(source, scratch, partial_name(template)):
            named = names_of(copy)
            if named is not None:
                run = run or named.run
                generation = named.generation if generation is None else generation
                if named != Names(run, generation):
                    continue
            rows = choose(chain(rows.values(), rows_of(copy, highest)))
            begun = {row[0]: row for row in begun_of(copy)} | begun
            remove_logs(copy)
    unended = tuple(row for key, row in begun.items() if key not in rows)
    names = Names(run or new_name(), generation or "")
    return _Salvaged(names, tuple(rows.values()), unended)


def _write(store: Path, salvaged: _Salvaged) -> int:
    """Build the new store; two rows of one number cannot both be true, and the first is kept."""
    build(store, salvaged.names.run, salvaged.names.generation)
    connection = sqlite3.connect(partial_name(store), isolation_level=None)
    with closing(connection) as database, transaction(database):
        database.executemany(INSERT.replace("INSERT", "INSERT OR IGNORE", 1), salvaged.rows)
        database.executemany(BEGIN, salvaged.begun)
        saved = count_rows(database)
    verify(partial_name(store))
    return saved


def _rename(source: Path, target: Path) -> None:
    """Rename a file, and bring its new name to the disk."""
    source.replace(target)
    sync_folder(target.parent)


def _set_aside(files: StoreFiles) -> Iterator[Path]:
    store = files.store
    free = files.free_aside
    for source, target in (
        (store, free),
        (beside(store, "-wal"), beside(free, "-wal")),
        (beside(store, "-journal"), beside(free, "-journal")),
        (files.backup, free.with_suffix(".bak")),
    ):
        if source.exists() and not (source == files.backup and _is_in_order(source)):
            source.rename(target)
            yield target
    remove_logs(store)


def _is_in_order(path: Path) -> bool:
    try:
        verify(path)
    except AutomlAdmmError:
        return False
    return True
