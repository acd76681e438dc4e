"""The threshold that a certificate chooses: near to the limit, and the same in every process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program

from automl_admm.core.run import RunInfo
from automl_admm.pipelines.thresholds.path import place_of
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.contenders import at_stop, price_of
from automl_admm.runs.finish.model_file import load_model
from automl_admm.runs.finish.noted_thresholds import read_thresholds
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.saved_run import read_saved_run
from automl_admm.runs.saved.verification import verify_run
from automl_admm.store.run_folder import RunFolder

ROWS, LIMIT = 3000, 0.1


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    frame["sex"] = rng.choice(["f", "m"], rows)
    signal = frame["a"] - frame["b"] + rng.normal(size=rows)
    return frame.assign(bad=np.where(signal > 0.6, "yes", "no"))


class Told:
    """Keep what observers are told of the run."""

    info: RunInfo | None = None

    def run_started(self, info: RunInfo) -> None:
        self.info = info


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory, told: Told) -> Any:
    """A certified run of one pipeline, in a folder."""
    folder = tmp_path_factory.mktemp("certified")
    config = RunConfig(
        task="classification",
        grammar="tiny",
        constraints=(f"fpr <= {LIMIT}",),
        certify=0.95,
        looks=folder / "looks.json",
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
        work_dir=folder / "out",
        callbacks=(told,),
    )
    known = table(ROWS, 105)
    return run_pipelines(prepare(config, known.drop(columns="bad"), known["bad"]))


def false_positives(model: Any) -> float:
    fresh = table(40_000, 1)
    negative = (fresh["bad"] == "no").to_numpy()
    return float(np.mean(model.predict(fresh.drop(columns="bad"))[negative] == "yes"))


def test_the_room_of_the_limit_is_spent(certified: Any) -> None:
    assert certified.is_certified
    assert 0.75 * LIMIT <= false_positives(certified.model) <= LIMIT
    assert certified.result.feasible
    assert certified.certificate.position > 10


def test_observers_are_told_the_limits_of_the_user_and_what_the_search_aims_at(
    certified: Any, told: Told
) -> None:
    # What is logged while a run goes on, as in MLflow, is found again when the run is exported.
    assert told.info is not None
    saved = read_saved_run(certified.preparation.config.work_dir)
    assert list(map(str, told.info.limits)) == list(map(str, saved.info.limits))
    assert told.info.limits == certified.result.limits
    (limit,), (aim,) = told.info.limits, told.info.aims
    assert (limit.name, limit.bound) == ("fpr", LIMIT)
    assert aim.bound < LIMIT


def test_the_evaluation_that_ships_is_that_at_its_threshold(certified: Any) -> None:
    manifest = RunFolder(certified.preparation.config.work_dir).path / "model.json"
    said = json.loads(manifest.read_text())
    assert said["threshold"] == certified.best.details["threshold"]
    assert said["constraints"][f"fpr <= {LIMIT}"] == certified.best.constraints[0]
    (logged,) = certified.result.evaluations
    assert logged.details["threshold"] != said["threshold"]
    place = place_of(logged, read_thresholds(said))
    constraints = certified.preparation.constraints
    assert at_stop(logged, constraints, place) == certified.best
    assert place_of(logged, {"threshold": -1.0}) is None
    price = price_of(logged, constraints, place)
    assert price == certified.certificate.price
    assert 0.0 < price.without - price.certified < 0.05
    assert price.utility == "balanced accuracy"


def test_it_is_verified_from_its_files(certified: Any) -> None:
    folder = RunFolder(certified.preparation.config.work_dir)
    found = verify_run(folder, GivenTable(table(ROWS, 105), "credit.csv"))
    assert found.differences == ()


def test_it_decides_alike_in_another_process_and_from_another_format(
    certified: Any, tmp_path: Path
) -> None:
    folder, fresh = certified.preparation.config.work_dir, table(500, 2).drop(columns="bad")
    fresh.to_csv(tmp_path / "new.csv", index=False)
    fresh.to_parquet(tmp_path / "new.parquet")
    scores = load_model(RunFolder(folder)).predict_proba(fresh)[:, 1]
    expected = np.where(scores >= certified.best.details["threshold"], "yes", "no")
    assert set(expected) == {"yes", "no"}
    for name in ("new.csv", "new.parquet"):
        command = ("predict", str(folder), str(tmp_path / name), "-o", str(tmp_path / "said.csv"))
        done = run_program(*command)
        assert done.returncode == 0, done.stderr
        said = pd.read_csv(tmp_path / "said.csv")
        column = next(one for one in said if set(said[one].astype(str)) <= {"yes", "no"})
        assert list(said[column]) == list(expected), name
        (tmp_path / "said.csv").unlink()


def test_limits_that_no_threshold_moves_are_certified_at_the_cheapest_threshold() -> None:
    config = RunConfig(
        task="classification",
        grammar="tiny",
        constraints=("auc >= 0.6",),
        cost="fn=5,fp=1",
        certify=0.95,
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
    )
    known = table(ROWS // 3, 105)
    found: Any = run_pipelines(prepare(config, known.drop(columns="bad"), known["bad"]))
    assert found.is_certified
    assert found.best.details["threshold"] == found.result.evaluations[0].details["threshold"]
