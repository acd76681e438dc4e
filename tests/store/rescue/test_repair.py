"""A repair that is cut off at any step, by a kill or a full disk: the next one saves as much."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.errors import DiskFullError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import StoreFiles
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.repair import Repaired, repair
from automl_admm.store.sqlite import opening
from automl_admm.store.sqlite.log import SqliteStore

Make = Callable[..., Path]
Tree = dict[str, bytes]
ROWS, REPAIRED = 5, "store.repaired.sqlite"
RENAMING, SYNCING = ("rename", "replace"), ("fsync", "fdatasync")
STEPS = (*RENAMING, *SYNCING, "unlink", "create_tables")
NEEDING_ROOM = (*RENAMING, *SYNCING, "create_tables")


def alter(path: Path, where: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"UPDATE evaluations SET loss = loss + 1 WHERE {where}")  # noqa: S608


@pytest.fixture(params=["halves", "old backup", "log", "backup", "gone"])
def damaged(request: pytest.FixtureRequest) -> Path:
    """A store of which all rows are whole, some in one file and some in another."""
    made = request.getfixturevalue("killed" if request.param == "log" else "closed")
    path: Path = made(ROWS)
    backup = path.with_suffix(".bak")
    if request.param == "log":
        path.with_suffix(".json").unlink()
    elif request.param == "halves":
        alter(path, "number >= 3")
        alter(backup, "number < 3")
    elif request.param == "old backup":
        alter(path, "number = 1")
        with closing(sqlite3.connect(backup)) as database, database:
            database.execute("DELETE FROM evaluations WHERE number > 2")
    elif request.param == "backup":
        backup.write_bytes(backup.read_bytes()[:5000])
    else:
        path.unlink()
    return path


def files_in(folder: Path) -> Tree:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def put_back(folder: Path, tree: Tree) -> None:
    shutil.rmtree(folder)
    for name, content in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def before_each(steps: tuple[str, ...], told: Callable[[], None]) -> pytest.MonkeyPatch:
    """Let a function be called before each step of these kinds, until the patch is undone."""
    patch = pytest.MonkeyPatch()
    for name in steps:
        module: Any = opening if name == "create_tables" else os
        # No power is cut here, and a real sync takes long.
        real = (lambda _: None) if name in SYNCING else getattr(module, name)

        def step(*given: Any, real: Callable[..., Any] = real, **named: Any) -> Any:
            told()
            return real(*given, **named)

        patch.setattr(module, name, step)
    return patch


def left_by_kills(path: Path) -> list[Tree]:
    """Return what a kill before each step of one repair leaves."""
    states: list[Tree] = []
    patch = before_each(STEPS, lambda: states.append(files_in(path.parent)))
    try:
        assert saved_all(repair(path))
    finally:
        patch.undo()
    return list(different(states))


def different(states: Iterable[Tree]) -> Iterator[Tree]:
    """Yield each state once; a repair removes the folder of a killed one unread."""
    seen: list[Tree] = []
    for state in states:
        read = {name: content for name, content in state.items() if name[:7] != ".repair"}
        if read not in seen:
            seen.append(read)
            yield state


def left_by_full_disks(path: Path, before: Tree) -> Iterator[Tree]:
    """Yield what a full disk leaves at each step of a repair of the same files."""
    for failing in range(1000):
        put_back(path.parent, before)
        steps = 0

        def full(failing: int = failing) -> None:
            nonlocal steps
            steps += 1
            if steps > failing:
                raise OSError(errno.ENOSPC, "No space left on device")

        patch = before_each(NEEDING_ROOM, full)
        try:
            with suppress(DiskFullError):
                repair(path)
        finally:
            patch.undo()
        if steps <= failing:
            return
        yield files_in(path.parent)


def saved_all(result: Repaired | None) -> bool:
    return result is None or (result.saved == ROWS and not result.lost)


def demand_all(path: Path, written: list[Evaluation]) -> None:
    """Repair, and demand all of the evaluations in a store in order, with nothing beside it."""
    assert saved_all(repair(path))
    with closing(SqliteStore(path)) as store:
        assert list(store.read()) == written
    assert check(path).problems == ()
    assert not list(path.parent.glob(".repair-*"))


@pytest.mark.faults
def test_a_kill_or_a_full_disk_at_any_step_loses_nothing(
    damaged: Path, evaluation: Callable[..., Evaluation]
) -> None:
    """A repair is killed, the next one finds the disk full, and the one after that has room."""
    written = [evaluation(number) for number in range(1, ROWS + 1)]
    kills = left_by_kills(damaged)
    assert len(kills) > 4
    fulls = (tree for kill in kills for tree in left_by_full_disks(damaged, kill))
    for tree in different([*kills, *fulls]):
        put_back(damaged.parent, tree)
        demand_all(damaged, written)
        assert not StoreFiles(damaged).repaired.exists()


@pytest.fixture
def with_built(closed: Make) -> Path:
    """A whole store without a backup, beside what a repair had built when it was killed."""
    path = closed(ROWS)
    path.with_suffix(".bak").write_bytes(b"no database")
    put_back(path.parent, next(tree for tree in left_by_kills(path) if REPAIRED in tree))
    return path


@pytest.mark.faults
def test_what_a_killed_repair_has_built_is_not_brought_back_into_a_changed_run(
    with_built: Path, evaluation: Callable[..., Evaluation]
) -> None:
    """Only the backup was damaged, so a session goes on, with another table."""
    with closing(SqliteStore(with_built, write=True)) as store:
        store.begin_anew([evaluation(1, loss=0.75)])
        assert not StoreFiles(with_built).repaired.exists()


@pytest.mark.faults
def test_a_whole_backup_takes_the_place_of_what_a_killed_repair_has_built(
    with_built: Path, evaluation: Callable[..., Evaluation]
) -> None:
    with closing(SqliteStore(with_built, write=True)) as store:
        store.append(evaluation(ROWS + 1))
    assert not StoreFiles(with_built).repaired.exists()
    with_built.unlink()
    assert repair(with_built) == Repaired(ROWS + 1, 0, ())


@pytest.mark.faults
def test_no_file_that_was_set_aside_is_replaced_by_another(closed: Make) -> None:
    path = closed(ROWS)
    path.with_suffix(".bak").write_bytes(b"no database")
    first = repair(path)
    assert first is not None
    path.with_name("store.damaged-1.sqlite").rename(path.with_name("moved.sqlite"))
    path.with_suffix(".bak").write_bytes(b"no database, either")
    second = repair(path)
    assert second is not None
    assert path.with_name("store.damaged-1.bak").read_bytes() == b"no database"
    assert path.with_name("store.damaged-2.bak").read_bytes() == b"no database, either"
