"""A store of this version is opened, wherever it was written; those of others are not."""

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

STORED = Path(__file__).parent / "files" / f"version-{VERSION}"

Seen = Callable[[str], None]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """What is looked at is a copy: SQLite puts files beside what it opens."""
    shutil.copytree(STORED, tmp_path, dirs_exist_ok=True)
    return tmp_path / "store.sqlite"


@pytest.mark.fault(
    "F35", injected="a store written elsewhere", expected="opened, the same leaderboard"
)
def test_a_stored_store_has_the_same_leaderboard(stored: Path, seen: Seen) -> None:
    before = stored.read_bytes()
    with closing(SqliteStore(stored)) as store:
        evaluations = list(store.read())
    assert stored.read_bytes() == before
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
    assert check(stored).problems == ()
    seen(f"{STORED.name}: opened, {len(evaluations)} evaluations, the same leaderboard")


@pytest.mark.fault("F33", injected="a store of another version", expected="exit 7, untouched")
@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1])
def test_a_store_of_another_version_is_refused(version: int, stored: Path, seen: Seen) -> None:
    with closing(sqlite3.connect(stored)) as database:
        database.execute(f"PRAGMA user_version={version}")
    before = stored.read_bytes()
    for write in (False, True):
        told = f"has version {version}, this program reads {VERSION}"
        with pytest.raises(StoreError, match=told) as caught:
            SqliteStore(stored, write=write)
        assert caught.value.exit_code == 7
        assert "Begin anew in another folder, or use the version that wrote it." in str(
            caught.value
        )
    assert stored.read_bytes() == before
    seen(f"exit {caught.value.exit_code}: {caught.value.message.split(chr(39))[-1].strip()}")
