"""Rows with huge numbers are told in a line, and no warning of a library is heard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SEARCH = ("--target", "y", "--cv=2", "--max-evaluations", "1", "--executor", "inline", "-q")


def train(run: Any, path: Path, target: Any, *steps: str) -> pd.DataFrame:
    """Fit the only pipeline of a grammar; return its table."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"])
    frame["y"] = target(frame)
    frame.to_csv(path / "train.csv", index=False)
    text = f"%import components ({', '.join(steps)})\nstart: {' '.join(steps)}\n"
    (path / "one.lark").write_text(text)
    done = run("fit", "train.csv", *SEARCH, "--grammar", "one.lark", "--out", "out")
    assert done.code == 0, done.err
    return frame


@pytest.mark.parametrize("command", ["predict", "evaluate", "report"])
def test_a_step_that_overflows_is_no_want_of_filling(
    run: Any, tmp_path: Path, command: str, recwarn: pytest.WarningsRecorder
) -> None:
    steps = ("impute", "standard_scaler", "nystroem", "logistic_regression")
    frame = train(run, tmp_path, lambda rows: np.where(rows["a"] > 0, "yes", "no"), *steps)
    frame.loc[1, "b"] = -1e308
    frame.to_csv(tmp_path / "huge.csv", index=False)
    recwarn.clear()
    done = run(command, "out", *(["--data"] if command == "report" else []), "huge.csv")
    assert done.code == 3
    assert "a step of it overflows on large numbers, such as -1e+308 in column 'b'." in done.err
    assert "fills missing values" not in done.err
    assert [one for one in recwarn if one.category is RuntimeWarning] == []


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("column", ["y", "a"])
def test_a_report_on_huge_quantities_is_made_without_a_word(
    run: Any, tmp_path: Path, column: str, size: float, recwarn: pytest.WarningsRecorder
) -> None:
    frame = train(run, tmp_path, lambda rows: rows["a"] / 2 + rows["b"], "impute", "ridge")
    frame.loc[:1, column] = size, -size / 2
    frame.to_csv(tmp_path / "huge.csv", index=False)
    recwarn.clear()
    done = run("report", "out", "--data", "huge.csv", "-o", "page.html")
    assert (done.code, done.err) == (0, "")
    assert [str(one.message) for one in recwarn if one.category is RuntimeWarning] == []
    found = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))["residuals"]
    if size < 1e300:
        assert found["root_mean_square"] >= size / 3 / np.sqrt(120)
