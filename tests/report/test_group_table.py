"""Rates by group as CSV: fairlearn's MetricFrame has the same numbers, whatever the file."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any

import fairlearn.metrics as fair
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import metrics

import automl_admm
from automl_admm.cli.commands.report import command
from automl_admm.core.errors import ConfigurationError
from automl_admm.report.rows.given import RowsAsked
from automl_admm.report.writing import make_report

STORED = Path(__file__).parents[1] / "runs" / "stored_run" / "group_thresholds"
THEIRS = {
    "accuracy": metrics.accuracy_score,
    "selection_rate": fair.selection_rate,
    "true_positive_rate": fair.true_positive_rate,
    "false_positive_rate": fair.false_positive_rate,
    "precision": metrics.precision_score,
}


def table(folder: Path, data: Path, *words: str) -> list[dict[str, str]]:
    done = CliRunner().invoke(command, [str(folder), "--data", str(data), *words, "--csv"])
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.stdout)))


@pytest.fixture
def fresh(tmp_path: Path) -> pd.DataFrame:
    """Return rows that the run never had: another age for each."""
    frame = pd.read_csv(STORED / "data.csv")
    frame["age"] = frame["age"] + 0.5
    frame.to_csv(tmp_path / "fresh.csv", index=False)
    return frame


def test_a_metric_frame_has_the_same_numbers(fresh: pd.DataFrame, tmp_path: Path) -> None:
    rows = table(STORED, tmp_path / "fresh.csv", "--group", "sex")
    predicted = automl_admm.load(STORED).predict(fresh.drop(columns="class"))
    y, called = (fresh["class"] == "good").astype(int), (predicted == "good").astype(int)
    theirs = fair.MetricFrame(
        metrics=THEIRS, y_true=y, y_pred=called, sensitive_features=fresh["sex"]
    )
    assert [one["row"] for one in rows] == ["overall", "group", "group", "difference", "ratio"]
    ours = {one["group"] or one["row"]: one for one in rows}
    for name in THEIRS:
        for group in ("female", "male"):
            assert float(ours[group][name]) == pytest.approx(theirs.by_group.loc[group, name])
        assert float(ours["overall"][name]) == pytest.approx(theirs.overall[name])
        assert float(ours["difference"][name]) == pytest.approx(theirs.difference()[name])
        assert float(ours["ratio"][name]) == pytest.approx(theirs.ratio()[name])
    counts = fresh["sex"].value_counts()
    assert {name: int(ours[name]["count"]) for name in counts.index} == dict(counts)


def test_parquet_csv_and_a_moved_folder_give_one_table(fresh: pd.DataFrame, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(STORED, tmp_path / "moved run"))
    fresh.astype({"sex": "category"}).to_parquet(tmp_path / "fresh.parquet")
    words = ("--group", "sex,age:40")
    found = table(moved, tmp_path / "fresh.parquet", *words)
    assert found == table(STORED, tmp_path / "fresh.csv", *words)
    groups = {one["group"] for one in found if "age" in one["by"]} - {""}
    assert len(groups) == 4, found


def test_a_rate_of_no_row_is_empty_and_so_is_its_comparison(
    fresh: pd.DataFrame, tmp_path: Path
) -> None:
    some = fresh[(fresh["sex"] == "male") | (fresh["class"] == "good")]
    some.to_csv(tmp_path / "some.csv", index=False)
    rows = {one["group"] or one["row"]: one for one in table(STORED, tmp_path / "some.csv")}
    assert rows["female"]["false_positive_rate"] == ""
    assert rows["male"]["false_positive_rate"] != ""
    assert rows["difference"]["false_positive_rate"] == rows["ratio"]["false_positive_rate"] == ""
    assert rows["difference"]["accuracy"] != ""
    page = make_report(STORED, RowsAsked(some, "some.csv")).page.decode()
    shown = page[page.index("largest difference") :].split("</tr>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)", shown)[1:]
    told = [f"{float(cell):.3g}" if cell else "–" for cell in list(rows["difference"].values())[4:]]
    assert cells == told


def test_one_group_has_no_difference_on_the_page(fresh: pd.DataFrame) -> None:
    men = RowsAsked(fresh[fresh["sex"] == "male"], "men.csv", None, ("sex",))
    page = make_report(STORED, men).page.decode()
    assert "Quality by group" in page
    assert "largest difference" not in page


def refused(*words: Any) -> Any:
    return CliRunner().invoke(command, [str(STORED), *map(str, words)])


def test_wrong_words_and_wrong_rows_are_refused(fresh: pd.DataFrame, tmp_path: Path) -> None:
    data = tmp_path / "fresh.csv"
    assert refused("--csv").exit_code == 2
    assert refused("--csv", "--data", data, "--json").exit_code == 2
    fresh.drop(columns="sex").to_csv(tmp_path / "without.csv", index=False)
    told = refused("--csv", "--data", tmp_path / "without.csv", "--group", "sex")
    assert told.exit_code != 0
    assert "sex" in str(told.exception)
    assert isinstance(told.exception, automl_admm.AutomlAdmmError | ConfigurationError)
