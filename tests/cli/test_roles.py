"""Weights, groups and time on the command line: fit, resume and verify."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Rows with a weight, a group and a date; the label hangs on one feature."""
    rows, rng = 240, np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows)})
    frame["buys"] = np.where(frame["x"] + rng.normal(size=rows) > 0, "yes", "no")
    frame["w"] = rng.integers(1, 5, rows)
    frame["site"] = [f"{number:03}" for number in rng.integers(0, 20, rows)]
    frame["day"] = pd.date_range("2026-01-01", periods=rows)[rng.permutation(rows)].astype(str)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def fit(run: Any, table: Path, *more: str) -> Any:
    return run(
        *("fit", table, "--target", "buys", "--grammar", "tiny", "--out", "here", "--json"),
        *("--cv=2", "--max-evaluations", "3", "--executor", "inline", *more),
    )


def settings(folder: Path) -> Any:
    return json.loads((folder / "here" / "run.json").read_text())["settings"]


@pytest.mark.parametrize(
    "roles",
    [["--weight", "w", "--group", "site"], ["--weight", "w", "--time", "day"], ["--time", "day"]],
)
def test_columns_with_a_role_are_no_features_and_kept_for_resume(
    run: Any, table: Path, tmp_path: Path, roles: list[str]
) -> None:
    pd.read_csv(table)[["x", "z", "buys", *roles[1::2]]].to_csv(table, index=False)
    ended = fit(run, table, *roles)
    assert ended.code == 0, ended.err
    script = (tmp_path / "here" / "pipeline.py").read_text(encoding="utf-8")
    # A script without the weights would fit another model.
    assert ('WEIGHT = "w"' in script) == ("--weight" in roles)
    columns = json.loads((tmp_path / "here" / "model.json").read_text())["columns"]
    assert not set(columns) & set(roles[1::2])
    known = dict(zip(roles[::2], roles[1::2], strict=True))
    kept = settings(tmp_path)
    assert {f"--{role}": kept[role] for role in ("weight", "group", "time") if kept[role]} == known
    again = run("resume", "here", "--max-evaluations", "+1", "-q")
    assert again.code == 0, again.err
    assert run("predict", "here", table, "-o", "out.csv").code == 0


