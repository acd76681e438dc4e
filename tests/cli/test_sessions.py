"""What runs beside each other, or after one that was killed, find in their folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pandas as pd
import pytest
from program import run_program

from automl_admm import AutoMLClassifier
from automl_admm.cli.commands.fit import _new_folder
from automl_admm.core.errors import NotCertifiedError

pytestmark = pytest.mark.timeout(400)

GRAMMAR = """\
%import components (impute, gaussian_nb)
start: impute gaussian_nb
"""
Seen = Callable[[str], None]


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    path = tmp_path / "g.lark"
    path.write_text(GRAMMAR)
    return path


@pytest.mark.fault(
    "F96", injected="six runs name their folder at the same moment", expected="six folders"
)
def test_runs_that_begin_together_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: Seen
) -> None:
    monkeypatch.chdir(tmp_path)
    together = Barrier(6)

    def name() -> Path:
        together.wait()
        return _new_folder("people")

    with ThreadPoolExecutor(6) as pool:
        found = [future.result() for future in [pool.submit(name) for _ in range(6)]]
    assert len(set(found)) == 6
    assert all(folder.is_dir() for folder in found)
    seen("six folders")


def test_a_run_that_does_not_begin_leaves_no_folder(run: Any, table: Path, tmp_path: Path) -> None:
    assert run("fit", table, "--target", "buys", "--metric", "nope").code == 2
    assert not (tmp_path / "automl-runs").exists()


@pytest.mark.fault(
    "F97", injected="the ledger of looks cannot be written", expected="exit 7 before the search"
)
def test_a_ledger_that_cannot_be_written_is_told_before_the_search(
    run: Any,
    table: Path,
    grammar: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seen: Seen,
) -> None:
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "taken"))
    ended = run(
        *("fit", table, "--target", "buys", "--grammar", grammar, "--cv=2", "--max-evaluations", 1),
        *("--constraint", "fpr <= 0.9", "--certify", 0.9, "--out", "out", "-q"),
    )
    assert ended.code == 7, ended
    assert "ledger" in ended.err or "looks.json" in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "out" / "run.json").exists()
    seen(f"exit 7: {ended.err.strip()[:60]}…")


class Taker:
    """Puts a file where the ledger's folder was, once the search has begun."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger

    def run_started(self, info: object) -> None:
        del info
        self.ledger.parent.rename(self.ledger.parent.with_name("moved"))
        self.ledger.parent.write_text("")


@pytest.mark.fault(
    "F97",
    injected="the ledger of looks is gone when the search ends",
    expected="not certified, and the model is there",
)
def test_a_ledger_that_goes_away_loses_no_model(
    table: Path, grammar: Path, state_home: Path, seen: Seen
) -> None:
    frame = pd.read_csv(table)
    search = AutoMLClassifier(
        grammar=str(grammar),
        cv=2,
        max_evaluations=1,
        constraints=["fpr <= 0.9"],
        certify=0.9,
        executor="inline",
        callbacks=[Taker(state_home / "automl-admm" / "looks.json")],
    )
    with pytest.raises(NotCertifiedError) as told:
        search.fit(frame.drop(columns=["buys"]), frame["buys"])
    assert told.value.closest is not None
    seen("not certified; the model is in the error")


@pytest.mark.fault(
    "F98", injected="kill -9 left copies of the data in the folder", expected="resume removes them"
)
def test_what_killed_sessions_left_is_removed(
    run: Any, table: Path, grammar: Path, tmp_path: Path, seen: Seen
) -> None:
    options = ("--grammar", grammar, "--cv=2", "--max-evaluations", 1, "--executor", "inline", "-q")
    begun = run("fit", table, "--target", "buys", *options, "--out", "out")
    assert begun.code == 0, begun
    left, of_user = (tmp_path / "out" / f".scratch-{end}" for end in ("admm-a1_b2c3d", "my_notes"))
    (left / "task-1").mkdir(parents=True)
    of_user.mkdir()
    (left / "data.pickle").write_bytes(bytes(1000))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "out" / ".scratch-admm-a1_b2c3e").symlink_to(elsewhere)
    (tmp_path / "out" / "mine").mkdir()
    again = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert again.code == 0, again
    assert not left.exists()
    assert of_user.is_dir()
    assert elsewhere.is_dir()
    assert (tmp_path / "out" / "mine").is_dir()
    seen("removed; nothing else was")


