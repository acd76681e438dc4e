"""Limits on blank columns and noise, from the fit to other processes, formats and types."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import load
from automl_admm.core.errors import NewValuesWarning

SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations", "1", "--executor", "inline")
NOISE = "noise_moves{by=0.2,more_than=0.05}"


def table(rows: int = 700) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(18, 60, rows), "income": rng.normal(size=rows)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(900, size=rows), "D")
    frame["town"] = rng.choice(["a", "b"], rows)
    frame.loc[rng.random(rows) < 0.1, "income"] = np.nan
    says = frame["age"] / 10 + 1.5 * (frame["town"] == "a") + 1.5 * rng.normal(size=rows)
    return frame.assign(bad=np.where(says > 4.5, "yes", "no"))


def test_moves_are_proven_and_verified_from_another_format(run: Any, spawn: Any) -> None:
    frame = table()
    frame.to_csv("rows.csv", index=False)
    limits = ("--constraint", "blank_moves_0.2 <= 99 %", "--constraint", f"{NOISE} <= 90 %")
    done = run("fit", "rows.csv", "--target=bad", *limits, "--certify=0.9", "--out=out", *SEARCH)
    assert done.code == 0, done.err
    findings = json.loads(Path("out/certificate.json").read_text())["findings"]
    assert [one["is_approximate"] for one in findings] == [False, False]
    assert "rows with a value in column 'day'" in findings[0]["counts"]
    other = frame.astype({"age": "Int64", "town": "category"})
    other.to_parquet("rows.parquet")
    again = spawn("verify", "out", "rows.parquet")
    assert again.code == 0, again.out + again.err

    found = json.loads(spawn("evaluate", "out", "rows.parquet", "--json").out)["constraints"]
    model = load("out")
    before, moved = model.predict_proba(frame), {}
    for name in ("age", "income", "day", "town"):
        blank = frame.assign(**{name: frame[name].iloc[:0].reindex(frame.index)})
        with pytest.warns(NewValuesWarning, match=f"700 of 700 cells of column '{name}' are empty"):
            moves = np.abs(model.predict_proba(blank) - before).max(axis=1) > 0.2
        moved[name] = moves[frame[name].notna()].mean()
    assert max(moved.values()) > min(moved.values())
    assert found[0]["value"] == pytest.approx(max(moved.values()))
    assert 0 < found[1]["value"] < 1
    # The noise is that of the rows of the search, whatever rows are asked about.
    alone = json.loads(spawn("evaluate", "out", one_row(frame), "--json").out)["constraints"]
    assert alone[1]["value"] in (0, 1)


def one_row(frame: pd.DataFrame) -> str:
    frame[:1].to_csv("one.csv", index=False)
    return "one.csv"


def aside() -> list[int]:
    return list(json.loads(Path("out/certification-rows.json").read_text())["places"])


def test_an_empty_cell_of_a_mark_and_among_words_is_blank(run: Any, spawn: Any) -> None:
    """One is read as False, the other as a missing number that is none of the words."""
    rng, frame = np.random.default_rng(0), table()
    frame["mark"] = np.where(rng.random(len(frame)) < 0.2, "yes", None)
    frame["temp"] = rng.integers(1, 90, len(frame)).astype(str)
    frame.loc[rng.random(len(frame)) < 0.1, "temp"] = "broken"
    frame.loc[rng.random(len(frame)) < 0.4, "temp"] = None
    frame.to_csv("rows.csv", index=False)
    limit = ("--constraint", "blank_moves_0.2 <= 99 %", "--certify=0.9", "--out=out")
    done = run("fit", "rows.csv", "--target=bad", *limit, *SEARCH)
    assert done.code == 0, done.err
    (finding,) = json.loads(Path("out/certificate.json").read_text())["findings"]
    filled = frame.iloc[aside()].notna().sum()
    for name in ("mark", "temp", "income"):
        assert finding["counts"][f"rows with a value in column '{name}'"] == filled[name]
    frame.astype({"mark": "category", "temp": "string"}).to_parquet("rows.parquet")
    again = spawn("verify", "out", "rows.parquet")
    assert again.code == 0, again.out + again.err

    found = json.loads(spawn("evaluate", "out", "rows.parquet", "--json").out)["constraints"]
    model, moved = load("out"), []
    before = model.predict_proba(frame)
    for name in frame.columns.drop("bad"):
        blank = frame.assign(**{name: frame[name].iloc[:0].reindex(frame.index)})
        with warnings.catch_warnings(action="ignore"):
            moves = np.abs(model.predict_proba(blank) - before).max(axis=1) > 0.2
        moved.append(moves[frame[name].notna()].mean())
    assert found[0]["value"] == pytest.approx(max(moved))


def test_a_column_without_a_value_among_the_rows_set_aside_lets_nothing_be_proven(
    run: Any,
) -> None:
    frame = table(400)[["age", "income", "bad"]]
    limit = ("--constraint", "blank_moves_0.2 <= 99 %", "--certify=0.9", "--certify-fraction=0.3")
    fit = ("fit", "rows.csv", "--target=bad", *limit, *SEARCH, "--on-infeasible=closest")
    frame.to_csv("rows.csv", index=False)
    assert run(*fit, "--out=out").code == 0
    frame["code"] = np.where(np.arange(len(frame)) % 9 == 0, 5.0 + frame["age"], np.nan)
    frame.loc[aside(), "code"] = np.nan
    frame.to_csv("rows.csv", index=False)
    shutil.rmtree("out")
    done = run(*fit, "--out=out")
    assert "NOT CERTIFIED" in done.out
    assert (reason := "has no rows with a value in column 'code'") in done.out
    assert reason in run("verify", "out", "rows.csv").out
    content = json.loads(Path("out/run.json").read_text())
    assert content["data"]["filled"] == ["age", "income", "code"]


def test_a_pipeline_that_takes_no_blank_fails_with_the_reason(run: Any) -> None:
    table().drop(columns=["day", "town"]).dropna().to_csv("rows.csv", index=False)
    Path("plain.lark").write_text("%import components (gaussian_nb)\nstart: gaussian_nb\n")
    limit = ("--constraint", "blank_moves_0.2 <= 99 %", "--out=out", "--target=bad")
    done = run("fit", "rows.csv", *limit, "--grammar=plain.lark", *SEARCH[2:])
    assert done.code == 4, done.err
    assert "'blank_moves_0.2' failed" in done.err
    assert "NaN" in done.err


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("blank_moves <= 5 %", "needs a number after its name"),
        ("noise_moves{by=0} <= 5 %", "by is a part of the standard deviation, above 0"),
        ("noise_moves{size=1} <= 5 %", "no option 'size'"),
    ],
)
def test_wrong_words_are_told_in_a_line(run: Any, limit: str, why: str) -> None:
    table(200).to_csv("rows.csv", index=False)
    done = run("fit", "rows.csv", "--target=bad", "--constraint", limit, "--out=out", *SEARCH)
    assert done.code == 2
    assert why in done.err
