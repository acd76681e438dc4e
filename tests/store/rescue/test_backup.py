"""Backups beside a search that goes on, signs of life, and a disk without room."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from automl_admm.core.errors import DiskFullError, StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import Manifest, StoreFiles, read_manifest
from automl_admm.store.rescue import backup, checking
from automl_admm.store.rescue.backup import back_up, verify
from automl_admm.store.rescue.checking import check
from automl_admm.store.sqlite.keeper import Keeper, Rhythm, StoreState
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.schema import count_rows

OFTEN = Rhythm(heartbeat=0.01, backup=0.0, rest=0.0, pause=0.0)
PATIENCE = 60.0

Seen = Callable[[str], None]


def rows_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return count_rows(database)


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture
def store(tmp_path: Path, evaluation: Callable[..., Evaluation]) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path / "store.sqlite", create=True)
    for number in range(1, 6):
        made.append(evaluation(number))
    yield made
    made.close()


def test_a_backup_is_made_when_the_store_is_closed(tmp_path: Path, store: SqliteStore) -> None:
    files = StoreFiles(tmp_path / "store.sqlite")
    assert not files.backup.exists()
    store.close()
    verify(files.backup)
    assert rows_of(files.backup) == 5
    manifest = read_manifest(files.manifest)
    assert manifest is not None
    assert (manifest.version, manifest.rows) == (2, 5)


def test_backups_and_signs_of_life_come_beside_the_writing(
    tmp_path: Path, store: SqliteStore, evaluation: Callable[..., Evaluation]
) -> None:
    files = StoreFiles(tmp_path / "store.sqlite")
    store.begin(50, "key-0050", "tree()")
    first = heartbeat(files.store)
    progress = StoreState(5, 5)
    keeper = Keeper(files, store_run(files), lambda: progress, lambda: None, OFTEN)
    try:
        wait_for(lambda: files.backup.exists() and rows_of(files.backup) == 5)
        wait_for(lambda: heartbeat(files.store) > first)
        for number in range(6, 30):
            store.append(evaluation(number))
        progress = StoreState(29, 29)
        wait_for(lambda: rows_of(files.backup) == 29)
        manifest = read_manifest(files.manifest)
        assert manifest == Manifest(store_run(files), 2, 29, is_open=True, generation="")
    finally:
        keeper.stop()
    assert check(files.store).problems == ()


def heartbeat(path: Path) -> float:
    with closing(sqlite3.connect(path)) as database:
        return float(database.execute("SELECT heartbeat FROM running").fetchone()[0])


def store_run(files: StoreFiles) -> str:
    manifest = read_manifest(files.manifest)
    assert manifest is not None
    return manifest.run


def test_a_store_that_is_damaged_never_takes_the_place_of_its_backup(
    tmp_path: Path, store: SqliteStore
) -> None:
    files = StoreFiles(tmp_path / "store.sqlite")
    back_up(files)
    before = files.backup.read_bytes()
    with closing(sqlite3.connect(files.store)) as database, database:
        database.execute("UPDATE evaluations SET text = 'another' WHERE number = 3")
    with pytest.raises(StoreError, match="a row is not what was written"):
        back_up(files)
    store.close()
    assert files.backup.read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_backup_that_is_given_up_leaves_nothing(tmp_path: Path, store: SqliteStore) -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        back_up(StoreFiles(tmp_path / "store.sqlite"), stop)
    assert not list(tmp_path.glob(".*"))
    assert not (tmp_path / "store.bak").exists()


def test_a_backup_takes_no_room_that_the_search_needs(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def almost_full(path: Path) -> object:
        return SimpleNamespace(free=5000)

    monkeypatch.setattr(backup.shutil, "disk_usage", almost_full)
    with pytest.raises(StoreError, match="no room for a backup"):
        back_up(StoreFiles(tmp_path / "store.sqlite"))
    store.close()  # which is no error: the store itself is whole
    assert not (tmp_path / "store.bak").exists()


@pytest.mark.faults
def test_a_full_disk_keeps_what_is_there_and_goes_on_when_there_is_room(
    tmp_path: Path, store: SqliteStore, evaluation: Callable[..., Evaluation]
) -> None:
    """SQLite answers as it does on a full disk when a file may not grow."""
    large = "x" * 20_000
    (pages,) = store._database.execute("PRAGMA page_count").fetchone()
    store._database.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(DiskFullError, match="no room left for") as caught:
        store.append(evaluation(6, text=large))
    assert caught.value.exit_code == 8
    with pytest.raises(DiskFullError):
        store.append(replace(evaluation(7), text=large))
    assert [one.number for one in store.read()] == [1, 2, 3, 4, 5]
    store._database.execute("PRAGMA max_page_count=1000000")
    store.append(evaluation(6, text=large))
    assert store.read()[5] == evaluation(6, text=large)
    store.close()
    assert check(tmp_path / "store.sqlite").problems == ()


def test_a_check_calls_a_full_disk_no_damage(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even reading needs a little room, and a repair would mend nothing."""
    store.close()

    def inspect(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(checking, "inspect", inspect)
    with pytest.raises(DiskFullError, match="no room left for"):
        check(tmp_path / "store.sqlite")


ON_A_SMALL_DISK = """
import sys
from pathlib import Path
from stored import an_evaluation
from automl_admm.core.errors import DiskFullError
from automl_admm.store.rescue.checking import check
from automl_admm.store.sqlite.log import SqliteStore
path = Path(sys.argv[1]) / "store.sqlite"
filler = path.with_name("filler")
filler.write_bytes(bytes(500_000))
store = SqliteStore(path, create=True)
written = 0
try:
    while True:
        store.append(an_evaluation(written + 1, text="x" * 2000))
        written += 1
except DiskFullError as problem:
    print(problem.exit_code)
assert [one.number for one in store.read()] == list(range(1, written + 1))
store.close()
assert len(SqliteStore(path).read()) == written
filler.unlink()
store = SqliteStore(path, write=True)
store.append(an_evaluation(written + 1))
store.close()
assert check(path).problems == ()
print(written)
"""


@pytest.mark.fault(
    "F24", injected="a full disk below the store", expected="exit 8; readable, goes on with room"
)
def test_a_disk_that_is_really_full(tmp_path: Path, seen: Seen) -> None:
    """A disk of 1.2 MB that only this one process sees."""
    mount = f"mount -t tmpfs -o size=1200k tmpfs '{tmp_path}' && exec \"$@\""
    apart = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this process may not mount a small disk")
    program = [sys.executable, "-c", ON_A_SMALL_DISK, str(tmp_path)]
    done = subprocess.run(
        [*apart, *program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    code, written = map(int, done.stdout.split())
    assert code == 8
    assert written > 10
    seen(f"exit {code} after {written} rows, readable; goes on with room")


LIMITED = """
import resource, signal
from automl_admm.core.errors import DiskFullError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
written = {last}
try:
    while True:
        store.append(an_evaluation(written + 1, text="x" * 2000))
        written += 1
except DiskFullError as problem:
    print(problem)
assert [one.number for one in store.read()] == list(range(1, written + 1))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append(an_evaluation(written + 1))
store.close()
print(written + 1)
"""


@pytest.mark.faults
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path: Path, writer) -> None:
    path = tmp_path / "store.sqlite"
    done = writer(path, 3, then=LIMITED.format(last=3))
    assert done.returncode == 0, done.stderr
    message, count = done.stdout.splitlines()
    assert message.startswith(f"no room left for '{path}'.")
    with closing(SqliteStore(path)) as store:
        assert len(store.read()) == int(count) > 10
    assert check(path).problems == ()