@pytest.mark.fault(
    "F99", injected="run.json names a scheduler to connect to", expected="exit 2, the remedy"
)
def test_a_folder_does_not_say_what_to_connect_to(
    run: Any, table: Path, grammar: Path, tmp_path: Path, seen: Seen
) -> None:
    options = ("--grammar", grammar, "--cv=2", "--max-evaluations", 1, "--executor", "inline", "-q")
    assert run("fit", table, "--target", "buys", *options, "--out", "out").code == 0
    path = tmp_path / "out" / "run.json"
    content = json.loads(path.read_text())
    content["request"]["executor"] = "dask:address=tcp://203.0.113.5:8786"
    path.write_text(json.dumps(content))
    ended = run("resume", "out", "--max-evaluations", "+1", "-q")
    assert ended.code == 2
    assert "--executor dask:address=tcp://203.0.113.5:8786" in ended.err
    again = run("resume", "out", "--executor", "inline", "--max-evaluations", "+1", "-q")
    assert again.code == 0, again
    seen("exit 2: say it with --executor")


FEW = (
    *("--target", "buys", "--grammar", "tiny", "--theta-solver", "random", "--cv=2"),
    *("--executor", "inline", "--no-racing", "--no-ensemble", "--no-portfolio", "-q"),
)


@pytest.fixture(scope="module")
def gone_on_once(people_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and a run that went on with another limit."""
    folder = tmp_path_factory.mktemp("gone-on")
    shutil.copy(people_once, folder)
    begun = ("--max-evaluations", "6", "--constraint", "fpr <= 0.9", "--out", "out")
    other = ("--constraint", "recall >= 0.1", "--allow-changed", "-q")
    for order in (
        ("fit", "people.csv", *FEW, *begun),
        ("resume", "out", "--max-evaluations", "2", *other),
    ):
        done = run_program(*order, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def gone_on(gone_on_once: Path, tmp_path: Path) -> Path:
    """A copy of it: it tries the best of the session before first."""
    shutil.copytree(gone_on_once, tmp_path, dirs_exist_ok=True)
    return Path("out")


def pipelines_of(run: Any, folder: str) -> list[str]:
    lines = run("store", "export", folder, "--format", "jsonl").out.splitlines()
    return [json.loads(line)["pipeline"] for line in lines]


def test_what_is_tried_first_is_no_start_of_the_user_and_stays_first(
    run: Any, gone_on: Path
) -> None:
    told = json.loads((gone_on / "run.json").read_text())
    tried = told["tried_first"]
    assert told["settings"]["starts"] == []
    assert run("resume", "out", "--max-evaluations", "4", "-q").code == 0
    assert pipelines_of(run, "out") == tried[:4]
    assert json.loads((gone_on / "run.json").read_text())["tried_first"] == tried


def test_pipelines_chosen_on_rows_that_are_held_out_now_are_not_tried_first(
    run: Any, gone_on: Path, table: Path
) -> None:
    tried = json.loads((gone_on / "run.json").read_text())["tried_first"]
    pd.read_csv(table).sample(frac=1.0, random_state=3).to_csv("shuffled.csv", index=False)
    more = ("--max-evaluations", "4", "--allow-changed", "-q")
    done = run("resume", "out", "shuffled.csv", *more)
    assert done.code == 0, done.err
    assert "the search begins without the pipelines of the sessions before" in done.err
    # It takes the course of a run that knows of no other.
    fresh = ("--constraint", "recall >= 0.1", "--max-evaluations", "4", "--out", "fresh")
    assert run("fit", "shuffled.csv", *FEW, *fresh).code == 0
    assert pipelines_of(run, "out") == pipelines_of(run, "fresh") != tried[:4]
    assert "tried_first" not in json.loads((gone_on / "run.json").read_text())
