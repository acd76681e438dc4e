"""Pages of a damaged write-ahead log in their places."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from automl_admm.store.files import beside
from automl_admm.store.rescue.salvage import FRAME_HEADER, copies_of

ROWS = 200
SIZE = 4096


def database_with_log(path: Path) -> tuple[bytes, bytes]:
    """Return a database of many pages, and its log with the change of one row in the middle."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA page_size={SIZE}")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE rows(number INTEGER PRIMARY KEY, text)")
        values = [(number, f"old {number} " * 50) for number in range(ROWS)]
        database.executemany("INSERT INTO rows VALUES (?, ?)", values)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("UPDATE rows SET text = 'new' || substr(text, 4) WHERE number = 5")
        return path.read_bytes(), beside(path, "-wal").read_bytes()


def forced(path: Path, content: bytes, log: bytes) -> Path:
    """Return the copy that has the pages of the log in their places."""
    path.write_bytes(content)
    beside(path, "-wal").write_bytes(log)
    scratch = path.with_name("scratch")
    scratch.mkdir()
    return next(copy for copy in copies_of(path, scratch, path) if copy.name == "forced")


@pytest.mark.parametrize("cut", [0, 1, FRAME_HEADER.size - 1, FRAME_HEADER.size, 100, SIZE])
def test_a_log_that_is_cut_moves_no_page(tmp_path: Path, cut: int) -> None:
    content, log = database_with_log(tmp_path / "first.sqlite")
    copy = forced(tmp_path / "second.sqlite", content, log[: len(log) - cut])
    assert copy.stat().st_size == len(content)
    with closing(sqlite3.connect(copy)) as database:
        begins = [row[0] for row in database.execute("SELECT substr(text, 1, 3) FROM rows")]
    assert begins.count("new") == (cut == 0)
    assert begins.count("old") == ROWS - (cut == 0)
