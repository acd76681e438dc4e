"""Costs of decisions and of columns go with the run: to its files, and to another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.runs.session.run_log import read_log
from automl_admm.store.run_folder import RunFolder

COSTS = {"a": 2.0, "b": 3.0, "c, d=e": 40.0}
FIT = ("fit", "rows.csv", "--target", "y", "--grammar", "mine.lark", "--cv=2", "--out", "run")
LITTLE = ("--executor", "inline", "--max-evaluations", "2")
ASKED = ("--column-cost", "a=2,b=3", "--column-cost", "c, d=e=40", "--cost", "fn=5,fp=1")
LIMITS = ("--constraint", "column_cost <= 5", "--constraint", "cost <= 0.9", "--certify", "0.9")
MINE = """%import components (impute, select_percentile, gaussian_nb)
start: impute select_percentile? gaussian_nb
"""
STARTS = ("--start", "impute() gaussian_nb()")
CHEAP = ("--start", "impute() select_percentile(percentile=67) gaussian_nb()")


@pytest.fixture
def rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 3)), columns=list(COSTS))
    frame["y"] = np.where(frame["a"] + frame["b"] + rng.normal(size=400) / 4 > 0, "yes", "no")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "mine.lark").write_text(MINE, encoding="utf-8")


def said(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_the_costs_go_all_the_way(
    run: Callable[..., Any], spawn: Callable[..., Any], rows: None, tmp_path: Path
) -> None:
    done = run(*FIT, *LITTLE, *ASKED, *LIMITS, *STARTS, *CHEAP)
    assert done.code == 0, done.err
    folder = tmp_path / "run"
    settings = said(folder, "run.json")["settings"]
    assert (settings["column_cost"], settings["cost"]) == (COSTS, "fn=5,fp=1")
    model = said(folder, "model.json")
    assert model["constraints"]["column_cost <= 5"] == 5.0
    assert model["certified"]
    assert "column_cost <= 5: 5 in the model that ships: certified" in done.out
    other = spawn("verify", "run", "rows.csv")
    assert other.code == 0, other.err
    assert "cost <= 0.9" in other.out
    on = spawn("resume", "run", "--max-evaluations", "+1")
    assert on.code == 0, on.err
    assert said(folder, "model.json")["constraints"]["column_cost <= 5"] == 5.0


def test_other_costs_of_columns_take_nothing_over_from_another_run(
    run: Callable[..., Any], rows: None, tmp_path: Path
) -> None:
    limit = ("--constraint", "column_cost <= 5", *LITTLE, "--on-infeasible", "closest")
    assert run(*FIT, *limit, "--column-cost", "a=1,b=1", *STARTS, *CHEAP).code == 0
    again = ("fit", "rows.csv", "--target", "y", "--grammar", "mine.lark", "--cv=2", "--out", "new")
    dearer = run(*again, *limit, "--column-cost", "a=9,b=9", "--reuse", "run", *STARTS, *CHEAP)
    assert dearer.code == 0, dearer.err
    found = [one for one in read_log(RunFolder(tmp_path / "new")).evaluations if one.ok]
    assert found
    assert all(one.constraints[0] in (9.0, 18.0) for one in found), "costs of the other run"


def test_a_column_that_is_not_there_is_refused_before_any_work(
    run: Callable[..., Any], rows: None, tmp_path: Path
) -> None:
    done = run(*FIT, *LITTLE, "--column-cost", "aa=1", "--constraint", "column_cost <= 5")
    assert done.code == 2
    assert "name 'aa', and the data have no such column" in done.err
    assert len(done.err.strip().splitlines()) <= 2
    assert not (tmp_path / "run" / "model.json").exists()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--column-cost", "a"), "'a' gives no column its cost"),
        (("--column-cost", "a=1", "--column-cost", "a=2"), "gives 'a' the costs 1 and 2"),
        (("--column-cost", "a=-1"), "must be a number of 0 or more"),
        (("--constraint", "cost <= 1"), "--cost"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    run: Callable[..., Any], rows: None, given: tuple[str, ...], told: str
) -> None:
    done = run(*FIT, *LITTLE, *given)
    assert done.code == 2
    assert told in done.err
