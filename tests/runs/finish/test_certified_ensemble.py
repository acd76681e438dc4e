"""A certified ensemble: its path is chosen on the search's rows, its proof is computed again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import FixedThresholdClassifier

from automl_admm.core.errors import StoreError
from automl_admm.core.run import RunState
from automl_admm.pipelines import calibration
from automl_admm.pipelines.calibrated import without_calibration
from automl_admm.pipelines.ensembles import choice
from automl_admm.pipelines.ensembles.choice import Choice
from automl_admm.pipelines.thresholds.path import PATH
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish import certified_ensemble
from automl_admm.runs.finish.certified_ensemble import FEWEST, may_be_certified
from automl_admm.runs.finish.ensemble_fit import Pool, read_pool
from automl_admm.runs.finish.noted_thresholds import WALKED, read_walked, walked_content
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.verification import verify_run
from automl_admm.store.json_content import with_digest
from automl_admm.store.run_folder import RunFolder

GRAMMAR = "%import components (decision_tree)\n\nstart: decision_tree\n"
REWEIGHED = "%import components ({0}, reweigh)\n\nstart: reweigh? {0}\n"
LIMIT = "fpr <= 0.3"
ON_GROUPS = "demographic_parity_difference[group] <= 0.95"


def table(rows: int, seed: int) -> pd.DataFrame:
    """Rows where a sum decides: a mean of trees is smoother than each of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
    signal = X.sum(axis=1) + 0.5 * rng.normal(size=rows)
    return X.assign(bad=np.where(signal > 0.3, "yes", "no"))


ROWS = table(500, 0)


def config_for(folder: Path, **options: Any) -> RunConfig:
    grammar = folder / "trees.lark"
    grammar.write_text(GRAMMAR)
    known: dict[str, Any] = {
        "task": "classification",
        "grammar": str(grammar),
        "constraints": (LIMIT,),
        "certify": 0.95,
        "looks": folder / "looks.json",
        "cv": 2,
        "max_evaluations": FEWEST + 2,
        "strategy": "joint",
        "theta_solver": "random",
        "racing": False,
        "executor": "inline",
        "random_state": 0,
    }
    return RunConfig(**known | options)


