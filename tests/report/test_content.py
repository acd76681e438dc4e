"""The JSON of a report is as its published schema says."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from json_schema import is_valid
from report_runs import an_evaluation, write_run

from automl_admm.report.content import as_plain, describe
from automl_admm.report.writing import make_report

ROOT = Path(__file__).parents[2]


def test_the_published_schema_is_that_of_the_records() -> None:
    published = json.loads((ROOT / "docs/reference/report.schema.json").read_text(encoding="utf-8"))
    assert published == describe()


@pytest.mark.parametrize("name", ["stacked", "group_thresholds"])
def test_a_finished_run_has_valid_numbers(name: str) -> None:
    found = json.loads(make_report(ROOT / "tests/runs/stored_run" / name).content)
    for key, schema in describe()["properties"].items():
        assert is_valid(found[key], schema), key
    assert not is_valid({**found, "limits": None}, describe())


@pytest.mark.parametrize("count", [0, 20])
def test_a_killed_run_has_valid_numbers(tmp_path: Path, count: int) -> None:
    run = write_run(tmp_path / "run", map(an_evaluation, range(1, count + 1)))
    assert is_valid(json.loads(make_report(run).content), describe())


def test_records_by_column_have_all_their_fields_rounded(tmp_path: Path) -> None:
    evaluations = [an_evaluation(number, loss=1 / 3) for number in (1, 2)]
    made = json.loads(make_report(write_run(tmp_path / "run", evaluations)).content)
    points = made["convergence"]["points"]
    assert (points["number"], points["score"]) == ([1, 2], [0.666667, 0.666667])
    assert made["pareto"]["places"]["values"] == [[53.0], [9.0]]
    none = json.loads(make_report(write_run(tmp_path / "none", ())).content)
    assert none["convergence"]["points"] == {name: [] for name in points}


def test_numbers_that_are_not_finite_are_null() -> None:
    assert as_plain({"a": (math.nan, math.inf, 1.5)}) == {"a": [None, None, 1.5]}
