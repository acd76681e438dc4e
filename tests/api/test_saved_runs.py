"""`read_run`: runs of every state, without a private import."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import automl_admm
from automl_admm import AutoMLClassifier, FolderRun, InfeasibleError, plugin_api, read_run
from automl_admm.core.errors import StoreError

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests" / "runs" / "stored_run"
PAGE = ROOT / "docs" / "reference" / "read_run.md"
LIMITS = ("size_mb <= 1e-09", "recall >= 0.1", "recall <= 0.99")
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning"),
    # Its limits cannot be met, and every load says so.
    pytest.mark.filterwarnings("ignore:the model is outside the limits of its run"),
]


def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=90), "same": 1.0, "b": rng.choice(["u", "v"], 90)})
    return frame, pd.Series(np.where(frame["a"] + rng.normal(size=90) > 0, "yes", "no"), name="y")


@pytest.fixture(scope="module")
def infeasible(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "infeasible"
    search = AutoMLClassifier(
        "tiny",
        cv=2,
        max_evaluations=2,
        constraints=LIMITS,
        executor="inline",
        theta_solver="random",
        random_state=0,
        work_dir=folder,
    )
    with pytest.raises(InfeasibleError):
        search.fit(*table())
    return folder


def edited(run: Path, target: Path, **changes: Any) -> Path:
    """Copy a run, with changes in its `run.json`."""
    shutil.copytree(run, target)
    path = target / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")
    return target


def named(heading: str) -> list[str]:
    """Return the plain names of the first column of a table of the page."""
    part = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)


def test_there_is_one_implementation() -> None:
    assert plugin_api.read_run is automl_admm.read_run


def test_a_run_without_anything_within_its_limits(infeasible: Path) -> None:
    run = read_run(str(infeasible))
    assert (run.state, run.feasible, run.is_alive) == ("done", False, False)
    assert [str(limit) for limit in run.limits] == list(LIMITS)
    frame = run.evaluations
    assert list(frame["number"]) == [1, 2]
    assert list(frame["key"]) == [one.key for one in run.log]
    assert not frame["feasible"].any()
    assert np.allclose(frame["score"] + frame["loss"], run.settings["metric_best"])
    assert list(frame["size_mb"]) == [one.constraints[0] for one in run.log]
    assert list(frame["recall >= 0.1"]) == list(frame["recall <= 0.99"])
    assert frame["ended"].dt.tz is not None
    text, values = frame["pipeline"][0], frame["parameters"][0].items()
    given = [(name.split(".")[-1], value) for name, value in values]
    shown = [f"{name}={json.dumps(value)}" for name, value in given if f"{name}=" in text]
    assert shown
    assert all(one in text for one in shown)
    assert run.held_out_score is None
    assert run.validation_score is not None
    assert run.data_notes.loc["same", "kind"] == "constant"
    assert "2 evaluations" in repr(run)


def test_its_model_is_listed_and_loaded(infeasible: Path) -> None:
    run = read_run(infeasible)
    assert [path.name for path in run.models] == ["model.skops", "pipeline.py"]
    assert set(run.load_model().predict(table()[0])) <= {"yes", "no"}


def test_the_python_of_the_page_runs(
    infeasible: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(infeasible, "people-run")
    code = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
    known: dict[str, Any] = {"rows": table()[0]}
    exec(code, known)  # noqa: S102 - what the page shows
    assert known["run"].folder == Path("people-run").absolute()


def test_it_stays_the_run_that_was_read_in_another_working_folder(
    infeasible: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of the same name lies there."""
    here, there = tmp_path / "here", tmp_path / "there"
    shutil.copytree(infeasible, here / "run")
    shutil.copytree(STORED / "stacked", there / "run")
    monkeypatch.chdir(here)
    run = read_run("run")
    monkeypatch.chdir(there)
    assert run.load_model().description == run.model
    assert [path.parent for path in run.models] == [here / "run"] * 2
    assert run.info.folder == run.folder == here / "run"


def test_a_killed_run_has_evaluations_and_no_model(infeasible: Path, tmp_path: Path) -> None:
    folder = edited(infeasible, tmp_path / "killed", state="running")
    # The file of the lock names the process that wrote the run: this one, which lives.
    for name in ("model.json", "model.skops", "pipeline.py", "store.lock"):
        (folder / name).unlink()
    run = read_run(folder)
    assert (run.state, run.is_alive, run.models, run.model) == ("running", False, (), None)
    assert len(run.evaluations) == 2
    assert run.validation_score is None
    with pytest.raises(StoreError, match="has no model yet"):
        run.load_model()


@pytest.mark.parametrize("name", ["stacked", "group_thresholds"])
def test_a_stored_run(name: str) -> None:
    run = read_run(STORED / name)
    assert len(run.evaluations) == len(run.log) == 3
    assert run.certificate is not None
    assert run.certificate.is_certified
    assert (
        run.held_out_score
        == json.loads((STORED / name / "model.json").read_text("utf-8"))["held_out_score"]
    )
    assert run.states.empty
    assert run.data_notes.empty


def test_a_run_before_its_first_evaluation(tmp_path: Path) -> None:
    class Stop:
        def should_stop(self, info: Any, evaluations: int, incumbent: Any) -> bool:
            return True

    folder = tmp_path / "run"
    search = AutoMLClassifier(
        "tiny", cv=2, max_evaluations=2, executor="inline", callbacks=[Stop()], work_dir=folder
    )
    with pytest.raises(automl_admm.NoSuccessError):
        search.fit(*table())
    run = read_run(folder)
    assert run.state == "stopped"
    assert run.best is None
    assert list(run.evaluations.columns) == list(
        read_run(STORED / "stacked").evaluations.drop(columns="size_mb").columns
    )
    assert run.evaluations.empty


@pytest.mark.parametrize("kind", ["missing", "empty", "file", "other json", "damaged store"])
def test_what_is_no_run_is_told_in_one_line(kind: str, infeasible: Path, tmp_path: Path) -> None:
    path = tmp_path / "it"
    if kind == "empty":
        path.mkdir()
    elif kind == "file":
        path.write_text("no run")
    elif kind == "other json":
        path.mkdir()
        (path / "run.json").write_text('{"name": "something else"}')
    elif kind == "damaged store":
        edited(infeasible, path)
        (path / "store.sqlite").write_bytes(b"no store" * 200)
    with pytest.raises(StoreError) as told:
        read_run(path)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_a_changed_grammar_is_told(infeasible: Path, tmp_path: Path) -> None:
    settings = json.loads((infeasible / "run.json").read_text("utf-8"))["settings"]
    settings["space_sha256"] = "0" * 64
    with pytest.raises(StoreError, match="the space of the run"):
        read_run(edited(infeasible, tmp_path / "run", settings=settings))


def test_the_page_has_every_column_and_every_name(infeasible: Path) -> None:
    run = read_run(infeasible)
    limits = {"size_mb", "recall >= 0.1", "recall <= 0.99"}
    assert named("evaluations") == [name for name in run.evaluations if name not in limits]
    assert named("states") == [name for name in run.states if " of " not in name]
    text = PAGE.read_text("utf-8").split("## evaluations")[0]
    public = {name for name in dir(FolderRun) if not name.startswith("_")} - {"view"}
    assert {
        name for name in public if f"`{name}`" not in text and f"`{name}()`" not in text
    } == set()
