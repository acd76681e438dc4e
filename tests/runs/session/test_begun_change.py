"""A change of a run that is cut short is undone, or ended, by the next session."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.runs.session import session as sessions
from automl_admm.runs.session.begun_change import begin_change, settle_change
from automl_admm.runs.session.run_log import read_log
from automl_admm.store.own_files import refuse_own_file
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore


def rows(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    return frame, (frame["a"] + rng.normal(size=120) > 0).rename("y")


def fit(folder: Path, seed: int, **more: Any) -> AutoMLClassifier:
    few = {"max_evaluations": 2, "cv": 2, "executor": "inline", "random_state": 0}
    return AutoMLClassifier("tiny", work_dir=folder, **few, **more).fit(*rows(seed))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fit(folder := tmp_path_factory.mktemp("made") / "RUN", 0)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(made, tmp_path / "RUN")))


def names(folder: RunFolder) -> set[str]:
    return {path.name for path in folder.path.rglob("*") if ".lock" not in path.name}


@pytest.mark.parametrize("is_emptied", [True, False])
def test_before_run_json_is_written_the_change_is_undone(
    folder: RunFolder, is_emptied: bool, caplog: pytest.LogCaptureFixture
) -> None:
    there, before = names(folder), read_log(folder).evaluations
    begin_change(folder, is_void=True)
    if is_emptied:
        with closing(SqliteStore(folder.store, write=True)) as store:
            store.begin_anew([])
        with pytest.raises(StoreError, match=r"are in 'store\.before-1\.sqlite'\. Bring them back"):
            read_log(folder)
    settle_change(folder)
    assert read_log(folder).evaluations == before
    assert names(folder) == there
    assert ("the evaluations before it are back" in caplog.text) == is_emptied
    settle_change(folder)
    assert names(folder) == there


def test_after_run_json_is_written_the_change_is_ended(folder: RunFolder) -> None:
    begin_change(folder, is_void=True)
    with closing(SqliteStore(folder.store, write=True)) as store:
        kept = store.begin_anew([])
    folder.settings.write_text(json.dumps(json.loads(folder.settings.read_text()) | {"new": 1}))
    os.utime(folder.store, (0.0, 0.0))
    settle_change(folder)
    # It tells when a killed session ended that noted no time.
    assert folder.store.stat().st_mtime == 0.0
    assert read_log(folder).evaluations == ()
    assert kept.exists()
    assert not folder.change.exists()
    assert not folder.predictions.exists()


def test_an_estimator_that_goes_on_undoes_it(
    folder: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    before = read_log(folder).evaluations
    log = begin_change(folder, is_void=True)
    with closing(SqliteStore(folder.store, write=True)) as store:
        store.begin_anew([], copy=log)
    fit(folder.path, 0, warm_start=True)
    assert read_log(folder).evaluations == before
    assert "the evaluations before it are back" in caplog.text


def test_the_time_of_a_session_counts_before_its_change_ends(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a session killed in between would have lasted until the next one."""
    order = list[str]()
    for owner, name in ((SqliteStore, "count_time"), (sessions, "end_change")):
        monkeypatch.setattr(owner, name, lambda *_, told=name: order.append(told))
    fit(folder.path, 0, warm_start=True)
    assert order == ["count_time", "end_change"]


def test_without_run_json_the_folder_is_told_as_any_other(folder: RunFolder) -> None:
    log = begin_change(folder, is_void=False)
    with closing(SqliteStore(folder.store, write=True)) as store:
        store.begin_anew([], copy=log)
    folder.settings.unlink()
    with pytest.raises(StoreError, match=r"run\.json"):
        settle_change(folder)
    with pytest.raises(StoreError, match="holds no run"):
        read_log(folder)


def test_a_folder_in_another_form_is_refused_as_it_is(folder: RunFolder) -> None:
    begin_change(folder, is_void=True)
    content = json.loads(folder.settings.read_text())
    folder.settings.write_text(json.dumps(content | {"format": content["format"] - 1}))
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match="written by another version"):
        settle_change(folder)
    assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before


def test_a_session_that_ends_before_run_json_leaves_the_run_as_it_was(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, before = names(folder), read_log(folder).evaluations

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sessions, "write_settings", killed)
        patched.setattr(
            sessions, "_changes", lambda *_: sessions.Changes(("data: others",), void=True)
        )
        with pytest.raises(KeyboardInterrupt):
            fit(folder.path, 1, warm_start=True)
    assert folder.change.exists()
    settle_change(folder)
    assert read_log(folder).evaluations == before
    assert names(folder) == there


def test_a_log_outside_of_the_folder_is_not_touched(folder: RunFolder, tmp_path: Path) -> None:
    begin_change(folder, is_void=False)
    content = json.loads(folder.change.read_text())
    folder.change.write_text(json.dumps(content | {"log": "../other.sqlite"}))
    (tmp_path / "other.sqlite").write_bytes(b"mine")
    settle_change(folder)
    assert (tmp_path / "other.sqlite").exists()
    folder.change.write_text("{}")
    with pytest.raises(StoreError, match=r"change\.json' is damaged"):
        settle_change(folder)
    with pytest.raises(ConfigurationError, match="a file of the run"):
        refuse_own_file(folder.change)
