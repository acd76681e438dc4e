"""`automl-admm report`: the page, the JSON, and one line for bad input."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STORED = Path(__file__).parents[1] / "runs" / "stored_run" / "stacked"
Run = Callable[..., Any]


def test_the_page_and_its_numbers_are_written(run: Run, tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    ended = run("report", "old")
    assert (ended.code, ended.err) == (0, "")
    assert "old/report.html" in ended.out
    assert (tmp_path / "old/report.html").read_text().startswith("<!DOCTYPE html>")
    ended = run("report", "old", "-o", "mine.html")
    assert ended.code == 0
    assert (tmp_path / "mine.html").is_file()
    assert (tmp_path / "mine.json").is_file()


def test_json_is_printed_and_nothing_written(run: Run, tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    ended = run("report", "old", "--json")
    assert json.loads(ended.out)["verdict"]["kind"] == "certified"
    assert not (tmp_path / "old/report.html").exists()


def test_a_model_beside_a_run_that_has_not_ended_is_the_last_written(
    run: Run, tmp_path: Path
) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    settings = tmp_path / "old" / "run.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"state": "running"}))
    told = json.loads(run("report", "old", "--json").out)["verdict"]["warnings"]
    assert any("the model is the last that it wrote" in one for one in told)
    assert not any("earlier session" in one for one in told)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nowhere",), 7),
        (("old/run.json",), 7),
        (("old", "-o", "no/such/folder.html"), 7),
        (("old", "-o", "old"), 2),
        (("old", "-o", "x.json"), 2),
        (("old", "-o", "x.html", "--json"), 2),
        (("old", "--watch", "--json"), 2),
        (("nowhere", "--watch"), 7),
    ],
)
def test_bad_input_is_one_line(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    ended = run("report", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert len(ended.err.strip().splitlines()) == 1
    assert "Traceback" not in ended.err


def test_a_damaged_run_is_told_in_a_line(run: Run, tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    settings = tmp_path / "old/run.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"versions": [1]}))
    ended = run("report", "old")
    assert (ended.code, ended.out) == (7, "")
    assert "'versions' is" in ended.err


def test_a_watch_ends_with_the_run_and_a_killed_one_has_a_code_of_its_own(
    run: Run, tmp_path: Path
) -> None:
    shutil.copytree(STORED, tmp_path / "old")
    ended = run("report", "old", "--watch")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "old/report.html: the report, which follows the run",
        "the run has ended (done, ended by: evaluations); the page is complete",
    ]
    settings = tmp_path / "old/run.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"state": "running"}))
    ended = run("report", "old", "--watch")
    assert (ended.code, ended.out) == (7, "")
    assert ended.err == (
        "error: the run 'old' is no longer written: killed, or run on another host; "
        "old/report.html has what it left. Go on with: automl-admm resume old\n"
    )
    assert "no longer written" in (tmp_path / "old/report.html").read_text()


def test_a_run_writes_its_report_and_says_where(run: Run, table: Path, tmp_path: Path) -> None:
    quick = ("--grammar", "tiny", "--executor", "inline", "--max-evaluations", "2")
    quick = (*quick, "--constraint", "selection_rate <= 0.99", "--on-infeasible", "closest")
    ended = run("fit", table, "--target", "buys", *quick, "--out", "r", "-q", "--json", "--report")
    assert ended.code == 0, ended.err
    assert "report: r/report.html" in ended.err
    told, found = json.loads(ended.out), json.loads((tmp_path / "r/report.json").read_text())
    assert found["verdict"]["kind"] == "within"
    assert found["verdict"]["validation_score"] == told["validation_score"]
    assert found["verdict"]["held_out_score"] == told["held_out_score"]
    (limit,), (kept,) = told["constraints"], found["limits"]["limits"]
    assert (kept["value"], kept["held_out"]) == (limit["validation"], limit["held_out"])
    assert kept["held_out"] is not None
    assert found["quality"]["recall"] == told["decisions"]["recall"]
    low, high = told["held_out_interval"]
    assert found["quality"]["held_out_interval"] == [low, high]
    said = f"95 % interval {low:.4f} to {high:.4f}"
    assert said in found["verdict"]["sentence"]
    assert said in run("compare", "r", "r").out
    assert said in run("evaluate", "r", table).out
    assert found["quality"]["decisions_measured_on"] == "rows held out"
    assert sum(found["verdict"]["statuses"].values()) == 2
    (piece,) = found["winner"]["pieces"]
    assert piece["text"] == told["pipeline"]
    assert {one["name"] for one in found["data"]["described"]} == {"age", "height", "city"}
    (tmp_path / "r/report.html").unlink()
    ended = run("resume", "r", "--max-evaluations", "+1", "-q", "--report")
    assert ended.code == 0, ended.err
    found = json.loads((tmp_path / "r/report.json").read_text())
    assert found["verdict"]["evaluations"] == 3
    assert (tmp_path / "r/report.html").is_file()
