"""Explaining limits that nothing is within: on the terminal, as JSON and CSV, on the page."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report_runs import an_evaluation, of_limit, write_run

from automl_admm.core.evaluations import Evaluation
from automl_admm.report.writing import make_report

HOSTILE = 'gap[<b>"\x1b[2J\u202e]'
LIMITS = [
    of_limit(HOSTILE, 0.1),
    of_limit("recall", 0.5, at_least=True),
    of_limit("size_mb", 5.0),
]
VALUES = [(0.05, 0.4, 1.0), (0.25, 0.6, 1.0), (0.15, 0.55, 1.0), (0.05, 0.6, 9.0), (0.3, 0.3, 9.0)]


def with_values(path: Path, values: list[tuple[float, ...]]) -> Path:
    return with_limits(path, [an_evaluation(n, constraints=v) for n, v in enumerate(values, 1)])


def with_limits(path: Path, found: list[Evaluation]) -> Path:
    made = write_run(path, found, state="stopped")
    content = json.loads((made / "run.json").read_text())
    content["settings"]["limits"] = LIMITS
    (made / "run.json").write_text(json.dumps(content))
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_values(tmp_path / "run", VALUES)


def test_a_conflict_is_told_with_what_would_be_met(run: Any, folder: Path) -> None:
    done = run("explain", folder, "--limits")
    assert (done.code, done.err) == (0, "")
    assert "and recall >= 0.5 and size_mb <= 5: no evaluation keeps them together" in done.out
    assert "5 evaluations on all rows and folds, none within all limits" in done.out
    table = done.out.partition("would be met\n")[2].splitlines()
    assert table[0].split()[:2] == ["#1", "0.7150"]
    assert table[0].endswith("recall >= 0.4")
    # 2 is left out: 3 asks for less of the same limit.
    assert [line.split()[0] for line in table[:3]] == ["#1", "#3", "#4"]
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_json_and_csv_have_every_pair_in_a_moved_folder(
    run: Any, folder: Path, tmp_path: Path
) -> None:
    moved = shutil.move(folder, tmp_path / "moved away")
    found = json.loads(run("explain", moved, "--limits", "--json").out)
    assert (found["schema"], found["considered"], found["feasible"]) == (1, 5, 0)
    assert found["conflicts"] == [found["limits"]]
    assert found["never_met"] == []
    told = {one["number"]: one["relaxed"] for one in found["closest"]}
    assert told[4] == [{"limit": "size_mb <= 5", "bound": 9.0, "would_be": "size_mb <= 9"}]
    rows = list(csv.DictReader(io.StringIO(run("explain", moved, "--limits", "--csv").out)))
    assert len({(row["first_limit"], row["second_limit"]) for row in rows}) == 3
    front = [row for row in rows if row["second_limit"] == "recall >= 0.5"]
    assert [(row["number"], row["first_value"], row["second_value"]) for row in front] == [
        ("4", "0.05", "0.6")
    ]
    assert pd.DataFrame(rows)["feasible"].eq("False").all()


def test_a_limit_never_met_is_told_with_its_best_value(run: Any, tmp_path: Path) -> None:
    made = with_values(tmp_path / "run", [(0.05, 0.4, 1.0), (0.05, 0.3, 1.0)])
    out = run("explain", made, "--limits").out
    assert "never met    recall >= 0.5: best value seen 0.4 (#1)" in out
    assert "conflict" not in out
    log = [an_evaluation(1, constraints=(0.05, 0.4, 1.0))]
    log += [an_evaluation(2, constraints=(0.05, 0.6, 1.0), details={"folds_left": 3})]
    again = with_limits(tmp_path / "again", log)
    out = run("explain", again, "--limits").out
    assert "never met    recall >= 0.5: best value seen 0.6 (#2, stopped early)" in out


def test_where_something_is_within_only_trade_offs_are_told(run: Any, tmp_path: Path) -> None:
    values = [(n / 40, n / 40 + 0.45, 1.0) for n in range(1, 31)]
    made = with_values(tmp_path / "run", [*values, (0.2, 0.1, 1.0)])
    out = run("explain", made, "--limits").out
    assert "31 evaluations" not in out, "four of them failed"
    assert "27 evaluations on all rows and folds, 3 within all limits" in out
    assert "conflict" not in out
    assert "more: --csv" in out
    assert b"Why nothing is within" not in make_report(made).page


def test_the_page_tells_the_conflict_harmlessly(folder: Path) -> None:
    report = make_report(folder)
    page = report.page.decode()
    assert "Why nothing is within the limits" in page
    assert "gap[&lt;b&gt;&quot;\\x1b[2J\\u202e]" in page
    assert json.loads(report.content)["conflicts"]["closest"][0]["number"] == 1


def test_an_infeasible_fit_ends_with_the_reason_in_three_lines(run: Any, table: Path) -> None:
    quick = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "2", "--executor", "inline")
    limits = ("--constraint", "recall >= 0.9999", "--constraint", "fpr <= 0.0001")
    done = run("fit", table, "--target", "buys", *quick, *limits, "--out", "o", "-q")
    assert done.code == 5
    told = [line.split("  ")[0] for line in done.out.splitlines()]
    assert told.count("conflict") + told.count("would be met") + told.count("explain") == 3
    (line,) = [line for line in done.out.splitlines() if line.startswith("would be met")]
    explained = json.loads(run("explain", "o", "--limits", "--json").out)
    assert explained["conflicts"] == [["recall >= 0.9999", "fpr <= 0.0001"]]
    assert "each of them alone can be kept" in done.out
    # The bounds that were told are met: the same search within them ends well, each way.
    nearest, elsewhere = explained["closest"][0], explained["closest"][-1]
    assert nearest["threshold"] is None
    assert elsewhere["threshold"] is not None
    assert {one["limit"] for one in elsewhere["relaxed"]} == {"fpr <= 0.0001"}
    assert {one["limit"] for one in nearest["relaxed"]} == {"recall >= 0.9999"}
    told_ways = explained["closest"][:2]  # the line counts the others
    assert all(one["would_be"] in line for way in told_ways for one in way["relaxed"])
    for place, way in enumerate((nearest, elsewhere)):
        wide = {one["limit"]: one["would_be"] for one in way["relaxed"]}
        wider = (wide.get(one, one) for one in explained["limits"])
        given = [word for one in wider for word in ("--constraint", one)]
        again = run("fit", table, "--target", "buys", *quick, *given, "--out", f"p{place}", "-q")
        assert again.code == 0, again.err
        assert "conflict" not in again.out


def test_wrong_words_are_one_line(run: Any, folder: Path, tmp_path: Path) -> None:
    for words in ((folder,), (folder, "1", "--limits"), (folder, "1", "--csv"),
                  (folder, "--limits", "--csv", "--json")):  # fmt: skip
        ended = run("explain", *words)
        assert (ended.code, ended.out) == (2, "")
    ended = run("explain", tmp_path / "nowhere", "--limits")
    assert (ended.code, ended.err.count("\n")) == (7, 1)
    (folder / "run.json").write_text("{")
    ended = run("explain", folder, "--limits")
    assert (ended.code, ended.err.count("\n")) == (7, 1)
