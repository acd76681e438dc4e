"""The outcome of a run over pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.script import csv_manner
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare


def test_the_training_file_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest and the script both tell of it."""
    find, looks = csv_manner.find_dialect, list[Any]()
    monkeypatch.setattr(
        csv_manner, "find_dialect", lambda *given: looks.append(given) or find(*given)
    )
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5, 3.5] * 10, "y": ["no", "yes"] * 20})
    frame.to_csv(tmp_path / "a.csv", sep=";", index=False)
    config = RunConfig(
        grammar="tiny",
        max_evaluations=1,
        cv=2,
        executor="inline",
        source=str(tmp_path / "a.csv"),
        work_dir=tmp_path / "run",
    )
    run_pipelines(prepare(config, frame[["a"]], frame["y"]))
    assert '";"' in (tmp_path / "run" / "pipeline.py").read_text()
    assert len(looks) == 1