def prepared_for(folder: Path, **options: Any) -> Any:
    return prepare(config_for(folder, **options), ROWS.drop(columns="bad"), ROWS["bad"])


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose certified model is an ensemble, in a folder."""
    folder = tmp_path_factory.mktemp("whole")
    return run_pipelines(prepared_for(folder, work_dir=folder / "out"))


def run_of_groups(folder: Path, component: str) -> Any:
    """A certifying run with a limit on groups, some of whose pipelines weigh rows."""
    grammar = folder / "reweighed.lark"
    grammar.write_text(REWEIGHED.format(component))
    config = config_for(
        folder,
        grammar=str(grammar),
        constraints=(ON_GROUPS,),
        scoring="balanced_accuracy",
        max_evaluations=4 * FEWEST,
    )
    groups = (ROWS["a"] > 0).astype(int)
    return run_pipelines(
        prepare(config, ROWS.drop(columns="bad").assign(group=groups), ROWS["bad"])
    )


def folder_of(found: Any) -> Path:
    place = found.preparation.config.work_dir
    assert place is not None
    return Path(place)


def copy_of(found: Any, to: Path, **changes: Any) -> RunFolder:
    """Return a copy of the run whose manifest was changed, with a digest that fits."""
    copytree(folder_of(found), to)
    folder = RunFolder(to)
    manifest = json.loads(folder.model_manifest.read_text())
    manifest.pop("digest", None)
    folder.model_manifest.write_text(json.dumps(with_digest({**manifest, **changes})))
    return folder


def test_an_ensemble_is_certified_at_a_threshold_of_its_own_path(certified: Any) -> None:
    assert certified.is_certified
    model, ensemble = certified.model, certified.refit.ensemble
    assert isinstance(model, FixedThresholdClassifier)
    assert isinstance(model.estimator.estimator, VotingClassifier)
    assert len(ensemble.members) > 1
    manifest = json.loads((folder_of(certified) / "model.json").read_text())
    assert manifest["threshold"] == model.threshold
    assert manifest["threshold"] in manifest[WALKED]["details"][PATH]["thresholds"]
    assert manifest["ensemble"]["members"][0]["evaluation"] == ensemble.members[0].evaluation.number
    proof = certified.certificate
    assert proof.pipeline.startswith("ensemble of ")
    assert {name.partition("#")[0] for name in proof.order} == {ensemble.key}
    fresh = table(20_000, 1)
    negative = (fresh["bad"] == "no").to_numpy()
    assert np.mean(model.predict(fresh.drop(columns="bad"))[negative] == "yes") <= 0.3


def test_calibrated_probabilities_are_those_that_its_thresholds_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "LEAST_GAIN", -math.inf)
    found = run_pipelines(prepared_for(tmp_path, work_dir=tmp_path / "out"))
    assert found.is_certified
    assert len(found.refit.ensemble.members) > 1
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    plain, numbers = without_calibration(found.model.estimator.estimator)
    assert isinstance(plain, VotingClassifier)
    assert numbers == tuple(manifest["calibration"].values())
    assert manifest["threshold"] in manifest[WALKED]["details"][PATH]["thresholds"]
    assert verify_run(RunFolder(tmp_path / "out"), GivenTable(ROWS, "rows.csv")).differences == ()


def test_its_certificate_is_computed_again_from_its_files(certified: Any) -> None:
    found = verify_run(RunFolder(folder_of(certified)), GivenTable(ROWS, "rows.csv"))
    assert found.differences == ()
    assert not any("order" in said for said in found.unvouched)
    assert all(one.is_certified for one in found.findings)


def test_a_path_that_was_changed_after_the_run_is_found(certified: Any, tmp_path: Path) -> None:
    manifest = json.loads((folder_of(certified) / "model.json").read_text())
    walked = manifest[WALKED]
    # With other utilities the tests would have gone another way.
    path = {**walked["details"][PATH], "utilities": walked["details"][PATH]["utilities"][::-1]}
    forged = copy_of(certified, tmp_path / "a", **{WALKED: {**walked, "details": {PATH: path}}})
    assert verify_run(forged, GivenTable(ROWS, "rows.csv")).differences
    members = [{**one, "pipeline": "another()"} for one in manifest["ensemble"]["members"]]
    strange = copy_of(
        certified, tmp_path / "b", ensemble={**manifest["ensemble"], "members": members}
    )
    assert any(
        "order" in said for said in verify_run(strange, GivenTable(ROWS, "rows.csv")).differences
    )


@pytest.mark.parametrize("told", [3, {}, {"loss": 0.1, "constraints": [0.1], "details": {}}])
def test_a_path_that_is_none_is_told_in_a_line(told: Any, certified: Any, tmp_path: Path) -> None:
    damaged = copy_of(certified, tmp_path / "a", **{WALKED: told})
    with pytest.raises(StoreError, match="'walked' is no path of an ensemble"):
        verify_run(damaged, GivenTable(ROWS, "rows.csv"))


def test_it_decides_alike_in_another_process(certified: Any, tmp_path: Path) -> None:
    fresh = table(300, 2).drop(columns="bad")
    fresh.to_parquet(tmp_path / "new.parquet")
    command = ("predict", str(folder_of(certified)), "new.parquet", "-o", "said.csv")
    done = run_program(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = pd.read_csv(tmp_path / "said.csv")
    column = next(one for one in said if set(said[one].astype(str)) == {"yes", "no"})
    assert list(said[column]) == list(certified.model.predict(fresh))


def test_a_later_session_without_a_proof_keeps_it(
    certified: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"
    copytree(folder_of(certified), folder)
    before = (folder / "model.skops").read_bytes()

    def assemble(work: PipelineWork, members: Any, folder: Path, **given: Any) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(PipelineWork, "assemble", assemble)
    more = {"max_evaluations": FEWEST + 3, "resumed": True, "changes_allowed": True}
    config = replace(certified.preparation.config, work_dir=folder, **more)
    again = run_pipelines(prepare(config, ROWS.drop(columns="bad"), ROWS["bad"]))
    assert again.is_certified
    assert again.refit.ensemble == certified.refit.ensemble
    assert (folder / "model.skops").read_bytes() == before
    assert verify_run(RunFolder(folder), GivenTable(ROWS, "rows.csv")).differences == ()
    assert RunFolder(folder).read(RunFolder(folder).settings)["state"] == RunState.DONE


def test_an_ensemble_that_cannot_be_put_together_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def assemble(work: PipelineWork, members: Any, folder: Path, **given: Any) -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(PipelineWork, "assemble", assemble)
    found = run_pipelines(prepared_for(tmp_path))
    assert not found.is_certified
    assert found.certificate is None
    assert "the ensemble" in (found.refit.untested or "").lower()
    assert "no memory" in (found.refit.untested or "")


def test_members_that_fail_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = PipelineWork.refit

    def refit(work: PipelineWork, *given: Any, ships: bool = True, **named: Any) -> Any:
        if not ships:
            raise RuntimeError("no memory")
        return fitted(work, *given, ships=ships, **named)

    monkeypatch.setattr(PipelineWork, "refit", refit)
    found = run_pipelines(prepared_for(tmp_path))
    assert found.refit.ensemble is None
    assert found.is_certified


@pytest.mark.parametrize("readable", [0, FEWEST - 1])
def test_too_few_reweighed_pipelines_that_can_be_read_leave_the_ensemble_of_all(
    readable: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []

    def read_some(prepared: Any, kept: Any, among: Any = None) -> Pool:
        pool = read_pool(prepared, kept, among)
        read.append(among is not None)
        first = slice(None if among is None else readable)
        return Pool(pool.evaluations[first], pool.predictions[first])

    monkeypatch.setattr(certified_ensemble, "read_pool", read_some)
    monkeypatch.setattr(certified_ensemble, "_is_likelier", lambda _, one, other: one is not None)
    monkeypatch.setattr(choice._Trial, "gain", lambda *_: 1.0)
    found = run_of_groups(tmp_path, "decision_tree")
    assert any(read)
    assert found.is_certified
    assert found.refit.ensemble is not None


def test_pipelines_without_probabilities_are_walked_alone(tmp_path: Path) -> None:
    found = run_of_groups(tmp_path, "linear_svm")
    assert found.is_certified
    assert found.refit.ensemble is None


@pytest.mark.parametrize(("gain", "ships"), [(1e-6, True), (-1e-6, False), (math.nan, False)])
def test_any_gain_is_enough_before_a_certificate_and_a_loss_is_none(
    gain: float, *, ships: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Choice, "is_better", property(lambda choice: False))
    monkeypatch.setattr(choice._Trial, "gain", lambda *_: gain)
    ensemble = run_pipelines(prepared_for(tmp_path)).refit.ensemble
    assert (ensemble is not None) == ships


@pytest.mark.parametrize(
    "options",
    [
        {"ensemble": False},
        {"certify": None},
        {"constraints": (LIMIT, "auc >= 0.6")},
        {"constraints": (LIMIT, "size_mb <= 50")},
    ],
)
def test_other_runs_certify_a_pipeline(options: dict[str, Any], tmp_path: Path) -> None:
    assert not may_be_certified(prepared_for(tmp_path, **options))


def test_a_path_survives_a_file_whatever_its_numbers(certified: Any) -> None:
    walked, known = certified.refit.walked, certified.result.evaluations
    path = walked.details[PATH]
    wild = {
        **path,
        "thresholds": [math.inf, -math.inf, *path["thresholds"][2:]],
        "utilities": [math.nan, *path["utilities"][1:]],
        "losses": [None, *path["losses"][1:]],
    }
    content = walked_content(replace(walked, details={PATH: wild}))
    manifest = {"ensemble": certified.refit.ensemble.as_content(certified.preparation.metric)}
    text = json.dumps({**manifest, WALKED: content}, allow_nan=False)
    again = read_walked(json.loads(text), known)
    assert again is not None
    found = again.details[PATH]
    assert found["thresholds"] == wild["thresholds"]
    assert math.isnan(found["utilities"][0])
    assert found["values"] == path["values"]
    assert found["losses"] == wild["losses"]
    assert (again.key, again.loss, again.constraints) == (
        walked.key,
        walked.loss,
        walked.constraints,
    )
    assert read_walked({"ensemble": None, WALKED: None}, known) is None
