"""A model that another process replaces while a command answers for it: no answer mixes the two."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
import pytest
from certified_rows import ROWS, fit, told, written

from automl_admm import load
from automl_admm.api import monitoring as monitoring_in_python
from automl_admm.cli.commands import predict, verify
from automl_admm.core.errors import StoreError
from automl_admm.runs.saved import given_table, labelled_rows, loaded_model, verification
from automl_admm.runs.saved.monitor import monitoring
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder, write_json

LATER = ROWS.assign(a=ROWS["a"] + 0.001, y=ROWS["y"].where(ROWS.index % 9 > 0, ROWS["y"] + 1))
MEANWHILE = "was written by another process meanwhile"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    fit(written(ROWS, place / "rows.csv"), place / "RUN")
    written(LATER, place / "later.csv")
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "made"))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace_model(folder: RunFolder) -> None:
    """Put another model in a folder, as a session that ends does, with its certificate."""
    before = sha256(folder.model)
    with ZipFile(folder.model, "a") as archive:
        archive.comment = b"another"
    certificate = folder.certificate.read_text()
    folder.certificate.write_text(certificate.replace(before, sha256(folder.model)))
    hashes = {"sha256": sha256(folder.model), "certificate_sha256": sha256(folder.certificate)}
    content = json.loads(folder.model_manifest.read_text())
    write_json(folder.model_manifest, with_digest(content | hashes))


def replace_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, run: Path) -> None:
    """Let another process put another model in the folder of a run just before a call."""
    real = getattr(module, name)

    def call(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(module, name, real)
        replace_model(RunFolder(run))
        return real(*given, **named)

    monkeypatch.setattr(module, name, call)


@pytest.mark.parametrize(
    ("words", "module", "name"),
    [
        ("predict RUN later.csv", predict, "load_model"),
        ("predict RUN later.csv --intervals 90% --calibrate later.csv", given_table, "read_rows"),
        ("evaluate RUN later.csv", given_table, "read_rows"),
        ("evaluate RUN later.csv", labelled_rows, "read_with_model"),
        ("monitor RUN later.csv", given_table, "read_rows"),
        ("monitor RUN later.csv", monitoring, "read_looks"),
        ("verify RUN rows.csv", verify, "read_rows"),
        ("verify RUN rows.csv", verification, "read_certificate"),
        ("verify RUN later.csv --fresh", given_table, "read_rows"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_command_refuses_to_mix_two_models(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, words: str, module: Any, name: str
) -> None:
    monkeypatch.chdir(place)
    replace_before(monkeypatch, module, name, place / "RUN")
    code, said = told(capsys, *words.split())
    assert (code, MEANWHILE in said) == (7, True), said
    assert not list((place / "RUN").glob("monitoring/look-*"))
    code, said = told(capsys, *words.split())
    assert code == 0, said


def test_a_look_is_noted_under_the_model_that_it_was_at(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(place / "RUN")
    replace_before(monkeypatch, monitoring_in_python, "look_at", folder.path)
    with pytest.raises(StoreError, match=MEANWHILE):
        monitoring_in_python.monitor(folder.path, LATER)
    monitoring_in_python.monitor(folder.path, pd.read_csv(place / "later.csv"))
    look = json.loads((folder.monitoring / "look-0001.json").read_text())
    assert look["model_sha256"] == sha256(folder.model)


def test_a_model_in_python_is_that_of_its_description(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_before(monkeypatch, loaded_model, "load_model", place / "RUN")
    with pytest.raises(StoreError, match=MEANWHILE):
        load(place / "RUN")
    assert load(place / "RUN").description["sha256"]
