"""The page on the run folder has every file and every key that a run writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from automl_admm import AutoMLClassifier
from automl_admm.core.evaluations import Status

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "run_folder.md").read_text("utf-8")


def named(text: str) -> set[str]:
    """List the names in code of the first column of tables."""
    cells = re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def section(name: str) -> set[str]:
    return named(PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0])


def test_every_file_and_key_of_a_run_is_on_the_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    few = {"max_evaluations": 2, "executor": "inline", "random_state": 0}
    AutoMLClassifier("tiny", work_dir=tmp_path, **few).fit(X, y)
    files = {path.name.removesuffix("-wal").removesuffix("-shm") for path in tmp_path.iterdir()}
    assert {name.removesuffix("/") for name in named(PAGE.partition("\n## ")[0])} >= files
    for name in ("run.json", "model.json"):
        assert section(name) >= set(json.loads((tmp_path / name).read_text("utf-8")))


def test_the_statuses_of_the_page_are_there() -> None:
    told = re.findall(r"The status is (.*?)`lost`", PAGE, re.DOTALL)[0]
    assert {*re.findall(r"`(\w+)`", told), "lost"} == {str(status) for status in Status}
