"""The model of a run as an MLflow model predicts what `automl-admm predict` does."""

from __future__ import annotations

import importlib
import json
import runpy
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from automl_admm_mlflow import save_model
from forked_servers import forked_servers

from automl_admm.plugin_api import AutomlAdmmError
from automl_admm.testing.saved_runs import change_manifest

TOP = Path(__file__).parents[3]
STORED_RUN = TOP / "tests" / "runs" / "stored_run" / "stacked"
EXAMPLE = Path(__file__).parents[1] / "examples" / "log_a_run.py"


def test_raw_rows_are_predicted_in_any_order_of_columns(tmp_path: Path, pyfunc: Any) -> None:
    save_model(STORED_RUN, tmp_path / "model")
    model = pyfunc.load_model(str(tmp_path / "model"))
    expected = pd.read_csv(STORED_RUN / "expected.csv")
    rows = pd.read_csv(STORED_RUN / "data.csv").head(len(expected))
    assert list(model.predict(rows)) == list(expected["prediction"])
    turned = rows[rows.columns[::-1]].assign(another=1)
    assert list(model.predict(turned)) == list(expected["prediction"])
    assert "stack" in model.metadata.metadata["pipeline"]


def test_the_requirements_are_all_that_the_model_needs(tmp_path: Path) -> None:
    shutil.copytree(STORED_RUN, tmp_path / "run")
    versions = json.loads((tmp_path / "run" / "model.json").read_text())["versions"]
    others = {"mlflow-skinny": "1.0", "no-such-library": "4.7"}
    change_manifest(tmp_path / "run", versions={**versions, **others})
    save_model(tmp_path / "run", tmp_path / "model")
    asked = (tmp_path / "model" / "requirements.txt").read_text().splitlines()
    assert {"no-such-library==4.7", f"mlflow-skinny=={metadata.version('mlflow-skinny')}"} <= {
        *asked
    }
    assert not [line for line in asked if line.startswith("python")]


def test_a_changed_file_is_refused_when_it_is_loaded(tmp_path: Path, pyfunc: Any) -> None:
    save_model(STORED_RUN, tmp_path / "model")
    file = tmp_path / "model" / "data" / "run" / "model.skops"
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(AutomlAdmmError, match="is not the file that the run wrote"):
        pyfunc.load_model(str(tmp_path / "model"))


def test_a_folder_without_a_model_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    shutil.copytree(STORED_RUN, tmp_path / "run")
    (tmp_path / "run" / "model.json").unlink()
    with pytest.raises(AutomlAdmmError, match="has no model"):
        save_model(tmp_path / "run", tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_example_runs_from_the_search_to_the_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        with forked_servers():
            runpy.run_path(str(EXAMPLE), run_name="__main__")
    finally:
        importlib.import_module("mlflow").set_tracking_uri("")
    said = capsys.readouterr().out
    assert "3 evaluations in run 'run'" in said
    assert "predicts the same on 569 of 569 rows" in said
