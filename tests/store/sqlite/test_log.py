from __future__ import annotations

import errno
import math
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.errors import ConfigurationError, DiskFullError, StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Store
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.memory import MemoryStore
from automl_admm.store.rescue.checking import check
from automl_admm.store.run_folder import RunFolder, create_folder, write_json
from automl_admm.store.sqlite import opening
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.rows import RowError, digest, from_rows, to_row
from automl_admm.store.sqlite.schema import INSERT, SELECT, create_tables

DONE = Evaluation(
    number=1,
    key="k1",
    candidate=Candidate(Selection((("model", "tree"), ("order", ("b", "a")))), (0.25, 1.0)),
    status=Status.SUCCESS,
    loss=0.125,
    constraints=(3.0,),
    seconds=1.5,
    text="tree()",
    details={"scores": [0.5, 0.25]},
)
FAILED = replace(
    DONE, number=2, key="k2", status=Status.ERROR, loss=math.nan, constraints=(), message="no"
)


def test_what_is_written_is_read_back_by_another(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.sqlite", create=True)
    store.append(FAILED)
    store.append(DONE)
    store.close()
    first, second = SqliteStore(tmp_path / "s.sqlite").read()
    assert first == DONE
    assert second.status is Status.ERROR
    assert math.isnan(second.loss)
    assert second.message == "no"


@pytest.mark.parametrize(
    "calibration",
    [3, {}, {"slope": "1", "offset": 0.0}, {"slope": 1.0, "offset": 0.0, "response": "fit"}],
)
def test_a_calibration_that_is_none_is_found(calibration: object) -> None:
    whole = {"slope": 1.0, "offset": 0, "response": "predict_proba"}
    (read,) = from_rows([to_row(replace(DONE, details={"calibration": whole}))])
    assert read.details == {"calibration": whole}
    with pytest.raises(RowError, match="has impossible values"):
        from_rows([to_row(replace(DONE, details={"calibration": calibration}))])


@pytest.mark.parametrize(
    "details",
    [{"steps": [1]}, {"scores": "x"}, {"threshold": {}}, {"steps": {"a": None}}],
)
def test_odd_details_are_damage(details: dict[str, Any]) -> None:
    with pytest.raises(RowError, match="has impossible values"):
        from_rows([to_row(replace(DONE, details=details))])


@given(
    st.lists(st.floats(0, 1), max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
def test_any_evaluation_survives_the_way_through_the_file(
    theta: list[float], loss: float, text: str
) -> None:
    given_one = replace(
        DONE, candidate=replace(DONE.candidate, theta=tuple(theta)), loss=loss, text=text
    )
    row = to_row(given_one)
    with closing(sqlite3.connect(":memory:")) as database:
        create_tables(database, "run")
        database.execute(INSERT, (*row, digest(row)))
        ((*values, sha256),) = database.execute(SELECT)
    assert digest(values) == sha256
    assert from_rows([values]) == [given_one]


@pytest.mark.parametrize("wrong", [{"seconds": -7.0}, {"seconds": math.nan}, {"number": -1}])
def test_what_could_not_be_read_again_is_not_written(wrong: dict[str, Any], tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "s.sqlite", create=True)) as store:
        store.append(DONE)
        with pytest.raises(StoreError, match=r"cannot keep it: evaluation -?[0-9]+ has impossible"):
            store.append(replace(FAILED, **wrong))
    assert SqliteStore(tmp_path / "s.sqlite").read() == [DONE]


def test_halves_of_characters_in_what_a_component_says_are_no_error(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "s.sqlite", create=True)) as store:
        store.begin(1, DONE.key, "caf\udce9")
        store.append(replace(FAILED, message="caf\udce9"))
        assert store.read()[0].message == "caf?"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = (
        MemoryStore()
        if request.param == "memory"
        else SqliteStore(tmp_path / "s.sqlite", create=True)
    )
    yield made
    made.close()


def test_a_key_that_is_known_is_ignored(store: Store) -> None:
    store.append(DONE)
    store.append(replace(DONE, number=7, loss=9.0))
    assert list(store.read()) == [DONE]


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.LOST])
def test_what_was_not_let_end_is_replaced_by_what_was(store: Store, status: Status) -> None:
    store.append(replace(FAILED, number=1, key=DONE.key, status=status))
    store.append(replace(DONE, number=5))
    store.append(replace(FAILED, number=6, key=DONE.key, status=status))
    assert list(store.read()) == [replace(DONE, number=5)]


def test_a_number_is_given_once(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "s.sqlite", create=True)) as store:
        store.append(DONE)
        with pytest.raises(StoreError, match=r"UNIQUE constraint failed: evaluations\.number"):
            store.append(replace(DONE, key="another"))
        store.append(FAILED)
        assert [one.key for one in store.read()] == ["k1", "k2"]


def test_what_was_begun_and_has_no_result_is_known_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        store.begin(1, "k1", "tree()")
        store.begin(2, "k2", "linear()")
        assert store.interrupted() == []
        store.append(DONE)
    with closing(SqliteStore(path, write=True)) as store:
        (begun,) = store.interrupted()
        assert (begun.number, begun.key, begun.text) == (2, "k2", "linear()")
        assert (begun.host, begun.pid) == (socket.gethostname(), os.getpid())
        store.begin(3, "k2", "linear()")
        assert store.interrupted() == []
        store.append(FAILED)
    with closing(SqliteStore(path)) as store:
        assert store.interrupted() == []
        assert [one.number for one in store.read()] == [1, 2]


