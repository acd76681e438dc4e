"""A folder that was copied without the log of SQLite: noticed even without the lock's count."""

from __future__ import annotations

import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from program import run_python

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import StoreFiles, read_manifest
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.repair import repair
from automl_admm.store.sqlite.log import SqliteStore

Make = Callable[..., Path]
KILLED = """
import os, signal
from pathlib import Path
from stored import an_evaluation
from automl_admm.store.sqlite import log
marked = log.mark_manifest

def killing(manifest, *, is_open):
    if "{step}" == "after" or is_open is not {is_opening}:
        marked(manifest, is_open=is_open)
    if is_open is {is_opening}:
        os.kill(os.getpid(), signal.SIGKILL)

log.mark_manifest = killing
store = log.SqliteStore(Path({path!r}), create={create}, write=not {create})
store.append(an_evaluation(2))
store.close()
"""
LOG = ("store.sqlite-wal", "store.sqlite-shm")


def read(path: Path, **mode: bool) -> list[Evaluation]:
    with closing(SqliteStore(path, **mode)) as store:
        return list(store.read())


def copied(path: Path, folder: Path, *without: str) -> Path:
    """Copy a run folder but for some of its files."""
    shutil.copytree(path.parent, folder, ignore=lambda *_: without)
    return folder / path.name


def is_open(path: Path) -> bool:
    manifest = read_manifest(StoreFiles(path).manifest)
    assert manifest is not None
    return manifest.is_open


@pytest.mark.faults
@pytest.mark.parametrize("log_is_empty", [False, True])
def test_a_log_that_is_gone_is_noticed_without_the_lock_too(
    killed: Make, tmp_path: Path, evaluation: Callable[..., Evaluation], *, log_is_empty: bool
) -> None:
    copy = copied(killed(6), tmp_path / "copy", *LOG, "store.lock")
    if log_is_empty:  # as a reader may leave one
        copy.with_name("store.sqlite-wal").touch()
    for mode in ({}, {"write": True}, {}):
        with pytest.raises(
            StoreError, match=r"may lack evaluations.*Copy all files.*repair"
        ) as told:
            read(copy, **mode)
        assert told.value.exit_code == 7
    (problem,) = check(copy).problems
    assert "store.sqlite-wal is gone, and store.lock does not say" in problem
    result = repair(copy)
    assert result is not None
    assert (result.saved, result.lost) == (0, None)
    assert check(copy).problems == ()
    with closing(SqliteStore(copy, write=True)) as store:
        store.append(evaluation(1))
    assert read(copy) == [evaluation(1)]


@pytest.mark.faults
def test_the_log_or_the_count_of_the_lock_is_enough(killed: Make, tmp_path: Path) -> None:
    path = killed(6)
    assert len(read(copied(path, tmp_path / "no-lock", "store.lock"))) == 6
    assert len(read(copied(path, tmp_path / "no-index", "store.lock", LOG[1]))) == 6
    with pytest.raises(StoreError, match="it holds 0 evaluations of 6"):
        read(copied(path, tmp_path / "no-log", *LOG))


@pytest.mark.faults
def test_a_log_that_another_program_has_written_back_is_not_missed(
    killed: Make, tmp_path: Path
) -> None:
    path = killed(6)
    with closing(sqlite3.connect(path)) as database:
        database.execute("SELECT count(*) FROM evaluations").fetchone()
    assert not path.with_name(LOG[0]).exists()
    assert (len(read(path)), check(path).problems) == (6, ())
    copy = copied(path, tmp_path / "copy", "store.lock")
    result = repair(copy)
    assert result is not None
    assert (result.saved, result.lost, len(read(copy))) == (6, None, 6)


def test_a_store_is_marked_as_open_until_it_is_closed(tmp_path: Path, closed: Make) -> None:
    path = closed(3)
    assert not is_open(path)
    with closing(SqliteStore(path, write=True)) as store:
        assert is_open(path)
        store.begin_anew(store.read())
        assert is_open(path)
        assert len(read(path)) == 3  # beside its writer
        assert is_open(path)
    assert not is_open(path)
    assert len(read(copied(path, tmp_path / "copy", "store.lock"))) == 3


def test_a_log_that_a_reader_keeps_leaves_the_mark(tmp_path: Path, closed: Make) -> None:
    path = closed(3)
    store = SqliteStore(path, write=True)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM evaluations").fetchone()
        store.close()
        assert is_open(path)
        assert len(read(path)) == 3
    read(path, write=True)
    assert not is_open(path)


@pytest.mark.faults
@pytest.mark.parametrize("step", ["before", "after"])
@pytest.mark.parametrize("is_opening", [True, False])
@pytest.mark.parametrize("create", [True, False])
def test_a_kill_beside_the_mark_leaves_a_store_to_go_on_with(
    tmp_path: Path,
    evaluation: Callable[..., Evaluation],
    step: str,
    *,
    is_opening: bool,
    create: bool,
) -> None:
    """A process is killed at the opening, or at the closing with one evaluation more."""
    path = tmp_path / "store.sqlite"
    if not create:
        with closing(SqliteStore(path, create=True)) as store:
            store.append(evaluation(1))
    program = KILLED.format(path=str(path), create=create, step=step, is_opening=is_opening)
    assert run_python("-c", program).returncode == -signal.SIGKILL
    known = [evaluation(number) for number in ((1, 2) if not create else (2,))]
    known = known[: len(known) - is_opening]
    assert (read(path), check(path).problems) == (known, ())
    with closing(SqliteStore(path, write=True)) as store:
        store.append(evaluation(3))
    assert read(path) == [*known, evaluation(3)]
    assert not is_open(path)
