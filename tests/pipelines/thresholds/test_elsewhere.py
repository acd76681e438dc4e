"""At another threshold each limit that a threshold moves has the value that it has there."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.pipelines.thresholds.elsewhere import ELSEWHERE
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

ROWS = 300
OPPOSED = ("fpr <= 0.02", "fnr <= 0.02")


def work(*limits: str) -> PipelineWork:
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.7).astype(int)
    X = pd.DataFrame({"a": rng.normal(size=ROWS) + 1.3 * y, "b": rng.normal(size=ROWS)})
    config = RunConfig(
        grammar="tiny", constraints=limits, max_evaluations=1, executor="inline", cv=3
    )
    return prepare(config, X, y).work


def elsewhere(used: PipelineWork, folder: Path) -> tuple[Any, list[dict[str, Any]]]:
    found = used.evaluate(default_start(used.space.space), 0, folder)
    return found, found.details[ELSEWHERE]


def shares_at(folder: Path, thresholds: list[float]) -> list[float]:
    """Return the shares of positive decisions, by the kept predictions of equal folds."""
    with np.load(next(folder.glob("*.npz"))) as kept:
        sure = kept["predictions"][:, -1]
    return [float(np.mean(sure >= one)) for one in thresholds]


def test_a_limit_relative_to_the_baseline_is_measured_at_other_thresholds(tmp_path: Path) -> None:
    used = work("selection_rate <= 1.0 * baseline", *OPPOSED, "auc >= 0.5")
    found, others = elsewhere(used, tmp_path)
    assert others
    told = [one["values"][0] for one in others]
    assert told == pytest.approx(shares_at(tmp_path, [one["threshold"] for one in others]))
    assert all(abs(value - found.constraints[0]) > 0.05 for value in told)
    assert {one["values"][3] for one in others} == {found.constraints[3]}, "no threshold moves it"


def test_a_value_that_cannot_be_measured_there_is_that_of_no_other_threshold(
    tmp_path: Path,
) -> None:
    used, calls = work("selection_rate <= 1.0 * baseline", *OPPOSED), []

    def fails_later(evaluated: Any) -> float:
        calls.append(evaluated)
        if len(calls) > 3:  # once in each fold at the chosen threshold
            raise ZeroDivisionError
        return 0.5

    used.constraints = (replace(used.constraints[0], function=fails_later), *used.constraints[1:])
    found, others = elsewhere(used, tmp_path)
    assert found.constraints[0] == 0.5
    assert others
    assert all(math.isnan(one["values"][0]) for one in others)
