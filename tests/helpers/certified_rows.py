"""Rows with a target in whole numbers, their files, and certified runs on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLRegressor
from automl_admm.cli.main import main

X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 3)), columns=list("abc"))
ROWS = X.assign(y=(3 * X["a"] + 10).round().astype(int))
LIMIT = "errors_above_5 <= 30 %"
ASKED = ("--max-evaluations", "1", "--grammar", "tiny", "--executor", "inline", "--quiet")


def written(rows: pd.DataFrame, path: Path) -> Path:
    """Write rows in the format that the name of a file tells."""
    if path.suffix == ".csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_parquet(path)
    return path


def told(capsys: Any, *words: object) -> tuple[int, str]:
    """Run the program in this process, and return its exit code and what it says."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out + said.err


def fit(file: Path, to: Path, *more: str) -> None:
    """Make a certified run on a file."""
    limit = ("--constraint", LIMIT, "--certify", "0.9", *more)
    words = ("fit", file, "--target", "y", "--task", "regression", *ASKED, *limit, "--out", to)
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 0


def fit_in_python(frame: pd.DataFrame, to: Path, **columns: Any) -> Path:
    """Make a certified run on a frame; columns with a role may have the name of a feature."""
    search = AutoMLRegressor(
        "tiny",
        max_evaluations=1,
        executor="inline",
        constraints=[LIMIT],
        certify=0.9,
        work_dir=to,
        random_state=0,
    )
    search.fit(frame.drop(columns="y"), frame["y"], **columns)
    return to
