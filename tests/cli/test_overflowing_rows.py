"""Rows with huge numbers are told in a line, and no warning of a library is heard."""

from __future__ import annotations

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