def test_a_store_that_is_closed_is_one_file_without_a_log(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        store.append(DONE)
    with closing(SqliteStore(path)) as store:
        assert list(store.read()) == [DONE]
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"s.sqlite", "s.json", "s.lock", "s.bak"}


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [(errno.ENOSPC, DiskFullError, "no room left"), (errno.EIO, StoreError, "cannot be used")],
)
def test_what_the_disk_refuses_is_an_error_of_ours(
    number: int, kind: type, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(opening, "sync_folder", refuse)
    with pytest.raises(kind, match=message):
        SqliteStore(tmp_path / "s.sqlite", create=True)


def test_one_that_is_read_is_not_written(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "s.sqlite", create=True).close()
    store = SqliteStore(tmp_path / "s.sqlite")
    with pytest.raises(StoreError, match="readonly"):
        store.append(DONE)
    store.close()


def test_a_store_that_is_missing_or_not_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        SqliteStore(tmp_path / "none.sqlite")
    (tmp_path / "junk.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="is damaged: file is not a database"):
        SqliteStore(tmp_path / "junk.sqlite")
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as database:
        database.execute("CREATE TABLE evaluations (number INTEGER)")
    with pytest.raises(StoreError, match="is no store of automl-admm"):
        SqliteStore(tmp_path / "other.sqlite")
    (tmp_path / "empty.sqlite").write_bytes(b"")
    with pytest.raises(StoreError, match="it is empty"):
        SqliteStore(tmp_path / "empty.sqlite")


def test_what_is_begun_anew_keeps_a_copy_of_what_there_was(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        store.append(DONE)
        store.append(FAILED)
        store.begin(3, "k3", "tree()")
    with closing(SqliteStore(path, write=True)) as store:
        kept = store.begin_anew([replace(DONE, loss=0.5)])
        assert list(store.read()) == [replace(DONE, loss=0.5)]
        assert store.interrupted() == []
        assert not (tmp_path / "s.bak").exists()  # from which a repair would bring back the others
        store.append(replace(DONE, number=2, key="k2"))
    with closing(SqliteStore(path)) as store:
        assert [one.loss for one in store.read()] == [0.5, 0.125]
    kept_database = sqlite3.connect(kept)
    with closing(kept_database) as database:
        assert len(database.execute(SELECT).fetchall()) == 2
    assert check(path).problems == ()


def test_what_was_a_store_once_is_never_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        store.append(DONE)
    with pytest.raises(StoreError, match="there is or was a store"):
        SqliteStore(path, create=True)
    path.unlink()
    for mode in ({"create": True}, {"write": True}, {}):
        with pytest.raises(StoreError, match=r"there is or was a store|is gone, and held 1 eval"):
            SqliteStore(path, **mode)


def test_a_folder_with_something_in_it_is_never_touched(tmp_path: Path) -> None:
    assert create_folder(tmp_path / "new" / "run").path.is_dir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be made"):
        create_folder(tmp_path / "file")


def test_json_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    places = {"rows": 3, "places": [2, 0], "fraction": 0.5, "groups": {}, "measured": {}}
    write_json(folder.rows_set_aside, places)
    assert folder.read(folder.rows_set_aside) == places
    assert [path.name for path in tmp_path.iterdir()] == [folder.rows_set_aside.name]
    with pytest.raises(StoreError, match=r"holds no model\.json"):
        folder.read(folder.model_manifest)
    folder.rows_set_aside.write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        folder.read(folder.rows_set_aside)


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.LOST])
def test_the_number_of_what_was_cut_short_is_given_anew(
    status: Status, tmp_path: Path, evaluation: Callable[..., Evaluation]
) -> None:
    path = tmp_path / "store.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        store.append(evaluation(1))
        store.append(evaluation(2, status=status))
    later = evaluation(2, key="another", text="another()")
    with closing(SqliteStore(path, write=True)) as store:
        store.append(later)
    with closing(SqliteStore(path)) as store:
        assert [(e.number, e.key) for e in store.read()] == [
            (1, evaluation(1).key),
            (2, "another"),
        ]


@pytest.mark.parametrize("count", [0, 1])
def test_a_closed_store_is_one_file_without_a_log_beside_it(tmp_path: Path, count: int) -> None:
    path = tmp_path / "store.sqlite"
    for create in (True, False):  # made, then gone on with; nothing need have been read or written
        with closing(SqliteStore(path, create=create, write=not create)) as store:
            for _ in range(count):
                store.append(DONE)
    names = {found.name for found in tmp_path.iterdir()}
    assert names == {"store.sqlite", "store.json", "store.lock", "store.bak"}


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_whose_file_is_gone_keeps_nothing_in_silence(
    tmp_path: Path, *, replaced: bool
) -> None:
    path = tmp_path / "store.sqlite"
    with closing(SqliteStore(path, create=True)) as store:
        path.rename(tmp_path / "elsewhere")
        if replaced:
            path.write_bytes((tmp_path / "elsewhere").read_bytes())
        for change in (lambda: store.append(DONE), lambda: store.begin(1, "k1", "tree()")):
            with pytest.raises(StoreError, match="was removed, moved or replaced while the run"):
                change()
