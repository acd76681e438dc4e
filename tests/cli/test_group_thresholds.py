"""`fit --group-thresholds`: a gap that one threshold cannot close, and every output says so."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program

from automl_admm.constraints.group_classifier import GroupThresholdClassifier
from automl_admm.runs.finish.model_file import load_model
from automl_admm.store.run_folder import RunFolder

QUICK = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--theta-solver", "random", "-q"),
    *("--executor", "inline"),
)
LIMIT = ("--constraint", "equalized_odds_difference[sex] <= 0.25")


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with the loans and a run that decides by group, and what `fit` printed of it."""
    folder = tmp_path_factory.mktemp("decided")
    given = (*LIMIT, "--group-thresholds", "--metric", "accuracy", "--out", "out")
    path = write_loans(folder)
    done = run_program("fit", path.name, "--target", "paid", *QUICK, *given, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    return write_loans(tmp_path)


def write_loans(folder: Path) -> Path:
    """More loans of m are paid than of f, so that the likelier class is mostly yes for m alone."""
    rng = np.random.default_rng(0)
    rows = 1600
    sex = np.where(rng.random(rows) < 0.5, "m", "f")
    paid = rng.random(rows) < np.where(sex == "m", 0.75, 0.25)
    frame = pd.DataFrame({"income": rng.normal(size=rows) + 2.4 * paid, "sex": sex})
    frame["paid"] = np.where(paid, "yes", "no")
    path = folder / "loans.csv"
    frame.to_csv(path, index=False)
    return path


def odds(frame: pd.DataFrame, called: Any) -> float:
    rates = [
        [called[(frame["sex"] == sex) & (frame["paid"] == paid)].mean() for sex in ("f", "m")]
        for paid in ("no", "yes")
    ]
    return max(abs(first - second) for first, second in rates)


def test_fit_predict_and_leaderboard(run: Any, decided: tuple[Path, str], tmp_path: Path) -> None:
    folder, printed = decided
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    said = re.search(r"decides by group +f at ([\d.]+), m at ([\d.]+), others at [\d.]+", printed)
    assert said is not None
    assert "'yes' at thresholds by group, recall" in printed
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert manifest["feasible"]
    by_group = manifest["group_thresholds"]
    assert [f"{by_group[sex]:.4g}" for sex in ("f", "m")] == list(said.groups())
    assert f"m at {by_group['m']:.4g}" in run("leaderboard", "out").out

    model = load_model(RunFolder(tmp_path / "out"))
    assert type(model) is GroupThresholdClassifier
    assert model.thresholds == by_group
    assert model.threshold == manifest["threshold"]

    known = pd.read_csv("loans.csv")
    strangers = pd.concat([known, known.head(40).assign(sex="x"), known.head(40).assign(sex=None)])
    strangers.to_csv(tmp_path / "strangers.csv", index=False)
    done = run("predict", "out", "strangers.csv", "-o", "new.csv")
    assert done.code == 0, done.err
    found = pd.read_csv(tmp_path / "new.csv")
    called = (found["prediction"] == "yes").to_numpy()
    bars = [by_group.get(sex, manifest["threshold"]) for sex in strangers["sex"]]
    assert (called == (found["probability_yes"] >= bars)).all()
    assert odds(known, called[: len(known)]) < 0.3


def test_without_it_nobody_is_decided_by_group(run: Any, loans: Path, tmp_path: Path) -> None:
    done = run("fit", loans, "--target", "paid", *QUICK, *LIMIT, "--out", "out", "--json")
    assert json.loads(done.out)["thresholds"] == ""
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    assert 0.0 < manifest["threshold"] < 1.0
    assert "group_thresholds" not in manifest


def test_what_is_certified_is_what_decides_by_group(run: Any, loans: Path, tmp_path: Path) -> None:
    size = ("--constraint", "size_mb <= 50")
    given = (*LIMIT, *size, "--group-thresholds", "--certify", "0.9", "--out", "out")
    done = run("fit", loans, "--target", "paid", *QUICK, *given)
    assert done.code == 0, done.err
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    by_group = manifest["group_thresholds"]
    assert f", deciding f at {by_group['f']:.4g}, m at " in certificate["pipeline"]
    again = run("verify", "out", loans)
    assert again.code == 0, again.err
    assert "the data agree: CERTIFIED" in again.out


def test_a_run_goes_on_with_it(run: Any, decided: tuple[Path, str], tmp_path: Path) -> None:
    shutil.copytree(decided[0], tmp_path, dirs_exist_ok=True)
    done = run("resume", "out", "--max-evaluations", "+2", "-q")
    assert done.code == 0, done.err
    assert "decides by group" in done.out
    settings = json.loads((tmp_path / "out" / "run.json").read_text())
    assert settings["request"]["group_thresholds"] is True
    assert settings["settings"]["group_thresholds"] is True
    assert settings["result"]["evaluations"] == 4


def test_a_sensitive_column_cannot_be_decided_by(run: Any, loans: Path, tmp_path: Path) -> None:
    given = (*LIMIT, "--group-thresholds", "--sensitive", "sex", "--out", "out")
    done = run("fit", loans, "--target", "paid", *QUICK, *given)
    assert done.code == 2
    (line,) = done.err.strip().splitlines()
    assert "no threshold can be by the column 'sex', which is sensitive" in line
    assert "leave it out of --sensitive" in line
    assert not (tmp_path / "out").exists()


def test_the_help_warns_of_the_law(run: Any) -> None:
    assert "unlawful" in run("fit", "--help").out
