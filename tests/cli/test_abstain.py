"""Rows left undecided, the whole way: fit, certificate, other formats, types and processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

from automl_admm import AutoMLClassifier, load
from automl_admm.data.reading import chunks

SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations=1", "--executor", "inline")
LIMITS = ("--constraint", "error <= 25 %", "--constraint", "abstain <= 25 %")


def table(names: Any, rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.choice(len(names), rows)
    signs = pd.DataFrame({"a": y == 0, "b": y == 1}, dtype=float) * 1.6
    return (signs + rng.normal(size=(rows, 2))).assign(
        sex=rng.choice(["f", "m"], rows), kind=np.asarray(names)[y]
    )


def script(folder: Path, *arguments: str) -> str:
    """Run pipeline.py of the run, and return what it prints."""
    done = run_python("out/pipeline.py", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_empty_first_rows(run: Callable[..., Any], new: Any, is_left: Any, told: Any) -> None:
    """The first rows of a Parquet file tell the type of a column: here none of them has a label."""
    pd.concat([new[is_left], new[~is_left]]).to_csv("left.csv", index=False)
    assert run("predict", "out", "left.csv", "-o", "left.parquet").code == 0
    kept, known = pd.read_parquet("left.parquet")["prediction"], told.dropna().astype(int)
    assert kept.isna().tolist() == sorted(is_left.tolist(), reverse=True)
    assert kept.dropna().astype(int).tolist() == known.tolist()
    assert run("predict", "out", "left.csv", "-o", "left.jsonl").code == 0
    lines = Path("left.jsonl").read_text().splitlines()
    ends = [json.loads(one)["prediction"] for one in (lines[0], lines[-1])]
    assert ends == [None, known.iloc[-1]]


def test_two_classes_of_numbers_go_all_the_way(
    run: Callable[..., Any],
    spawn: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table([7, 30]).to_csv("rows.csv", index=False)
    asked = ("--target", "kind", "--positive", "7", "--certify", "0.9", "--out=out")
    done = run("fit", "rows.csv", *asked, *LIMITS, *SEARCH)
    assert done.code == 0, done.err
    assert "undecided from " in done.out
    findings = json.loads((tmp_path / "out/certificate.json").read_text())["findings"]
    assert [one["verdict"] for one in findings] == ["certified", "certified"]
    assert [one["is_approximate"] for one in findings] == [False, False]
    assert "decided rows" in findings[0]["counts"]
    again = spawn("verify", "out", "rows.csv")
    assert again.code == 0, again.err
    assert "the data agree: CERTIFIED" in again.out

    model = json.loads((tmp_path / "out/model.json").read_text())
    new = table([7, 30], 3000, 1)
    new.to_parquet("new.parquet")
    told = spawn("predict", "out", "new.parquet", "-o", "told.csv")
    assert told.code == 0, told.err
    frame = pd.read_csv("told.csv")
    scores = frame["probability_7"]
    expected = np.where(scores >= model["threshold"], 7.0, 30.0)
    is_left = (scores >= model["lower_threshold"]) & (scores < model["threshold"])
    expected[is_left] = np.nan
    assert np.array_equal(frame["prediction"], expected, equal_nan=True)
    assert 0.05 < is_left.mean() < 0.25
    assert f"{is_left.sum()} of 3000 rows are left undecided" in told.err
    assert load("out").predict(new)[is_left.to_numpy()].tolist() == [None] * int(is_left.sum())

    decided, y = frame["prediction"].notna(), new["kind"]
    wrong = float(np.mean(frame["prediction"][decided] != y[decided]))
    found = json.loads(spawn("evaluate", "out", "new.parquet", "--json").out)
    values = [one["value"] for one in found["constraints"]]
    assert values == pytest.approx([wrong, is_left.mean()])
    assert found["undecided"] == pytest.approx(is_left.mean())
    assert load("out").score(new, y) == pytest.approx(1 - wrong)
    seen = json.loads(spawn("monitor", "out", "new.parquet", "--json").out)["limits"]
    assert [one["value"] for one in seen] == pytest.approx(values)
    # Moved along, one threshold decides every row: none of its rates are those of the model.
    report = json.loads(spawn("report", "out", "--data", "new.parquet", "--json").out)
    assert report["thresholds"]["shipped"] is None
    assert {one["limits"][1] for one in report["thresholds"]["places"]} == {0.0}

    monkeypatch.setattr(chunks, "rows_at_a_time", lambda columns: int(is_left.sum()) // 2)
    check_empty_first_rows(run, new, is_left.to_numpy(), frame["prediction"])
    script(tmp_path, "rows.csv", "new.parquet", "script.csv")
    assert Path("script.csv").read_text() == Path("told.csv").read_text()
    on = spawn("resume", "out", "--max-evaluations", "+1")
    assert on.code == 0, on.err
    assert spawn("verify", "out", "rows.csv").code == 0


def test_several_classes_a_metric_of_decisions_and_groups(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    names = ["no", "b, c", "undecided"]
    table(names).to_csv("rows.csv", index=False)
    more = ("--constraint", "abstain_gap[sex] <= 50 %", "--metric", "balanced_accuracy")
    asked = ("--target", "kind", "--on-infeasible", "closest", "--out=out")
    done = run("fit", "rows.csv", *asked, *LIMITS, *more, *SEARCH)
    assert done.code == 0, done.err
    assert "undecided" in done.out
    new = table(names, 2000, 1)
    new.to_csv("new.csv", index=False)
    assert run("predict", "out", "new.csv", "-o", "told.csv").code == 0
    told = pd.read_csv("told.csv", keep_default_na=False)["prediction"]
    left, y = told == "", new["kind"]
    assert 0.05 < left.mean() < 0.3
    assert set(told[~left]) == set(names)
    found = json.loads(run("evaluate", "out", "new.csv", "--json").out)
    values = [one["value"] for one in found["constraints"]]
    gap = abs(left[new["sex"] == "f"].mean() - left[new["sex"] == "m"].mean())
    assert values == pytest.approx([np.mean(told[~left] != y[~left]), left.mean(), gap])
    recalls = [np.mean(told[~left & (y == name)] == name) for name in names]
    assert found["score"] == pytest.approx(np.mean(recalls))
    assert run("report", "out", "--data", "new.csv").code == 0
    cells = json.loads((tmp_path / "out/report.json").read_text())["rows"]
    assert cells["undecided"] == left.sum()
    assert sum(map(sum, cells["confusion"])) == (~left).sum()
    assert script(tmp_path, "rows.csv").startswith("balanced_accuracy 0.")


def test_a_band_of_scores_stays_one_of_scores(run: Callable[..., Any], tmp_path: Path) -> None:
    """Without the limit such a model gets calibrated probabilities, and thresholds among these."""
    table(["x", "y"]).to_csv("rows.csv", index=False)
    Path("mine.lark").write_text(
        "%import components (impute, linear_svm)\nstart: impute linear_svm\n"
    )
    asked = ("--target", "kind", "--grammar", "mine.lark", "--on-infeasible", "closest")
    for name, limits in (("with", LIMITS), ("without", LIMITS[:2])):
        done = run("fit", "rows.csv", *asked, *limits, *SEARCH[2:], "--out", name)
        assert done.code == 0, done.err
    models = [
        json.loads((tmp_path / one / "model.json").read_text()) for one in ("with", "without")
    ]
    assert ["calibration" in one for one in models] == [False, True]
    assert "lower_threshold" in models[0]
    assert run("predict", "with", "rows.csv", "-o", "told.csv").code == 0
    left = pd.read_csv("told.csv")["prediction"].isna().mean()
    found = json.loads(run("evaluate", "with", "rows.csv", "--json").out)["constraints"]
    assert 0.05 < left < 0.3
    assert found[1]["value"] == pytest.approx(left)
    assert found[1]["value"] == pytest.approx(models[0]["constraints"]["abstain <= 0.25"], abs=0.05)


def test_an_average_leaves_rows_undecided_and_is_scored_on_the_others() -> None:
    frame = table(["x", "y"], 900)
    X, y = frame[["a", "b"]], frame["kind"]
    model = AutoMLClassifier(
        "tiny",
        constraints=["abstain <= 20 %", "error <= 20 %"],
        scoring="balanced_accuracy",
        max_evaluations=2,
        cv=2,
        executor="inline",
        random_state=0,
        on_infeasible="closest",
    ).fit(X, y)
    told = model.predict(X)
    left = np.array([one is None for one in told])
    assert 0.05 < left.mean() < 0.25
    assert model.score(X, y) == pytest.approx(np.mean(told[~left] == y[~left]))
    assert model.decisions_.undecided == pytest.approx(left.mean(), abs=0.08)


@pytest.mark.parametrize(
    ("names", "more", "why"),
    [
        (["x", "y"], ("--cost", "fn=5,fp=1"), "nobody said what a row costs"),
        (
            ["x", "y"],
            ("--constraint", "error_gap[sex] <= 0.9", "--group-thresholds"),
            "thresholds by group cannot go together",
        ),
        ([1.5, 2.25], ("--task", "regression"), "is of a classification"),
    ],
)
def test_what_cannot_go_together_is_refused_before_any_work(
    run: Callable[..., Any], tmp_path: Path, names: Any, more: Any, why: str
) -> None:
    table(names, 200).to_csv("rows.csv", index=False)
    given = ("--constraint", "abstain <= 5 %", *more)
    done = run("fit", "rows.csv", "--target", "kind", *given, *SEARCH, "--out=out")
    assert done.code == 2
    assert why in done.err
    assert len(done.err.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()
