"""A certified model of an earlier session, while another model takes its place, and after kills."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shared_runs import at, copied, ended

from automl_admm.runs.finish import kept_certificate
from automl_admm.store.run_folder import RunFolder

CERTIFYING = (
    *("--target", "bad", "--constraint", "fpr <= 0.3", "--certify", "0.95", "--grammar", "tiny"),
    *("--cv=0.25", "--max-evaluations", "2", "--theta-solver", "random", "--executor", "inline"),
    *("--out", "out"),
)
OTHER = ("resume", "out", "--constraint", "fpr <= 0.4", "--allow-changed")
UNPROVEN = ("--constraint", "recall >= 0.9999", "--on-infeasible", "closest", "--allow-changed")
IS_BACK = "the certified one of an earlier session is back in its place"
IS_KEPT = "the certified one of an earlier session is kept in"
WRITTEN = {
    "model": "automl_admm.runs.pipelines.write_model",
    "model_manifest": "automl_admm.runs.finish.run_files.write_json",
    "script": "automl_admm.runs.finish.run_files.put_script",
    "rows": "automl_admm.runs.pipelines.write_rows_aside",
    "certificate": "automl_admm.runs.pipelines.write_certificate",
}


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough rows to certify something."""
    rng = np.random.default_rng(3)
    rows = 1500
    frame = pd.DataFrame({"income": rng.normal(size=rows), "debt": rng.normal(size=rows)})
    signal = 2.5 * frame["income"] - 2.5 * frame["debt"] + 0.8 * rng.normal(size=rows)
    frame["bad"] = np.where(signal > 0.0, "yes", "no")
    path = tmp_path_factory.mktemp("credit") / "credit.csv"
    frame.to_csv(path, index=False)
    return path


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def never(*_: Any, **__: Any) -> bool:
    return False


def unless_gone(folder: Path) -> None:
    """Remove nothing; stop where there would be something to remove."""
    if folder.exists():
        interrupt()


def killed(monkeypatch: pytest.MonkeyPatch, place: str, run: Any, *command: str) -> None:
    """Stop a session where it calls a function; `run.json` is as a kill leaves it."""
    with monkeypatch.context() as patched:
        patched.setattr(place, interrupt)
        assert run(*command).code == 130
    settings = RunFolder(Path("out")).settings
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"state": "running"}))


def copies() -> list[str]:
    """The copies of certified models in the folder of the run, and what is left of them."""
    return sorted(path.name for path in Path("out").glob("*certified*") if path.is_dir())


def contents(folder: RunFolder) -> dict[str, bytes]:
    """The files of a certified model; its manifest may note what a later session passed over."""
    proof = (folder.certificate, folder.rows_set_aside, folder.row_hashes)
    return {path.name: path.read_bytes() for path in (folder.model, folder.script, *proof)}


