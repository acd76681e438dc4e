from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.errors import ConfigurationError, StoreError
from automl_admm.problem import Evaluation, Status
from automl_admm.space import Candidate, Selection
from automl_admm.store.folder import RunFolder, create_folder, write_json
from automl_admm.store.memory import MemoryStore
from automl_admm.store.sqlite import SqliteStore

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


@given(
    st.lists(st.floats(0, 1), max_size=5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
def test_any_evaluation_survives_the_way_through_the_file(
    theta: list[float], loss: float, text: str
) -> None:
    store = SqliteStore(Path(":memory:"), create=True)
    given_one = replace(
        DONE, candidate=replace(DONE.candidate, theta=tuple(theta)), loss=loss, text=text
    )
    store.append(given_one)
    assert list(store.read()) == [given_one]
    store.close()


@pytest.mark.parametrize("make", [MemoryStore, lambda: SqliteStore(Path(":memory:"), create=True)])
def test_a_key_that_is_known_is_ignored(make: type) -> None:
    store = make()
    store.append(DONE)
    store.append(replace(DONE, number=7, loss=9.0))
    assert list(store.read()) == [DONE]
    store.close()


def test_a_store_that_is_missing_or_not_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        SqliteStore(tmp_path / "none.sqlite")
    (tmp_path / "junk.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        SqliteStore(tmp_path / "junk.sqlite")
    (tmp_path / "empty.sqlite").write_bytes(b"")
    with pytest.raises(StoreError, match="is no store of automl-admm"):
        SqliteStore(tmp_path / "empty.sqlite")


def test_a_folder_with_something_in_it_is_never_touched(tmp_path: Path) -> None:
    assert create_folder(tmp_path / "new" / "run").path.is_dir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError, match="is not empty"):
        create_folder(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be made"):
        create_folder(tmp_path / "file")


def test_json_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    write_json(folder.settings, {"a": 1})
    assert folder.read(folder.settings) == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    with pytest.raises(StoreError, match=r"holds no model\.json"):
        folder.read(folder.model_manifest)
    folder.settings.write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        folder.read(folder.settings)
