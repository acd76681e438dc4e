"""The log of a run as it is read, by this version and of an earlier one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm.pipelines import cross_validation
from automl_admm.pipelines.thresholds.elsewhere import ELSEWHERE, IS_WHOLE
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.session.run_log import read_log
from automl_admm.store.run_folder import RunFolder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = (X[:, 0] + RNG.normal(size=100) > 0).astype(int)
OPPOSED = ("fpr <= 0.02", "fnr <= 0.02")


def run(folder: Path, *limits: str, **more: Any) -> PipelineResult:
    given: dict[str, Any] = {
        "grammar": "tiny",
        "cv": 2,
        "max_evaluations": 2,
        "executor": "inline",
        "theta_solver": "random",
        "on_infeasible": "closest",
    }
    return run_pipelines(
        prepare(RunConfig(constraints=limits, work_dir=folder, **given | more), X, Y)
    )


def unmarked(*given: Any) -> dict[str, Any]:
    """Measure as earlier versions did, who marked nothing."""
    found = measure(*given)
    there = [{name: one[name] for name in one if name != IS_WHOLE} for one in found[ELSEWHERE]]
    return {ELSEWHERE: there}


measure = cross_validation.measure_elsewhere


def are_known(evaluations: Any, place: int) -> list[bool]:
    """Return True for each evaluation with a limit's values at its other thresholds."""
    there = [[at["values"][place] for at in one.details[ELSEWHERE]] for one in evaluations]
    return [bool(np.isfinite(one).all()) for one in there]


@pytest.mark.parametrize(
    ("limit", "is_kept"),
    [("selection_rate <= 1.0 * baseline", False), ("selection_rate <= 0.9", True)],
)
def test_values_at_other_thresholds_of_an_earlier_version_go_if_they_were_not_measured(
    limit: str, is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    with monkeypatch.context() as earlier:
        earlier.setattr(cross_validation, "measure_elsewhere", unmarked)
        run(folder, *OPPOSED, limit)
    assert are_known(read_log(RunFolder(folder)).evaluations, 2) == [is_kept] * 2
    later = run(folder, *OPPOSED, limit, max_evaluations=3, resumed=True)
    for evaluations in (later.result.evaluations, read_log(RunFolder(folder)).evaluations):
        assert are_known(evaluations, 2) == [is_kept, is_kept, True]
        assert are_known(evaluations, 0) == are_known(evaluations, 1) == [True] * 3
