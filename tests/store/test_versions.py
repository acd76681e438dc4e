"""Stores that older versions wrote are opened; newer ones are not."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Status
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank
from automl_admm.store.rescue.checking import check
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.schema import VERSION

FILES = Path(__file__).parent / "files"
RELEASED = ["version-1.sqlite", "version-2"]

Seen = Callable[[str], None]


def a_copy(name: str, folder: Path) -> Path:
    """What is looked at is a copy: SQLite puts files beside what it opens."""
    target = folder / "store.sqlite"
    if (FILES / name).is_dir():
        shutil.copytree(FILES / name, folder, dirs_exist_ok=True)
    else:
        shutil.copy(FILES / name, target)
    return target


@pytest.mark.fault(
    "F35", injected="stores of every version that was", expected="opened, the same leaderboard"
)
@pytest.mark.parametrize("name", RELEASED)
def test_a_store_of_every_version_has_the_same_leaderboard(
    name: str, tmp_path: Path, seen: Seen
) -> None:
    path = a_copy(name, tmp_path)
    before = path.read_bytes()
    with closing(SqliteStore(path)) as store:
        evaluations = list(store.read())
    assert path.read_bytes() == before
    assert [one.number for one in rank(evaluations, [Limit("latency", 0.08)])] == [
        *(8, 7, 6, 5, 3, 2, 1),
        *(10, 11, 12),
    ]
    eighth = evaluations[7]
    assert eighth.text == "linear(depth=8)"
    assert eighth.loss == 0.3
    assert eighth.constraints == (0.08,)
    assert eighth.candidate.theta == (0.5, 0.75)
    assert dict(eighth.candidate.selection.picks) == {
        "model": "linear",
        "order": ("reduce", "scale"),
    }
    assert eighth.details == {"scores": [0.7, 0.66]}
    assert eighth.ended is None
    assert evaluations[3].status is Status.TIMEOUT
    assert evaluations[3].message == "it took more than 5 s"
    assert check(path).problems == ()
    seen(f"{name}: opened, {len(evaluations)} evaluations, the same leaderboard")


def test_there_is_a_stored_file_of_every_version() -> None:
    assert len(RELEASED) == VERSION
    assert {path.name for path in FILES.iterdir()} == set(RELEASED)


@pytest.mark.fault(
    "F33", injected="a store of an older version", expected="migrated, a copy is kept"
)
def test_an_older_store_is_brought_up_to_date_and_a_copy_is_kept(
    tmp_path: Path, evaluation, seen: Seen
) -> None:
    path = a_copy("version-1.sqlite", tmp_path)
    with closing(SqliteStore(path)) as store:
        before = store.read()
        assert store.interrupted() == ()
    with closing(SqliteStore(path, write=True)) as store:
        assert store.version == VERSION
        assert repr(store.read()) == repr(before)  # NaN is not NaN
        store.append(evaluation(13))
    with closing(SqliteStore(path)) as store:
        assert repr(store.read()[:-1]) == repr(before)
        assert store.read()[-1] == evaluation(13)
    with closing(SqliteStore(tmp_path / "store.v1.sqlite")) as kept:
        assert kept.version == 1
        assert repr(kept.read()) == repr(before)
    assert check(path).problems == ()
    seen("version 1 migrated to 2, store.v1.sqlite kept")


@pytest.mark.faults
def test_a_migration_that_was_killed_is_done_again(tmp_path: Path) -> None:
    """Killed after the manifest was written and before the tables were."""
    path = a_copy("version-1.sqlite", tmp_path)
    (tmp_path / "store.json").write_text('{"run": "x", "version": 2, "rows": 12}')
    with closing(SqliteStore(path)) as store:
        assert len(store.read()) == 12
    with closing(SqliteStore(path, write=True)) as store:
        assert len(store.read()) == 12
    assert check(path).problems == ()


@pytest.mark.fault("F33", injected="a store of a newer version", expected="exit 7, untouched")
def test_a_newer_store_is_refused(tmp_path: Path, seen: Seen) -> None:
    path = a_copy("version-2", tmp_path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version={VERSION + 1}")
    before = path.read_bytes()
    for write in (False, True):
        with pytest.raises(StoreError, match=r"has version 3, this program reads 1 to 2") as caught:
            SqliteStore(path, write=write)
        assert caught.value.exit_code == 7
        assert "Use the version of automl-admm that wrote it." in str(caught.value)
    assert path.read_bytes() == before
    seen(f"exit {caught.value.exit_code}: {caught.value.message.split(chr(39))[-1].strip()}")