def test_the_script_of_a_weighted_run_fits_rows_of_one_weight_as_if_they_had_none(
    run: Any, table: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(table)[["x", "z", "buys", "w"]]
    rows.to_csv(table, index=False)
    assert fit(run, table, "--weight", "w").code == 0
    found = []
    for weight in (1, 1000):
        other, out = tmp_path / f"other{weight}.csv", tmp_path / f"out{weight}.csv"
        rows.assign(w=weight).to_csv(other, index=False)
        words = ("here/pipeline.py", other.name, table.name, out.name)
        done = run_python(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(out.read_text(encoding="utf-8"))
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == len(rows) + 1


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_the_script_of_a_weighted_run_scores_by_weight_as_the_run_does(
    run: Any, table: Path, tmp_path: Path, metric: str
) -> None:
    pd.read_csv(table)[["x", "z", "buys", "w"]].to_csv(table, index=False)
    ended = fit(run, table, "--weight", "w", "--test-size", "0.3", "--metric", metric)
    assert ended.code == 0, ended.err
    score = json.loads((tmp_path / "here" / "model.json").read_text())["held_out_score"]
    told = run_python("here/pipeline.py", cwd=tmp_path)
    assert told.stdout.startswith(f"{metric} {score:.4f} on "), told
    code = (
        "from pathlib import Path; import pipeline; print(len(pipeline.fit(Path('../rows.csv'))))"
    )
    assert run_python("-c", code, cwd=tmp_path / "here").stdout == "3\n"


@pytest.mark.parametrize("column", ["w", "site", "day"])
def test_a_changed_column_with_a_role_is_found_by_resume(
    run: Any, table: Path, column: str
) -> None:
    role = {"w": "--weight", "site": "--group", "day": "--time"}[column]
    frame = pd.read_csv(table, dtype={"site": str})[["x", "z", "buys", column]]
    frame.to_csv(table, index=False)
    assert fit(run, table, role, column).code == 0
    frame.loc[5, column] = {"w": 9, "site": "099", "day": "2030-01-01"}[column]
    frame.to_csv(table, index=False)
    ended = run("resume", "here", "--max-evaluations", "+1", "-q")
    assert ended.code == 7
    assert "other values" in ended.err


@pytest.mark.parametrize(
    ("change", "roles", "code", "said"),
    [
        ({"w": "-1"}, ["--weight", "w"], 3, "the weight in 'w' is negative in 1 of 240 rows"),
        ({"w": None}, ["--weight", "w"], 3, "'w' is missing in 1 of 240 rows, first in"),
        ({"w": "inf"}, ["--weight", "w"], 3, "'w' is infinite in 1 of 240 rows, first in"),
        ({"w": "-1e999"}, ["--weight", "w", "--budget", "9s"], 3, "'w' is infinite in 1 of 240"),
        ({"buys": None}, [], 3, "'buys' is missing in 1 of 240 rows, first in"),
        ({"buys": None}, [], 3, "rows.csv, line 7."),
        ({}, ["--column", "buys=number"], 2, "column 'buys' is the one to predict"),
        ({}, ["--weight", "w", "--column", "w=category"], 2, "column 'w' is the weight: only"),
        ({}, ["--sensitive", "z", "--column", "z=text"], 2, "'z' is sensitive: only features"),
        ({"w": "much"}, ["--weight", "w"], 3, "'w' is no number but 'much' in 1 of 240 rows"),
        ({"w": "much"}, ["--weight", "w"], 3, "rows.csv, line 7."),
        ({"site": None}, ["--group", "site"], 3, "the group in 'site' is missing"),
        ({"day": "31.12.2026"}, ["--time", "day"], 3, "rows.csv, line 7. Write it as"),
        ({}, ["--weight", "weight"], 3, "there is no column 'weight' to be the weight"),
        ({}, ["--time", "60s"], 3, "A time budget is --budget 60s; a time is a column."),
        ({}, ["--weight", "buys"], 3, "'buys' is the column to predict"),
        ({}, ["--group", "site", "--time", "day"], 3, "Leave out --group"),
        ({}, ["--weight", "w", "--sensitive", "w"], 3, "no column 'w' to set aside"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    run: Any, table: Path, change: dict[str, Any], roles: list[str], code: int, said: str
) -> None:
    frame = pd.read_csv(table, dtype=str)
    for column, value in change.items():
        frame.loc[5, column] = value
    frame.to_csv(table, index=False)
    ended = fit(run, table, *roles)
    assert ended.code == code
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("w", "-1", "the weight in 'w' is negative in 1 of 240 rows, first in later.csv, line 7."),
        ("site", None, "the group in 'site' is missing in 1 of 239 rows, first in later.csv, lin"),
    ],
)
def test_what_cannot_be_in_later_rows_is_told_with_its_place(
    run: Any, table: Path, column: str, value: str | None, said: str
) -> None:
    assert fit(run, table, "--weight", "w", "--group", "site").code == 0
    later = pd.read_csv(table, dtype=str)
    later.loc[5, column] = value
    if column == "site":  # a row that does not count moves no place
        later.loc[2, "w"] = "0"
    later.to_csv("later.csv", index=False)
    for command in (("evaluate", "here", "later.csv"), ("report", "here", "--data", "later.csv")):
        ended = run(*command)
        assert ended.code == 3
        assert said in ended.err
        assert "line 7." in ended.err


def test_verify_says_that_a_column_with_a_role_is_missing(run: Any, table: Path) -> None:
    limit = ["--constraint", "fpr <= 0.9", "--certify", "0.9", "--time", "day"]
    assert fit(run, table, *limit).code == 0
    assert run("verify", "here", table).code == 0
    pd.read_csv(table).drop(columns="day").to_csv(table, index=False)
    ended = run("verify", "here", table)
    assert ended.code == 3
    assert "rows.csv has no column 'day'" in ended.err
