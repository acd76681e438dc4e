"""A certificate with labels of one row each, the whole way: other processes and formats agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
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
