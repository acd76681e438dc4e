"""Kinds of columns the whole way: fit in one process, predict from other files, and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SEARCH = (
    *("--grammar", "tiny", "--cv=2", "--max-evaluations", "2"),
    *("--executor", "inline", "--quiet"),
)
RNG = np.random.default_rng(3)
ROWS = 120


@pytest.fixture
def zips(tmp_path: Path) -> pd.DataFrame:
    """Numbers that are codes: the target hangs on each, and on no order of them."""
    code = RNG.integers(10000, 10008, ROWS)
    frame = pd.DataFrame({"zip": code, "age": RNG.normal(50, 9, ROWS)})
    frame["buys"] = np.where(np.isin(code % 8, [1, 2, 4, 7]), "yes", "no")
    frame.to_csv(tmp_path / "zips.csv", index=False)
    return frame


def test_an_asked_kind_is_kept_with_the_run(zips, run, tmp_path):
    asked = ("--column", "zip=category", "--column", "age=drop")
    done = run("fit", "zips.csv", "--target", "buys", *asked, *SEARCH, "--out", "out")
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "out" / "model.json").read_text())
    settings = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["columns"] == ["zip"]
    assert manifest["ingest"] == settings["ingest"]
    assert settings["settings"]["columns"] == {"zip": "category", "age": "drop"}
    assert settings["request"]["columns"] == {"zip": "category", "age": "drop"}
    features = zips[["zip"]]
    features.to_csv("new.csv", index=False)
    features.astype(str).to_parquet("texts.parquet")
    features.astype(float).to_parquet("floats.parquet")
    features.assign(zip=[f"0{code}" for code in zips["zip"]]).to_csv("codes.csv", index=False)
    said = {
        name: run("predict", "out", name).out
        for name in ("new.csv", "texts.parquet", "floats.parquet", "codes.csv")
    }
    assert len(set(said.values())) == 1
    assert said["new.csv"].splitlines()[1].startswith(("yes", "no"))
    again = run("resume", "out", "--max-evaluations", "+1", "--quiet")
    assert again.code == 0, again.err


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ("zpi=category", 2, "no column 'zpi' to be read as 'category'. Did you mean 'zip'?"),
        ("zip=categroy", 2, "Did you mean 'category'?"),
        ("zip", 2, "'zip' names no kind"),
        ("buys=category", 2, "column 'buys' is the one to predict"),
        ("zip=date", 3, "column 'zip' cannot be read as date; it holds 1000"),
    ],
)
def test_what_cannot_be_asked_is_one_line(zips, run, asked, code, said):
    done = run("fit", "zips.csv", "--target", "buys", "--column", asked, *SEARCH, "--out", "out")
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not Path("out").exists()


def test_a_plain_table_has_no_word_of_columns_in_its_files(table, run, tmp_path):
    done = run("fit", table, "--target", "buys", *SEARCH, "--out", "out")
    assert done.code == 0, done.err
    for name in ("model.json", "run.json"):
        assert "ingest" not in json.loads((tmp_path / "out" / name).read_text())
