"""What is installed is read once, and again as soon as it changes."""

from __future__ import annotations

import shutil
import time
from importlib import metadata
from pathlib import Path

import pytest

from automl_admm.plugins.entries import installed_entries
from automl_admm.plugins.loading import load_plugins


def install(folder: Path, name: str, version: str = "1.0") -> Path:
    about = folder / f"{name}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(f"[automl_admm]\n{name} = {name}_module\n")
    time.sleep(0.02)  # the clock of a file system ticks some hundred times in a second
    return about


def found(name: str) -> list[tuple[str, str, str]]:
    return [
        (entry.point.value, entry.distribution, entry.version)
        for entry in installed_entries()
        if entry.point.name == name
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    return place


def test_our_own_are_found() -> None:
    assert found("builtin-z")[0][:2] == ("automl_admm.builtin.z", "automl-admm")


def test_one_installed_upgraded_and_removed_in_a_running_process_is_noticed(folder: Path) -> None:
    assert found("late") == []
    first = install(folder, "late")
    assert found("late") == [("late_module", "late", "1.0")]
    shutil.rmtree(first)
    second = install(folder, "late", "2.0")
    assert found("late") == [("late_module", "late", "2.0")]
    shutil.rmtree(second)
    assert found("late") == []


def test_a_folder_that_joins_the_path_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "joined")
    assert found("joined") == []
    monkeypatch.syspath_prepend(tmp_path)
    assert found("joined")


def test_the_working_folder_on_the_path_is_the_present_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "one", "one")
    install(tmp_path / "two", "two")
    monkeypatch.syspath_prepend("")
    monkeypatch.chdir(tmp_path / "one")
    assert found("one")
    assert not found("two")
    monkeypatch.chdir(tmp_path / "two")
    assert found("two")
    assert not found("one")


def test_they_are_read_once_as_long_as_nothing_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(folder, "kept")
    before = installed_entries()

    def refuse(**given: str) -> None:
        raise AssertionError("they were read again")

    monkeypatch.setattr(metadata, "entry_points", refuse)
    assert installed_entries() == before
    (folder / "model.skops").touch()  # the working folder may be on the path
    time.sleep(0.02)
    assert installed_entries() == before
    with monkeypatch.context() as elsewhere:
        elsewhere.syspath_prepend(folder.parent)  # nothing is installed there
        assert installed_entries() == before
    assert found("kept")


def test_an_entry_that_names_no_module_is_told_and_leaves_the_others_alone(folder: Path) -> None:
    about = install(folder, "blank")
    (about / "entry_points.txt").write_text("[automl_admm]\nblank = no module\n")
    infos = {info.name: info.state for info in load_plugins(quietly=True).infos}
    assert infos["blank"] == "failed: its entry 'no module' names no module"
    assert infos["builtin-z"] == "active"
