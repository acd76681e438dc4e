"""The command `inspect`, and the lines of `fit` on columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROWS = 200
RNG = np.random.default_rng(8)
ODD = "cost[red]\x1b[31m\nx"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A table of many kinds, with a column that tells the target."""
    price = RNG.uniform(1, 9999, ROWS)
    frame = pd.DataFrame(
        {
            ODD: [f"${one:,.2f}" for one in price],
            "when": pd.date_range("2021-03-01", periods=ROWS, freq="31h").strftime("%d.%m.%Y"),
            "city": RNG.choice(["Ulm", "Bonn"], ROWS),
            "same": 7,
            "height": np.where(np.arange(ROWS) % 4, RNG.normal(size=ROWS), np.nan),
            "number": np.arange(ROWS),
            "dear": np.where(price > 5000, "dear", "cheap"),
            "leak": np.where(price > 5000, 1, 0),
        }
    )
    path = tmp_path / "mixed.csv"
    frame.to_csv(path, index=False)
    return path


def test_every_column_is_shown_with_its_kind(mixed, run):
    shown = run("inspect", mixed, "--target", "dear")
    assert shown.code == 0
    assert "200 rows, 7 columns, classification of 'dear'" in shown.out
    assert "\x1b" not in shown.out + shown.err
    assert "'leak' tells the target in every row" in shown.err
    content = json.loads(run("inspect", mixed, "--target", "dear", "--json").out)
    assert content["leaks"] == ["leak"]
    kinds = {one["name"]: one["kind"] for one in content["columns"]}
    assert kinds == {
        ODD: "number",
        "when": "date",
        "city": "category",
        "same": "constant",
        "height": "number",
        "number": "identifier",
        "leak": "number",
    }
    missing = {one["name"]: one["missing"] for one in content["columns"]}
    assert missing["height"] == 0.25
    noted = {one["name"] for one in content["columns"] if one["note"]}
    assert noted == {ODD, "when", "same", "number"}


def test_a_kind_can_be_tried_out_and_a_wrong_one_is_refused(mixed, run):
    tried = run("inspect", mixed, "--json", "--column", "same=category", "--column", "when=drop")
    columns = {one["name"]: one for one in json.loads(tried.out)["columns"]}
    assert columns["same"]["kind"] == "category"
    assert columns["when"]["made"] == []
    for asked, said in (("sme=drop", "Did you mean 'same'?"), ("city=date", "; it holds '")):
        refused = run("inspect", mixed, "--column", asked)
        assert said in refused.err + refused.out


@pytest.mark.parametrize("command", [("inspect",), ("fit", "--target", "dear", "--out", "out")])
def test_a_column_that_cannot_be_of_a_kind_is_refused_with_its_line(mixed, run, command):
    refused = run(*command, mixed, "--column", "city=date")
    assert refused.code == 3
    assert f"{mixed.name}, line 3: column 'city' cannot be read as date; it holds" in refused.err
    assert len(refused.err.strip().splitlines()) == 1


def test_fit_says_which_columns_are_not_plain(mixed, run, tmp_path):
    search = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline")
    done = run("fit", mixed, "--target", "dear", *search, "--out", "out")
    assert done.code == 0, done.err
    assert "\x1b" not in done.err
    assert "column 'cost[red]\\x1b[31m\\nx': numbers in text" in done.err
    assert "column 'number': left out" in done.err
    assert "warning: column 'leak' tells the target" in done.err
    said = json.loads((tmp_path / "out" / "run.json").read_text())["ingest"]
    assert [one["kind"] for one in said if one["name"] == "same"] == ["constant"]


def test_of_many_columns_the_first_are_told(run, tmp_path):
    price = {f"p{place}": [f"${v:.2f}" for v in RNG.uniform(1, 9, 60)] for place in range(20)}
    pd.DataFrame(price | {"y": RNG.choice(["a", "b"], 60)}).to_csv("wide.csv", index=False)
    search = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline")
    done = run("fit", "wide.csv", "--target", "y", *search, "--out", "out")
    assert done.code == 0, done.err
    assert done.err.count("numbers in text") == 12
    assert "and 8 more columns: automl-admm inspect DATA" in done.err


def test_a_column_that_nothing_takes_is_shown_with_the_cure(run):
    pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [{"x": 1}, {"x": 2}, {}]}).to_parquet("odd.parquet")
    shown = run("inspect", "odd.parquet")
    assert shown.code == 0, shown.err
    assert "refused" in shown.out


def test_a_file_that_is_none_is_one_line(run):
    shown = run("inspect", "nowhere.csv")
    assert shown.code != 0
    assert len(shown.err.strip().splitlines()) == 1


def test_one_row_and_one_column_are_told_as_one(run):
    Path("one.csv").write_text("a\n1\n")
    assert run("inspect", "one.csv").out.startswith("one.csv: 1 row, 1 column\n")


def test_text_under_the_name_of_a_parquet_file_is_told_as_text(run):
    Path("liar.parquet").write_text("a,b\n1,2\n3,4\n")
    shown = run("inspect", "liar.parquet")
    assert shown.code == 3
    assert "if it is CSV, name it .csv." in shown.err
    assert ".." not in shown.err
    assert shown.err.count("\n") == 1
