"""Explaining one evaluation and comparing runs on the command line."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from report_runs import an_evaluation, write_run

STORED = Path(__file__).parents[1] / "runs" / "stored_run"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


HOSTILE = "[red]\x1b[2J\u202e"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = [an_evaluation(1, constraints=(60.0,)), an_evaluation(2, constraints=(10.0,))]
    odd = an_evaluation(7, text=f'ridge(a="{HOSTILE}")', message=HOSTILE)
    return write_run(tmp_path / "run", [*found, odd], state="stopped")


def test_an_evaluation_is_explained(run: Any, folder: Path) -> None:
    told = run("explain", folder, "key-1")
    assert told.code == 0
    assert "size_mb <= 50: 60, OUTSIDE, 10 above the bound" in told.out
    assert "2 of 2, behind all that are within the limits" in told.out
    assert ["winner", "#2,"] in [line.split()[:2] for line in told.out.splitlines()]
    assert "tree.alpha" in told.out
    assert "this one" in run("explain", folder, "2").out


def test_a_failure_is_explained_with_its_trace_and_harmlessly(run: Any, folder: Path) -> None:
    told = run("explain", folder, "#7").out
    assert "error: [red]\\x1b[2J\\u202e" in told
    assert "line 1\nend" in told
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_an_explanation_is_json_too(run: Any, folder: Path) -> None:
    found = json.loads(run("explain", folder, "key-7", "--json").out)
    assert (found["schema"], found["status"], found["score"]) == (1, "error", None)
    assert found["message"] == HOSTILE


def test_a_wrong_key_is_one_line(run: Any, folder: Path) -> None:
    for key, told in (("key", "beginning of 3 keys"), ("nope", "no evaluation named 'nope'")):
        ended = run("explain", folder, key)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert told in ended.err


def test_runs_of_other_data_are_not_ranked_but_warned_of(run: Any) -> None:
    told = run("compare", STORED / "stacked", STORED / "group_thresholds")
    assert told.code == 0
    assert "warning: scores are NOT comparable: the runs searched on other rows" in told.err
    assert "warning" not in told.out
    for part in ("results", "validation", "held out", "certificate", "fingerprint", "winner"):
        assert f"\n{part}" in told.out
    found = json.loads(
        run("compare", STORED / "stacked", STORED / "group_thresholds", "--json").out
    )
    assert found["is_comparable"] is False
    assert len(found["runs"][0]["data"]["fingerprint"]) == 64


def test_a_narrow_terminal_has_no_line_cut(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    run("compare", STORED / "stacked", folder)
    compared = terminal.getvalue().partition("\nresults\n")[2].splitlines()
    assert compared[:3] == ["  verdict", "    stacked  certified", "    run      unfinished"]
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    run("explain", folder, "key-1")
    assert "rank        2 of 2, behind all that are within the limits" in terminal.getvalue()
    explained = terminal.getvalue().splitlines()
    assert max(map(len, [*compared, *explained])) <= 60


def test_runs_of_one_name_have_their_paths_as_titles(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    again = Path(shutil.copytree(folder, tmp_path / "again" / "run"))
    lines = run("compare", folder, again).out.splitlines()
    assert "NOT comparable" not in lines[0]
    assert ["results", str(folder), str(again)] in [line.split() for line in lines]
    assert "settings: the same" in lines
    assert "winner: the same" in lines


def test_a_single_run_is_nothing_to_compare(run: Any, folder: Path) -> None:
    ended = run("compare", folder)
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_a_running_or_damaged_run_is_one_line(run: Any, folder: Path, tmp_path: Path) -> None:
    running = write_run(tmp_path / "running", [an_evaluation(1)])
    damaged = Path(shutil.copytree(folder, tmp_path / "damaged"))
    (damaged / "run.json").write_text("{")
    for other in (running, damaged, tmp_path / "nowhere"):
        ended = run("compare", folder, other)
        assert (ended.code, ended.out, ended.err.count("\n")) == (7, "", 1), ended
        assert str(other) in ended.err
