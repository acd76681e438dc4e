"""Getting out of damaged files what is still what was written.

Every row carries the hash of its values, so a way of reading need not be safe: whatever it turns
up, only rows whose hash matches are believed. All of it works on copies.
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
from automl_admm.store.sqlite.rows import COLUMNS, UNFINISHED, digest
from automl_admm.store.sqlite.schema import BEGUN, SELECT

KEY, STATUS = COLUMNS.index("key"), COLUMNS.index("status")
LOG_HEADER = struct.Struct(">8I")
FRAME_HEADER = struct.Struct(">6I")
PAGE_SIZES = frozenset(2**power for power in range(9, 17))
# The header counts changes and pages; where another count of changes differs, SQLite counts the
# pages itself.
CHANGES_FIELD = slice(24, 28)
Row = Sequence[Any]


def copies_of(path: Path, scratch: Path, template: Path) -> Iterator[Path]:
    """Copies of a database, each mended in another way, from the plainest to the boldest.

    `template` is a store without rows: its first page, which says where the tables are, stands
    in for one that is damaged. Each copy is there until the next is asked for.
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
    """The pages of a write-ahead log put in their places, whatever its checksums say.

    SQLite itself ends at the first frame that is damaged; later ones may be whole.
    """
    if len(log) < LOG_HEADER.size:
        return content
    pages = bytearray(content)
    _, _, size, _, *salt, _, _ = LOG_HEADER.unpack_from(log)
    if size not in PAGE_SIZES:
        return content
    for offset in range(LOG_HEADER.size, len(log) - size, FRAME_HEADER.size + size):
        number, _, *frame_salt, _, _ = FRAME_HEADER.unpack_from(log, offset)
        begin = (number - 1) * size
        # What is left in the log from before the last checkpoint bears another salt.
        if frame_salt == salt and 0 <= begin <= len(pages):
            page = log[offset + FRAME_HEADER.size : offset + FRAME_HEADER.size + size]
            pages[begin : begin + size] = page
    return bytes(pages)


def _with_first_page(pages: bytes, template: bytes) -> bytes:
    """Pages with the first one of an empty store, and none missing that it speaks of."""
    size = int.from_bytes(template[16:18], "big")
    first = bytearray(template[:size])
    changes = int.from_bytes(first[CHANGES_FIELD], "big")
    first[CHANGES_FIELD] = (changes + 1).to_bytes(4, "big")
    return bytes(first) + pages[size:].ljust(len(template) - size, b"\0")


def run_of(path: Path) -> str:
    """Which run a database belongs to, if that can be read."""
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        row = database.execute("SELECT id FROM run").fetchone()
        return "" if row is None else str(row[0])
    return ""


def rows_of(path: Path, highest: int) -> Iterator[Row]:
    """Rows whose hash matches, with the hash; the same may come more than once.

    Where a scan breaks off, there is one from the other end, and then a look at every number.
    """
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        for order in ("ORDER BY number", "ORDER BY number DESC"):
            if (yield from _believed(database, f"{SELECT} {order}")):
                return
        for number in range(1, highest + 1):
            yield from _believed(database, f"{SELECT} WHERE number = ?", (number,))


def begun_of(path: Path) -> Iterator[Row]:
    """What was begun, with hash and sign of life, so far as it is what was written."""
    with suppress(*READING_ERRORS), closing(sqlite3.connect(path)) as database:
        for *values, sha256, heartbeat in database.execute(BEGUN):
            if digest(values) == sha256:
                yield (*values, sha256, heartbeat)


def _believed(
    database: sqlite3.Connection, statement: str, arguments: Sequence[int] = ()
) -> Generator[Row, None, bool]:
    """The rows that are what was written; whether there was no end before the end."""
    try:
        for *values, sha256 in database.execute(statement, arguments):
            if digest(values) == sha256:
                yield (*values, sha256)
    except READING_ERRORS:
        return False
    return True


def choose(rows: Iterable[Row]) -> dict[str, Row]:
    """One row for each key: the first, or the first that the search let end."""
    chosen: dict[str, Row] = {}
    for row in rows:
        known = chosen.get(row[KEY])
        if known is None or (known[STATUS] in UNFINISHED and row[STATUS] not in UNFINISHED):
            chosen[row[KEY]] = row
    return chosen
