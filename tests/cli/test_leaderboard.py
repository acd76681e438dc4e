"""The leaderboard on the screen, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_runs import an_evaluation, write_run

from automl_admm.cli.shared.text_table import align
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

STORED = Path(__file__).parents[1] / "runs" / "stored_run"

HOSTILE = '=cmd|"/C calc"!A1\x1b[2J\u202e'
LONG = "a_name_of_a_limit_that_is_longer_than_any_terminal_is_wide_" * 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", [an_evaluation(number) for number in range(1, 31)])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_pipe_has_a_line_for_each_evaluation_with_all_of_its_text(run: Any, folder: Path) -> None:
    lines = run("leaderboard", folder).out.splitlines()
    assert lines[0].split() == [
        *("#", "roc_auc", "size_mb", "<=", "50", "seconds", "status", "key", "pipeline")
    ]
    assert len([line for line in lines if 'impute(strategy="mean")' in line]) == 20
    assert lines[21] == "10 more: --all shows every evaluation"
    assert lines[22] == "26 success, 4 error"


def test_a_value_outside_its_limit_has_the_distance_from_the_bound(run: Any, folder: Path) -> None:
    shown = {
        line.split()[0]: line.split()[2:4]
        for line in run("leaderboard", folder, "--all").out.splitlines()[1:31]
    }
    assert shown["4"] == ["18", "0.50"]
    assert shown["1"] == ["53", "!+3"]
    assert shown["7"] == ["–", "0.50"]


def test_all_shows_failures_with_their_status(run: Any, folder: Path) -> None:
    told = run("leaderboard", folder, "--all").out
    assert told.count(" error ") == 4
    assert "more:" not in told


@pytest.mark.parametrize("given", [(), ("--all",), ("--sort", "score")])
def test_a_run_without_an_evaluation_yet_says_so(
    run: Any, tmp_path: Path, given: tuple[str, ...]
) -> None:
    folder = write_run(tmp_path / "run", [])
    heading, *lines = run("leaderboard", folder, *given).out.splitlines()
    assert heading.split()[:2] == ["#", "roc_auc"]
    assert lines == ["no evaluation has ended yet"]


def test_csv_and_json_have_every_evaluation_and_the_bounds(run: Any, folder: Path) -> None:
    table = rows(run("leaderboard", folder, "--csv").out)
    assert len(table) == 30
    assert {row["bound of size_mb <= 50"] for row in table} == {"50.0"}
    failed = [row for row in table if row["status"] == "error"]
    assert [(row["rank"], row["score"], row["size_mb"]) for row in failed] == [("", "", "")] * 4
    content = json.loads(run("leaderboard", folder, "--json", "-n", 3).out)
    assert content["limits"][0]["limit"] == "size_mb <= 50"
    assert [one["rank"] for one in content["evaluations"]] == [1, 2, 3]
    assert content["evaluations"][0].keys() == table[0].keys()


def test_it_is_sorted_as_asked(run: Any, folder: Path) -> None:
    table = rows(run("leaderboard", folder, "--csv", "--sort", "size_mb <= 50").out)
    values = [float(row["size_mb"]) for row in table if row["size_mb"]]
    assert values == sorted(values)
    assert all(not row["size_mb"] for row in table[len(values) :])
    back = rows(run("leaderboard", folder, "--csv", "--sort", "number", "--reverse").out)
    assert [row["number"] for row in back] == [str(number) for number in range(30, 0, -1)]


def test_a_file_is_written_in_place_of_the_screen(run: Any, folder: Path) -> None:
    done = run("leaderboard", folder, "--csv", "-o", "board.csv")
    assert (done.code, done.out) == (0, "")
    assert len(rows(Path("board.csv").read_text())) == 30
    assert run("leaderboard", folder, "--csv", "-o", "no/such.csv").code == 7


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--sort", "scor"), "Did you mean 'score'"),
        (("--csv", "--json"), "exclude"),
        (("-n", "3", "--all"), "leave out"),
        (("-o", "x.csv"), "add --csv or --json"),
    ],
)
def test_a_mistake_is_one_line(run: Any, folder: Path, given: tuple[str, ...], told: str) -> None:
    ended = run("leaderboard", folder, *given)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert ended.err.count("\n") == 1


def test_hostile_and_long_names_are_whole_and_harmless(run: Any, tmp_path: Path) -> None:
    hostile = an_evaluation(1, text=HOSTILE, message=f"@{LONG}")
    folder = write_run(tmp_path / "hostile", [hostile], limit=HOSTILE)
    told = run("leaderboard", folder, "--csv").out
    (row,) = csv.DictReader(io.StringIO(told))
    assert row["pipeline"] == f"'{HOSTILE}"
    assert row["message"] == f"'@{LONG}"
    assert f"'{HOSTILE}" in row
    shown = run("leaderboard", folder).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[2J\\u202e" in shown
    long = write_run(tmp_path / "long", [an_evaluation(1, text=LONG)], limit=LONG)
    assert run("leaderboard", long).out.count(LONG) == 2


def test_values_that_are_no_numbers_stay_empty(run: Any, tmp_path: Path) -> None:
    odd = an_evaluation(1, constraints=(math.nan,))
    folder = write_run(tmp_path / "odd", [odd])
    assert "– !" in run("leaderboard", folder).out
    (row,) = rows(run("leaderboard", folder, "--csv").out)
    assert (row["size_mb"], row["excess of size_mb <= 50"], row["feasible"]) == ("", "", "False")
    assert json.loads(run("leaderboard", folder, "--json").out)["evaluations"][0]["size_mb"] is None


def test_columns_stand_straight_with_wide_signs() -> None:
    assert align([("a", "bb"), ("日本", "1")], right=(1,)) == ["a     bb", "日本   1"]


def test_a_certified_model_that_stays_is_named_though_another_ranks_before_it(
    run: Any, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(STORED / "stacked", tmp_path / "old"))
    assert "what shipped is" not in run("leaderboard", path).out
    with closing(SqliteStore(RunFolder(path).store, write=True)) as store:
        first = store.read()[0]
        store.append(replace(first, number=4, key="f" * 24, loss=first.loss / 2))
    board = run("leaderboard", path)
    assert board.code == 0, board.err
    told = "what shipped is #1, by the tests for its certificate (look 1); before it, by validation"
    assert f"{told} rows, rank #4 (" in board.out
