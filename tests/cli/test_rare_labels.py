"""A certificate with labels of one row each, the whole way: other processes and formats agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_python

SEARCH = ("--grammar", "tiny", "--cv=2", "--max-evaluations=1", "--executor", "inline")


def table(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows)})
    found["kind"] = np.where(found.x > 0, "high", "low").astype(object)
    alone = rng.permutation(rows)[: rows // 10]
    found.loc[alone, "kind"] = [f"typo {seed} {row}" for row in alone]
    return found


def test_labels_of_one_row_go_all_the_way(
    run: Callable[..., Any], spawn: Callable[..., Any], tmp_path: Path
) -> None:
    table(1500, 0).to_csv("rows.csv", index=False)
    asked = ("fit", "rows.csv", "--target", "kind", "--certify", "0.95")
    few = run(*asked, "--constraint", "error <= 6 %", "--out=few", *SEARCH)
    assert few.code == 6, few.err
    assert "150 classes of one row each, such as 'typo 0 " in few.err

    done = run(*asked, "--constraint", "error <= 20 %", "--out=out", *SEARCH)
    assert done.code == 0, done.err
    (finding,) = json.loads((tmp_path / "out/certificate.json").read_text())["findings"]
    new = table(4000, 1)
    new.to_parquet("new.parquet")
    told = spawn("predict", "out", "new.parquet", "-o", "told.csv")
    assert told.code == 0, told.err
    frame = pd.read_csv("told.csv")
    wrong = float(np.mean(frame["prediction"] != new["kind"]))
    assert 0.1 <= wrong <= finding["bound"]
    assert finding["value"] > 0.07
    chances = frame.filter(like="probability_")
    assert len(chances.columns) == table(1500, 0).kind.nunique()
    assert np.allclose(chances.sum(axis=1), 1.0)
    known = chances.columns[chances.to_numpy().argmax(axis=1)].str.removeprefix("probability_")
    assert (known == frame["prediction"]).all()

    script = run_python("out/pipeline.py", "rows.csv", "new.parquet", "s.csv", cwd=tmp_path)
    assert script.returncode == 0, script.stderr
    assert Path("s.csv").read_text() == Path("told.csv").read_text()
    assert spawn("verify", "out", "rows.csv").code == 0
    refused = run("export", "out", "--onnx", "model.onnx")
    assert refused.code == 2
    assert "a model whose training rows lacked a class cannot be written as ONNX" in refused.err


@pytest.mark.parametrize("more", [(), ("--refit", "folds"), ("--weight", "w")], ids=str)
def test_a_class_that_comes_late_has_its_place_everywhere(
    more: tuple[str, ...], run: Callable[..., Any], spawn: Callable[..., Any], tmp_path: Path
) -> None:
    """The latest rows are held out, and no model has seen their new class."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("pqr"))
    rows["t"], rows["w"] = range(600), rng.choice([1, 2, 5], 600)
    kind = np.where(rows.p > 0.3, "b", np.where(rows.q > 0, "c", "d")).astype(object)
    kind[(rows.t >= 540) & (rows.t % 3 == 0)] = "a new one"
    rows.assign(kind=kind).to_csv("rows.csv", index=False)
    rows.sample(200, random_state=1).to_csv("new.csv", index=False)
    asked = ("--target", "kind", "--time", "t", "--constraint", 'recall{class="c"} >= 0.2')
    done = run("fit", "rows.csv", *asked, "--out=out", *SEARCH[:2], *SEARCH[3:], *more)
    assert done.code == 0, done.err
    assert spawn("predict", "out", "new.csv", "-o", "told.csv").code == 0
    names = [f"probability_{name}" for name in ("a new one", "b", "c", "d")]
    told = pd.read_csv("told.csv")
    assert list(told.columns) == ["prediction", *names]
    assert (told[names[0]] == 0.0).all()
    assert (told[names].idxmax(axis=1).str.removeprefix("probability_") == told["prediction"]).all()
    script = run_python("out/pipeline.py", "rows.csv", "new.csv", "s.csv", cwd=tmp_path)
    assert script.returncode == 0, script.stderr
    assert Path("s.csv").read_text() == Path("told.csv").read_text()
