"""A run with a booster from the command line: limits, files, predictions, the script."""

from __future__ import annotations

import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program, run_python

TABLE = "table.csv"
TOLD = ("told", "scripted")
BOOSTED = "%import? components (lightgbm, nobody_has_it)\nstart: nobody_has_it | lightgbm\n"
# Beyond any patience: only the limit of an evaluation ends it.
ENDLESS = """%import components ({name})
start: "{name}" "(" "n_estimators" "=" "1000000" ")"
"""


def run(folder: Path, *arguments: str, plugins: str = "boost") -> Any:
    # Other plugins have no part in it, and imports are the most of what this costs.
    env = os.environ | {"AUTOML_ADMM_PLUGINS": plugins}
    return run_program(*arguments, cwd=folder, env=env)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of gaps and categories, and a run with LightGBM on it."""
    place = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    table["c"] = rng.choice(["red", "green", "blue"], 160)
    table["buys"] = np.where(table["a"] + (table["c"] == "red") > 0.5, "yes", "no")
    table.loc[rng.random(160) < 0.2, ["a", "c"]] = None
    table.to_csv(place / TABLE, index=False)
    (place / "mine.lark").write_text(BOOSTED, encoding="utf-8")
    fit = ("fit", TABLE, "--target", "buys", "--grammar", "mine.lark", "--out", "run")
    done = run(place, *fit, "--cv=2", "--max-evaluations", "2", "--executor", "inline")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "left out of the grammar" in line]
    assert told == ["left out of the grammar: nobody_has_it (no installed package has it)"]
    return place


def test_the_run_says_what_was_left_out(folder: Path) -> None:
    said = json.loads((folder / "run" / "run.json").read_text())
    assert said["components_left_out"] == {"nobody_has_it": ""}
    assert json.loads((folder / "run" / "model.json").read_text())["pipeline"].startswith(
        "lightgbm("
    )


def test_the_run_its_model_and_the_card_name_the_library_behind_it(folder: Path) -> None:
    told = json.loads((folder / "run" / "model.json").read_text())["versions"]
    assert told["lightgbm"] == metadata.version("lightgbm")
    assert told["automl-admm-boost"] == metadata.version("automl-admm-boost")
    assert "catboost" not in told
    assert not [name for name in told if name.startswith("xgboost")]
    of_run = json.loads((folder / "run" / "run.json").read_text())["versions"]
    assert of_run.items() >= told.items()
    assert run(folder, "export", "run", "--to", "modelcard:card.md").returncode == 0
    card = (folder / "card.md").read_text()
    assert "fitted with scikit-learn, automl-admm-boost, lightgbm:" in card
    assert "Without this package" not in card


def test_the_script_predicts_as_the_model_does(folder: Path) -> None:
    done = run(folder, "predict", "run", TABLE, "-o", "told.csv")
    assert done.returncode == 0, done.stderr
    script = (folder / "run" / "pipeline.py").read_text(encoding="utf-8")
    assert "from automl_admm_boost.light_gbm import LightGBMClassifier" in script
    made = run_python("run/pipeline.py", TABLE, TABLE, "scripted.csv", cwd=folder)
    assert made.returncode == 0, made.stderr
    told, scripted = (pd.read_csv(folder / f"{name}.csv", dtype=str) for name in TOLD)
    pd.testing.assert_frame_equal(told, scripted)


def test_a_damaged_model_is_refused_in_one_line(folder: Path) -> None:
    model = folder / "run" / "model.skops"
    whole = model.read_bytes()
    try:
        model.write_bytes(whole[:-500] + bytes(500))
        done = run(folder, "predict", "run", TABLE)
    finally:
        model.write_bytes(whole)
    assert done.returncode == 7
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "is not the file that the run wrote" in done.stderr


def test_a_model_without_its_package_says_what_to_install(folder: Path) -> None:
    done = run(folder, "predict", "run", TABLE, plugins="")
    assert done.returncode == 7
    assert "automl_admm_boost.light_gbm.LightGBMClassifier" in done.stderr
    assert "pip install ./plugins/automl-admm-boost" in done.stderr


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_fit_that_never_ends_is_ended(folder: Path, name: str) -> None:
    (folder / f"{name}.lark").write_text(ENDLESS.format(name=name), encoding="utf-8")
    fit = ("fit", TABLE, "--target", "buys", "--grammar", f"{name}.lark", "--out", f"run-{name}")
    limits = ("--eval-timeout", "2s", "--max-evaluations", "1", "--json")
    done = run(folder, *fit, *limits)
    assert done.returncode == 4, done.stderr
    assert "1 × timeout: killed after 2 s" in done.stderr
