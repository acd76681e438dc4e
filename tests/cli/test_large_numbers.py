"""Whole numbers that floats run together stay apart as categories, and are told as numbers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from program import run_python
from pyarrow import parquet

from automl_admm import AutoMLClassifier, load

ROWS = 400
FIRST = 2**62
SEARCH = (
    *("--target", "y", "--grammar", "tiny", "--cv=2", "--max-evaluations", "2"),
    *("--executor", "inline", "--quiet", "--out", "out"),
)
LIMIT = ("--constraint", "recall >= 0.3", "--certify", "0.9")


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    """The code alone tells the class; one of seven is missing."""
    codes = pd.array([FIRST + row % 3 for row in range(ROWS)], dtype="Int64")
    is_first = np.asarray(codes == FIRST, dtype=bool)
    codes[::7] = pd.NA
    found = pd.DataFrame({"x": np.arange(ROWS) % 11, "code": codes, "y": is_first.astype(int)})
    found.to_csv(tmp_path / "train.csv", index=False)
    return found


def test_codes_with_gaps_are_told_and_a_run_on_them_goes_on(
    frame: pd.DataFrame, run: Any, tmp_path: Path
) -> None:
    done = run("fit", "train.csv", *SEARCH, *LIMIT)
    assert done.code == 0, done.err
    assert "column 'code' has 3 distinct whole numbers, but only 1 as floats" in done.err
    assert "only 1 as floats" in run("inspect", "train.csv", "--target", "y").err
    assert "the data agree" in run("verify", "out", "train.csv").out
    assert run("resume", "out", "--max-evaluations", "+1", "--quiet").code == 0


def test_codes_with_gaps_are_categories_in_forms_that_keep_them(
    frame: pd.DataFrame, run: Any, spawn: Any, tmp_path: Path
) -> None:
    done = run("fit", "train.csv", *SEARCH, *LIMIT, "--column", "code=category")
    assert done.code == 0, done.err
    assert "as floats" not in done.err
    assert "the data agree" in run("verify", "out", "train.csv").out
    assert run("resume", "out", "--max-evaluations", "+1", "--quiet").code == 0
    frame.to_parquet("typed.parquet")
    frame.astype({"code": "string"}).to_json("texts.jsonl", orient="records", lines=True)
    frame.astype({"code": "int64[pyarrow]"}).to_feather("arrow.feather")
    expected = spawn("predict", "out", "train.csv").out
    plain = pa.Table.from_pandas(frame).replace_schema_metadata()
    parquet.write_table(plain, "plain.parquet")
    pl.from_arrow(plain).write_parquet("polars.parquet")
    frame.to_json("numbers.jsonl", orient="records", lines=True)
    frame.to_json("numbers.json", orient="records")
    given = ("plain.parquet", "polars.parquet", "numbers.jsonl", "numbers.json")
    for name in ("typed.parquet", "texts.jsonl", "arrow.feather", *given):
        assert run("predict", "out", name).out == expected
    known = frame["code"].notna().to_numpy()
    found = load(tmp_path / "out").predict_proba(frame)[:, 1]
    assert (np.unique(found[known & (frame["y"] == 1)]).min()) > found[frame["y"] == 0].max()


def test_the_script_of_a_run_keeps_them_too(frame: pd.DataFrame, run: Any, tmp_path: Path) -> None:
    assert run("fit", "train.csv", *SEARCH, "--column", "code=category").code == 0
    parquet.write_table(pa.Table.from_pandas(frame).replace_schema_metadata(), "plain.parquet")
    frame.to_json("numbers.jsonl", orient="records", lines=True)

    def printed(name: str) -> str:
        done = run_python("out/pipeline.py", "train.csv", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    expected = printed("train.csv")
    assert len(set(expected.split())) > 2
    assert printed("plain.parquet") == printed("numbers.jsonl") == expected


def test_decimals_are_labels(run: Any, tmp_path: Path) -> None:
    labels = [Decimal(FIRST + row % 2) for row in range(60)]
    table = {"x": [row % 7 for row in range(60)], "y": pa.array(labels, pa.decimal128(38, 2))}
    parquet.write_table(pa.table(table), "train.parquet")
    done = run("fit", "train.parquet", *SEARCH)
    assert done.code == 0, done.err
    rows = run("predict", "out", "train.parquet").out.split()[1:]
    assert {row.partition(",")[0] for row in rows} <= {str(FIRST), str(FIRST + 1)}
    assert run("evaluate", "out", "train.parquet").code == 0


@pytest.mark.parametrize("gap", [None, 5])
def test_a_categorical_of_them_keeps_them_with_gaps_too(
    frame: pd.DataFrame, gap: int | None, run: Any, tmp_path: Path
) -> None:
    codes = [FIRST + row % 2 for row in range(ROWS)]
    later = [None if row == 5 else code for row, code in enumerate(codes)]
    trained = codes if gap is None else later
    X = pd.DataFrame({"x": frame["x"], "code": pd.Categorical(pd.array(trained, dtype="Int64"))})
    search = AutoMLClassifier("tiny", max_evaluations=1, executor="inline", work_dir=tmp_path / "r")
    is_first = np.array(codes) == FIRST
    search.fit(X, is_first ^ (np.arange(ROWS) % 50 == 1))  # else the code is told as a leak
    assert np.delete(search.predict(X) == is_first, 5).all()
    exact = X.assign(code=pd.array(later, dtype="Int64"))
    rows = [[int(x), code] for x, code in zip(X["x"], later, strict=True)]
    exact.to_csv(tmp_path / "later.csv", index=False)
    assert run("predict", "r", "later.csv", "-o", "told.csv").code == 0
    told = pd.read_csv(tmp_path / "told.csv")["prediction"].to_numpy()
    model = load(tmp_path / "r")
    for found in (told, model.predict(exact), model.predict(rows)):
        assert np.delete(found == is_first, 5).all()