@pytest.fixture(scope="module")
def certified(credit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that has certified its model, and the ledger of its look."""
    place = tmp_path_factory.mktemp("certified")
    with at(place):
        assert not ended("fit", credit, *CERTIFYING).code
    return place


@pytest.fixture(scope="module")
def torn_once(certified: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, as it is after a kill between another model and its certificate."""
    place = tmp_path_factory.mktemp("torn")
    shutil.copytree(certified, place, dirs_exist_ok=True)
    with at(place) as patch:
        killed(patch, WRITTEN["certificate"], ended, *OTHER, "--max-evaluations", "4")
    return place


@pytest.fixture
def folder(run: Any, certified: Path, state_home: Path) -> RunFolder:
    """A copy of the folder of the certified run."""
    return RunFolder(copied(certified, state_home))


@pytest.fixture
def torn(run: Any, torn_once: Path, state_home: Path) -> RunFolder:
    """A copy of the folder that a kill has left."""
    return RunFolder(copied(torn_once, state_home))


def test_a_kill_before_the_next_model_is_written_keeps_one_copy(
    folder: RunFolder, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = ("resume", "out", *UNPROVEN, "--max-evaluations", "3")
    killed(monkeypatch, WRITTEN["model"], run, *again)
    done = run(*again)
    assert IS_BACK not in done.err
    assert f"{IS_KEPT} 'out/certified-1'" in done.err.replace(f"{Path.cwd()}/", "")
    assert copies() == ["certified-1"]


@pytest.mark.parametrize("place", ["model_manifest", "script", "rows", "certificate"])
def test_a_kill_while_another_certified_model_is_written_leaves_one_whole(
    place: str, folder: RunFolder, run: Any, credit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    killed(monkeypatch, WRITTEN[place], run, *OTHER, "--max-evaluations", "4")
    assert folder.model.read_bytes() != before["model.skops"]
    kept = folder.path / "certified-before"
    assert copies() == [kept.name]
    assert contents(RunFolder(kept)) == before
    assert "the data agree: CERTIFIED" in run("verify", kept, credit).out
    if place == "model_manifest":
        refused = run("predict", "out", credit, "-o", "told.csv")
        assert "If it was killed, go on with: automl-admm resume out" in refused.err
    done = run("resume", "out", "--max-evaluations", "4")
    assert done.code == 0, done.err
    assert done.err.count(IS_BACK) == 1
    assert "the data agree: CERTIFIED" in run("verify", "out", credit).out
    assert copies() == []


@pytest.mark.parametrize("place", ["model_manifest", "certificate"])
def test_a_certified_model_that_a_kill_left_in_a_copy_stays_where_nothing_else_is_certified(
    place: str, folder: RunFolder, run: Any, credit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    again = ("resume", "out", "--max-evaluations")
    with monkeypatch.context() as patched:
        patched.setattr("automl_admm.runs.finish.kept_model.Proven.stays_before", never)
        patched.setattr("automl_admm.runs.finish.kept_model.is_better", never)
        killed(patched, WRITTEN[place], run, *again, "4")
    monkeypatch.setattr("automl_admm.runs.pipelines.is_certified", never)
    monkeypatch.setattr("automl_admm.runs.finish.kept_model.is_certified", never)
    done = run(*again, "5")
    assert IS_BACK in done.err
    assert "the model that an earlier look (1) certified stays" in done.err
    assert contents(folder) == before
    assert "the data agree: CERTIFIED" in run("verify", "out", credit).out
    assert copies() == []


def test_a_copy_that_a_kill_left_is_kept_where_a_session_with_other_limits_certifies_none(
    folder: RunFolder, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    killed(monkeypatch, WRITTEN["script"], run, *OTHER, "--max-evaluations", "4")
    done = run("resume", "out", *UNPROVEN, "--max-evaluations", "5")
    assert IS_BACK in done.err
    assert IS_KEPT in done.err
    assert copies() == ["certified-1"]
    assert contents(RunFolder(folder.path / "certified-1")) == before


def test_a_copy_goes_once_another_certified_model_is_whole(
    folder: RunFolder, run: Any, credit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes at once: a kill meanwhile leaves no part of it under its name."""
    before = contents(folder)
    assert run(*OTHER, "--max-evaluations", "4").code == 0
    assert contents(folder) != before
    assert copies() == []
    removed = "automl_admm.runs.finish.kept_certificate.remove_tree"
    with monkeypatch.context() as patched:
        patched.setattr(removed, unless_gone)
        again = ("resume", "out", "--constraint", "fpr <= 0.3", "--allow-changed")
        assert run(*again, "--max-evaluations", "4").code == 130
    assert copies() == [".scratch-certified"]
    assert run("resume", "out", "--max-evaluations", "4").code == 0
    assert copies() == []
    assert "the data agree: CERTIFIED" in run("verify", "out", credit).out


def test_a_model_that_was_kept_on_purpose_does_not_come_back(
    folder: RunFolder, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert IS_KEPT in run("resume", "out", *UNPROVEN, "--max-evaluations", "3").err
    kept = contents(RunFolder(Path("out", "certified-1")))
    again = ("--constraint", "fpr <= 0.3", "--allow-changed", "--max-evaluations", "4")
    killed(monkeypatch, WRITTEN["model_manifest"], run, "resume", "out", *again)
    assert IS_BACK not in run("resume", "out", *again).err
    assert copies() == ["certified-1"]
    assert contents(RunFolder(Path("out", "certified-1"))) == kept


@pytest.mark.parametrize(
    "stopped", ["certificate.json", "pipeline.py", "model.skops", "model.json"]
)
def test_a_kill_while_a_model_comes_back_is_mended_by_the_next_session(
    stopped: str, torn: RunFolder, certified: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = RunFolder(certified / "out")
    writing = kept_certificate.write_atomically

    def write(path: Path, content: bytes) -> None:
        if path.name == stopped:
            interrupt()
        writing(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(kept_certificate, "write_atomically", write)
        assert run("resume", "out", "--max-evaluations", "4").code == 130
    kept_certificate.settle_certified(torn)
    assert contents(torn) == contents(first)
    assert torn.model_manifest.read_bytes() == first.model_manifest.read_bytes()
    assert copies() == []


def test_a_kill_before_the_copy_has_its_name_keeps_it_under_that_name(
    folder: RunFolder, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    retained = "automl_admm.runs.finish.kept_certificate._retain"
    killed(monkeypatch, retained, run, "resume", "out", *UNPROVEN, "--max-evaluations", "3")
    assert copies() == ["certified-before"]
    done = run("resume", "out", "--max-evaluations", "4")
    assert IS_KEPT in done.err
    assert IS_BACK not in done.err
    assert copies() == ["certified-1"]
    assert contents(RunFolder(folder.path / "certified-1")) == before


def test_a_copy_that_was_damaged_after_a_kill_replaces_nothing(
    torn: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    there = torn.model.read_bytes()
    Path("out", "certified-before", "model.skops").unlink()
    kept_certificate.settle_certified(torn)
    assert torn.model.read_bytes() == there
    assert "certified-1', was damaged since" in caplog.text
    assert IS_KEPT not in caplog.text
    assert copies() == ["certified-1"]


def test_the_script_of_another_model_goes_where_the_certified_one_has_none(torn: RunFolder) -> None:
    assert torn.script.exists()
    RunFolder(Path("out", "certified-before")).script.unlink()
    kept_certificate.settle_certified(torn)
    assert not torn.script.exists()
    assert copies() == []
