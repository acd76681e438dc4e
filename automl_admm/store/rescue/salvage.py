"""Salvage of intact rows from damaged files.

Every row carries the hash of its values, so a way of reading need not be safe: only rows with a
matching hash are believed, if they hold an evaluation. All of it works on copies.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from automl_admm.store.files import beside
from automl_admm.store.sqlite.connection import READING_ERRORS
from automl_admm.store.sqlite.rows import COLUMNS, UNFINISHED, is_intact, is_readable
from automl_admm.store.sqlite.schema import BEGUN, SELECT, Names, names_in

KEY, STATUS = COLUMNS.index("key"), COLUMNS.index("status")
LOG_HEADER = struct.Struct(">8I")
FRAME_HEADER = struct.Struct(">6I")
PAGE_SIZES = frozenset(2**power for power in range(9, 17))
# The header counts changes and pages; where another count of changes differs, SQLite counts the
# pages itself.
CHANGES_FIELD = slice(24, 28)
Row = Sequence[Any]


def copies_of(path: Path, scratch: Path, template: Path) -> Iterator[Path]:
    """Yield copies of a database, each fixed in another way, from the plainest to the boldest.

    `template` is a store without rows: its first page, the directory of tables, replaces a damaged
    one. Each copy exists until the next is requested.
    """
    content, log = path.read_bytes(), _read(beside(path, "-wal"))
    yield from _copy(scratch / "plain", content, log)
    pages = _with_frames(content, log)
    yield from _copy(scratch / "forced", pages)
    yield from _copy(scratch / "first-page", _with_first_page(pages, template.read_bytes()))


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _copy(path: Path, content: bytes, log: bytes = b"") -> Iterator[Path]:
    path.write_bytes(content)
    if log:
        beside(path, "-wal").write_bytes(log)
    yield path
    path.unlink()


def _with_frames(content: bytes, log: bytes) -> bytes:
    """Put the pages of a write-ahead log in their places, whatever its checksums.

    SQLite itself stops at the first damaged frame; later ones may be intact.
    """
    if len(log) < LOG_HEADER.size:
        return content
    pages = bytearray(content)
    _, _, size, _, *salt, _, _ = LOG_HEADER.unpack_from(log)
    if size not in PAGE_SIZES:
        return content
    frame = FRAME_HEADER.size + size
    # A cut page would be shorter than its place, and all pages behind it would move.
    for offset in range(LOG_HEADER.size, len(log) - frame + 1, frame):
        number, _, *frame_salt, _, _ = FRAME_HEADER.unpack_from(log, offset)
        begin = (number - 1) * size
        # What is left in the log from before the last checkpoint bears another salt.
        if frame_salt == salt and 0 <= begin <= len(pages):
            page = log[offset + FRAME_HEADER.size : offset + frame]
            pages[begin : begin + size] = page
    return bytes(pages)


def _with_first_page(pages: bytes, template: bytes) -> bytes:
    """Return the pages with the first one of an empty store, and all pages in its directory."""
    size = int.from_bytes(template[16:18], "big")
    first = bytearray(template[:size])
    changes = int.from_bytes(first[CHANGES_FIELD], "big")
    first[CHANGES_FIELD] = (changes + 1).to_bytes(4, "big")
    return bytes(first) + pages[size:].ljust(len(template) - size, b"\0")


def names_of(path: Path) -> Names | None:
    """Return the run and the generation of a database, if readable."""
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        named = names_in(database)
        return named if named.run else None
    return None


def rows_of(path: Path, highest: int) -> Iterator[Row]:
    """Yield evaluations with a matching hash, and the hash; rows may repeat.

    After a broken scan comes one from the other end, and then a query for every number.
    """
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        # A scan ends at a damaged page: the pages behind it are reached from the other end.
        for order in ("ORDER BY number", "ORDER BY number DESC"):
            if (yield from _believed(database, f"{SELECT} {order}")):
                return
        for number in range(1, highest + 1):
            yield from _believed(database, f"{SELECT} WHERE number = ?", (number,))


def begun_of(path: Path) -> Iterator[Row]:
    """Yield the intact rows of begun evaluations, with hash and sign of life."""
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        for *values, sha256, heartbeat in database.execute(BEGUN):
            if is_intact(values, sha256):
                yield (*values, sha256, heartbeat)


def _believed(
    database: sqlite3.Connection, statement: str, arguments: Sequence[int] = ()
) -> Generator[Row, None, bool]:
    """Return the intact rows, and True if the scan came to its end."""
    try:
        for *values, sha256 in database.execute(statement, arguments):
            if is_intact(values, sha256) and is_readable(values):
                yield (*values, sha256)
    except READING_ERRORS:
        return False
    return True


def choose(rows: Iterable[Row]) -> dict[str, Row]:
    """Choose one row for each key: the first, or the first with a complete evaluation."""
    chosen: dict[str, Row] = {}
    for row in rows:
        known = chosen.get(row[KEY])
        if known is None or (known[STATUS] in UNFINISHED and row[STATUS] not in UNFINISHED):
            chosen[row[KEY]] = row
    return chosen
