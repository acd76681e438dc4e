"""`automl-admm store`: check, repair, export."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from report_runs import of_limit, write_run

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.sqlite.rows import digest

LIMITS = [of_limit("latency_us", 10.0), of_limit("recall", 0.5, at_least=True)]
FIRST = Evaluation(
    number=1,
    key="k1",
    candidate=Candidate(Selection((("model", "tree"),)), (0.25,)),
    status=Status.SUCCESS,
    loss=0.125,
    constraints=(3.0, -0.5),
    seconds=1.5,
    text="tree()",
    details={"scores": [0.5, math.nan]},
)
FAILED = Evaluation(
    number=2,
    key="k2",
    candidate=Candidate(Selection((("model", "bayes"),)), ()),
    status=Status.ERROR,
    seconds=0.5,
    text="=HYPERLINK(1)",
    message='-bad, "quoted"\nand long',
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = write_run(tmp_path / "out", [FIRST, FAILED])
    SqliteStore(path / "store.sqlite", write=True).close()  # as a run leaves it, with its lock
    content = json.loads((path / "run.json").read_text())
    content["settings"] |= {"limits": LIMITS, "target": "buys"}
    (path / "run.json").write_text(json.dumps(content))
    return path


def test_a_store_in_order_is_said_to_be(run: Any, folder: Path) -> None:
    done = run("store", "check", folder)
    assert done.code == 0, done.err
    assert "store.sqlite: version 2, 2 evaluations" in done.out
    assert "store.bak: 2 evaluations" in done.out
    assert done.out.splitlines()[-1] == "in order"
    done = run("store", "repair", folder)
    assert (done.code, done.out) == (0, "in order: nothing was changed\n")
    assert not list(folder.glob("store.damaged*"))


def test_check_calls_no_folder_of_another_version_in_order(run: Any, folder: Path) -> None:
    content = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**content, "format": 0}))
    done = run("store", "check", folder)
    assert done.code == 7
    assert "run.json' was written by another version of automl-admm. Fit again" in done.err
    assert "in order" not in done.out


def test_check_names_every_problem_and_repair_mends_them(run: Any, folder: Path) -> None:
    (folder / "store.json").write_text("{")
    (folder / "store.sqlite").write_bytes(b"no database" * 1000)
    done = run("store", "check", folder)
    assert done.code == 7
    problems = [line for line in done.out.splitlines() if line.startswith("PROBLEM: ")]
    assert len(problems) == 2
    assert "store.json' is damaged" in problems[0]
    assert "file is not a database" in problems[1]
    assert f"`automl-admm store repair {folder}` saves what can be read." in done.err
    done = run("store", "repair", folder)
    assert done.code == 0, done.err
    assert "2 evaluations saved, none is lost" in done.out
    assert "kept as it was: " in done.out
    assert (folder / "store.damaged-1.sqlite").read_bytes() == b"no database" * 1000
    assert run("store", "check", folder).code == 0
    assert run("leaderboard", folder / "nowhere").code == 7


def test_a_folder_with_files_of_two_runs_is_not_in_order(run: Any, folder: Path) -> None:
    settings = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(settings | {"run_id": "0" * 16}))
    done = run("store", "check", folder)
    assert done.code == 7
    assert "in order" not in done.out


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_store_that_you_may_not_read_is_not_called_damaged(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, is_folder: bool
) -> None:
    """Root may read it all the same, so SQLite is told not to open it."""

    def refuse(*_: Any, **more: Any) -> Any:
        raise sqlite3.OperationalError("unable to open database file")

    closed, needed = (folder, os.X_OK) if is_folder else (folder / "store.sqlite", os.R_OK)
    monkeypatch.setattr(
        os, "access", lambda path, right, **_: Path(path) != closed or right != needed
    )
    monkeypatch.setattr(sqlite3, "connect", refuse)
    for words in (("leaderboard",), ("store", "check")):
        done = run(*words, folder)
        assert done.code == 7
        assert "may not be read by you. Let yourself read it: chmod u+rw" in done.err
        assert f"{closed}'" in done.err
        assert "store repair" not in done.err


def test_what_is_lost_is_counted(run: Any, folder: Path) -> None:
    content = bytearray((folder / "store.sqlite").read_bytes())
    place = content.index(b"tree()")
    content[place] ^= 1
    (folder / "store.sqlite").write_bytes(content)
    (folder / "store.bak").unlink()
    done = run("store", "repair", folder)
    assert done.code == 0, done.err
    assert "1 evaluation saved, 1 lost" in done.out


def test_a_copy_without_its_log_is_repaired_and_nothing_is_made_up(run: Any, folder: Path) -> None:
    manifest = folder / "store.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"is_open": True}))
    (folder / "store.lock").unlink()
    done = run("store", "check", folder)
    assert done.code == 7
    assert "PROBLEM: " in done.out
    assert "may lack evaluations: it was not closed" in done.out
    assert run("leaderboard", folder).code == 7
    done = run("store", "repair", folder)
    assert done.code == 0, done.err
    assert "2 evaluations saved, nothing says how many there were" in done.out
    assert run("store", "check", folder).code == 0


def test_check_and_repair_agree_on_a_store_that_is_gone(run: Any, folder: Path) -> None:
    (folder / "store.sqlite").unlink()
    done = run("store", "check", folder)
    assert (done.code, "it is gone, and held 2 evaluations" in done.out) == (7, True)
    assert "store repair" in done.err
    (folder / "store.bak").rename(folder / "elsewhere")
    for action in ("check", "repair"):
        done = run("store", action, folder)
        assert done.code == 7
        assert "is gone, and held 2 evaluations" in done.out + done.err
        assert "to repair it from: restore it from a copy." in done.err
        assert "store repair" not in done.err
    (folder / "elsewhere").rename(folder / "store.bak")
    done = run("store", "repair", folder)
    assert (done.code, done.out) == (0, "2 evaluations saved, none is lost\n")
    assert run("store", "check", folder).code == 0


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_backup_alone_is_repaired_from(run: Any, folder: Path, *, is_counted: bool) -> None:
    """A run may be killed before a checkpoint counts: nothing then says how many there were."""
    (folder / "store.sqlite").unlink()
    if not is_counted:
        (folder / "store.lock").unlink()
        manifest = folder / "store.json"
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"rows": 0}))
    done = run("leaderboard", folder)
    assert done.code == 7
    assert "is damaged: it is gone" in done.err
    assert "store repair" in done.err
    assert "2 evaluations saved" in run("store", "repair", folder).out


def test_what_was_begun_and_never_ended_is_told(run: Any, folder: Path) -> None:
    with closing(SqliteStore(folder / "store.sqlite", write=True)) as store:
        store.begin(3, "k3", "linear()")
        database = store._database
        row = ["k3", 3, "linear()", "another-host", 17, 1.0]
        database.execute(
            "UPDATE running SET host = ?, pid = ?, start = ?, heartbeat = 0, sha256 = ?",
            (*row[3:], digest(row)),
        )
    done = run("store", "check", folder)
    assert done.code == 0, done.out
    begun = "evaluation 3 was begun by process 17 on host another-host and never ended: linear()"
    assert begun in done.out


def test_a_folder_that_is_no_run_is_left_as_it_is(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for action in ("check", "repair", "export"):
        assert run("store", action, folder).code == 7
    assert not list(folder.iterdir())


@pytest.mark.parametrize("action", ["check", "repair", "export"])
def test_without_a_store_there_is_one_line(run: Any, tmp_path: Path, action: str) -> None:
    done = run("store", action, tmp_path / "none")
    assert done.code == 7
    assert len(done.err.strip().splitlines()) == 1
    assert "Traceback" not in done.err
    assert not (tmp_path / "none").exists()


def test_a_table_for_spreadsheets_holds_no_formula(run: Any, folder: Path) -> None:
    done = run("store", "export", folder)
    assert done.code == 0, done.err
    head, first, failed = csv.reader(io.StringIO(done.out))
    assert head == [
        *("number", "status", "loss", "latency_us <= 10", "recall >= 0.5"),
        *("seconds", "fidelity", "pipeline", "message"),
    ]
    assert first == ["1", "success", "0.125", "3.0", "-0.5", "1.5", "1.0", "tree()", ""]
    assert failed == [
        *("2", "error", "", "", "", "0.5", "1.0"),
        *("'=HYPERLINK(1)", '\'-bad, "quoted"\nand long'),
    ]


def test_lines_of_json_hold_all_of_it(run: Any, folder: Path, tmp_path: Path) -> None:
    done = run("store", "export", folder, "--format", "jsonl", "-o", "all.jsonl")
    assert (done.code, done.out) == (0, "")
    first, failed = map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())
    assert first == {
        "number": 1,
        "key": "k1",
        "status": "success",
        "loss": 0.125,
        "constraints": {"latency_us <= 10": 3.0, "recall >= 0.5": -0.5},
        "seconds": 1.5,
        "fidelity": 1.0,
        "pipeline": "tree()",
        "message": "",
        "selection": {"model": "tree"},
        "theta": [0.25],
        "details": {"scores": [0.5, None]},
    }
    assert failed["loss"] is None
    assert failed["constraints"] == {}


def test_without_settings_limits_are_numbered(run: Any, folder: Path) -> None:
    (folder / "run.json").unlink()
    done = run("store", "export", folder)
    assert done.out.startswith("number,status,loss,constraint 1,constraint 2,seconds")
    done = run("store", "export", folder, "-o", folder / "no" / "such.csv")
    assert done.code == 7
    assert "cannot be written: No such file or directory." in done.err
