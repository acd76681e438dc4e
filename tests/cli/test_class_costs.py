"""Costs of several classes, the whole way: fit, certificate, other formats, types and processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

from automl_admm import AutoMLClassifier

NAMES = np.array(['say "no"', "a->b, c=1", "*"])
COSTS = (
    '"say ""no"""->"a->b, c=1"=9, "say ""no"""->"*"=9, "a->b, c=1"->"say ""no"""=1,'
    ' "a->b, c=1"->"*"=1, "*"->"say ""no"""=1, "*"->"a->b, c=1"=1'
)
DEAR = NAMES[0]
SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations=1", "--executor", "inline")


def table(names: Any = NAMES, rows: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.choice(3, rows, p=[0.2, 0.5, 0.3])
    signs = pd.DataFrame({"a": y == 0, "b": y == 1}, dtype=float)
    return (signs + rng.normal(size=(rows, 2)) / 1.5).assign(kind=np.asarray(names)[y])


def mean_cost(true: Any, told: Any) -> float:
    wrong = np.asarray(true) != np.asarray(told)
    return float(np.mean(wrong * np.where(np.asarray(true) == DEAR, 9.0, 1.0)))


def test_hostile_names_go_all_the_way(
    run: Callable[..., Any], spawn: Callable[..., Any], tmp_path: Path
) -> None:
    frame = table()
    frame.to_csv("kinds.csv", index=False)
    limit = ("--constraint", "cost <= 0.9", "--certify", "0.9")
    done = run(
        "fit", "kinds.csv", "--target", "kind", "--cost", COSTS, *limit, *SEARCH, "--out=out"
    )
    assert done.code == 0, done.err
    assert "every row at the smallest expected cost" in done.out
    assert json.loads((tmp_path / "out/run.json").read_text())["settings"]["cost"] == COSTS
    finding = json.loads((tmp_path / "out/certificate.json").read_text())["findings"][0]
    assert finding["verdict"] == "certified"
    again = spawn("verify", "out", "kinds.csv")
    assert again.code == 0, again.err
    assert "the data agree: CERTIFIED" in again.out

    new = table(rows=3000).tail(2000)
    new.to_parquet("new.parquet")
    assert spawn("predict", "out", "new.parquet", "-o", "told.csv").code == 0
    told = pd.read_csv("told.csv")
    probable = told.filter(like="proba").to_numpy()
    classes, model = np.sort(NAMES), json.loads((tmp_path / "out/model.json").read_text())
    sharp = np.maximum(probable, 0.001) ** (1 / model.get("temperature", 1.0))
    weighed = sharp * [model["class_weights"][name] for name in classes]
    expected = weighed @ (np.where(classes[:, None] == DEAR, 9.0, 1.0) * (1 - np.eye(3)))
    assert np.array_equal(told["prediction"], classes[np.argmin(expected, axis=1)])
    plain = classes[np.argmax(probable, axis=1)]
    assert mean_cost(new["kind"], told["prediction"]) < 0.8 * mean_cost(new["kind"], plain)

    found = json.loads(spawn("evaluate", "out", "new.parquet", "--json").out)["constraints"][0]
    assert found["value"] == pytest.approx(mean_cost(new["kind"], told["prediction"]))
    on = spawn("resume", "out", "--max-evaluations", "+1")
    assert on.code == 0, on.err


def test_the_script_of_the_run_decides_alike(run: Callable[..., Any], tmp_path: Path) -> None:
    table([3, 1, 2]).to_csv("kinds.csv", index=False)
    costs = ("--cost", "3->*=9,*->*=1")
    done = run("fit", "kinds.csv", "--target", "kind", *costs, *SEARCH, "--out=out")
    assert done.code == 0, done.err
    assert run("predict", "out", "kinds.csv", "-o", "told.csv").code == 0
    code = tmp_path / "out" / "pipeline.py"
    assert "costs=" in code.read_text()
    ended = run_python(code, "kinds.csv", "kinds.csv", "script.csv", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = [pd.read_csv(one)["prediction"] for one in ("told.csv", "script.csv")]
    assert told[0].equals(told[1])


def test_a_model_without_probabilities_says_that_it_leaves_the_cost_out(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    table(["x", "y", "z"]).to_csv("kinds.csv", index=False)
    (tmp_path / "mine.lark").write_text("%import components (linear_svm)\nstart: linear_svm\n")
    asked = ("fit", "kinds.csv", "--target", "kind", "--cost", "x->*=9,*->*=1", "--out=out")
    done = run(*asked, "--grammar", "mine.lark", *SEARCH[2:])
    assert done.code == 0, done.err
    assert "without the cost: this model has no probabilities" in done.out


def test_a_table_of_python_gives_the_model_of_the_text() -> None:
    frame = table(["x", "y", "z"])
    X, y = frame[["a", "b"]], frame["kind"]
    labels = ["z", "x", "y"]
    costs = pd.DataFrame(1 - np.eye(3), index=labels, columns=labels)
    costs.loc["x"] *= 9
    given = (costs, {("x", "*"): 9, ("*", "*"): 1}, "x->*=9, *->*=1")
    told = [
        AutoMLClassifier(
            cost=one, grammar="tiny", cv=2, max_evaluations=1, executor="inline", random_state=0
        )
        .fit(X, y)
        .predict(X)
        for one in given
    ]
    assert np.array_equal(told[0], told[1])
    assert np.array_equal(told[0], told[2])
    assert np.mean(told[0] == "x") > 1.3 * np.mean(y == "x")


def test_costs_of_other_classes_are_refused_before_any_work(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    table(["x", "y", "z"]).to_csv("kinds.csv", index=False)
    for costs, why in (
        ("w->*=9,*->*=1", "class 'w'"),
        ("x->y=9", "no cost of x->z"),
        ("fn=5,fp=1", "two classes"),
    ):
        done = run("fit", "kinds.csv", "--target", "kind", "--cost", costs, *SEARCH, "--out=out")
        assert done.code == 2
        assert why in done.err
        assert len(done.err.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()
