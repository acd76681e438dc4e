"""A complete check of a store: all its problems, and the running evaluations.

A check changes nothing, and one problem does not stop the search for others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError, DiskFullError
from automl_admm.core.messages import say_count
from automl_admm.store.files import StoreFiles
from automl_admm.store.network_fs import network_notice
from automl_admm.store.rescue.backup import verify
from automl_admm.store.sqlite.connection import (
    READING_ERRORS,
    UnreadableStoreError,
    connect_reading,
    explain,
)
from automl_admm.store.sqlite.lock import Holder, read_holder
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.opening import Expected, compare, expect, refuse_absent
from automl_admm.store.sqlite.rows import is_intact, is_readable
from automl_admm.store.sqlite.schema import SELECT, VERSION, count_rows, inspect

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The result of a check: `facts` in order, and `problems` (none for an intact store).

    `has_sources` is False if nothing is left to repair the store from.
    """

    facts: tuple[str, ...]
    problems: tuple[str, ...]
    has_sources: bool


def check(path: Path) -> StoreReport:
    """Check a store, its manifest, its backup and its writer."""
    files = StoreFiles(path)
    problems = list(_problems(files))
    facts = tuple(_facts(files, in_order=not problems))
    return StoreReport(facts, tuple(problems), has_sources=bool(files.sources))


def _problems(files: StoreFiles) -> Iterator[str]:
    try:
        expected = expect(files)
    except AutomlAdmmError as problem:
        yield _told(problem)
        # What the manifest says is lost; the store itself may be whole.
        expected = Expected(None, read_holder(files.lock))
    try:
        refuse_absent(files, expected)
        yield from _problems_inside(files, expected)
    except AutomlAdmmError as problem:
        yield _told(problem)
    except (*READING_ERRORS, OSError) as problem:
        yield _told(explain(problem, files.store))
    yield from _problems_of_backup(files)


def _told(problem: AutomlAdmmError) -> str:
    """Return the message of a problem of the store; a full disk is none, and raises.

    So does a store that you may not read: no repair can either.
    """
    if isinstance(problem, DiskFullError | UnreadableStoreError):
        raise problem
    return problem.message


def _problems_inside(files: StoreFiles, expected: Expected) -> Iterator[str]:
    with closing(connect_reading(files.store)) as database:
        facts = inspect(database, files.store)
        try:
            compare(files, facts, expected)
        except AutomlAdmmError as problem:
            yield _told(problem)
        for (verdict,) in database.execute("PRAGMA integrity_check(10)"):
            if verdict != "ok":
                yield f"'{files.store}': {verdict}"
        yield from _faulty_rows(database, files.store)


def _faulty_rows(database: sqlite3.Connection, path: Path) -> Iterator[str]:
    altered, unreadable = list[int](), list[int]()
    for *values, sha256 in database.execute(SELECT):
        if not is_intact(values, sha256):
            altered.append(values[0])
        elif not is_readable(values):
            unreadable.append(values[0])
    if altered:
        yield f"'{path}': {_named(altered, 'not as written')}"
    if unreadable:
        yield f"'{path}': {_named(unreadable, 'with impossible values')}"


def _named(numbers: Sequence[int], fault: str) -> str:
    """Return the count of evaluations with a fault, and the numbers of the first ones."""
    shown = ", ".join(map(str, numbers[:MOST_NAMED]))
    more = ", …" if len(numbers) > MOST_NAMED else ""
    return f"{say_count(len(numbers), 'evaluation')} {fault}, number {shown}{more}"


def _problems_of_backup(files: StoreFiles) -> Iterator[str]:
    if files.backup.exists():
        try:
            verify(files.backup)
        except AutomlAdmmError as problem:
            yield _told(problem)


def _facts(files: StoreFiles, *, in_order: bool) -> Iterator[str]:
    if in_order:
        yield from _contents(files)
    holder = read_holder(files.lock)
    if holder is not None and holder.is_alive:
        yield f"{holder} has written it, and runs"
    if files.backup.exists():
        yield from _contents_of_backup(files)
    notice = network_notice(files.store.parent)
    if notice is not None:
        yield notice


def _contents(files: StoreFiles) -> Iterator[str]:
    with closing(SqliteStore(files.store)) as store:
        rows = len(store.read())
        yield f"{files.store.name}: version {VERSION}, {say_count(rows, 'evaluation')}"
        for begun in store.interrupted():
            by = Holder(begun.host, begun.pid, 0.0)
            yield f"evaluation {begun.number} was begun by {by} and never ended: {begun.text}"


def _contents_of_backup(files: StoreFiles) -> Iterator[str]:
    with suppress(*READING_ERRORS), closing(connect_reading(files.backup)) as database:
        yield f"{files.backup.name}: {say_count(count_rows(database), 'evaluation')}"
