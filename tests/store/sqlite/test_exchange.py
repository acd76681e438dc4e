"""A store that is begun anew, and loses its log or is killed: old rows are never taken for new."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from stored import KILL_ITSELF, an_evaluation, write_in_a_process

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.files import StoreFiles, read_manifest
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.repair import repair
from automl_admm.store.sqlite.log import SqliteStore

Make = Callable[..., Path]
NEW = an_evaluation(1, loss=0.75)
ANEW = f"""
store.begin_anew([])
store.append(an_evaluation(1, loss=0.75))
{KILL_ITSELF}
"""
# Another program that reads keeps the log from being written back.
WITH_A_READER = """
from automl_admm.store.sqlite import connection
reader = connection.connect_reading(Path({path!r}))
reader.execute("BEGIN")
reader.execute("SELECT count(*) FROM evaluations").fetchone()
store._database.execute("PRAGMA busy_timeout=50")
{anew}
"""
KILLED_AT = """
from automl_admm.store.sqlite import exchange
done = exchange.{step}

def killing(*given, **named):
    result = done(*given, **named) if {is_after} else None
    if {is_due}:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

exchange.{step} = killing
store.begin_anew([an_evaluation(1, loss=0.75)])
"""


def read(path: Path, **mode: bool) -> list[Evaluation]:
    with closing(SqliteStore(path, **mode)) as store:
        return list(store.read())


def killed_in(path: Path, then: str) -> None:
    """Let another process go on with a store, and do what ends in its own kill."""
    done = write_in_a_process(path, 0, mode="write", then=then)
    assert done.returncode == -signal.SIGKILL, done.stderr


def without_log(path: Path, folder: Path, *more: str) -> Path:
    lost = ("store.sqlite-wal", "store.sqlite-shm", *more)
    shutil.copytree(path.parent, folder, ignore=lambda *_: lost)
    return folder / path.name


def say(path: Path, **changed: object) -> None:
    """Change what a manifest says."""
    manifest = StoreFiles(path).manifest
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changed))


@pytest.mark.faults
@pytest.mark.parametrize("then", [ANEW, WITH_A_READER], ids=["alone", "beside a reader"])
@pytest.mark.parametrize("lock", [(), ("store.lock",)], ids=["counted", "not counted"])
def test_without_its_log_what_was_before_does_not_count_again(
    closed: Make, tmp_path: Path, then: str, lock: tuple[str, ...]
) -> None:
    path = closed(6)
    killed_in(path, then.format(path=str(path), anew=ANEW))
    assert (read(path), check(path).problems) == ([NEW], ())
    copy = without_log(path, tmp_path / "copy", *lock)
    for mode in ({}, {"write": True}):
        with pytest.raises(StoreError, match=r"store\.sqlite' is damaged|may lack evaluations"):
            read(copy, **mode)
    assert len(check(copy).problems) == 1
    if lock:
        assert repair(copy) is not None
        assert read(copy) == []
    else:
        with pytest.raises(StoreError, match=r"not one evaluation of .* can be saved"):
            repair(copy)


@pytest.mark.faults
def test_a_store_from_before_is_told_with_what_a_copy_needs(closed: Make, tmp_path: Path) -> None:
    path = closed(6)
    killed_in(path, WITH_A_READER.format(path=str(path), anew=ANEW))
    copy = without_log(path, tmp_path / "copy")
    with pytest.raises(
        StoreError, match=r"from before the run was changed, as a copy without store\.sqlite-wal is"
    ) as told:
        read(copy)
    assert told.value.exit_code == 7


@pytest.mark.faults
def test_what_is_begun_anew_with_old_rows_is_whole_without_its_log(
    closed: Make, tmp_path: Path
) -> None:
    path = closed(6)
    kept = "store.begin_anew([an_evaluation(1, loss=0.75), an_evaluation(2)])\n"
    killed_in(path, kept + KILL_ITSELF)
    copy = without_log(path, tmp_path / "copy")
    assert read(copy) == [NEW, an_evaluation(2)]
    say(copy, rows=0)
    assert check(copy).problems == ()


@pytest.mark.faults
@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("step", ["transaction", "write_manifest", "name_generation"])
def test_a_kill_in_between_leaves_all_of_the_old_or_all_of_the_new(
    closed: Make, step: str, *, is_after: bool
) -> None:
    path = closed(6)
    killed_in(path, KILLED_AT.format(step=step, is_after=is_after, is_due=True))
    assert (len(read(path)), check(path).problems) == (6, ())
    with closing(SqliteStore(path, write=True)) as store:
        kept = store.begin_anew([NEW])
        assert store.read() == [NEW]
        store.bring_back(kept)
        assert len(store.read()) == 6
    assert (len(read(path)), check(path).problems) == (6, ())


@pytest.mark.faults
def test_a_kill_right_after_leaves_the_new_with_its_log_and_without(
    closed: Make, tmp_path: Path
) -> None:
    path = closed(6)
    second = "'generation' in named"
    killed_in(path, KILLED_AT.format(step="Manifest", is_after=True, is_due=second))
    for one in (path, without_log(path, tmp_path / "copy")):
        assert (read(one), check(one).problems) == ([NEW], ())


@pytest.mark.faults
def test_what_was_brought_back_stays_without_its_log(closed: Make, tmp_path: Path) -> None:
    path = closed(6)
    killed_in(path, f"store.bring_back(store.begin_anew([an_evaluation(7)]))\n{KILL_ITSELF}")
    copy = without_log(path, tmp_path / "copy")
    for one in (path, copy):
        assert (len(read(one)), check(one).problems) == (6, ())
        assert len(read(one, write=True)) == 6


def test_every_time_it_is_begun_anew_it_is_another_one(closed: Make) -> None:
    path, named = closed(2), list[str | None]()
    for _ in range(3):
        with closing(SqliteStore(path, write=True)) as store:
            manifest = read_manifest(StoreFiles(path).manifest)
            assert manifest is not None
            named.append(manifest.generation)
            store.begin_anew(store.read())
    assert named[0] == ""
    assert len(set(named)) == 3


@pytest.mark.faults
def test_a_backup_from_before_repairs_nothing(closed: Make) -> None:
    path = closed(6)
    before = StoreFiles(path).backup.read_bytes()
    with closing(SqliteStore(path, write=True)) as store:
        store.begin_anew([NEW])
    StoreFiles(path).backup.write_bytes(before)
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    with pytest.raises(StoreError, match=r"not one evaluation of .* can be saved"):
        repair(path)
    path.write_bytes(whole)
    StoreFiles(path).manifest.unlink()
    assert repair(path) is not None
    assert read(path) == [NEW]
